#!/usr/bin/env python3
"""Twelve bodies by CalculiX and by warpfem on a CPU: user and system seconds of whole runs, results on disk included.

    python3 docs/benchmarks/cpu_cases.py [--warpfem PROGRAM] [--ccx PROGRAM] [--cases plate_hex8,..] [--json FILE]
    python3 docs/benchmarks/cpu_cases.py --table FILE

Boxes of steel, held at x = 0, under their own weight: cubes, beams, plates, flat and stretched cells. The same mesh file goes to
`SPOOLES` (CalculiX's default, direct), `ITERATIVE` (its conjugate gradients, `ITERATIVE SCALING`, to its own tolerance), and
warpfem with its default, `--method direct` and `--preconditioner amg`, to an estimated error of 1e-6. Each may use two
threads. Runs that take less than 5 s are repeated, and the median is taken. One that takes longer than `--limit` seconds,
or lacks memory, has no figure. Needs `meshio`. Linux.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import signal
import statistics
import subprocess
import tempfile

from peers import largest_displacement

# Element, edge lengths, cells along each edge.
CASES = {
    "cube_hex8_20": ("hex8", (1, 1, 1), (20, 20, 20)),
    "cube_hex8_35": ("hex8", (1, 1, 1), (35, 35, 35)),
    "cube_hex8_60": ("hex8", (1, 1, 1), (60, 60, 60)),
    "cube_tet10_10": ("tet10", (1, 1, 1), (10, 10, 10)),
    "cube_tet10_20": ("tet10", (1, 1, 1), (20, 20, 20)),
    "cube_hex20_16": ("hex20", (1, 1, 1), (16, 16, 16)),
    "beam_hex20": ("hex20", (50, 1, 1), (200, 4, 4)),
    "beam_tet10": ("tet10", (50, 1, 1), (100, 2, 2)),
    "plate_hex8": ("hex8", (1, 1, 0.02), (150, 150, 3)),
    "plate_hex20": ("hex20", (1, 1, 0.04), (50, 50, 2)),
    "flat_hex20": ("hex20", (1, 1, 0.005), (50, 50, 1)),
    "stretched_hex8": ("hex8", (20, 1, 1), (30, 30, 30)),
}
YOUNG, POISSON, DENSITY, GRAVITY = 210e9, 0.3, 7850.0, 9.81
TYPES = {"hexahedron": "C3D8", "hexahedron20": "C3D20", "tetra10": "C3D10"}
CASE = f"""[mesh]
file = "mesh.msh"
[[material]]
name = "steel"
young = {YOUNG}
poisson = {POISSON}
density = {DENSITY}
[[support]]
on = "xmin"
fix = "xyz"
[gravity]
acceleration = [0.0, 0.0, -{GRAVITY}]
"""
WARPFEM = {"auto": [], "direct": ["--method", "direct"], "amg": ["--method", "cg", "--preconditioner", "amg"]}
CALCULIX = {"SPOOLES": "SPOOLES", "ITERATIVE": "ITERATIVE SCALING"}


def write_deck(mesh, folder, solver):
    """CalculiX's input for a mesh."""
    with open(folder / f"{solver}.inp", "w") as deck:
        deck.write("*NODE, NSET=NALL\n")
        deck.writelines(f"{i},{x:.15g},{y:.15g},{z:.15g}\n" for i, (x, y, z) in enumerate(mesh.points, 1))
        for block in mesh.cells:
            if block.type in TYPES:
                deck.write(f"*ELEMENT, TYPE={TYPES[block.type]}, ELSET=EALL\n")
                for i, cell in enumerate(block.data + 1, 1):
                    numbers = [str(node) for node in [i, *cell]]
                    lines = [",".join(numbers[k : k + 15]) for k in range(0, len(numbers), 15)]
                    deck.write(",\n".join(lines) + "\n")
        deck.write("*NSET, NSET=HELD\n")
        deck.writelines(f"{i},\n" for i, point in enumerate(mesh.points, 1) if point[0] == 0.0)
        deck.write(f"*MATERIAL, NAME=STEEL\n*ELASTIC\n{YOUNG}, {POISSON}\n*DENSITY\n{DENSITY}\n")
        deck.write("*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL\n*BOUNDARY\nHELD, 1, 3\n")
        deck.write(f"*STEP\n*STATIC, SOLVER={CALCULIX[solver]}\n*DLOAD\nEALL, GRAV, {GRAVITY}, 0., 0., -1.\n")
        deck.write("*NODE FILE\nU\n*EL FILE\nS\n*END STEP\n")


