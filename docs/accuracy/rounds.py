#!/usr/bin/env python3
"""Meshes a geometry, solves, and refines, until the estimated error is small enough: `python3 rounds.py PART.geo CASE.toml`.

Needs `pip install gmsh`, and `warpfem` on the path. PART is what Gmsh opens, a .geo or a STEP file that makes the groups that the
case names. The mesh goes to where the case has it. Exit code 1: the error is larger than wanted after the last round.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib

import gmsh


def mesh(geometry, to, sizes=None, factor=1.0):
    """Writes a mesh, of these sizes if there are any."""
    gmsh.initialize(["gmsh", "-v", "2"])
    gmsh.open(str(geometry))
    if sizes:
        gmsh.merge(str(sizes))
        field = gmsh.model.mesh.field.add("PostView")
        gmsh.model.mesh.field.setAsBackgroundMesh(field)
        # The sizes are the view's alone.
        for option in ("MeshSizeExtendFromBoundary", "MeshSizeFromPoints", "MeshSizeFromCurvature"):
            gmsh.option.setNumber(f"Mesh.{option}", 0)
    gmsh.option.setNumber("Mesh.MeshSizeFactor", factor)
    gmsh.model.mesh.generate(gmsh.model.getDimension())
    gmsh.write(str(to))
    gmsh.finalize()


def estimate(program, case, wanted, sizes):
    """Solves, writes the sizes for the wanted error, and returns the numbers of `--json`."""
    numbers = sizes.with_suffix(".json")
    command = [program, "refine", case, "--error", wanted, "-o", sizes, "--json", numbers, "--quiet"]
    subprocess.run([str(word) for word in command], check=True)
    return json.loads(numbers.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("geometry", type=pathlib.Path)
    parser.add_argument("case", type=pathlib.Path)
    parser.add_argument("--error", type=float, default=0.01, help="wanted relative error in the energy norm [0.01]")
    parser.add_argument("--rounds", type=int, default=5, help="most meshes that are made [5]")
    parser.add_argument("--program", default="warpfem", help="the program [warpfem]")
    args = parser.parse_args()
    file = args.case.parent / tomllib.loads(args.case.read_text())["mesh"]["file"]
    with tempfile.TemporaryDirectory() as folder:
        sizes = pathlib.Path(folder) / "sizes.pos"
        mesh(args.geometry, file)
        for round in range(1, args.rounds + 1):
            found = estimate(args.program, args.case, args.error, sizes)
            print(f"round {round}: {found['unknowns']:,} unknowns, estimated error {100 * found['estimated_error']:.2f} %", flush=True)
            if found["estimated_error"] <= args.error:
                return 0
            if found["estimated_error"] > 2 * args.error and round < args.rounds - 1:
                # A coarse mesh does not know the sizes for much less: half of its error comes first.
                estimate(args.program, args.case, 0.5 * found["estimated_error"], sizes)
            if round < args.rounds:
                mesh(args.geometry, file, sizes)
    return 1


if __name__ == "__main__":
    sys.exit(main())
