"""Threads, progress, interrupts."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import beam

import warpfem


def test_two_solutions_at_once_are_what_each_is_alone():
    cells = [(12, 4, 4), (10, 5, 3), (12, 4, 4), (8, 3, 3)]
    alone = [beam(of).solve("cpu")["displacement"] for of in cells]
    found = [None] * len(cells)

    def solve(i):
        found[i] = beam(cells[i]).solve("cpu")["displacement"]

    threads = [threading.Thread(target=solve, args=(i,)) for i in range(len(cells))]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for one, other in zip(alone, found):
        np.testing.assert_array_equal(one, other)


def test_other_threads_run_meanwhile():
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.005):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    beam((40, 10, 10), "hex8").solve("cpu")
    seconds = time.monotonic() - start
    stop.set()
    thread.join()
    assert max(np.diff([start, *ticks])) < max(0.1, 0.5 * seconds)


def test_progress_comes_and_only_rises():
    seen = []
    model = beam((60, 10, 10), "hex8").solver(method="cg", preconditioner="jacobi")
    model.solve("cpu", progress=seen.append)
    shares = [stage.share for stage in seen]
    assert shares == sorted(shares) and 0 <= shares[0] and shares[-1] <= 1
    assert {"solve"} <= {stage.phase for stage in seen} and isinstance(seen[-1].case, tuple)
    model.solve("cpu", progress=True)


def test_an_exception_of_the_callback_ends_the_solution():
    def stop(progress):
        raise LookupError(progress.phase)

    with pytest.raises(LookupError):
        beam().solve("cpu", progress=stop)


SLOW = """
import signal, threading, time, warpfem
model = warpfem.Model(generate={"kind": "box", "element": "hex8", "size": [4.0, 1.0, 1.0], "cells": [80, 20, 20]})
model.material(name="steel", young=210e9, poisson=0.3).support(on="xmin", fix="xyz").force(on="xmax", total=[0.0, 0.0, -1e3])
model.solver(method="cg", preconditioner="none", tolerance=1e-12)
model.check("cpu")
print("ready", flush=True)
start = time.monotonic()
try:
    while True:
        model.solve("cpu")
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start, flush=True)
"""


def test_ctrl_c_ends_a_solution():
    run = subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "ready\n"
    time.sleep(0.3)
    sent = time.monotonic()
    run.send_signal(signal.SIGINT)
    assert run.stdout.readline().startswith("interrupted") and time.monotonic() - sent < 0.5
    run.stdout.close()
    assert run.wait(30) == 0


STIFFNESS = (
    SLOW[: SLOW.index("model.check")]
    + """
K = model.stiffness()
print("ready", flush=True)
try:
    while True:
        K.solve(tolerance=1e-13)
except KeyboardInterrupt:
    start = time.monotonic()
    K.load
    print("free after", time.monotonic() - start, flush=True)
"""
)


def test_ctrl_c_ends_a_solution_with_the_stiffness_matrix():
    run = subprocess.Popen([sys.executable, "-c", STIFFNESS], stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "ready\n"
    time.sleep(0.5)
    run.send_signal(signal.SIGINT)
    said = run.stdout.readline()
    run.stdout.close()
    assert said.startswith("free after") and float(said.split()[-1]) < 1.0 and run.wait(30) == 0


def test_the_program_is_there(folder):
    done = subprocess.run(
        [f"{sys.prefix}/bin/warpfem", "mesh", "box", "--cells", "2", "2", "2", "-o", "cube.msh"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and len(warpfem.Mesh("cube.msh").points) == 27, done.stderr
    done = subprocess.run([f"{sys.prefix}/bin/warpfem", "solve", "missing.toml"], capture_output=True, text=True)
    assert done.returncode == 2 and "missing.toml" in done.stderr