def run(command, folder, limit):
    """User and system seconds of a program; none if it fails or takes too long."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        child.wait(limit)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
        child.wait()
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime if child.returncode == 0 else None


def median(command, folder, limit):
    """The median of three runs, or the first where it takes long."""
    first = run(command, folder, limit)
    if first is None or first > 5.0:
        return first
    return statistics.median([first, run(command, folder, limit), run(command, folder, limit)])


def measure(name, options):
    """A row: seconds and the largest displacement of each program."""
    import meshio

    element, size, cells = CASES[name]
    row = {"case": name, "seconds": {}, "max_displacement": {}}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        box = ["mesh", "box", "--element", element, "--size", *map(str, size), "--cells", *map(str, cells), "-o", "mesh.msh"]
        subprocess.run([options.warpfem, *box], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (folder / "case.toml").write_text(CASE)
        mesh = meshio.read(folder / "mesh.msh")
        row["unknowns"] = 3 * len(mesh.points)
        for solver in CALCULIX:
            write_deck(mesh, folder, solver)
            row["seconds"][solver] = median([options.ccx, solver], folder, options.limit)
            if row["seconds"][solver] is not None:
                row["max_displacement"][solver] = largest_displacement(folder / f"{solver}.frd")
        for program, flags in WARPFEM.items():
            command = [options.warpfem, "solve", "case.toml", "--device", "cpu", "--quiet", "-o", program, *flags]
            row["seconds"][program] = median(command, folder, options.limit)
            if row["seconds"][program] is not None:
                summary = json.loads((folder / program / "summary.json").read_text())
                row["max_displacement"][program] = summary["results"]["max_displacement"]
                if program == "auto":
                    row["chosen"] = summary["solver"]["preconditioner"] if summary["solver"]["method"] == "cg" else "direct"
    return row


def table(rows):
    """The rows as a table in Markdown."""
    programs = [*CALCULIX, *WARPFEM]
    lines = ["| case | unknowns | " + " | ".join(programs) + " | chosen |", "| --- " * (len(programs) + 3) + "|"]
    for row in rows:
        seconds = [row["seconds"][program] for program in programs]
        figures = ["–" if s is None else f"{s:.2f}" if s < 10 else f"{s:.0f}" for s in seconds]
        lines.append(f"| {row['case']} | {row['unknowns']:,} | " + " | ".join(figures) + f" | {row.get('chosen', '–')} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warpfem", default="target/release/warpfem", type=pathlib.Path, help="the program")
    parser.add_argument("--ccx", default="ccx", help="CalculiX")
    parser.add_argument("--cases", default=",".join(CASES), help="some of the cases")
    parser.add_argument("--limit", default=180.0, type=float, help="seconds that a run may take")
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    parser.add_argument("--table", type=pathlib.Path, help="only print the table of these figures")
    options = parser.parse_args()
    if options.table:
        print(table(json.loads(options.table.read_text())["rows"]))
        return
    os.environ["OMP_NUM_THREADS"] = os.environ["RAYON_NUM_THREADS"] = "2"
    options.warpfem = options.warpfem.resolve()
    version = subprocess.run([options.ccx, "-v"], capture_output=True, text=True).stdout
    found = {"calculix": re.search(r"Version\s+(\S+)", version, re.IGNORECASE)[1], "threads": 2, "limit_s": options.limit, "rows": []}
    for name in options.cases.split(","):
        found["rows"].append(measure(name, options))
        print(table(found["rows"][-1:]).splitlines()[-1], flush=True)
        if options.json:
            options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
