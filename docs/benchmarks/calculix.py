"""Times whole solutions by CalculiX (`ccx`) and by warpfem, in turn: from the command to the results on disk.

    python3 docs/benchmarks/calculix.py [--warpfem PROGRAM] [--ccx PROGRAM] [--cells 60] [--samples 3] [--json FOLDER]

The problem is the unit cube, E = 210 GPa, nu = 0.3, held at z = 0, under a pressure of 1 MPa on z = 1, in cells^3 hex8 or six
tet4 each. CalculiX reads its deck, which is written beforehand and not counted, solves by its own conjugate gradients
(`ITERATIVE SCALING`, a diagonal preconditioner, to its own tolerance) and writes displacements alone; warpfem makes the
mesh, solves to a relative residual of 1e-8, and writes displacements, stresses, a table, a picture and a report. Both may use
all processors, or as many as OMP_NUM_THREADS says. Figures are medians; memory is the largest resident set. Linux.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time

import numpy as np

# Corners of a cell as (x, y, z), and six tetrahedra of it around the diagonal 0-6, in the order of Gmsh and VTK.
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
KUHN = [[0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6], [0, 5, 1, 6]]
# What of a cell's upper side each corner of it carries.
SHARES = {"hex8": {4: 1 / 4, 5: 1 / 4, 6: 1 / 4, 7: 1 / 4}, "tet4": {4: 1 / 3, 5: 1 / 6, 6: 1 / 3, 7: 1 / 6}}
YOUNG, POISSON, PRESSURE, TOLERANCE = 210e9, 0.3, 1e6, 1e-8

CASE = """[mesh]
generate = {{ kind = "box", element = "{element}", size = [1.0, 1.0, 1.0], cells = [{n}, {n}, {n}] }}
[[material]]
name = "steel"
young = {young}
poisson = {poisson}
[[support]]
on = "zmin"
fix = "xyz"
[[pressure]]
on = "zmax"
value = {pressure}
[solver]
residual_tolerance = {tolerance}
preconditioner = "{preconditioner}"
"""


def write_deck(path, element, n):
    """CalculiX's input for the cube."""
    x, y, z = (axis.ravel(order="F") for axis in np.meshgrid(*[np.arange(n + 1)] * 3, indexing="ij"))
    origins = np.flatnonzero((x < n) & (y < n) & (z < n))
    cells = origins[:, None] + CORNERS @ [1, n + 1, (n + 1) ** 2]
    elements = cells if element == "hex8" else cells[:, KUHN].reshape(-1, 4)
    force = np.zeros(x.size)
    for corner, share in SHARES[element].items():
        np.add.at(force, cells[z[origins] == n - 1, corner], -PRESSURE * share / n**2)
    with open(path, "w") as deck:
        deck.write("*NODE, NSET=NALL\n")
        np.savetxt(deck, np.column_stack([np.arange(x.size) + 1, x / n, y / n, z / n]), "%d,%.15g,%.15g,%.15g")
        deck.write(f"*ELEMENT, TYPE={'C3D8' if element == 'hex8' else 'C3D4'}, ELSET=EALL\n")
        np.savetxt(deck, np.column_stack([np.arange(len(elements)) + 1, elements + 1]), "%d", ",")
        deck.write("*NSET, NSET=HELD\n")
        np.savetxt(deck, np.flatnonzero(z == 0) + 1, "%d,")
        deck.write(f"*MATERIAL, NAME=STEEL\n*ELASTIC\n{YOUNG}, {POISSON}\n*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL\n")
        deck.write("*BOUNDARY\nHELD, 1, 3\n*STEP\n*STATIC, SOLVER=ITERATIVE SCALING\n*CLOAD\n")
        loaded = np.flatnonzero(force)
        np.savetxt(deck, np.column_stack([loaded + 1, np.full(loaded.size, 3), force[loaded]]), "%d,%d,%.15g")
        deck.write("*NODE FILE\nU\n*END STEP\n")


def timed(command, folder):
    """Seconds, MiB at most, and the output of a program."""
    with open(folder / "out.txt", "w+") as out:
        start = time.perf_counter()
        child = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        out.seek(0)
        text = out.read()
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{text[-2000:]}")
    return seconds, usage.ru_maxrss / 1024, text


