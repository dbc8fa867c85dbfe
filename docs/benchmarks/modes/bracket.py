#!/usr/bin/env python3
"""Modes of a bolted bracket of C3D10 with about 300,000 unknowns: whole runs of warpfem and of CalculiX on the same deck.

    bracket.py mesh FOLDER                            makes the decks; needs gmsh
    bracket.py run WARPFEM FOLDER OUT.json [SECONDS]  runs them, each program on two cores; ccx is stopped after so many seconds
    bracket.py table OUT.json

The mesh is that of docs/benchmarks/meshes.py, of second order. ccx is the one in the PATH (ARPACK with SPOOLES), or CCX.
"""

import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
MODES = [10, 20, 50]
OF_CCX = 20
EDGE = 0.00304
MACHINE = platform.processor() or platform.machine()
DECK = """\
*INCLUDE, INPUT=bracket_mesh.inp
*MATERIAL, NAME=STEEL
*ELASTIC
210e9, 0.3
*DENSITY
7850.
*SOLID SECTION, ELSET=BODY, MATERIAL=STEEL
*BOUNDARY
FIXED, 1, 3
*STEP
*FREQUENCY
{n}
*NODE FILE
U
*END STEP
"""


def mesh(folder):
    sys.path.insert(0, str(HERE.parent))
    import gmsh
    import meshes

    folder.mkdir(parents=True, exist_ok=True)
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    meshes.bracket_model(EDGE)
    gmsh.option.setNumber("Mesh.ElementOrder", 2)
    gmsh.model.mesh.generate(3)
    tags, coords, _ = gmsh.model.mesh.getNodes()
    lines = ["*NODE"] + [f"{tag}, {x:.12g}, {y:.12g}, {z:.12g}" for tag, (x, y, z) in zip(tags, coords.reshape(-1, 3))]
    groups = {gmsh.model.getPhysicalName(*group): group for group in gmsh.model.getPhysicalGroups()}
    lines.append("*ELEMENT, TYPE=C3D10, ELSET=BODY")
    for entity in gmsh.model.getEntitiesForPhysicalGroup(*groups["body"]):
        for kind, cells, nodes in zip(*gmsh.model.mesh.getElements(3, entity)):
            rows = nodes.reshape(len(cells), -1)
            # Gmsh has the last two middle nodes the other way round.
            for cell, row in zip(cells, rows[:, [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]]):
                lines.append(f"{cell}, " + ", ".join(map(str, row)))
    lines.append("*NSET, NSET=FIXED")
    fixed = gmsh.model.mesh.getNodesForPhysicalGroup(*groups["fixed"])[0]
    lines += [", ".join(map(str, fixed[k : k + 12])) for k in range(0, len(fixed), 12)]
    (folder / "bracket_mesh.inp").write_text("\n".join(lines) + "\n")
    for n in MODES:
        (folder / f"bracket_{n}.inp").write_text(DECK.format(n=n))
    print(f"{3 * len(tags)} unknowns, {3 * len(fixed)} of them held")


def start(command, folder, cores):
    """Starts a program on two cores."""
    names = ("OMP_NUM_THREADS", "CCX_NPROC_EQUATION_SOLVER", "CCX_NPROC_STIFFNESS", "OPENBLAS_NUM_THREADS")
    environment = {**os.environ, **{name: "2" for name in names}}
    log = open(folder / f"{pathlib.Path(command[0]).name}.log", "w")
    process = subprocess.Popen(["taskset", "-c", cores, *command], cwd=folder, env=environment, stdout=log, stderr=log)
    return process, time.monotonic()


def finish(started, seconds):
    """Seconds and peak memory in MiB; none if it has to be stopped."""
    process, begin = started
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid and status:
            raise SystemExit(f"{process.args}: status {status}")
        if pid:
            return round(time.monotonic() - begin, 2), round(usage.ru_maxrss / 1024)
        if time.monotonic() - begin > seconds:
            process.kill()
            os.wait4(process.pid, 0)
            return None, None
        time.sleep(0.02)


def frequencies(folder, name):
    head = (folder / f"{name}.dat").read_text(errors="replace").split("P A R T I C I P A T I O N")[0]
    number = r"(-?\d\.\d+E[+-]\d+)"
    return [float(row[2]) for row in re.findall(rf"^ +\d+ +{number} +{number} +{number} +{number}", head, re.M)]


def measure(warpfem, folder, out, seconds):
    theirs = folder / "ccx"
    theirs.mkdir(exist_ok=True)
    for deck in folder.glob("*.inp"):
        shutil.copy(deck, theirs)
    of_ccx = start([os.environ.get("CCX", "ccx"), f"bracket_{OF_CCX}"], theirs, "2,3")
    rows = []
    for n in MODES:
        name = f"bracket_{n}"
        times = []
        for _ in range(3):
            took, memory = finish(start([str(warpfem), "solve", f"{name}.inp", "--device", "cpu", "--threads", "2", "--quiet"], folder, "0,1"), 600)
            times.append(took)
        ours = frequencies(folder, name)
        rows.append({"modes": n, "warpfem_s": sorted(times)[1], "warpfem_mib": memory, "first_hz": ours[0], "last_hz": ours[-1]})
        print(rows[-1], flush=True)
    row = next(row for row in rows if row["modes"] == OF_CCX)
    row["ccx_limit_s"] = seconds
    row["ccx_s"], row["ccx_mib"] = finish(of_ccx, seconds)
    if row["ccx_s"]:
        of = [frequencies(where, f"bracket_{OF_CCX}") for where in (folder, theirs)]
        row["apart"] = max(abs(a / b - 1.0) for a, b in zip(*of))
    print(row, flush=True)
    result = {"date": str(datetime.date.today()), "machine": MACHINE, "cores": os.cpu_count(), "rows": rows}
    out.write_text(json.dumps(result, indent=1) + "\n")


def table(path):
    print("| modes | warpfem, s | MiB | ccx, s | MiB | frequencies apart by |\n| ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in json.loads(path.read_text())["rows"]:
        theirs = row.get("ccx_s") or (f"more than {row['ccx_limit_s']}" if "ccx_limit_s" in row else "")
        apart = f"{row['apart']:.1e}" if "apart" in row else ""
        print(f"| {row['modes']} | {row['warpfem_s']} | {row['warpfem_mib']} | {theirs} | {row.get('ccx_mib') or ''} | {apart} |")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["mesh", folder]:
            mesh(pathlib.Path(folder))
        case ["run", warpfem, folder, out, *seconds]:
            measure(pathlib.Path(warpfem).resolve(), pathlib.Path(folder).resolve(), pathlib.Path(out), float(seconds[0]) if seconds else 3600.0)
        case ["table", path]:
            table(pathlib.Path(path))
        case _:
            raise SystemExit(__doc__)
