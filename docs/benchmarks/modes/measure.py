#!/usr/bin/env python3
"""Measures modes, and many load cases, on a GPU, or makes the tables of what was measured.

    python3 docs/benchmarks/modes/measure.py WARPFEM-BENCH OUT.json      # some five minutes
    python3 docs/benchmarks/modes/measure.py --table FILE.json

Boxes of steel, clamped or free: the 10, 20 and 50 lowest modes of cubes of 3 million unknowns, 20 of a plate, of a beam and of a
free cube; one load case and 16 of a cube; products with one vector and with eight, and multigrid's cycle. Solutions are of a
mesh in memory, from there to results there: the first, which loads kernels, and the median of three more.
"""

import datetime
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "matrix_free"))
from solve import watched

STEEL = '[[material]]\nname = "steel"\nyoung = 210e9\npoisson = 0.3\ndensity = 7850.0\n'
CLAMP = '[[support]]\non = "xmin"\nfix = "xyz"\n'
CUBE = [1.0, 1.0, 1.0]
# What, element, size, cells, modes, supports.
MODES = [("cube", element, CUBE, cells, modes, CLAMP) for element, cells in (("hex8", [99] * 3), ("tet10", [49] * 3))
         for modes in (10, 20, 50)]
MODES += [
    ("free cube", "hex8", CUBE, [99] * 3, 20, ""),
    ("plate, 1/100 thick", "hex20", [1.0, 1.0, 0.01], [200, 200, 1], 20, CLAMP),
    ("beam, 1/50 thick", "hex8i", [1.0, 0.02, 0.02], [1000, 20, 20], 20, CLAMP),
]
PRODUCTS = [("hex8", 99), ("tet10", 49)]


def loads():
    vectors = ["[1.0, 0.0, 0.0]", "[0.0, 1.0, 0.5]", "[0.3, -0.2, 1.0]"]
    places = [(on, vector) for vector in vectors for on in ("ymin", "ymax", "zmin", "zmax", "xmax")]
    texts = [f'[[traction]]\nname = "l{i}"\non = "{on}"\nvector = {vector}\n' for i, (on, vector) in enumerate(places)]
    return "".join(texts) + '[[pressure]]\nname = "l15"\non = "ymax"\nvalue = 2.0\n'


class Bench:
    def __init__(self, binary):
        self.binary, self.folder = os.path.abspath(binary), tempfile.mkdtemp()

    def json(self, *arguments):
        command = [self.binary, *arguments, "--device", "cuda", "--json", f"{self.folder}/out.json"]
        peak = watched(command, output=subprocess.DEVNULL)
        with open(f"{self.folder}/out.json") as f:
            return {**json.load(f), "device_bytes": peak}

    def solve(self, element, size, cells, rest):
        with open(f"{self.folder}/case.toml", "w") as f:
            f.write(f'[mesh]\ngenerate = {{ kind = "box", element = "{element}", size = {size}, cells = {cells} }}\n{STEEL}{rest}')
        found = self.json("solve", f"{self.folder}/case.toml", "--energy", "--tolerance", "1e-6", "--automatic", "--samples", "3")
        kept = ["dofs", "steps", "iterations", "converged", "arithmetic", "preconditioner", "first", "again", "device_bytes"]
        return {"element": element, "cells": cells, **{key: found[key] for key in kept}}


def measure(binary, out):
    bench, modes, cases, products = Bench(binary), [], [], []
    for what, element, size, cells, n, supports in MODES:
        study = f'[analysis]\nstudy = "modal"\nmodes = {n}\n'
        modes.append({"what": what, **bench.solve(element, size, cells, study + supports)})
        print(json.dumps(modes[-1]), flush=True)
    for n in (1, 8, 16):
        listed = [f'[[load_case]]\nname = "c{i}"\nfactors = {{ l{i} = 1.0 }}\n' for i in range(n)]
        cases.append(bench.solve("hex8", CUBE, [99] * 3, CLAMP + loads() + "".join(listed)))
        print(json.dumps(cases[-1]), flush=True)
    for element, n in PRODUCTS:
        for precision in ("double", "single"):
            problem = ["--element", element, "--cells", str(n), "--precision", precision]
            product = bench.json("spmv", *problem, "--format", "ebw")
            cycle = bench.json("amg", *problem, "--tolerance", "1e-1", "--samples", "9")
            [row] = product["rows"]
            products.append({"element": element, "precision": precision, "dofs": product["dofs"],
                             "copy_gb_per_s": product["copy_gb_per_s"], "spmv_ms": row["spmv_ms"],
                             "spmv_several_ms": row["spmv_several_ms"], "own_of_copy": row["own_of_copy"], **cycle["cycle"]})
            print(json.dumps(products[-1]), flush=True)
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    device, driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.split("\n")[0].split(", ")
    with open(out, "w") as f:
        date = datetime.date.today().isoformat()
        json.dump({"device": device, "driver": driver, "date": date, "modes": modes, "cases": cases, "products": products}, f, indent=1)


def seconds(phases):
    setup = phases["setup"] + phases["assembly"] + phases["boundary"]
    return f"{setup:.2f} | {phases['solve']:.2f} | {setup + phases['solve']:.2f}"


def table(path):
    with open(path) as f:
        found = json.load(f)
    print(f"**{found['device']}**, {found['date']}:\n")
    print("| body | element | unknowns | modes | iterations | set-up, s | search, s | both, s | of the first run, s | memory, GB |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in found["modes"]:
        mark = "" if row["converged"] else " (not converged)"
        print(f"| {row['what']} | {row['element']} | {row['dofs']:,} | {row['steps']} | {row['iterations']}{mark} | {seconds(row['again'])} "
              f"| {seconds(row['first']).split(' | ')[2]} | {1e-9 * row['device_bytes']:.1f} |")
    print("\n| load cases of the cube, hex8 | iterations, all | solve, s | x one |\n| ---: | ---: | ---: | ---: |")
    one = found["cases"][0]["again"]["solve"]
    for row in found["cases"]:
        solve = row["again"]["solve"]
        print(f"| {row['steps']} | {row['iterations']} | {solve:.3f} | {solve / one:.2f} |")
    print("\n| cube | values | product, ms | with eight, ms | x one | cycle, ms | of eight, ms | x one |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in found["products"]:
        product, cycle = row["spmv_several_ms"] / row["spmv_ms"], row["several_ms"] / row["one_ms"]
        print(f"| {row['element']} | {row['precision']} | {row['spmv_ms']:.3f} | {row['spmv_several_ms']:.3f} | {product:.2f} "
              f"| {row['one_ms']:.2f} | {row['several_ms']:.2f} | {cycle:.2f} |")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    table(sys.argv[2]) if sys.argv[1] == "--table" else measure(*sys.argv[1:])
