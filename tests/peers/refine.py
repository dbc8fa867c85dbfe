#!/usr/bin/env python3
"""Refinement by `warpfem refine` beside uniform refinement: `python3 refine.py PROGRAM [all]`.

The script docs/accuracy/rounds.py is to reach the wanted error in its five rounds, with at most a third of the unknowns that a uniform mesh needs: one of
three times as many unknowns misses it. Of the L alone, or with `all` of the bracket, too. Needs gmsh.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "accuracy"
sys.path.insert(0, str(DOCS))
import rounds  # noqa: E402

# Wanted errors, and factors of the sizes that make uniform meshes of more than three times as many unknowns.
PARTS = {"lshape": (0.01, 0.18), "bracket": (0.02, 0.32)}


def main():
    program, names = str(pathlib.Path(sys.argv[1]).resolve()), list(PARTS) if "all" in sys.argv[2:] else ["lshape"]
    failures = 0
    for name in names:
        wanted, factor = PARTS[name]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for file in DOCS.glob(f"{name}.*"):
                shutil.copy(file, folder)
            script = [sys.executable, str(DOCS / "rounds.py"), f"{name}.geo", f"{name}.toml", "--program", program, "--error", str(wanted)]
            run = subprocess.run(script, cwd=folder, capture_output=True, text=True)
            print(f"{name}, wanted {wanted:.1%}, by refine:\n{run.stdout}{run.stderr}", end="", flush=True)
            failures += run.returncode != 0
            unknowns = int(re.findall(r"([\d,]+) unknowns", run.stdout)[-1].replace(",", ""))
            rounds.mesh(folder / f"{name}.geo", folder / f"{name}.msh", None, factor)
            found = rounds.estimate(program, folder / f"{name}.toml", wanted, folder / "size.pos")
            print(f"  uniform: {found['unknowns']:,} unknowns, estimated error {found['estimated_error']:.2%}", flush=True)
            failures += found["unknowns"] < 3 * unknowns or found["estimated_error"] <= wanted
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
