#!/usr/bin/env python3
"""Measures warpfem's Python package beside scikit-fem and PyAMG: `python compare.py [--cells 20 30] [--write]`.

The task: the unit cube of steel, six tetrahedra a cell, held below, under a pressure above; displacements and von Mises
stresses. Each script runs in a process of its own, its import included, and prints two numbers that have to agree. Then
multigrid alone: `warpfem.amg` beside `pyamg.smoothed_aggregation_solver`, both with rigid-body modes, on the matrix of
that cube and on that of a slender bar, and on Poisson's equation; conjugate gradients to a relative residual of 1e-8.
Needs scipy, scikit-fem and pyamg. `--write` puts the tables into README.md.
"""

import argparse
import importlib.metadata
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).parent


def lines_of_code(script):
    text = script.read_text().split('"""', 2)[2]
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("#"))


def measured(script, *words):
    """Two numbers, seconds and the largest resident set in bytes of a script."""
    start = time.monotonic()
    process = subprocess.Popen([sys.executable, script, *map(str, words)], stdout=subprocess.PIPE, text=True)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{script.name} failed")
    return [float(word) for word in out.split()], time.monotonic() - start, usage.ru_maxrss * 1024


def tasks(cells, device):
    rows = ["| cells | unknowns | by | lines | time | memory |", "| ---: | ---: | --- | ---: | ---: | ---: |"]
    for n in cells:
        found = {}
        for name, script, words in (
            ("warpfem", "task_warpfem.py", (n, device)),
            ("scikit-fem, PyAMG", "task_skfem.py", (n,)),
        ):
            values, seconds, memory = measured(HERE / script, *words)
            found[name] = values
            lines = lines_of_code(HERE / script)
            rows.append(
                f"| {n}³ | {3 * (n + 1) ** 3:,} | {name} | {lines} | {seconds:.2f} s | {memory / 2**20:.0f} MiB |"
            )
        # Both cut cells by tetrahedra, round other diagonals.
        assert np.allclose(*found.values(), rtol=0.05), found
    return rows


def matrices(parts):
    """Name, matrix, near-nullspace and right-hand side of each problem."""
    import scipy.sparse as sparse

    import warpfem

    for name, size, cells in (
        ("cube, hex8", [1, 1, 1], [4 * parts] * 3),
        ("bar 20:1, hex8", [20, 1, 1], [26 * parts, parts + 2, parts + 2]),
    ):
        model = warpfem.Model(generate={"kind": "box", "element": "hex8", "size": size, "cells": cells})
        model.material(name="steel", young=1.0, poisson=0.3).support(on="xmin", fix="xyz")
        K, points = model.traction(on="xmax", vector=[0, 0, 1.0]).stiffness(), model.mesh.points
        # What is held has its diagonal alone, where modes are 0.
        A, (x, y, z) = K.tobsr(), (points - points.mean(axis=0)).T
        modes = np.zeros((len(points), 3, 6))
        modes[:, 0, 0] = modes[:, 1, 1] = modes[:, 2, 2] = 1.0
        modes[:, 0, 3], modes[:, 1, 3], modes[:, 1, 4], modes[:, 2, 4], modes[:, 2, 5], modes[:, 0, 5] = (
            -y,
            x,
            -z,
            y,
            -x,
            z,
        )
        modes[points[:, 0] == 0.0] = 0.0
        yield name, A, modes.reshape(-1, 6), K.load
    n = 8 * parts
    line, one = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n)), sparse.eye_array(n)
    A = (
        sparse.kron(sparse.kron(line, one), one)
        + sparse.kron(sparse.kron(one, line), one)
        + sparse.kron(one, sparse.kron(one, line))
    )
    A = A.tobsr(blocksize=(1, 1))
    yield "Poisson, 7 points", A, np.ones((n**3, 1)), np.ones(n**3)


def multigrid(parts):
    import pyamg
    from scipy.sparse.linalg import cg

    import warpfem

    rows = [
        "| matrix | unknowns | by | set-up | solution | iterations | operator complexity |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for name, A, modes, b in matrices(parts):

        def row(by, setup, solution, iterations, complexity, x):
            residual = np.linalg.norm(b - A @ x) / np.linalg.norm(b)
            assert residual < 2e-8, (by, residual)
            rows.append(
                f"| {name} | {A.shape[0]:,} | {by} | {setup:.2f} s | {solution:.2f} s | {iterations} | {complexity:.2f} |"
            )

        def by_scipy(by, setup, M, complexity):
            count, start = [], time.monotonic()
            x, failed = cg(A, b, M=M, rtol=1e-8, callback=count.append, maxiter=500)
            row(
                by,
                setup,
                time.monotonic() - start,
                f"{len(count)}{' (not converged)' if failed else ''}",
                complexity,
                x,
            )

        start = time.monotonic()
        M = warpfem.amg(A, modes)
        setup, start = time.monotonic() - start, time.monotonic()
        x = M.solve(b)
        row("warpfem.amg, M.solve", setup, time.monotonic() - start, M.iterations, M.operator_complexity, x)
        by_scipy("warpfem.amg, scipy's cg", setup, M, M.operator_complexity)
        start = time.monotonic()
        hierarchy = pyamg.smoothed_aggregation_solver(A, B=modes)
        by_scipy(
            "PyAMG, scipy's cg", time.monotonic() - start, hierarchy.aspreconditioner(), hierarchy.operator_complexity()
        )
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, nargs="+", default=[20, 30])
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--parts", type=int, default=6, help="a quarter of the cells of the cube that multigrid is measured on"
    )
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("warpfem", "scikit-fem", "pyamg", "scipy", "numpy")
    )
    about = (
        f"{os.cpu_count()} cores of {platform.machine()}, {arguments.device}; {versions}; {time.strftime('%Y-%m-%d')}."
    )
    text = "\n".join([about, "", *tasks(arguments.cells, arguments.device), "", *multigrid(arguments.parts)])
    print(text)
    if arguments.write:
        readme = HERE / "README.md"
        readme.write_text(
            re.sub(r"(<!-- measured -->\n).*", lambda m: m[1] + text + "\n", readme.read_text(), flags=re.S)
        )


if __name__ == "__main__":
    main()
