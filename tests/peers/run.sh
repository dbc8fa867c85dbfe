#!/bin/sh
# Solves cases with warpfem and compares each with scikit-fem on the same mesh; exit 1 on a miss.
#
#   tests/peers/run.sh BINARY [all | CASE ...]
#
# Without names: the smaller ones, which take a quarter of a minute on two cores.
# Needs Python 3.11 or later with ccx2paraview, gmsh, meshio, pyvista and scikit-fem, and ccx.
set -eu
if [ $# -lt 1 ]; then
    sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
meshes=$here/../../meshes
binary=$(realpath "$1")
shift
cases="$*"
[ -n "$cases" ] || cases="cube_463 cube_1149 cube_3419 cantilever bracket"
[ "$cases" != all ] || cases="cube_463 cube_1149 cube_3419 cube_7348 cantilever bracket vase car"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT INT TERM
python3 "$here/compare.py" --self-test
set --
status=0
for name in $cases; do
    if "$binary" solve "$meshes/$name.toml" -o "$out" --device cpu --tolerance 1e-10 --quiet; then
        set -- "$@" "$meshes/$name.toml" "$out/$name.vtu"
    else
        echo "MISS $name: warpfem exits $?"
        status=1
    fi
done
[ $# -eq 0 ] || python3 "$here/compare.py" "$@" || status=1
# Sizes of arrays at which meshio mistakes one array for another, if they lie as their tags do.
for cells in '1, 1, 2' '1, 2, 1' '2, 1, 1' '1, 4, 19'; do
    cat >"$out/small.toml" <<CASE
[mesh]
generate = { kind = "box", element = "tet4", size = [1.0, 1.0, 1.0], cells = [$cells] }
[[material]]
name = "soft"
young = 1e3
poisson = 0.3
[[support]]
on = "xmin"
fix = "xyz"
[[force]]
on = "xmax"
total = [1.0, 0.0, 0.0]
CASE
    "$binary" solve "$out/small.toml" -o "$out" --device cpu --quiet &&
        python3 -c 'import meshio, sys; assert meshio.read(sys.argv[1]).cell_data["stress"][0].shape[1] == 6' "$out/small.vtu" ||
        { echo "MISS meshio on a box of $cells cells"; status=1; }
done
python3 "$here/frd.py" "$binary" || status=1
python3 "$here/eigen.py" "$binary" 12 || status=1
# Gmsh's own program meshes a geometry, and the case that is suggested for it holds its faces.
(cd "$out" && python3 -c 'import gmsh; gmsh.initialize(); gmsh.model.occ.addBox(0, 0, 0, 9, 3, 2); gmsh.model.occ.synchronize(); gmsh.write("box.step")' >/dev/null &&
    "$binary" init box.step && "$binary" convert box.msh box.inp && grep -q '^\*SURFACE, NAME=face6' box.inp) ||
    { echo "MISS init of a geometry"; status=1; }
python3 "$here/refine.py" "$binary" || status=1
decks=$here/../data/decks
python3 "$here/suite.py" "$binary" "$decks/prepomax.inp" "$decks/freecad.inp" "$decks/by_hand.inp" "$decks/leaning.inp" "$decks/joined.inp" \
    "$decks/steps.inp" || status=1
exit $status
