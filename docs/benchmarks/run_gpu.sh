#!/bin/sh
# Measures warpfem on a GPU machine and leaves the raw figures in a folder, for collect.py.
#
#   docs/benchmarks/run_gpu.sh BINARY FOLDER
#
# SIZES="20 40" measures other cubes than n = 20, 40, 60, 100, 150; SOLVE="cube_40" solves other cases of benches/ than
# cube_100 and cube_hex8_100; DEVICE=cpu measures the CPU. A measurement that fails (too little memory, say) is named and left out.
set -eu
if [ $# -ne 2 ]; then
    sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
binary=$1
out=$2
sizes=${SIZES:-20 40 60 100 150}
solve=${SOLVE:-cube_100 cube_hex8_100}
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

for case in $solve; do
    results=$(mktemp -d)
    measure "solve_$case" "$binary" solve "$here/../../benches/$case.toml" --device "$device" -o "$results"
    if [ -f "$results/summary.json" ]; then
        cp "$results/summary.json" "$out/solve_$case.json"
    fi
    rm -rf "$results"
done
echo "$failed failed"
[ "$failed" -eq 0 ]
