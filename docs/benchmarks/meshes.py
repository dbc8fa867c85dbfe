#!/usr/bin/env python3
"""Makes the large unstructured meshes that measurements use, each with a case file beside it, with Gmsh.

    python3 docs/benchmarks/meshes.py -o FOLDER                     # the bracket and all ten cubes
    python3 docs/benchmarks/meshes.py -o FOLDER --bracket 200000    # a bracket of at least so many nodes
    python3 docs/benchmarks/meshes.py -o FOLDER --cube 463 51572    # cubes of about so many nodes

bracket   a steel L-bracket with a rounded profile, four bolt holes and a bore: groups `body`, `fixed` (the bolt holes),
          `load` (the bore), `fillet`; finer near what is curved. At least as many nodes as asked for, at most 5 % more.
cube      DSM's unstructured unit cube: groups `body`, `xmin` .. `zmax`. Within 1 % of the nodes asked for.
layers    a unit cube of so many cubes a side, of which the upper half is of a material 1,000 times as stiff as the lower.

The tetrahedra are those of Gmsh's Delaunay algorithm, its default, or with `--algorithm hxt` of HXT; Gmsh's own optimizer
improves them, and the nodes stay in Gmsh's order. The Delaunay algorithm runs on one thread and takes some seven minutes for
a million nodes, HXT on two threads a third of that. Files are binary MSH 2.2: 28 bytes for a node, 40 for an element. A number
of nodes is met by trial, from an edge length that is mostly right at once.
"""

import argparse
import importlib.util
import pathlib
import time

import gmsh
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
SPEC = importlib.util.spec_from_file_location("make", HERE.parent.parent / "meshes" / "make.py")
make = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make)

BRACKET = 1_000_000
CUBES = [463, 1149, 2199, 3419, 4759, 7348, 12342, 51572, 229515, 1_000_000]
ALGORITHMS = {"delaunay": 1, "hxt": 10}
TRIALS = 8

CASE = """\
# {what}
[mesh]
file = "{file}"

[analysis]
kind = "elasticity"

[[material]]
name = "steel"
on = "body"
young = 210e9
poisson = 0.3
density = 7850.0

[[support]]
on = "{fixed}"
fix = "xyz"

{load}
"""
LAYERS = """\
# Stiff over soft, 1,000 : 1, side by side along their whole interface.
[mesh]
file = "{file}"

[[material]]
name = "rubber"
on = "soft"
young = 2e8
poisson = 0.3

[[material]]
name = "metal"
on = "stiff"
young = 2e11
poisson = 0.3

[[support]]
on = "xmin"
fix = "xyz"

[[traction]]
on = "xmax"
vector = [1e6, 3e5, 2e6]
"""
GRAVITY = "[gravity]\nacceleration = [0.0, 0.0, -9.81]"
PULL = '[[traction]]\non = "load"\nvector = [0.0, 0.0, -2e6]'


def bracket_model(edge):
    """An L-bracket in metres: legs of 100 mm (up) and 110 mm (out), 60 mm wide, 20 mm thick."""
    make.start("bracket")
    occ, t, width = gmsh.model.occ, 0.020, 0.060
    corners = [
        (0.0, 0.0, 0.015), (0.110, 0.0, 0.006), (0.110, t, 0.006), (t, t, 0.012), (t, 0.100, 0.006), (0.0, 0.100, 0.004),
    ]
    leg = make.extrude_y(make.rounded_profile(corners), 0.0, width)
    hole, bore, fillet = 0.0045, 0.014, 0.012
    tools = [(3, occ.addCylinder(-t, y, z, 3 * t, 0, 0, hole)) for y in (0.015, 0.045) for z in (0.050, 0.085)]
    tools.append((3, occ.addCylinder(0.075, 0.5 * width, -t, 0, 0, 3 * t, bore)))
    occ.cut([leg], tools)
    occ.synchronize()
    bolts, bored, curved = make.cylinders(hole, 0), make.cylinders(bore, 2), make.cylinders(fillet, 1)
    make.group(3, [tag for _, tag in gmsh.model.getEntities(3)], "body")
    make.group(2, bolts, "fixed")
    make.group(2, bored, "load")
    make.group(2, curved, "fillet")
    # Edge lengths at points, interpolated along the surfaces and into the volume: a field of distances takes twice as long.
    gmsh.model.mesh.setSize(gmsh.model.getEntities(0), edge)
    near = gmsh.model.getBoundary([(2, tag) for tag in bolts + bored + curved], combined=False, recursive=True)
    gmsh.model.mesh.setSize(near, 0.7 * edge)
    make.sizes(0.7 * edge, edge)


def cube_model(edge):
    """DSM's unit cube with its six faces named."""
    make.cube_model("cube", edge)


def mesh(model, edge, algorithm, threads):
    """Meshes `model(edge)`; returns its nodes and the seconds it took."""
    model(edge)
    gmsh.option.setNumber("General.NumThreads", threads)
    gmsh.option.setNumber("Mesh.Algorithm3D", ALGORITHMS[algorithm])
    begin = time.time()
    gmsh.model.mesh.generate(3)
    tags, _, _ = gmsh.model.mesh.getNodes()
    return len(tags), time.time() - begin


