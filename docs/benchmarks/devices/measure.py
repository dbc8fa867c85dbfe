"""Solutions on one and several GPUs of a machine: `python3 docs/benchmarks/devices/measure.py WARPFEM_BENCH FILE.json` measures,
`python3 docs/benchmarks/devices/measure.py WARPFEM_BENCH FILE.json largest` adds the largest bodies that fit, and `--table FILE.json`
prints the tables."""

import json
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

# Cells along the edges of a cube on one device: ten million unknowns.
CUBES = {"hex8": 149, "tet10": 74}
# And of ever larger cubes on all devices, until one does not fit or takes longer than a limit.
LARGE = [118, 148, 186, 234]
LIMIT_S = 150


def device():
    asked = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    listed = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip().splitlines()
    name, driver = listed[0].split(", ")
    return {"name": name, "number": len(listed), "driver": driver, "date": str(date.today())}


def boxes(n, cells):
    """Cells of a body n times as large, as compact as can be, and its edges."""
    sizes = [1, 1, 1]
    while sizes[0] * sizes[1] * sizes[2] < n:
        sizes[sizes.index(min(sizes))] *= 2
    return "x".join(str(size * cells) for size in sizes)


def solved(bench, element, preconditioner, devices, cells, samples):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        words = [bench, "solve", "--element", element, "--cells", cells, "--preconditioner", preconditioner, "--tolerance", "1e-6"]
        words += ["--devices", str(devices), "--device", "cuda", "--samples", str(samples), "--json", file.name]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return {"error": [f"more than {LIMIT_S} s"]}
        if done.returncode != 0:
            return {"error": [line for line in done.stderr.splitlines() if line.startswith("error")]}
        return json.loads(Path(file.name).read_text())


def measured(bench, scaling, element, preconditioner, devices, cells, samples):
    found = solved(bench, element, preconditioner, devices, cells, samples)
    if "error" in found:
        return {"cells": cells, **found}
    phases = found["again"]
    return {
        "element": element,
        "preconditioner": preconditioner,
        "devices": devices,
        "cells": cells,
        "unknowns": found["dofs"],
        "iterations": found["iterations"],
        "iteration_s": phases["iteration"],
        "phases_s": phases,
        "ranks": found["ranks"],
        "multigrid": found.get("multigrid"),
    }


def measure(bench, file, largest):
    of, rows = device(), json.loads(Path(file).read_text())["rows"] if largest else []
    number = of["number"]

    def note(scaling, element, preconditioner, devices, cells, samples):
        row = {"scaling": scaling, **measured(bench, scaling, element, preconditioner, devices, cells, samples)}
        print(row, flush=True)
        rows.append(row)
        Path(file).write_text(json.dumps({"device": of, "rows": rows}, indent=1))
        return "error" not in row

    if largest:
        all(note("largest", "tet10", "amg", number, f"{cells}x{cells}x{cells}", 1) for cells in LARGE)
        return
    for element, cells in CUBES.items():
        for preconditioner in ["jacobi", "amg"]:
            for n in [n for n in (1, 2, 4, 8) if n <= number]:
                note("weak", element, preconditioner, n, boxes(n, cells), 2 if n == 1 else 1)
                if n > 1:
                    note("strong", element, preconditioner, n, boxes(1, cells), 1)


def table(file):
    found = json.loads(Path(file).read_text())
    of, rows = found["device"], [row for row in found["rows"] if "error" not in row]
    print(f"**{of['name']}**, driver {of['driver']}, {of['date']}:\n")
    head = ["scaling", "element", "preconditioner", "devices", "unknowns", "iterations", "solve, s", "ms an iteration"]
    print("| " + " | ".join([*head, "exchanges, %", "whole solution, s"]) + " |")
    print("| --- | --- | --- |" + " ---: |" * 7)
    for row in rows:
        phases = row["phases_s"]
        names = [row[key] for key in ("scaling", "element", "preconditioner", "devices")]
        each = f"{1e3 * row['iteration_s']:.2f}" if "iteration_s" in row else ""
        share = [100 * rank["exchange_s"] / phases["solve"] for rank in row["ranks"]]
        numbers = [f"{row['unknowns']:,}", row["iterations"], f"{phases['solve']:.2f}", each]
        numbers += [f"{max(share):.0f}" if share else "", f"{phases['total']:.2f}"]
        print("| " + " | ".join(map(str, names + numbers)) + " |")


if sys.argv[1] == "--table":
    table(sys.argv[2])
else:
    measure(sys.argv[1], sys.argv[2], sys.argv[3:] == ["largest"])
