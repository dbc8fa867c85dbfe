#!/usr/bin/env python3
"""Times whole decks with warpfem and with ccx, in turn: `measure.py BINARY [SIZE ..] -o FILE.json`, then `measure.py --table FILE.json`.

Three decks of each size, in thousands of unknowns: C3D10, C3D20R, and two halves of C3D20R joined by *TIE; a clamped block,
pressed from above. Both programs read the deck, solve it with THREADS threads and write .frd and .dat. ccx solves by its
default solver and by its two iterative ones. Medians of RUNS runs; one run where it takes more than a minute. The largest
displacements must agree. Needs numpy and `ccx` (in Debian calculix-ccx).
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tests/peers"))
import ccx as peer  # noqa: E402

THREADS, RUNS, LONG, LIMIT = 2, 3, 60.0, 1200.0
SOLVERS = {"default": "", "iterative scaling": ", SOLVER=ITERATIVE SCALING", "iterative cholesky": ", SOLVER=ITERATIVE CHOLESKY"}
# Elements across, of 2 x 1 x 1, for a thousand unknowns: 3 unknowns at about so many nodes a cell.
NODES = {"C3D10": 8.0, "C3D20": 4.0}


def mesh(kind, thousands, halves):
    """A block of 2 x 1 x 1, in one piece or two."""
    n = max(2, round((thousands * 1000 / 3 / NODES[kind] / 2) ** (1 / 3)))
    if not halves:
        made = peer.Mesh().box("body", kind, (2 * n, n, n), (0, 0, 0), (2, 1, 1))
        return made.side("root", "body", 0, 0).side("top", "body", 2, 1)
    made = peer.Mesh().box("near", kind, (n, n, n), (0, 0, 0), (1, 1, 1)).box("far", kind, (n, n, n), (1, 0, 0), (2, 1, 1))
    return made.side("root", "near", 0, 0).side("master", "near", 0, 1).side("slave", "far", 0, 1).side("top", "far", 2, 1)


def deck(kind, thousands, halves):
    """Its text with a place for the solver, and its number of unknowns."""
    made = mesh(kind, thousands, halves)
    text = made.deck().replace("TYPE=C3D20,", "TYPE=C3D20R,")
    text += "*TIE, NAME=t, POSITION TOLERANCE=0.001\nslave, master\n" if halves else ""
    text += "*BOUNDARY\nroot, 1, 3\n*STEP\n*STATIC%s\n*DSLOAD\ntop, P, 10.\n*NODE FILE\nU\n*EL FILE\nS\n*NODE PRINT, NSET=nodes\nU\n*END STEP\n"
    return text, 3 * len(made.points)


def timed(command, folder):
    """Seconds, largest resident bytes and exit status of a command."""
    start = time.perf_counter()
    environment = os.environ | {"OMP_NUM_THREADS": str(THREADS), "CCX_NPROC_EQUATION_SOLVER": str(THREADS)}
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=environment)
        try:
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    return time.perf_counter() - start, usage.ru_maxrss * 1024, os.waitstatus_to_exitcode(status)
                if time.perf_counter() - start > LIMIT:
                    process.kill()
                    os.wait4(process.pid, 0)
                    return None, None, "more than %d s" % LIMIT
                time.sleep(0.01)
        except KeyboardInterrupt:
            process.kill()
            raise


def largest(path):
    """The largest displacement that a .dat file has."""
    rows = (line.split() for line in path.read_text().splitlines() if len(line.split()) == 4)
    return max(sum(float(c) ** 2 for c in row[1:]) ** 0.5 for row in rows if row[0].isdigit())


def measure(binary, folder, kind, thousands, halves):
    text, unknowns = deck(kind, thousands, halves)
    programs = {"warpfem": ("", [binary, "solve", "job.inp", "-o", ".", "--device", "cpu", "--threads", str(THREADS), "--quiet"])}
    programs |= {f"ccx {name}": (solver, ["ccx", "job"]) for name, solver in SOLVERS.items()}
    seconds, memory, found = {name: [] for name in programs}, {}, {}
    for _ in range(RUNS):
        for name, (solver, command) in programs.items():
            if seconds[name] and (seconds[name][0] is None or seconds[name][0] > LONG):
                continue
            (folder / "job.inp").write_text(text % solver)
            (folder / "job.dat").unlink(missing_ok=True)
            took, most, status = timed(command, folder)
            seconds[name].append(took)
            memory[name] = most
            if status != 0:
                seconds[name] = [None]
                found[name] = str(status)
            else:
                found[name] = largest(folder / "job.dat")
    row = {"elements": "C3D20R" if kind == "C3D20" else kind, "tie": halves, "unknowns": unknowns, "bytes": len(text)}
    row["programs"] = {
        name: {"seconds": None if times[0] is None else statistics.median(times), "runs": len(times), "memory": memory[name],
               "largest_displacement": found[name]}
        for name, times in seconds.items()
    }
    print(json.dumps(row), flush=True)
    return row


def table(result):
    """The rows of a result as Markdown."""
    names = list(result["decks"][0]["programs"])
    memory = " | ".join(names[:3])
    print("| deck | unknowns | " + " | ".join(f"{name}, s" for name in names) + f" | memory, MiB: {memory} |")
    print("| --- |" + " ---: |" * (len(names) + 4))
    for row in result["decks"]:
        of = row["programs"]
        times = [f"{of[name]['seconds']:.3g}" if of[name]["seconds"] else "-" for name in names]
        memory = [f"{of[name]['memory'] / 2**20:.0f}" if of[name]["memory"] else "-" for name in names[:3]]
        what = row["elements"] + (", two tied halves" if row["tie"] else "")
        print(f"| {what} | {row['unknowns']:,} | " + " | ".join(times + memory) + " |")


def main():
    if sys.argv[1:2] == ["--table"]:
        return table(json.loads(pathlib.Path(sys.argv[2]).read_text()))
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("sizes", type=int, nargs="*", default=[20, 100, 300])
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--without-default", action="store_true", help="leave ccx's default solver out, which is direct")
    arguments = parser.parse_args()
    if arguments.without_default:
        del SOLVERS["default"]
    binary = str(arguments.binary.resolve())
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(binary, pathlib.Path(folder), kind, size, halves)
                for size in arguments.sizes for kind, halves in (("C3D10", False), ("C3D20", False), ("C3D20", True))]
    version = subprocess.run(["ccx", "-v"], capture_output=True, text=True).stdout.strip()
    result = {"date": datetime.date.today().isoformat(), "cpu": platform.processor() or platform.machine(), "cores": os.cpu_count(),
              "threads": THREADS, "ccx": version, "decks": rows}
    arguments.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
