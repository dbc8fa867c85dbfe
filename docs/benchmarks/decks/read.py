#!/usr/bin/env python3
"""Times the reading of a large deck by warpfem, meshio and ccx, in turn: `read.py BINARY [CELLS] -o FILE.json`.

A box of C3D10 with CELLS cells along its edges (default 62: 1,953,125 nodes). `warpfem info` reads the mesh, makes groups of its
sets and checks its elements; `meshio.read` makes arrays of it; ccx reads it and stops at a card behind it that is wrong. Medians
of RUNS runs, each a process of its own, with its largest resident memory. Needs meshio, and `ccx` (in Debian calculix-ccx).
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import measure

RUNS = 3
# Refused where it is read: a material without a name.
WRONG = "*MATERIAL\n*STEP\n*STATIC\n*END STEP\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("cells", type=int, nargs="?", default=62)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    binary, n = str(arguments.binary.resolve()), str(arguments.cells)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run = lambda *words: subprocess.run([binary, *words], cwd=folder, check=True, capture_output=True)  # noqa: E731
        run("mesh", "box", "--element", "tet10", "--cells", n, n, n, "-o", "box.msh")
        run("convert", "box.msh", "box.inp")
        size = (folder / "box.inp").stat().st_size
        (folder / "wrong.inp").write_text((folder / "box.inp").read_text() + WRONG)
        programs = {
            "warpfem": [binary, "info", "box.inp"],
            "meshio": [sys.executable, "-c", "import meshio; print(len(meshio.read('box.inp').points))"],
            "ccx": ["ccx", "wrong"],
        }
        found = {name: [measure.timed(command, folder) for _ in range(RUNS)] for name, command in programs.items()}
    rows = {name: {"seconds": statistics.median(run[0] for run in runs), "memory": max(run[1] for run in runs),
                   "status": [run[2] for run in runs]} for name, runs in found.items()}
    result = {"date": datetime.date.today().isoformat(), "cores": os.cpu_count(), "nodes": (2 * arguments.cells + 1) ** 3,
              "bytes": size, "runs": RUNS, "programs": rows}
    arguments.output.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
