#!/usr/bin/env python3
"""What limits the products without a matrix: `limits.py run WARPFEM_BENCH -o FILE.json` reads the counters of a GPU by `ncu`,
`limits.py table` prints the tables of README.md from the JSON files beside it, `limits.py plot` draws roofline.svg from them."""

import argparse
import csv
import json
import math
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
DURATION = "gpu__time_duration.sum"
CLOCK, MULTIPROCESSORS = "sm__cycles_elapsed.avg.per_second", "device__attribute_multiprocessor_count"
METRICS = [DURATION, CLOCK, MULTIPROCESSORS, "dram__bytes.sum", "launch__registers_per_thread", *SHARES.values(), WARPS, CONFLICTS, WAVEFRONTS, *OPERATIONS]


def counters(command, kernel, metrics=METRICS):
    """The counters of one launch of a kernel whose name has this in it, after the first few."""
    profile = ["ncu", "--clock-control", "none", "--csv", "--metrics", ",".join(metrics), "-k", f"regex:{kernel}"]
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
                _, sums = counters(command, "sum_nodes", [DURATION])
                report = json.loads(pathlib.Path(path).read_text())
                found.append({"element": element, "curve": curve, "precision": precision, "dofs": report["dofs"],
                              "kernel": name, "counters": values, "sums_ns": sums[DURATION]})
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
    print("\n| element, precision | B | operations | TFLOP/s | memory | L2 | shared memory (conflicts) | arithmetic | instructions | warps | sums |")
    print("| --- |" + " --- |" * 10)
    for name, of in zip(names, found["kernels"]):
        values = of["counters"]
        seconds, flop = 1e-9 * values[DURATION], sum(count * values[name] for name, count in OPERATIONS.items())
        share = {name: values[metric] for name, metric in SHARES.items()}
        conflicts = 100 * values[CONFLICTS] / values[WAVEFRONTS]
        numbers = [f"{values['dram__bytes.sum'] / of['dofs']:.0f}", f"{flop / of['dofs']:.0f}", f"{flop / seconds / 1e12:.1f}"]
        numbers += [f"{share[name]:.0f}" for name in ("memory", "L2")] + [f"{share['shared memory']:.0f} ({conflicts:.0f})"]
        numbers += [f"{share[of['precision']]:.0f}", f"{share['instructions']:.0f}", f"{values[WARPS]:.0f}"]
        numbers.append(f"{100 * of['sums_ns'] / (of['sums_ns'] + values[DURATION]):.0f}")
        print(f"| {name} | {' | '.join(numbers)} |")


def plot(_):
    """Operations a second over operations for each byte of memory, below what memory and arithmetic allow; all on logarithmic axes."""
    found = json.loads(sorted(HERE.glob("limits-*.json"))[-1].read_text())
    points, peaks, bandwidths = [], {}, []
    for of in found["kernels"]:
        values = of["counters"]
        seconds, flop = 1e-9 * values[DURATION], sum(count * values[name] for name, count in OPERATIONS.items())
        points.append((flop / values["dram__bytes.sum"], flop / seconds / 1e12, of))
        bandwidths.append(values["dram__bytes.sum"] / seconds / 1e12 / values[SHARES["memory"]] * 100)
    # Fused operations of a multiprocessor's units, at the clock that the kernels ran at.
    clock, multiprocessors = found["kernels"][0]["counters"][CLOCK], found["kernels"][0]["counters"][MULTIPROCESSORS]
    for precision, units in (("double", 64), ("single", 128)):
        peaks[precision] = 2 * units * multiprocessors * clock / 1e12
    memory = sorted(bandwidths)[len(bandwidths) // 2]
    x = lambda intensity: 60 + 560 * math.log10(intensity) / 2
    y = lambda rate: 380 - 340 * math.log10(rate) / 2
    svg = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 430" font-family="sans-serif" font-size="12">',
           '<rect width="720" height="430" fill="white"/>']
    line = lambda x1, y1, x2, y2, colour: svg.append(f'<line x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}" stroke="{colour}"/>')
    text = lambda at_x, at_y, words, colour="black", anchor="start": svg.append(
        f'<text x="{at_x:.0f}" y="{at_y:.0f}" fill="{colour}" text-anchor="{anchor}">{words}</text>')
    for tick in (1, 2, 5, 10, 20, 50, 100):
        line(x(tick), y(1), x(tick), y(100), "#ddd"), line(x(1), y(tick), x(100), y(tick), "#ddd")
        text(x(tick), 396, tick, anchor="middle"), text(54, y(tick) + 4, tick, anchor="end")
    text(340, 418, "operations for each byte of memory", anchor="middle"), text(60, 24, f"TFLOP/s, {found['device']}")
    line(x(1), y(memory), x(peaks["single"] / memory), y(peaks["single"]), "#888")
    text(x(1.6), y(1.3 * memory), f"memory, {memory:.1f} TB/s", "#888")
    for precision, colour in (("double", "#1f5fa8"), ("single", "#c2571a")):
        line(x(peaks[precision] / memory), y(peaks[precision]), x(100), y(peaks[precision]), colour)
        text(x(100), y(peaks[precision]) - 5, f"{precision}, {peaks[precision]:.0f} TFLOP/s", colour, "end")
        for intensity, rate, of in points:
            if of["precision"] == precision:
                name = of["element"] + (", curved" if of["curve"] and of["element"] == "tet10" else "")
                svg.append(f'<circle cx="{x(intensity):.0f}" cy="{y(rate):.0f}" r="4" fill="{colour}"/>')
                # Points of both precisions lie close together.
                is_left = precision == "single" or name == "tet10"
                text(x(intensity) + (-7 if is_left else 7), y(rate) + (-3 if precision == "single" else 13), name, colour,
                     "end" if is_left else "start")
    (HERE / "roofline.svg").write_text("\n".join(svg + ["</svg>"]) + "\n")


parser = argparse.ArgumentParser(description=__doc__)
commands = parser.add_subparsers(required=True)
running = commands.add_parser("run")
running.add_argument("bench")
running.add_argument("-o", "--output", type=pathlib.Path, required=True)
running.set_defaults(do=run)
commands.add_parser("table").set_defaults(do=table)
commands.add_parser("plot").set_defaults(do=plot)
arguments = parser.parse_args()
arguments.do(arguments)
