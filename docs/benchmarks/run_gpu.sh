#!/bin/sh
# Measures warpfem on a GPU machine and leaves the raw figures in a folder, for collect.py.
#
#   docs/benchmarks/run_gpu.sh BINARY FOLDER
#
# SIZES="20 40" measures other cubes than n = 20, 40, 60, 100, 150; SOLVE="40" solves other ones from case to results
# than n = 100; DEVICE=cpu measures the CPU. A measurement that fails (too little memory, say) is named and left out.
# About four minutes on one H200 (n = 150 takes a third of that).
set -eu
if [ $# -ne 2 ]; then
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
binary=$1
out=$2
sizes=${SIZES:-20 40 60 100 150}
solve=${SOLVE:-100}
device=${DEVICE:-cuda}
mkdir -p "$out"
failed=0

measure() { # measure NAME COMMAND..
    name=$1
    shift
    if "$@" >"$out/$name.txt" 2>&1; then
        cat "$out/$name.txt"
    else
        echo "FAILED $name (exit $?):"
        tail -n 5 "$out/$name.txt"
        failed=$((failed + 1))
    fi
}

{
    echo "date: $(date -u +%Y-%m-%d)"
    echo "command: SIZES=\"$sizes\" SOLVE=\"$solve\" DEVICE=$device docs/benchmarks/run_gpu.sh BINARY FOLDER"
    echo "driver: $(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)"
    echo "processors: $(nproc)"
} >"$out/run.txt"

for n in $sizes; do
    for element in tet4 hex8; do
        for precision in double single; do
            problem="--element $element --cells $n --precision $precision --device $device"
            measure "spmv_${element}_${n}_$precision" \
                "$binary" bench spmv $problem --json "$out/spmv_${element}_${n}_$precision.json"
            # Single precision reaches 1e-5 at best on large cubes; it is timed per iteration.
            tolerance=1e-8
            [ $precision = double ] || tolerance=1e-5
            measure "cg_${element}_${n}_$precision" \
                "$binary" bench cg $problem --tolerance $tolerance --json "$out/cg_${element}_${n}_$precision.json"
        done
    done
done

for n in $solve; do
    for element in tet4 hex8; do
        case=cube_${element}_$n
        cat >"$out/$case.toml" <<EOF
[mesh]
generate = { kind = "box", element = "$element", size = [1.0, 1.0, 1.0], cells = [$n, $n, $n] }
[[material]]
name = "steel"
young = 200e9
poisson = 0.3
density = 7850.0
[[support]]
on = "xmin"
fix = "xyz"
[gravity]
acceleration = [0.0, 0.0, -9.81]
EOF
        results=$(mktemp -d)
        measure "solve_${element}_$n" "$binary" solve "$out/$case.toml" --device "$device" -o "$results"
        if [ -f "$results/summary.json" ]; then
            cp "$results/summary.json" "$out/solve_${element}_$n.json"
        fi
        rm -rf "$results"
    done
done
echo "$failed failed"
[ "$failed" -eq 0 ]
