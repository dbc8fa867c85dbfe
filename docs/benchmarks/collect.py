"""Gathers the raw figures of one run on one machine into one file.

    python3 docs/benchmarks/collect.py FOLDER.. -o docs/benchmarks/NAME.json [--add] [--driver 580.159.04] [--date 2026-11-21]

The folders, searched with their subfolders, hold what run_gpu.sh left: the JSON of `warpfem bench`, that of cusparse.py,
fused_cg.py, cupy_assembly.py, scipy_cg.py and counters.py, the summary.json of solved cases, run.txt (driver, date,
commands, a note); and the figures of trials, products that were tried and not kept. Files are told apart by what is in
them, not by their names; what is missing is left out, and a file that is none of these is named and skipped. Of the same
measurement made twice the one counts whose path comes last. With --add, the figures that the output file has stay, but
for those that were measured again.
"""

import argparse
import datetime
import json
import math
import pathlib
import re
import sys

COMMAND = "docs/benchmarks/run_gpu.sh BINARY FOLDER"
# Significant digits that are kept: more than repeated measurements share.
DIGITS = 8
# Points of a history that are kept, and their significant digits.
HISTORY, HISTORY_DIGITS = 60, 3
# What is kept of the fused CG on a problem in a precision.
PEER_CG = ["tolerance", "iterations", "solve_ms", "iteration_ms", "true_residual"]
# What a file of each kind has; the first that fits is it.
KINDS = {
    "cusparse": {"peer", "problem", "rows"},
    "counters": {"counters", "problem", "rows"},
    "trials": {"half_blocks", "rows"},
    "peer_assembly": {"peer_assembly", "rows"},
    "assembly": {"problem", "rows", "write_floor_ms"},
    "registers": {"kernels", "architecture"},
    "spmv": {"problem", "rows", "min_bytes"},
    "cg": {"problem", "rows", "iteration_bytes"},
    "amg": {"problem", "solutions", "format", "tolerance"},
    "precond": {"problem", "rows", "format", "tolerance"},
    "whole": {"problem", "again", "first"},
    "host_cg": {"host_cg", "problem", "iteration_ms"},
    "femses": {"sides", "rows", "tolerance"},
    "solve": {"case", "timings_s", "solver"},
    "peer": {"fused_cg", "rows"},
}
# What tells the runs of a kind apart, beside the formats they measured; also their order in the file.
KEYS = {
    "spmv": ["problem", "precision", "block_size", "ordering", "degree_window", "slice_height", "sorting_window"],
    "cg": ["problem", "device", "precision", "tolerance", "max_iterations", "preconditioner", "stepping"],
    "precond": ["problem", "device", "precision", "format", "tolerance", "max_iterations"],
    "amg": ["problem", "device", "precision", "format", "tolerance"],
    "whole": ["problem", "device", "precision", "preconditioner", "arithmetic", "tolerance"],
    "cusparse": ["problem", "block_size", "ordering", "degree_window"],
    "counters": ["problem"],
    "trials": ["element", "cells"],
    "peer_assembly": [],
    "assembly": ["problem", "precision", "format"],
    "registers": ["architecture"],
    "host_cg": ["problem"],
    "femses": ["device", "precision", "tolerance", "sides"],
    "solve": ["case", "device"],
}

# What is meant where an older report does not say.
UNSAID = {"stepping": "auto"}


def kind(data):
    """What a parsed file holds: a key of KINDS, or None."""
    if not isinstance(data, dict):
        return None
    return next((name for name, keys in KINDS.items() if keys <= data.keys()), None)


def peer_figures(data):
    """`{problem: {precision: {..}}}` of one of the fused CG's files."""
    figures = {}
    for row in data["rows"]:
        figures.setdefault(row["problem"], {})[row["precision"]] = {name: row[name] for name in PEER_CG}
    return figures


def merge(into, new):
    """Merges nested dictionaries; what came last wins."""
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value


def notes(folders):
    """The `key: value` lines of every run.txt; the commands of all."""
    found = {}
    commands = []
    for path in [path for folder in folders for path in sorted(folder.rglob("run.txt"))]:
        for line in path.read_text().splitlines():
            key, separator, value = line.partition(":")
            if key == "command" and value.strip() not in commands:
                commands.append(value.strip())
            elif separator and value.strip():
                found[key.strip()] = value.strip()
    return found, commands


