#!/usr/bin/env python3
"""What limits the products without a matrix: `limits.py run WARPFEM_BENCH -o FILE.json` reads the counters of a GPU by `ncu`,
`limits.py table` prints the tables of README.md from the JSON files beside it."""

import argparse
import csv
import json
import os
import pathlib
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).parent
PRECISIONS = {"f64": "double", "f32": "single"}
# Element, cells along an edge, curve.
CASES = [("hex20", 62, 0.05), ("hex8", 100, 0.0), ("tet10", 50, 0.0), ("tet10", 50, 0.05), ("tet4", 100, 0.0)]
# Shares of what the GPU can do at most, by what they are of.
SHARES = {
    "memory": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "L2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "shared memory": "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "double": "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_elapsed",
    "single": "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "instructions": "sm__issue_active.avg.pct_of_peak_sustained_elapsed",
}
WARPS = "sm__warps_active.avg.pct_of_peak_sustained_active"
CONFLICTS, WAVEFRONTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
OPERATIONS = {f"smsp__sass_thread_inst_executed_op_{kind}{op}_pred_on.sum": 2 if op == "fma" else 1
              for kind in "df" for op in ("fma", "add", "mul")}
METRICS = ["gpu__time_duration.sum", "dram__bytes.sum", "launch__registers_per_thread", *SHARES.values(), WARPS, CONFLICTS, WAVEFRONTS, *OPERATIONS]


def counters(command, kernel):
    """The counters of one launch of a kernel whose name has this in it, after the first few."""
    profile = ["ncu", "--clock-control", "none", "--csv", "--metrics", ",".join(METRICS), "-k", f"regex:{kernel}"]
    command = [*profile, "--launch-skip", "6", "--launch-count", "1", *command, "--samples", "1"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = text[text.index('"ID"'):].splitlines()
    rows = list(csv.DictReader(lines))
    return rows[0]["Kernel Name"], {row["Metric Name"]: float(row["Metric Value"].replace(",", "")) for row in rows if row["Metric Name"]}


def run(arguments):
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "of.json")
        for element, cells, curve in CASES:
            for precision in ("double", "single"):
                command = [arguments.bench, "matrix-free", "--element", element, "--cells", str(cells), "--distort", "0.12",
                           "--curve", str(curve), "--device", "cuda", "--alone", "--precision", precision, "--json", path]
                name, values = counters(command, "patch_product")
                report = json.loads(pathlib.Path(path).read_text())
                found.append({"element": element, "curve": curve, "precision": precision, "dofs": report["dofs"],
                              "kernel": name, "counters": values})
    result = {"device": report["device"], "date": time.strftime("%Y-%m-%d"), "kernels": found}
    arguments.output.write_text(json.dumps(result, indent=1) + "\n")


def table(_):
    several = json.loads(sorted(HERE.glob("several-*.json"))[-1].read_text())
    print(f"{several['device']}, {several['date']}:\n\n| element, precision, unknowns | one, ms | four | eight | four one by one, times |")
    print("| --- | --- | --- | --- | --- |")
    for of in several["runs"].values():
        row = next(row for row in of["rows"] if row["product"] == "by formulas")
        name = f"{of['problem'].split()[0]}{', curved' if of['curve'] else ''}, {PRECISIONS[of['precision']]}, {of['dofs'] / 1e6:.1f} million"
        one, (four, eight) = row["product_ms"], row["products_ms"]
        print(f"| {name} | {one:.3f} | {four:.3f} | {eight:.3f} | {4 * one / four:.2f} |")
    found = json.loads(sorted(HERE.glob("limits-*.json"))[-1].read_text())
    print(f"\n{found['device']}, {found['date']}:")
    names = [f"{of['element']}{', curved' if of['curve'] else ''}, {of['precision']}" for of in found["kernels"]]
    print("\n| element, precision | B | operations | TFLOP/s | memory | L2 | shared memory (conflicts) | arithmetic | instructions | warps |")
    print("| --- |" + " --- |" * 9)
    for name, of in zip(names, found["kernels"]):
        values = of["counters"]
        seconds, flop = 1e-9 * values["gpu__time_duration.sum"], sum(count * values[name] for name, count in OPERATIONS.items())
        share = {name: values[metric] for name, metric in SHARES.items()}
        conflicts = 100 * values[CONFLICTS] / values[WAVEFRONTS]
        numbers = [f"{values['dram__bytes.sum'] / of['dofs']:.0f}", f"{flop / of['dofs']:.0f}", f"{flop / seconds / 1e12:.1f}"]
        numbers += [f"{share[name]:.0f}" for name in ("memory", "L2")] + [f"{share['shared memory']:.0f} ({conflicts:.0f})"]
        numbers += [f"{share[of['precision']]:.0f}", f"{share['instructions']:.0f}", f"{values[WARPS]:.0f}"]
        print(f"| {name} | {' | '.join(numbers)} |")


parser = argparse.ArgumentParser(description=__doc__)
commands = parser.add_subparsers(required=True)
running = commands.add_parser("run")
running.add_argument("bench")
running.add_argument("-o", "--output", type=pathlib.Path, required=True)
running.set_defaults(do=run)
commands.add_parser("table").set_defaults(do=table)
arguments = parser.parse_args()
arguments.do(arguments)
