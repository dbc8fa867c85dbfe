#!/usr/bin/env python3
"""Gathers made-up figures by docs/benchmarks/collect.py and checks which run each entry is of: `python3 tests/docs/collect.py`."""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEAD = {"device": "NVIDIA X1", "precision": "f64", "block_size": 3, "ordering": "mesh", "degree_window": 1, "min_bytes": 8}


def gathered(output, *arguments):
    """What collect.py makes of some folders."""
    command = [sys.executable, ROOT / "docs/benchmarks/collect.py", *map(str, arguments), "-o", output]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return json.loads(output.read_text())


def days(result):
    """The day of every product by its problem, and of the fused CG's figures by theirs."""
    def day(one):
        return result["runs"][one["run"]]["date"]

    peers = {f"peer of {problem}": day(one["f64"]) for problem, one in result["peer"].items()}
    return {one["problem"]: day(one) for one in result["spmv"]} | peers


def run(folder, date, **problems):
    """A folder as run_gpu.sh leaves it: products on some problems, milliseconds each."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.txt").write_text(f"date: {date}\ncommand: measure {date}: a, b\ndriver: 1.{date[-1]}\nprocessors: 16\n")
    for problem, ms in problems.items():
        row = {"format": "ebw", "spmv_ms": ms}
        (folder / f"{problem}.json").write_text(json.dumps(HEAD | {"problem": problem, "rows": [row]}))


def main():
    with tempfile.TemporaryDirectory() as scratch:
        here = pathlib.Path(scratch)
        output = here / "x1.json"
        # A run in a folder of another; what has no run.txt of its own is of the nearest above.
        run(here / "first", "2026-01-01", a=1.0, b=2.0)
        run(here / "first/later", "2026-01-02", c=3.0)
        (here / "first/peers").mkdir()
        cg = {name: 1 for name in ("tolerance", "iterations", "solve_ms", "iteration_ms", "true_residual", "min_u_z")}
        cg |= {"problem": "tet4 cube 20", "precision": "f64", "graph": True}
        (here / "first/peers/fused.json").write_text(json.dumps({"fused_cg": "by a library", "rows": [cg]}))
        first = gathered(output, here / "first")
        old = {"a": "2026-01-01", "b": "2026-01-01", "c": "2026-01-02", "peer of tet4 cube 20": "2026-01-01"}
        assert days(first) == old, first
        assert first["runs"][first["spmv"][0]["run"]] == {
            "date": "2026-01-01", "driver": "1.1", "processors": 16, "commands": ["measure 2026-01-01: a, b"],
        }, first["runs"]
        assert not {"commands", "date", "driver"} & first.keys(), first.keys()

        # Measured again: its run goes when its last entry has gone, and the others keep theirs.
        run(here / "second", "2026-01-03", c=4.0, d=5.0)
        second = gathered(output, here / "second", "--add")
        assert days(second) == old | {"c": "2026-01-03", "d": "2026-01-03"}, second
        assert [one["date"] for one in second["runs"]] == ["2026-01-01", "2026-01-03"], second["runs"]
        assert [one["rows"][0]["spmv_ms"] for one in second["spmv"]] == [1.0, 2.0, 4.0, 5.0], second["spmv"]

        # Several folders at once; what is said on the command line is of what is gathered now.
        run(here / "third", "2026-01-04", e=6.0)
        third = gathered(output, here / "second", here / "third", "--add", "--date", "2026-02-01", "--driver", "9")
        new = {name: "2026-02-01" for name in "cde"}
        assert days(third) == old | new, third
        assert [one["driver"] for one in third["runs"]] == ["1.1", "9", "9"], third["runs"]
        assert len({one["run"] for one in third["spmv"]}) == 3, third["spmv"]

        # Figures without a run.txt are of a run that has noted no command.
        (here / "bare").mkdir()
        (here / "second/d.json").rename(here / "bare/d.json")
        bare = gathered(here / "bare.json", here / "bare", "--date", "2026-03-01")
        assert bare["runs"] == [{"date": "2026-03-01", "commands": []}], bare["runs"]
    print("every entry is of the run that measured it")


if __name__ == "__main__":
    main()
