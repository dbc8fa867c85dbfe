"""Gathers the raw figures of one run on one machine into one file.

    python3 docs/benchmarks/collect.py FOLDER -o docs/benchmarks/NAME.json [--driver 580.159.04] [--date 2026-11-21]

FOLDER, searched with its subfolders, holds what run_gpu.sh left: the JSON of `warpfem bench spmv` and `bench cg`, the
summary.json of solved cases, run.txt (driver, date, commands), and the figures of cuSPARSE measured on the same machine
(a file with a list `cases` of `elem`, `n`, `spmv`, `cg`). Files are told apart by what is in them, not by their names; what is
missing is left out, and a file that is none of these is named and skipped.
"""

import argparse
import datetime
import json
import pathlib
import sys

COMMAND = "docs/benchmarks/run_gpu.sh BINARY FOLDER"
# The peer's precisions, and what its files call the solver and the products of each.
PEER_CG = {"f64": "pcg_bestfmt_fused_graph", "f32": "pcg_bestfmt_fused_graph_f32"}


def kind(data):
    """What a parsed file holds: spmv, cg, solve, peer, or None."""
    if not isinstance(data, dict):
        return None
    for name, keys in {
        "spmv": {"rows", "element", "cells", "precision"},
        "cg": {"iterations", "iteration_ms", "element", "cells", "precision"},
        "solve": {"case", "timings_s", "solver"},
        "peer": {"cases"},
    }.items():
        if keys <= data.keys():
            return name
    return None


def peer_figures(data):
    """`{element: {cells: {precision: {..}}}}` of one of the peer's files."""
    figures = {}
    for case in data["cases"]:
        for precision, solver in PEER_CG.items():
            found = {}
            products = [
                row["ms_median"]
                for name, row in (case.get("spmv") or {}).items()
                if name.startswith("sell32") and name.endswith(precision) and "ms_median" in row
            ]
            if products:
                found["sell32_spmv_ms"] = min(products)
            run = (case.get("cg") or {}).get(solver) or {}
            if "ms_per_it" in run:
                found["cg"] = {
                    "tolerance": run.get("tol2"),
                    "iterations": run.get("it_tol2"),
                    "solve_ms": run.get("ms_tol2"),
                    "iteration_ms": run["ms_per_it"],
                    "true_residual": run.get("true_rel"),
                }
            if found:
                figures.setdefault(case["elem"], {}).setdefault(str(case["n"]), {})[precision] = found
    return figures


def merge(into, new):
    """Merges nested dictionaries; what came last wins."""
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value


def notes(folder):
    """The `key: value` lines of every run.txt."""
    found = {}
    for path in sorted(folder.rglob("run.txt")):
        for line in path.read_text().splitlines():
            key, separator, value = line.partition(":")
            if separator and value.strip():
                found[key.strip()] = value.strip()
    return found


def order(run):
    """The order of runs in the file."""
    return run["element"], run["cells"], run["precision"], run.get("preconditioner", "")


def collect(folder):
    """Everything in a folder."""
    runs = {"spmv": {}, "cg": {}, "solve": {}}
    peer = {}
    for path in sorted(folder.rglob("*.json")):
        try:
            data = json.loads(path.read_text())
        except ValueError as error:
            print(f"skipped {path}: {error}", file=sys.stderr)
            continue
        match kind(data):
            case "peer":
                merge(peer, peer_figures(data))
            case "solve":
                runs["solve"][data["case"], data["device"]] = data
            case "spmv" | "cg" as what:
                runs[what][order(data)] = data
            case _:
                print(f"skipped {path}: none of the known kinds", file=sys.stderr)
    return {name: [found[key] for key in sorted(found)] for name, found in runs.items()}, peer


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--driver", help="version of the NVIDIA driver; else from run.txt")
    parser.add_argument("--date", help="YYYY-MM-DD; else from run.txt, else today")
    arguments = parser.parse_args()
    runs, peer = collect(arguments.folder)
    measured = runs["spmv"] + runs["cg"] + runs["solve"]
    if not measured:
        sys.exit(f"{arguments.folder} holds no figures")
    said = notes(arguments.folder)
    result = {
        "device": measured[0]["device"],
        "driver": arguments.driver or said.get("driver", "unknown"),
        "date": arguments.date or said.get("date", datetime.date.today().isoformat()),
        "command": said.get("command", COMMAND),
        **runs,
        "peer": peer,
    }
    arguments.output.write_text(json.dumps(result, indent=1) + "\n")
    counts = ", ".join(f"{len(found)} {name}" for name, found in runs.items())
    print(f"{arguments.output}: {counts}, peer {'with' if peer else 'without'} figures")


if __name__ == "__main__":
    main()
