"""Gathers the raw figures of one kind of machine into one file, and which run each is from.

    python3 docs/benchmarks/collect.py FOLDER.. -o docs/benchmarks/NAME.json [--add] [--driver 580.159.04] [--date 2026-11-21]

The folders, searched with their subfolders, hold what run_gpu.sh left: the JSON of `warpfem-bench`, that of cusparse.py,
fused_cg.py, cupy_assembly.py, scipy_cg.py, peers.py and counters.py, the summary.json of solved cases; and the figures of trials, products
that were tried and not kept. Files are told apart by what is in them, not by their names; what is missing is left out, and a file
that is none of these is named and skipped. Of the same measurement made twice the one counts whose path comes last.

A run is what one run.txt says (`date`, `driver`, `processors`, `command` as often as there are any, `note`), and a file is of the
run whose run.txt is the nearest above it; files without any are one run more. `runs` in the output lists them, and `run` in every entry
is its run's place there. With --add, what the output file has stays, but for what was measured again, and for runs that nothing is of any more.
"""

import argparse
import datetime
import json
import math
import pathlib
import re
import sys

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
    "programs": {"problem", "programs"},
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
    "programs": ["problem", "device"],
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


def nearest(path):
    """The run.txt that a file belongs to, or None."""
    above = (folder / "run.txt" for folder in path.resolve().parents)
    return next((found for found in above if found.exists()), None)


def said(path, overrides):
    """The run that a run.txt tells of, by its lines `key: value`; of one that is not there little is known."""
    lines = path.read_text().splitlines() if path else []
    pairs = [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    found = {name: value for name, value in pairs if value} | overrides
    return {
        "date": found.get("date", datetime.date.today().isoformat()),
        **({"driver": found["driver"]} if "driver" in found else {}),
        **({"processors": int(found["processors"])} if "processors" in found else {}),
        "commands": list(dict.fromkeys(value for name, value in pairs if name == "command" and value)),
        **({"note": found["note"]} if "note" in found else {}),
    }


def key(what, data):
    """A run's place among those of its kind."""
    rows = [row.get("format") or row.get("strategy") or polynomial(row) or way(row) for row in data.get("rows", [])]
    return [str(data.get(name, UNSAID.get(name))) for name in KEYS[what]] + rows


def polynomial(row):
    """What a row of preconditioners is of; nothing for rows of other kinds."""
    return " ".join(str(row[name]) for name in ("preconditioner", "order", "mixed", "storage") if name in row)


def way(row):
    """What a row of `warpfem-bench femses` is of."""
    return " ".join(str(row[name]) for name in ("method", "block", "nodes") if name in row)


def thinned(data, table):
    """A report of preconditioners with fewer points in its histories: the residual after every `history_step` iterations."""
    rows = []
    for row in data[table]:
        step = max(1, math.ceil(len(row["history"]) / HISTORY))
        points = [float(f"{residual:.{HISTORY_DIGITS}g}") for residual in row["history"][step - 1 :: step]]
        rows.append(row | {"history_step": step, "history": points})
    return data | {table: rows}


def collect(folders, overrides):
    """Everything in some folders with the runs that it is of, and the devices that it was measured on."""
    found = {what: {} for what in KEYS}
    peer, places, runs, devices = {}, {}, [], []
    for path in [path for folder in folders for path in sorted(folder.rglob("*.json"))]:
        try:
            data = json.loads(path.read_text())
        except ValueError as error:
            print(f"skipped {path}: {error}", file=sys.stderr)
            continue
        what = kind(data)
        if what is None:
            print(f"skipped {path}: none of the known kinds", file=sys.stderr)
            continue
        if "device" in data:
            devices.append(data["device"])
        about = nearest(path)
        if about not in places:
            places[about] = len(runs)
            runs.append(said(about, overrides))
        run = {"run": places[about]}
        if what == "peer":
            for problem, figures in peer_figures(data).items():
                merge(peer, {problem: {precision: run | one for precision, one in figures.items()}})
        else:
            table = {"precond": "rows", "amg": "solutions"}.get(what)
            found[what][tuple(key(what, data))] = run | (thinned(data, table) if table else data)
    of_kinds = {what: [of[place] for place in sorted(of)] for what, of in found.items()}
    return {"runs": runs} | of_kinds | {"peer": peer}, devices


def entries(result):
    """Every entry that is of a run."""
    return [one for what in KEYS for one in result.get(what, [])] + [
        one for figures in result["peer"].values() for one in figures.values()
    ]


def add(old, new):
    """What an earlier file of the same machine has, with new figures in it."""
    for one in entries(new):
        one["run"] += len(old["runs"])
    for what in KEYS:
        found = {tuple(key(what, data)): data for data in old.get(what, []) + new[what]}
        new[what] = [found[place] for place in sorted(found)]
    # A CPU's figures beside a GPU's do not make it the CPU's file.
    device = old["device"] if new["device"].startswith("cpu") else new["device"]
    merge(old["peer"], new["peer"])
    return old | new | {"device": device, "runs": old["runs"] + new["runs"], "peer": old["peer"]}


def referred(result):
    """`result` without the runs that no entry is of."""
    used = sorted({one["run"] for one in entries(result)})
    for one in entries(result):
        one["run"] = used.index(one["run"])
    return result | {"runs": [result["runs"][run] for run in used]}


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
    overrides = {name: value for name in ("date", "driver") if (value := getattr(arguments, name))}
    result, devices = collect(arguments.folders, overrides)
    if not devices:
        sys.exit(f"no figures in {', '.join(map(str, arguments.folders))}")
    # A run on a GPU may have a CPU's figures beside its own.
    result = {"device": next((device for device in devices if not device.startswith("cpu")), devices[0])} | result
    counts = ", ".join(f"{len(result[what])} {what}" for what in KEYS)
    print(f"{arguments.output}: {counts}, peer {'with' if result['peer'] else 'without'} figures")
    if arguments.add:
        result = add(json.loads(arguments.output.read_text()), result)
    arguments.output.write_text(written(referred(result)))


if __name__ == "__main__":
    main()
