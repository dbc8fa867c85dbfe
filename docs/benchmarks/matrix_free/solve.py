#!/usr/bin/env python3
"""Solutions with and without a matrix, in turn: `solve.py run WARPFEM DEVICE -o FILE.json [--of large|linear|host]` measures cubes,
mostly of quadratic elements, those of `host` in a size for CPUs; `solve.py table` prints the tables of README.md from the JSON files beside it."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).parent
CASE = """[mesh]
generate = {{ kind = "box", element = "{0}", size = [1.0, 1.0, 1.0], cells = [{1}, {1}, {1}] }}
[analysis]
kind = "elasticity"
[[material]]
name = "steel"
on = "body"
young = 200e9
poisson = 0.3
[[support]]
on = "xmin"
fix = "xyz"
[[traction]]
on = "xmax"
vector = [0.0, 0.0, -2.5e6]
[output]
fields = ["displacement"]
"""
# Element, cells along an edge, flags, how often.
USUAL = [("tet10", 50, [], 4), ("hex20", 62, [], 4), ("hex20", 62, ["--preconditioner", "jacobi", "--residual-tolerance", "1e-8"], 1)]
LARGE = [("tet10", 127, [], 1), ("tet10", 202, [], 1)]
LINEAR = [(element, cells, ["--preconditioner", "amg"], 5) for cells in (100, 150) for element in ("hex8", "tet4")]
HOST = [("tet10", 25, [], 7), ("hex20", 31, [], 7)]
PHASES = ["setup", "assembly", "boundary", "solve", "total"]


def device_bytes():
    """What is used of the GPU's memory."""
    command = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[0]) << 20


def watched(command, watches=True, output=None):
    """Runs a command; the most of the GPU's memory that was used meanwhile."""
    peak, running = 0, subprocess.Popen(command, stdout=output)
    while running.poll() is None:
        peak = max(peak, device_bytes()) if watches else 0
        time.sleep(0.1)
    if running.returncode:
        raise SystemExit(f"{command}: exit code {running.returncode}")
    return peak


def host_bytes(command):
    """Runs a command; the most of the machine's memory that it used."""
    running = subprocess.Popen(command)
    _, status, usage = os.wait4(running.pid, 0)
    if status:
        raise SystemExit(f"{command}: status {status}")
    return usage.ru_maxrss << 10


def solve(command, watches, is_host):
    """Runs a solution; its summary, and the most of the GPU's memory, or of the host's, that was used meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*command, "-o", folder, "--quiet"]
        peak = host_bytes(command) if is_host else watched(command, watches)
        return json.loads((pathlib.Path(folder) / "summary.json").read_text()), peak


def run(arguments):
    found, cubes = [], {"usual": USUAL, "large": LARGE, "linear": LINEAR, "host": HOST}[arguments.of]
    is_large, is_host = arguments.of == "large", arguments.device == "cpu"
    with tempfile.TemporaryDirectory() as folder:
        for element, cells, flags, times in cubes:
            case = pathlib.Path(folder) / f"{element}_{cells}.toml"
            case.write_text(CASE.format(element, cells))
            operators = ["matrix_free"] if is_large else ["assembled", "matrix_free"]
            rows = {operator: [] for operator in operators}
            # The first runs of each load the kernels; a GPU's memory is watched then, and takes no time from the others.
            for i in range(times if is_large else times + 1):
                for operator in operators:
                    command = [arguments.warpfem, "solve", case, "--device", arguments.device, "--operator", operator, *flags]
                    rows[operator].append(solve(command, is_large or arguments.of == "linear" and i == 0, is_host))
            for operator, runs in rows.items():
                summary, solver = runs[-1][0], runs[-1][0]["solver"]
                peak = max(peak for _, peak in runs)
                found.append({"element": element, "cells": cells, "unknowns": summary["dofs"], "operator": operator}
                             | {key: solver[key] for key in ("preconditioner", "precision", "iterations")}
                             | {"runs": [{key: run["timings_s"][key] for key in PHASES} for run, _ in runs[-times:]]}
                             | ({"peak_bytes": peak} if peak else {}))
                device = summary["device"]
    result = {"device": device, "date": time.strftime("%Y-%m-%d"), "solutions": found}
    arguments.output.write_text(json.dumps(result, indent=1) + "\n")


def gigabytes(peak):
    return f"{peak / 1e9:.{1 if peak > 1e9 else 2}f} GB"


def table(_):
    products = json.loads(sorted(HERE.glob("h200-*.json"))[-1].read_text())
    print(f"Products, {products['device']}, {products['date']}:\n")
    print("| element, precision | assembled, GDoF/s | without a matrix | times | B/unknown kept |\n| --- | --- | --- | --- | --- |")
    for name, run_of in products["runs"].items():
        rows = {row["product"]: row for row in run_of["rows"]}
        with_matrix, without = rows["assembled"]["gdof_per_s"], rows["by formulas"]["gdof_per_s"]
        curved = ", curved" if run_of["curve"] else ""
        element, precision = run_of["problem"].split()[0], {"f64": "double", "f32": "single"}[run_of["precision"]]
        kept = rows["by formulas"]["stored_bytes"] / run_of["dofs"]
        print(f"| {element}{curved}, {precision} | {with_matrix:.1f} | {without:.1f} | {without / with_matrix:.1f} | {kept:.0f} |")
    for file in sorted(HERE.glob("solve-*.json")):
        found = json.loads(file.read_text())
        print(f"\nSolutions, {found['device']}, {found['date']}, seconds (medians):\n")
        print("| element, unknowns | products | preconditioner | iterations | set-up to supports | solve | whole | memory |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for one in found["solutions"]:
            of = {key: statistics.median(run[key] for run in one["runs"]) for key in PHASES}
            before, peak = of["setup"] + of["assembly"] + of["boundary"], one.get("peak_bytes")
            print(f"| {one['element']}, {one['unknowns'] / 1e6:.1f} million | {one['operator'].replace('_', ' ')} | {one['preconditioner']}, "
                  f"{one['precision']} | {one['iterations']} | {before:.3f} | {of['solve']:.3f} | {of['total']:.2f} | {gigabytes(peak) if peak else ''} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    measure = commands.add_parser("run")
    measure.add_argument("warpfem")
    measure.add_argument("device")
    measure.add_argument("-o", "--output", type=pathlib.Path, required=True)
    measure.add_argument("--of", choices=["usual", "large", "linear", "host"], default="usual")
    measure.set_defaults(command=run)
    commands.add_parser("table").set_defaults(command=table)
    arguments = parser.parse_args()
    arguments.command(arguments)


if __name__ == "__main__":
    main()
