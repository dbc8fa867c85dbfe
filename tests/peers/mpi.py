"""Cases by several processes beside one: `python3 tests/peers/mpi.py PROGRAM`. Needs numpy and `mpirun`.

Results are within 1e-9 of those of one process, and displacements within what a file has of digits, for 1, 2 and 3; a process that is killed ends all, and leaves no half-written file.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

CASES = ["annulus", "bracket", "cantilever", "cube_463", "hole", "ring"]
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "btl_base_warn_component_unused", "0"]
OPTIONS = ["--device", "cpu", "--threads", "1", "--quiet", "--no-symbols"]
SOLVER = ["--method", "cg", "--preconditioner", "amg", "--precision", "double", "--tolerance", "1e-11"]
MESHES = Path(__file__).parents[2] / "meshes"


def run(words, seconds=60):
    """Exit code, what was said, and seconds."""
    start = time.time()
    done = subprocess.run(words, capture_output=True, text=True, timeout=seconds)
    return done.returncode, done.stderr, time.time() - start


def nodes(folder, case):
    """Displacements or potentials of the results in a folder."""
    text = (folder / f"{case}_nodes.csv").read_text().splitlines()
    names = text[0].split(",")
    wanted = [i for i, name in enumerate(names) if re.match(r"(u[xyz]|displacement_[xyz]|potential|temperature)\b", name)]
    assert wanted, names
    return np.array([[float(line.split(",")[i]) for i in wanted] for line in text[1:]])


def compared(program, case, folder):
    """The largest difference from one process, relative to the largest value, for 1, 2 and 3."""
    path = str(MESHES / f"{case}.toml")
    code, said, _ = run([program, "solve", path, "-o", str(folder / "one"), *OPTIONS, *SOLVER])
    assert code == 0, (case, code, said)
    one, alone = nodes(folder / "one", case), json.loads((folder / "one" / "summary.json").read_text())
    largest = next(key for key in ["max_displacement", "max"] if key in alone["results"])
    worst = 0.0
    for n in [1, 2, 3]:
        out = folder / str(n)
        code, said, _ = run([*MPIRUN, "-n", str(n), program, "solve", path, "-o", str(out), *OPTIONS, *SOLVER])
        assert code == 0, (case, n, code, said)
        summary = json.loads((out / "summary.json").read_text())
        assert len(summary["solver"].get("ranks", [0])) == n, (case, n)
        assert np.abs(nodes(out, case) - one).max() < 1e-6 * np.abs(one).max(), (case, n)
        worst = max(worst, abs(summary["results"][largest] / alone["results"][largest] - 1.0))
    return worst


def killed(program, folder):
    """A process that is killed ends the others."""
    case, out = MESHES / "vase.toml", folder / "killed"
    words = [*MPIRUN, "-n", "3", program, "solve", str(case), "-o", str(out), *OPTIONS, "--method", "cg"]
    run_ = subprocess.Popen([*words, "--preconditioner", "jacobi", "--residual-tolerance", "1e-15"], stderr=subprocess.PIPE, text=True)
    children = []
    while len(children) < 3 and run_.poll() is None:
        time.sleep(0.05)
        listed = Path(f"/proc/{run_.pid}/task/{run_.pid}/children").read_text().split()
        children = [int(pid) for pid in listed]
    time.sleep(1.0)
    os.kill(children[-1], signal.SIGKILL)
    start = time.time()
    run_.communicate(timeout=20)
    assert run_.returncode != 0 and time.time() - start < 10.0, (run_.returncode, time.time() - start)
    assert not list(out.glob("*.part")) if out.exists() else True, list(out.iterdir())


def refused(program, folder):
    """A mistake is told of once."""
    case = folder / "wrong.toml"
    case.write_text((MESHES / "cantilever.toml").read_text().replace("poisson", "poison"))
    code, said, _ = run([*MPIRUN, "-n", "2", program, "solve", str(case), "-o", str(folder / "wrong"), *OPTIONS])
    assert code == 2 and said.count("poison") >= 1 and said.count("error:") == 1, (code, said)
    code, said, _ = run([*MPIRUN, "-n", "2", program, "solve", str(MESHES / "cantilever.toml"), *OPTIONS, "--method", "direct"])
    assert code == 2 and "devices" in said, (code, said)


def main():
    program = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for case in CASES:
            worst = compared(program, case, folder / case)
            print(f"{case}: {worst:.1e}")
            assert worst < 1e-9, case
        refused(program, folder)
        killed(program, folder)
    print("processes agree")


main()
