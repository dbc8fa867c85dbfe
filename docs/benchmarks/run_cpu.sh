#!/bin/sh
# Measures conjugate gradients and whole solutions on this machine's processor beside SciPy and CalculiX, in turn.
#
#   docs/benchmarks/run_cpu.sh BINARY FOLDER      # with `warpfem-bench` beside BINARY
#
# Leaves JSON in FOLDER for collect.py. Needs Python (PYTHON) with NumPy and SciPy, and CalculiX's `ccx`: `apt-get install
# calculix-ccx`. Linux. CELLS is how many cells cubes have along an edge, 60 as the report has it; NOTE is what the machine is.
set -eu
if [ $# -ne 2 ]; then
    sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
binary=$1 bench=$(dirname "$1")/warpfem-bench out=$2 cells=${CELLS:-60} python=${PYTHON:-python3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM

mkdir -p "$out"
{
    echo "date: $(date -u +%Y-%m-%d)"
    echo "driver: none"
    echo "processors: $(nproc)"
    [ -z "${NOTE-}" ] || echo "note: $NOTE"
    echo "command: CELLS=$cells docs/benchmarks/run_cpu.sh BINARY FOLDER"
} >"$out/run.txt"
for element in hex8 tet4; do
    # A matrix of the same pattern, with values that are made up.
    "$bench" spmv --element $element --cells "$cells" --format ebw --samples 1 --device cpu --matrix "$scratch/matrix" >/dev/null
    # Enough iterations that the start's product and cold caches do not count.
    for threads in "$(nproc)" 1; do
        RAYON_NUM_THREADS=$threads "$bench" cg --element $element --cells "$cells" --device cpu --max-iterations 200 \
            --json "$out/cg_${element}_$threads.json"
    done
    "$python" "$here/scipy_cg.py" "$scratch/matrix" --iterations 40 --json "$out/scipy_$element.json"
    rm -r "$scratch/matrix"
done
"$python" "$here/peers.py" --warpfem "$binary" --cells "$cells" --json "$out"
