#!/usr/bin/env python3
"""Makes five thin parts with Gmsh, in tet10 and hex20, and counts the iterations that multigrid takes on them.

    python3 docs/benchmarks/thin_parts.py [--warpfem PROGRAM] [--parts spring,tube] [--finer 1.5] [--json FILE] [-o FOLDER]

spring  a wire of 2 mm, four turns of radius 10 mm, pulled along its axis
sheet   100 x 60 x 1 mm with forty holes, bent by a pressure
tube    radius 20 mm, wall 1 mm, length 120 mm, pushed sideways
blade   a twisted profile 40 mm long and 3 mm thick at most, 150 mm high, under a pressure on its tip
bracket an L of sheet 3 mm thick, 60 x 60 x 40 mm, pushed at its end

hex20 are layers of recombined quadrangles, extruded or swept with a twist; tet10 are straight-sided. `--finer` divides all
edge lengths. Prints a table, and with `--json` writes it. Lengths in metres, steel. The mesh files stay in FOLDER, or in
a folder that is removed.
"""

import argparse
import json
import math
import pathlib
import subprocess
import tempfile

import gmsh

CASE = """\
[mesh]
file = "{file}"

[[material]]
name = "steel"
on = "body"
young = 210e9
poisson = 0.3

[[support]]
on = "held"
fix = "xyz"

[[traction]]
on = "loaded"
vector = {vector}

[solver]
method = "cg"
preconditioner = "amg"
tolerance = 1e-6
"""
MILLIMETRE = 1e-3
geo, mesh = gmsh.model.geo, gmsh.model.mesh


def loop(points):
    """The lines through points, closed."""
    tags = [geo.addPoint(*(MILLIMETRE * x for x in point)) for point in points]
    return geo.addCurveLoop([geo.addLine(a, b) for a, b in zip(tags, tags[1:] + tags[:1])])


def circle(centre, radius, across=(1, 0, 0), up=(0, 1, 0)):
    """A circle of four arcs, radius along `across` and `up`."""
    at = lambda a, b: [MILLIMETRE * (c + radius * (a * x + b * y)) for c, x, y in zip(centre, across, up)]
    middle = geo.addPoint(*at(0, 0))
    ring = [geo.addPoint(*at(a, b)) for a, b in [(1, 0), (0, 1), (-1, 0), (0, -1)]]
    return geo.addCurveLoop([geo.addCircleArc(a, middle, b) for a, b in zip(ring, ring[1:] + ring[:1])])


def ends(first, last):
    """Groups of the volumes, and of the surfaces at both ends."""
    geo.synchronize()
    gmsh.model.addPhysicalGroup(3, [tag for _, tag in gmsh.model.getEntities(3)], name="body")
    gmsh.model.addPhysicalGroup(2, first, name="held")
    gmsh.model.addPhysicalGroup(2, last, name="loaded")


def swept(surface, pieces, recombine):
    """Sweeps a surface through pieces, each a function of the surface and the layers; the last surface."""
    for sweep, layers in pieces:
        made = sweep([(2, surface)], layers, recombine)
        surface = made[0][1]
    return surface


def spring(edge, hexahedra):
    turns, radius, pitch, wire = 4, 10.0, 5.0, 1.0
    surface = first = geo.addPlaneSurface([circle((radius, 0, 0), wire, (1, 0, 0), (0, 0, 1))])
    rise, angle = MILLIMETRE * pitch / 4, math.pi / 2
    layers = max(4, round(radius * angle / edge))
    quarter = lambda of, n, recombine: geo.twist(of, 0, 0, 0, 0, 0, rise, 0, 0, 1, angle, [n], recombine=recombine)
    last = swept(surface, [(quarter, layers)] * (4 * turns), hexahedra)
    ends([first], [last])
    return [0.0, 0.0, 3e5]


def sheet(edge, hexahedra):
    columns, rows, size, thick = 8, 5, (100.0, 60.0), 1.0
    holes = [
        circle((size[0] * (i + 0.5) / columns, size[1] * (j + 0.5) / rows, 0), 3.0)
        for i in range(columns)
        for j in range(rows)
    ]
    outer = loop([(0, 0, 0), (size[0], 0, 0), (size[0], size[1], 0), (0, size[1], 0)])
    made = geo.extrude([(2, geo.addPlaneSurface([outer, *holes]))], 0, 0, MILLIMETRE * thick, [1], recombine=hexahedra)
    # The sides of the outer loop come after the top and the body.
    ends([made[5][1]], [made[0][1]])
    return [0.0, 0.0, -1e3]


def tube(edge, hexahedra):
    radius, wall, length = 20.0, 1.0, 120.0
    first = geo.addPlaneSurface([circle((0, 0, 0), radius), circle((0, 0, 0), radius - wall)])
    made = geo.extrude([(2, first)], 0, 0, MILLIMETRE * length, [round(length / edge)], recombine=hexahedra)
    ends([first], [made[0][1]])
    return [1e5, 0.0, 0.0]


