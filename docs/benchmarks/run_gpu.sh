#!/bin/sh
# Measures warpfem on a GPU machine and leaves the raw figures in a folder, for collect.py.
#
#   docs/benchmarks/run_gpu.sh BINARY FOLDER [PART ...]      # with `warpfem-bench` beside BINARY
#
# Parts: products (every format on every problem, and cuSPARSE on the same matrices), orders (of the nodes of MESHES),
# iterations (conjugate gradients on the cubes, and fused ones with cuSPARSE), rates (iterations per second of CG_FORMATS), solve (cases of benches/),
# assembly (every strategy on WARP's cantilever, on cubes and squares of every element, and CuPy on cubes), preconditioners
# (every one and order on SWEEP, and SBELL's choice of them on meshes of the sizes of its four; some four minutes), femses
# (FEMSES beside direct solvers and conjugate gradients, on the device and on one and all threads of its host; some five minutes),
# multigrid (it, Jacobi and Chebyshev's polynomial, on cubes of SIZES, on PLANE and the cases of HARD; some three minutes).
# Without parts: all. A measurement that fails (too little memory, say) is named and left out.
#
# In the environment: SIZES="20 40" measures other cubes than n = 20, 40, 60, 100, 150; PLANE="tri3:728 quad4:400" other
# squares; MESHES="a.msh b.msh" these meshes too; SERIES other cubes, or cases (a.toml), for rates; ORDERINGS and WINDOWS other orders;
# CG_FORMATS other formats; SWEEP="quad4:400 tet4:100 hex8:100" and SBELL="tri3:728 quad4:400 tet4:58 hex8:54" other meshes
# for preconditioners; HARD="a.toml" other cases and TIGHT="100" other cubes to 1e-10 for multigrid; STEPPINGS="20 40" other cubes
# on which to compare how the device is told what to do in iterations;
# SOLVE="cube_40" other cases than the large ones; CUSPARSE=no leaves cuSPARSE out;
# DEVICE=cpu measures the CPU; SBELL's figure 10 is of preconditioners on both, collected together. Matrices for cuSPARSE,
# up to 10 GB each, pass through TMPDIR.
set -eu
if [ $# -lt 2 ]; then
    sed -n '2,22s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
binary=$1 bench=$(dirname "$1")/warpfem-bench
out=$2
shift 2
parts=${*:-products orders iterations rates solve assembly preconditioners multigrid femses}
sizes=${SIZES-20 40 60 100 150}
plane=${PLANE-tri3:728 quad4:400}
meshes=${MESHES-}
series=${SERIES-7 10 14 18 22 36 60 100}
hard=${HARD-$here/../../benches/hard/*.toml}
tight=${TIGHT-79 100}
steppings=${STEPPINGS-10 20 24 30 34 40 60 100}
orderings=${ORDERINGS:-mesh hilbert rcm}
windows=${WINDOWS:-1 1024}
cg_formats=${CG_FORMATS:-dense,csr,ell,ell_warp,ebw}
solve=${SOLVE-cube_100 cube_hex8_100 cantilever_24 cantilever_32 cantilever_50 cantilever_64}
sweep=${SWEEP-quad4:400 tet4:100 hex8:100}
sbell=${SBELL-tri3:728 quad4:400 tet4:58 hex8:54}
cusparse=${CUSPARSE:-yes}
device=${DEVICE:-cuda}
mkdir -p "$out"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
failed=0

# Functions share their variables, so each has its own.
measure() { # measure NAME COMMAND..
    log=$out/$1.txt
    echo "== $1"
    shift
    if "$@" >"$log" 2>&1; then
        cat "$log"
    else
        echo "FAILED (exit $?):"
        tail -n 5 "$log"
        failed=$((failed + 1))
    fi
}

warpfem() { # warpfem NAME COMMAND..
    figures=$1
    shift
    measure "$figures" "$bench" "$@" --device "$device" --json "$out/$figures.json"
}

library() { # library NAME SPMV-ARGUMENTS..: cuSPARSE on the matrix that warpfem writes
    matrix=$1
    shift
    [ "$cusparse" = yes ] || return 0
    measure "matrix_$matrix" "$bench" spmv "$@" --format ebw --samples 1 --device "$device" --matrix "$scratch/matrix"
    if [ -f "$scratch/matrix/matrix.json" ]; then
        measure "cusparse_$matrix" python3 "$here/cusparse.py" "$scratch/matrix" --json "$out/cusparse_$matrix.json"
    fi
    rm -rf "$scratch/matrix"
}

every_format() { # every_format NAME PROBLEM..
    problem=$1
    shift
    for precision in double single; do
        warpfem "spmv_${problem}_$precision" spmv "$@" --precision $precision
    done
    library "$problem" "$@"
}

products() {
    for n in $sizes; do
        for element in tet4 hex8; do
            every_format "${element}_$n" --element $element --cells "$n"
        done
    done
    for square in $plane; do
        every_format "${square%%:*}_${square##*:}" --element "${square%%:*}" --cells "${square##*:}"
    done
    for mesh in $meshes; do
        every_format "$(basename "$mesh" .msh)" "$mesh"
    done
}

orders() {
    for mesh in $meshes; do
        for ordering in $orderings; do
            name=$(basename "$mesh" .msh)_$ordering
            for window in $windows; do
                warpfem "order_${name}_$window" spmv "$mesh" --format csr,sell,ebw --ordering "$ordering" --degree-window "$window"
            done
            library "$name" "$mesh" --ordering "$ordering" --degree-window 1
        done
    done
}

femses() {
    for precision in double single; do
        options="--precision $precision --tolerance 1e-6"
        warpfem "femses_$precision" femses $options --nodes 20,50,70,100,150,200
        warpfem "femses_large_$precision" femses $options --nodes 400,700 --method sparse,cg,femses_chebyshev,femses_cg
        warpfem "femses_blocks_$precision" femses $options --nodes 100,200 --method femses_atomic --block 32,64,128,256,512,1024
    done
    warpfem femses_four_sided femses --four-sided --tolerance 1e-6 --nodes 20,50,100,150,200 --method femses,femses_chebyshev,femses_cg
    for threads in 1 0; do
        RAYON_NUM_THREADS=$threads measure "femses_host_$threads" "$bench" femses --device cpu --tolerance 1e-6 \
            --nodes 20,50,70,100 --method dense,sparse,cg,femses,femses_chebyshev,femses_cg --max-iterations 100000 \
            --json "$out/femses_host_$threads.json"
        RAYON_NUM_THREADS=$threads measure "femses_host_large_$threads" "$bench" femses --device cpu --tolerance 1e-6 \
            --nodes 150,200,400,700 --samples 3 --method sparse,cg,femses_cg --json "$out/femses_host_large_$threads.json"
    done
}

iterations() {
    for n in $sizes; do
        for element in tet4 hex8; do
            for precision in double single; do
                # Single precision reaches 1e-5 at best on large cubes; it is timed per iteration.
                tolerance=1e-8
                [ $precision = double ] || tolerance=1e-5
                warpfem "cg_${element}_${n}_$precision" cg --element $element --cells "$n" --precision $precision --tolerance $tolerance
            done
        done
    done
    if [ "$device" = cuda ] && [ "$cusparse" = yes ] && [ -n "$sizes" ]; then
        # shellcheck disable=SC2086 # one size a word
        measure fused_cg python3 "$here/fused_cg.py" --cells "$(echo $sizes | tr ' ' ,)" --json "$out/fused_cg.json"
    fi
    for n in $steppings; do
        for element in tet4 hex8; do
            for stepping in launches graph auto; do
                warpfem "cg_${element}_${n}_$stepping" cg --element $element --cells "$n" --stepping $stepping
            done
        done
    done
}

rates() {
    for problem in $series; do
        case $problem in
        *.toml) cube=$problem ;;
        *) cube="--cells $problem" ;;
        esac
        for precision in double single; do
            # shellcheck disable=SC2086 # an option and its value
            warpfem "rate_$(basename "$problem" .toml)_$precision" cg $cube --precision $precision \
                --format "$cg_formats" --max-iterations 200
        done
    done
}

solve() {
    for case in $solve; do
        measure "solve_$case" "$binary" solve "$here/../../benches/$case.toml" --device "$device" -o "$scratch/results"
        if [ -f "$scratch/results/summary.json" ]; then
            cp "$scratch/results/summary.json" "$out/solve_$case.json"
        fi
        rm -rf "$scratch/results"
    done
}

assembly() {
    for precision in double single; do
        # Into CSR, as WARP does; the largest also into the format that is iterated with.
        for problem in 192x24x24:csr 256x32x32:csr 400x50x50:csr 512x64x64:csr 512x64x64:ebw; do
            warpfem "warp_${problem%%:*}_${problem##*:}_$precision" assembly --element hex8 --cells "${problem%%:*}" \
                --size 16x2x2 --precision $precision --format "${problem##*:}"
        done
        for problem in tet4:60 tet4:100 tet4:128 hex8:60 hex8:100 hex8:128 tet10:40 hex20:40 tri3:1000 quad4:1000 \
            tri6:500 quad8:500; do
            warpfem "assembly_${problem%%:*}_${problem##*:}_$precision" assembly --element "${problem%%:*}" \
                --cells "${problem##*:}" --precision $precision
        done
    done
    [ "$device" != cuda ] || measure cupy python3 "$here/cupy_assembly.py" --json "$out/cupy.json"
}

preconditioners() {
    for problem in $sweep; do
        # Solutions on a square take a tenth of a second, on cubes seconds.
        case $problem in
        quad* | tri*) each="--order 2,3,4,5,6,8,12,16 --samples 3" ;;
        *) each="--order 2,4,6,8,12 --samples 1" ;;
        esac
        # shellcheck disable=SC2086 # options and their values
        warpfem "precond_${problem%%:*}_${problem##*:}" precond --element "${problem%%:*}" --cells "${problem##*:}" $each --mixed \
            --preconditioner jacobi,none,block_jacobi,neumann,chebyshev,least_squares
    done
    # Processors take seconds where GPUs take a tenth of one: of these SBELL's figure 10 asks for least squares of order 6.
    choice="jacobi,chebyshev,least_squares --order 4,6,8"
    [ "$device" = cuda ] || choice="jacobi,least_squares --order 6"
    for problem in $sbell; do
        for format in csr ebw; do
            # shellcheck disable=SC2086 # an option and its values
            warpfem "sbell_${problem%%:*}_${problem##*:}_$format" precond --element "${problem%%:*}" --cells "${problem##*:}" \
                --preconditioner $choice --samples 1 --mixed --format $format
        done
    done
}

multigrid() {
    for element in hex8 tet4; do
        for n in $sizes; do
            warpfem "amg_${element}_$n" amg --element "$element" --cells "$n" --samples 3 --mixed
            warpfem "multigrid_${element}_$n" precond --element "$element" --cells "$n" --preconditioner jacobi,chebyshev,amg \
                --order 8 --samples 1 --mixed
        done
    done
    for square in $plane; do
        warpfem "multigrid_${square%%:*}_${square##*:}" precond --element "${square%%:*}" --cells "${square##*:}" \
            --preconditioner jacobi,chebyshev,amg --order 8 --samples 1 --mixed
    done
    for element in hex8 tet4; do
        for n in $tight; do
            warpfem "whole_${element}_$n" solve --element "$element" --cells "$n" --tolerance 1e-10 --preconditioner amg
            warpfem "whole_${element}_${n}_mixed" solve --element "$element" --cells "$n" --tolerance 1e-10 --preconditioner amg --mixed
            warpfem "multigrid_${element}_${n}_tight" precond --element "$element" --cells "$n" --preconditioner amg --samples 3 \
                --mixed --tolerance 1e-10
        done
    done
    # Double precision does not get the residual of slender beams further down.
    for problem in $hard; do
        warpfem "multigrid_$(basename "$problem" .toml)" precond "$problem" --preconditioner jacobi,amg --samples 1 \
            --tolerance 1e-6 --max-iterations 20000
    done
}

{
    echo "date: $(date -u +%Y-%m-%d)"
    echo "command: SIZES=\"$sizes\" PLANE=\"$plane\" MESHES=\"$meshes\" SERIES=\"$series\" HARD=\"${HARD-benches/hard/*.toml}\" TIGHT=\"$tight\" ORDERINGS=\"$orderings\" WINDOWS=\"$windows\"" \
        "CG_FORMATS=\"$cg_formats\" SOLVE=\"$solve\" SWEEP=\"$sweep\" SBELL=\"$sbell\" DEVICE=$device docs/benchmarks/run_gpu.sh BINARY FOLDER $parts"
    echo "driver: $(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)"
    echo "processors: $(nproc)"
} >"$out/run.txt"

for part in $parts; do
    case $part in
    products | orders | iterations | rates | solve | assembly | preconditioners | multigrid | femses) $part ;;
    *) echo "there is no part $part" >&2 && exit 2 ;;
    esac
done
echo "$failed failed"
[ "$failed" -eq 0 ]
