#!/bin/sh
# Solves cases with warpfem and opens their reports in headless Chromium; exit 1 if one is not as it should be.
#
#   tests/report/run.sh BINARY [SCREENSHOTS]
#
# SCREENSHOTS is a folder for pictures of the pages. Needs Chromium (CHROMIUM, or in the PATH) and Python with playwright.
set -eu
if [ $# -lt 1 ]; then
    sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
meshes=$here/../../meshes
binary=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT INT TERM
for name in cantilever hole annulus bracket; do
    "$binary" solve "$meshes/$name.toml" -o "$out" --device cpu --quiet
done
# Faces that are drawn in parts, of an element whose edges are lines of three nodes.
cat >"$out/quadratic.toml" <<'CASE'
[mesh]
generate = { kind = "box", element = "tet10", size = [0.05, 0.04, 0.03], cells = [5, 4, 3] }
[[material]]
name = "steel"
young = 210e9
poisson = 0.3
[[support]]
on = "xmin"
fix = "xyz"
[[force]]
on = "xmax"
total = [0.0, 400.0, -1000.0]
CASE
"$binary" solve "$out/quadratic.toml" -o "$out" --device cpu --quiet
# A section of a body of revolution.
cat >"$out/ring.toml" <<'CASE'
[mesh]
generate = { kind = "rectangle", element = "quad8", size = [0.02, 0.03], cells = [4, 6] }
[analysis]
kind = "axisymmetric"
[[material]]
name = "steel"
young = 210e9
poisson = 0.3
density = 7850.0
[rotation]
speed = 3000.0
[[support]]
on = "ymin"
fix = "y"
[[pressure]]
on = "xmax"
value = 1e6
CASE
"$binary" solve "$out/ring.toml" -o "$out" --device cpu --quiet
# Load cases, of which one is chosen.
sed -e 's/^\[\[force\]\]/[[force]]\nname = "tip"/' "$out/quadratic.toml" >"$out/cases.toml"
cat >>"$out/cases.toml" <<'CASE'
[[pressure]]
name = "wind"
on = "ymax"
value = 1e6
[[load_case]]
name = "tip alone"
factors = { tip = 1.0 }
[[load_case]]
name = "storm"
factors = { tip = 1.35, wind = 1.5 }
CASE
"$binary" solve "$out/cases.toml" -o "$out" --device cpu --quiet
# Modes, which are animated.
sed -e 's/^poisson/density = 7850.0\npoisson/' -e 's/^\[\[material\]\]/[analysis]\nstudy = "modal"\nmodes = 3\n[[material]]/' \
    -e '/^\[\[force\]\]/,$d' "$out/quadratic.toml" >"$out/modes.toml"
"$binary" solve "$out/modes.toml" -o "$out" --device cpu --quiet
# Times of heat, which a slider goes through, with two probes and the mesh's error.
cat >"$out/warming.toml" <<'CASE'
[mesh]
generate = { kind = "box", element = "hex20", size = [0.05, 0.04, 0.03], cells = [5, 4, 3] }
[analysis]
kind = "heat"
study = "transient"
[[material]]
name = "steel"
conductivity = 50.0
density = 7850.0
specific_heat = 480.0
[[support]]
on = "xmin"
value = 100.0
[[convection]]
on = "xmax"
coefficient = 500.0
ambient = 20.0
[time]
end = 60.0
step = 2.0
initial = 20.0
outputs = 4
[output]
fields = ["temperature", "heat_flux_nodal", "error_nodal"]
probes = [{ name = "middle", at = [0.025, 0.02, 0.015] }, { name = "end", at = [0.05, 0.02, 0.015] }]
CASE
"$binary" solve "$out/warming.toml" -o "$out" --device cpu --quiet
# Two iterations are too few, so these results are marked.
status=0
"$binary" solve "$meshes/strip.toml" -o "$out" --device cpu --quiet --method cg --max-iterations 2 2>"$out/strip.txt" || status=$?
[ "$status" -eq 5 ] || { echo "a solution that cannot converge exits $status"; cat "$out/strip.txt"; exit 1; }
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
python3 "$here/look.py" "$chromium" "$out" "${2:-}"