def key(what, data):
    """A run's place among those of its kind."""
    rows = [row.get("format") or row.get("strategy") or polynomial(row) or way(row) for row in data.get("rows", [])]
    return [str(data.get(name, UNSAID.get(name))) for name in KEYS[what]] + rows


def polynomial(row):
    """What a row of preconditioners is of; nothing for rows of other kinds."""
    return " ".join(str(row[name]) for name in ("preconditioner", "order", "mixed", "storage") if name in row)


def way(row):
    """What a row of bench femses is of."""
    return " ".join(str(row[name]) for name in ("method", "block", "nodes") if name in row)


def thinned(data, table):
    """A report of preconditioners with fewer points in its histories: the residual after every `history_step` iterations."""
    rows = []
    for row in data[table]:
        step = max(1, math.ceil(len(row["history"]) / HISTORY))
        points = [float(f"{residual:.{HISTORY_DIGITS}g}") for residual in row["history"][step - 1 :: step]]
        rows.append(row | {"history_step": step, "history": points})
    return data | {table: rows}


def collect(folders):
    """Everything in some folders: runs by kind, and the fused CG's files."""
    runs = {what: {} for what in KEYS}
    peers = []
    for path in [path for folder in folders for path in sorted(folder.rglob("*.json"))]:
        try:
            data = json.loads(path.read_text())
        except ValueError as error:
            print(f"skipped {path}: {error}", file=sys.stderr)
            continue
        match kind(data):
            case "peer":
                peers.append(data)
            case None:
                print(f"skipped {path}: none of the known kinds", file=sys.stderr)
            case what:
                table = {"precond": "rows", "amg": "solutions"}.get(what)
                runs[what][tuple(key(what, data))] = thinned(data, table) if table else data
    return {what: [found[place] for place in sorted(found)] for what, found in runs.items()}, peers


def add(old, new):
    """What an earlier file of the same machine has, with new figures in it."""
    for what in KEYS:
        found = {tuple(key(what, data)): data for data in old.get(what, []) + new[what]}
        new[what] = [found[place] for place in sorted(found)]
    new["commands"] = old["commands"] + [command for command in new["commands"] if command not in old["commands"]]
    merge(old["peer"], new["peer"])
    new["peer"] = old["peer"]
    # A CPU's figures beside a GPU's do not make it the CPU's run.
    machine = old if new["device"].startswith("cpu") else new
    return old | new | {name: machine[name] for name in ("device", "driver")}


def shortened(value):
    """`value` with its numbers to some significant digits."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in value.items()}
    return [shortened(item) for item in value] if isinstance(value, list) else value


def written(result):
    """JSON with a line for each history and each of the smallest tables."""
    text = json.dumps(shortened(result), indent=1)
    for smallest in (r'"history": \[[^\[\]]*\]', r"\{(?:[^{}\[\]]|\[[^{}\[\]\n]*\])*\}"):
        text = re.sub(smallest, lambda found: re.sub(r"\n\s*", " ", found[0]), text)
    return text + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=pathlib.Path, nargs="+", metavar="FOLDER")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--add", action="store_true", help="keep what the output file has")
    parser.add_argument("--driver", help="version of the NVIDIA driver; else from run.txt")
    parser.add_argument("--date", help="YYYY-MM-DD; else from run.txt, else today")
    arguments = parser.parse_args()
    runs, peers = collect(arguments.folders)
    peer = {}
    for data in peers:
        merge(peer, peer_figures(data))
    devices = [one["device"] for found in [*runs.values(), peers] for one in found if "device" in one]
    if not devices:
        sys.exit(f"no figures in {', '.join(map(str, arguments.folders))}")
    said, commands = notes(arguments.folders)
    result = {
        # A run on a GPU may have a CPU's figures beside its own.
        "device": next((device for device in devices if not device.startswith("cpu")), devices[0]),
        "driver": arguments.driver or said.get("driver", "unknown"),
        "date": arguments.date or said.get("date", datetime.date.today().isoformat()),
        "commands": commands or [COMMAND],
        **({"note": said["note"]} if "note" in said else {}),
        **runs,
        "peer": peer,
    }
    if arguments.add:
        result = add(json.loads(arguments.output.read_text()), result)
    arguments.output.write_text(written(result))
    counts = ", ".join(f"{len(found)} {name}" for name, found in runs.items())
    print(f"{arguments.output}: {counts}, peer {'with' if peer else 'without'} figures")


if __name__ == "__main__":
    main()
