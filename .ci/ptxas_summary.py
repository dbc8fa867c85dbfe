"""Reads `ptxas -v` on standard input; prints registers and spills per kernel. Fails on errors, and on spills of kernels that
are not named as arguments. With --json also writes the figures to a file, for docs/benchmarks/collect.py."""

import argparse
import json
import pathlib
import re
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--json", type=pathlib.Path)
parser.add_argument("--architecture", default="sm_90")
parser.add_argument("allowed", nargs="*")
arguments = parser.parse_args()
allowed = set(arguments.allowed)
kernels, name, spills, bad = [], None, 0, []
for line in sys.stdin:
    if re.search(r"\b(error|fatal)\b", line):
        bad.append(line.strip())
    elif found := re.search(r"Compiling entry function '([^']+)'", line):
        name, spills = found[1], 0
    elif found := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
        spills += int(found[1]) + int(found[2])
        if spills and name is None:
            bad.append(f"a function outside the kernels spills: {line.strip()}")
    elif (found := re.search(r"Used (\d+) registers", line)) and name:
        kernels.append((name, int(found[1]), spills))
        name, spills = None, 0

if arguments.json:
    figures = {name: {"registers": registers, "spilled_bytes": spilled} for name, registers, spilled in sorted(kernels)}
    arguments.json.write_text(json.dumps({"architecture": arguments.architecture, "kernels": figures}, indent=1) + "\n")
print(f"{'kernel':60} registers spilled bytes")
for name, registers, spilled in sorted(kernels):
    note = "  (allowed)" if spilled and name in allowed else ""
    print(f"{name:60} {registers:9} {spilled:13}{note}")
bad += [f"{name} spills {spilled} bytes" for name, _, spilled in kernels if spilled and name not in allowed]
for name in sorted(allowed - {name for name, _, spilled in kernels if spilled}):
    print(f"note: {name} may spill but does not: its place on the list in .ci/run can go")
if not kernels:
    bad.append("ptxas reported no kernel")
for line in bad:
    print(f"error: {line}")
sys.exit(bool(bad))