def by_calculix(program, folder, _):
    """A run of the deck there: seconds, MiB, iterations, the largest displacement."""
    (folder / "cube.frd").unlink(missing_ok=True)
    seconds, memory, text = timed([program, "cube"], folder)
    largest, block = 0.0, ""
    for line in open(folder / "cube.frd"):
        if line.startswith(" -4"):
            block = line.split()[1]
        elif block == "DISP" and line.startswith(" -1"):
            u = [float(line[13 + 12 * i : 25 + 12 * i]) for i in range(3)]
            largest = max(largest, sum(v * v for v in u))
    # It counts aloud, a line or a part of one per iteration.
    counts = re.findall(r"iteration[= :]+(\d+)", text, re.IGNORECASE)
    if not counts or largest == 0.0:
        raise SystemExit(f"CalculiX has no result:\n{text[-2000:]}")
    return seconds, memory, max(map(int, counts)), largest**0.5


def by_warpfem(program, folder, case):
    """As by_calculix, of a case there."""
    seconds, memory, _ = timed([program, "solve", case, "--device", "cpu", "-o", case.stem], folder)
    summary = json.loads((folder / case.stem / "summary.json").read_text())
    if not summary["solver"]["converged"]:
        raise SystemExit("warpfem did not come to the tolerance")
    return seconds, memory, summary["solver"]["iterations"], summary["results"]["max_displacement"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--warpfem", default="target/release/warpfem", type=pathlib.Path, help="our program")
    parser.add_argument("--ccx", default="ccx", help="CalculiX")
    parser.add_argument("--cells", default=60, type=int, help="cells along an edge")
    parser.add_argument("--samples", default=3, type=int, help="runs of each, whose medians are reported")
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures, and the summaries of our last runs, into this folder")
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))
    os.environ["RAYON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"]
    version = subprocess.run([arguments.ccx, "-v"], capture_output=True, text=True).stdout
    version = re.search(r"Version\s+(\S+)", version, re.IGNORECASE)
    theirs, n = f"CalculiX {version[1] if version else ''}".strip(), arguments.cells
    ours = arguments.warpfem.resolve()
    for element in ("hex8", "tet4"):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            write_deck(folder / "cube.inp", element, n)
            programs = [(f"{theirs}, ITERATIVE SCALING", by_calculix, arguments.ccx, None)]
            for name in ("jacobi", "amg"):
                case = folder / f"pressed_cube_{element}_{n}_{name}.toml"
                values = dict(element=element, n=n, young=YOUNG, poisson=POISSON, pressure=PRESSURE, tolerance=TOLERANCE)
                case.write_text(CASE.format(**values, preconditioner=name))
                programs.append((f"warpfem, {name}", by_warpfem, ours, case))
            samples = {name: [] for name, *_ in programs}
            for _ in range(arguments.samples):
                for name, run, program, case in programs:
                    samples[name].append(run(program, folder, case))
            for *_, case in programs[1:] if arguments.json else []:
                shutil.copy(folder / case.stem / "summary.json", arguments.json / f"{case.stem}.json")
        rows = []
        for name, found in samples.items():
            seconds, memory, iterations, displacement = zip(*found)
            row = {
                "program": name,
                "samples_s": seconds,
                "seconds": statistics.median(seconds),
                "peak_mib": statistics.median(memory),
                "iterations": iterations[0],
                "max_displacement": displacement[0],
            }
            rows.append(row)
            print(
                f"{element} {n}, {name}: {row['seconds']:.2f} s, {row['peak_mib']:.0f} MiB, "
                f"{row['iterations']} iterations, max |u| {row['max_displacement']:.9e} m"
            )
        if arguments.json:
            threads = int(os.environ["OMP_NUM_THREADS"])
            result = {
                "problem": f"{element} cube {n}",
                "device": f"cpu ({threads} thread{'s' if threads > 1 else ''})",
                "dofs": 3 * (n + 1) ** 3,
                "programs": rows,
            }
            (arguments.json / f"calculix_{element}.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