def layers(cells, arguments):
    """A cube of two layers, stiff over soft, in `cells` cubes along each edge, and its case."""
    name = f"layers_{cells}"
    begin = time.time()
    make.start(name)
    occ = gmsh.model.occ
    halves = [(3, occ.addBox(0, 0, z, 1, 1, 0.5)) for z in (0, 0.5)]
    occ.fragment(halves[:1], halves[1:])
    occ.synchronize()
    gmsh.model.mesh.setTransfiniteAutomatic()
    for _, curve in gmsh.model.getEntities(1):
        gmsh.model.mesh.setTransfiniteCurve(curve, round(cells * occ.getMass(1, curve)) + 1)
    make.group(3, [volume for _, volume in gmsh.model.getEntities(3) if middle(3, volume)[2] < 0.5], "soft")
    make.group(3, [volume for _, volume in gmsh.model.getEntities(3) if middle(3, volume)[2] > 0.5], "stiff")
    for side, x in (("xmin", 0), ("xmax", 1)):
        make.group(2, [face for _, face in gmsh.model.getEntities(2) if abs(middle(2, face)[0] - x) < 1e-6], side)
    gmsh.model.mesh.generate(3)
    gmsh.option.setNumber("Mesh.MshFileVersion", 2.2)
    gmsh.option.setNumber("Mesh.Binary", 1)
    path = arguments.output / f"{name}.msh"
    gmsh.write(str(path))
    path.with_suffix(".toml").write_text(LAYERS.format(file=path.name))
    print(f"{path}: {len(gmsh.model.mesh.getNodes()[0])} nodes, {time.time() - begin:.1f} s, {path.stat().st_size} bytes")


def middle(dim, tag):
    """The middle of an entity's bounding box."""
    return np.array(gmsh.model.getBoundingBox(dim, tag)).reshape(2, 3).mean(axis=0)


def approach(name, model, edge, least, most, arguments):
    """Changes the edge length until the number of nodes lies within the bounds; the best guess aims at their middle."""
    for _ in range(TRIALS):
        nodes, seconds = mesh(model, edge, arguments.algorithm, arguments.threads)
        print(f"{name}: edge {edge:.6g} m, {nodes} nodes, {seconds:.1f} s", flush=True)
        if least <= nodes <= most:
            return nodes, seconds, edge
        edge *= (2 * nodes / (least + most)) ** (1 / 3)
    raise SystemExit(f"{name}: no edge length gives {least:.0f} to {most:.0f} nodes")


def write(name, result, arguments, **case):
    """Saves the mesh and its case file, and prints a line of its figures."""
    nodes, seconds, edge = result
    gmsh.option.setNumber("Mesh.MshFileVersion", 2.2)
    gmsh.option.setNumber("Mesh.Binary", 1)
    path = arguments.output / f"{name}.msh"
    gmsh.write(str(path))
    path.with_suffix(".toml").write_text(CASE.format(file=path.name, **case))
    tets, _ = gmsh.model.mesh.getElementsByType(make.TET4)
    gamma = np.array(gmsh.model.mesh.getElementQualities(tets, "gamma"))
    print(
        f"{path}: {nodes} nodes, {len(tets)} tets, gamma min {gamma.min():.3f} mean {gamma.mean():.3f}, edge {edge:.6g} m, "
        f"{arguments.algorithm}, {seconds:.1f} s, {path.stat().st_size} bytes, Gmsh {gmsh.__version__}",
        flush=True,
    )


def guess(length, surface, nodes):
    """The edge length for so many nodes: `length` for their cube root, and more where much of the body is surface."""
    return length * (1.0 + surface / nodes ** (1 / 3)) / nodes ** (1 / 3)


def title(nodes):
    """The number of nodes as names have it."""
    return f"{nodes // 1_000_000}m" if nodes % 1_000_000 == 0 else str(nodes)


def bracket(nodes, arguments):
    """The bracket with `nodes` nodes or a little more, and its case."""
    name = f"bracket_{title(nodes)}"
    result = approach(name, bracket_model, guess(0.0637, 3.2, 1.02 * nodes), nodes, 1.05 * nodes, arguments)
    what = "A steel bracket bolted to a wall, pulled down by its bore."
    write(name, result, arguments, what=what, fixed="fixed", load=PULL)


def cube(nodes, arguments):
    """The cube with about `nodes` nodes, and its case."""
    name = f"cube_{title(nodes)}"
    result = approach(name, cube_model, guess(0.885, 2.12, nodes), 0.99 * nodes, 1.01 * nodes, arguments)
    what = "DSM's unstructured unit cube in steel, clamped at x = 0, under its own weight."
    write(name, result, arguments, what=what, fixed="xmin", load=GRAVITY)


def main():
    """Makes what the command line asks for; everything if it names nothing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, metavar="FOLDER")
    parser.add_argument("--bracket", type=int, nargs="+", metavar="NODES", default=[])
    parser.add_argument("--cube", type=int, nargs="+", metavar="NODES", default=[])
    parser.add_argument("--layers", type=int, nargs="+", metavar="CELLS", default=[])
    parser.add_argument("--algorithm", choices=ALGORITHMS, default="delaunay")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    if not arguments.bracket and not arguments.cube and not arguments.layers:
        arguments.bracket, arguments.cube = [BRACKET], CUBES
    arguments.output.mkdir(parents=True, exist_ok=True)
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    for nodes in arguments.cube:
        cube(nodes, arguments)
    for nodes in arguments.bracket:
        bracket(nodes, arguments)
    for cells in arguments.layers:
        layers(cells, arguments)
    gmsh.finalize()


if __name__ == "__main__":
    main()