def blade(edge, hexahedra):
    chord, thick, camber, height, n = 40.0, 3.0, 4.0, 150.0, 24
    x = [chord * (1 - math.cos(math.pi * i / n)) / 2 for i in range(n + 1)]
    middle = [4 * camber * a / chord * (1 - a / chord) for a in x]
    half = [0.2 + thick * math.sqrt(a / chord) * (1 - a / chord) for a in x]
    side = lambda sign: [geo.addPoint(*(MILLIMETRE * c for c in (a, m + sign * h, 0))) for a, m, h in zip(x, middle, half)]
    upper, lower = side(1), side(-1)
    curves = [geo.addSpline(upper), geo.addLine(upper[-1], lower[-1]), geo.addSpline(lower[::-1])]
    first = geo.addPlaneSurface([geo.addCurveLoop([*curves, geo.addLine(lower[0], upper[0])])])
    axis, rise, layers = MILLIMETRE * chord / 2, MILLIMETRE * height / 2, round(height / 2 / edge)
    half_way = lambda of, count, recombine: geo.twist(
        of, axis, 0, 0, 0, 0, rise, 0, 0, 1, math.pi / 12, [count], recombine=recombine
    )
    last = swept(first, [(half_way, layers)] * 2, hexahedra)
    ends([first], [last])
    return [0.0, 1e5, 0.0]


def bracket(edge, hexahedra):
    length, thick, width = 60.0, 3.0, 40.0
    corners = [(0, 0), (length, 0), (length, thick), (thick, thick), (thick, length), (0, length)]
    first = geo.addPlaneSurface([loop([(a, b, 0) for a, b in corners])])
    made = geo.extrude([(2, first)], 0, 0, MILLIMETRE * width, [round(width / edge)], recombine=hexahedra)
    # Sides follow the loop: the second is the end of one leg, the fifth of the other.
    ends([made[6][1]], [made[3][1]])
    return [0.0, -1e5, 0.0]


# Of each part the edge lengths of tet10 and hex20 in millimetres.
PARTS = {spring: (0.7, 0.7), sheet: (1.5, 1.5), tube: (1.5, 1.5), blade: (1.5, 1.5), bracket: (1.8, 1.5)}


def make(part, element, finer, folder):
    """Writes the mesh and the case file of a part; the case's path."""
    hexahedra = element == "hex20"
    gmsh.model.add(part.__name__)
    edge = PARTS[part][hexahedra] / finer
    vector = part(edge, hexahedra)
    gmsh.option.setNumber("Mesh.MeshSizeMin", MILLIMETRE * edge)
    gmsh.option.setNumber("Mesh.MeshSizeMax", MILLIMETRE * edge)
    gmsh.option.setNumber("Mesh.RecombineAll", int(hexahedra))
    gmsh.option.setNumber("Mesh.SecondOrderIncomplete", 1)
    gmsh.option.setNumber("Mesh.SecondOrderLinear", 1)
    gmsh.option.setNumber("Mesh.RecombinationAlgorithm", 1)
    gmsh.option.setNumber("Mesh.Algorithm", 8 if hexahedra else 6)
    mesh.generate(3)
    mesh.setOrder(2)
    path = folder / f"{part.__name__}_{element}.msh"
    gmsh.write(str(path))
    gmsh.model.remove()
    case = path.with_suffix(".toml")
    case.write_text(CASE.format(file=path.name, vector=vector))
    return case


def solve(program, case):
    """A row of the table: what multigrid took."""
    out = case.with_suffix("")
    ran = subprocess.run([program, "solve", case, "-o", out, "--quiet"], capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"{case}: {ran.stderr}")
    summary = json.loads((out / "summary.json").read_text())
    solver = summary["solver"]
    return {
        "part": case.stem.split("_")[0],
        "element": case.stem.split("_")[1],
        "unknowns": summary["dofs"],
        "iterations": solver["iterations"],
        "error_estimate": solver["error_estimate"],
        "operator_complexity": round(solver["multigrid"]["operator_complexity"], 3),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warpfem", default="target/release/warpfem", help="the program")
    parser.add_argument("--parts", default=",".join(part.__name__ for part in PARTS), help="some of the parts")
    parser.add_argument("--finer", default=1.0, type=float, help="what edge lengths are divided by")
    parser.add_argument("--json", type=pathlib.Path, help="where to write the table")
    parser.add_argument("-o", dest="folder", type=pathlib.Path, help="where meshes stay")
    options = parser.parse_args()
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Verbosity", 1)
    rows = []
    with tempfile.TemporaryDirectory() as removed:
        folder = options.folder or pathlib.Path(removed)
        folder.mkdir(parents=True, exist_ok=True)
        for part in PARTS:
            if part.__name__ in options.parts.split(","):
                for element in ("tet10", "hex20"):
                    row = solve(options.warpfem, make(part, element, options.finer, folder))
                    print("{part:8} {element}  {unknowns:7,} unknowns  {iterations:3} iterations".format(**row))
                    rows.append(row)
    if options.json:
        options.json.write_text(json.dumps({"finer": options.finer, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
