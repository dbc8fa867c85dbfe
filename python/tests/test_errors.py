"""What is wrong is an exception with the text of the program, whatever is given."""

import os
import random
import re
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest
from conftest import MESHES, ROOT, beam

import warpfem
from warpfem import _tables

MISTAKES = ROOT / "tests" / "data" / "mistakes"
OF_CODE = {2: warpfem.CaseError, 3: warpfem.MeshError, 4: warpfem.ModelError}


def refused():
    """Cases that `warpfem check` refuses, the first error and the exit code."""
    for path in sorted(MISTAKES.glob("*.txt")):
        text = path.read_text()
        code = int(re.search(r"exit code (\d+)$", text.strip())[1])
        if text.startswith(f"$ warpfem check {path.stem}.toml\n") and code:
            first = re.search(r"^error: (.*?)(?=^error: |^exit code )", text, re.S | re.M)
            yield pytest.param(path.stem, first[1].strip(), code, id=path.stem)


@pytest.mark.parametrize(("name", "text", "code"), list(refused()))
def test_mistakes_in_cases(folder, name, text, code):
    for path in MISTAKES.iterdir():
        if path.suffix != ".txt":
            shutil.copy(path, folder)
    with pytest.raises(OF_CODE[code]) as error:
        warpfem.Model.read(f"{name}.toml").check("cpu")
    # `check` lists all of a kind, `solve` names the first.
    assert error.value.exit_code == code and str(error.value).split("\n")[0] == text.split("\n")[0]


def test_texts_point_into_the_case():
    model = warpfem.Model(MESHES / "bracket.msh").material(name="steel", E=210e9, poisson=0.3)
    with pytest.raises(warpfem.CaseError) as error:
        model.check()
    line = next(i for i, line in enumerate(model.case.splitlines(), 1) if line.startswith("E ="))
    assert str(error.value).startswith(f"model.toml:{line}:1: ") and "`young`" in str(error.value)


def test_names_are_of_files():
    for name in ("", "a/b", "/"):
        with pytest.raises(ValueError, match="no name of a file"):
            beam(name=name)
    assert beam(name="a beam").solve("cpu").summary["case"] == "a beam"


def test_tables_are_there_to_be_mended():
    model = beam().force(on="nowhere", total=[1, 0, 0])
    with pytest.raises(warpfem.CaseError, match="nowhere"):
        model.check()
    del model.tables[-1]
    assert model.check("cpu") == [] and model.solve("cpu").converged


def test_devices_that_are_not_there():
    with pytest.raises(ValueError, match="expected auto, cpu, cuda"):
        beam().solve("gpu")
    result = beam().solve("cpu")
    for call in (
        lambda: beam().solve("cuda:63"),
        lambda: beam().stiffness("cuda:63"),
        lambda: result.on_device("displacement", 63),
    ):
        with pytest.raises(warpfem.DeviceError):
            call()
    with pytest.raises(KeyError, match="at nodes"):
        result.on_device("von_mises")


def test_too_little_memory_is_an_exception():
    with pytest.raises(MemoryError) as error:
        beam((20_000, 2_000, 2_000)).check()
    assert isinstance(error.value, warpfem.OutOfMemory)


LIMITED = """
import resource, sys, warpfem
def beam(*cells):
    model = warpfem.Model(generate={"kind": "box", "element": "tet10", "size": [4.0, 1.0, 1.0], "cells": cells})
    model.material(name="steel", young=210e9, poisson=0.3).support(on="xmin", fix="xyz")
    # Without a matrix it would fit.
    model.solver(operator="assembled")
    return model.force(on="xmax", total=[0.0, 0.0, -1e3])
beam(2, 1, 1).solve("cpu")
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (int(sys.argv[1]) << 20), resource.RLIM_INFINITY))
try:
    beam(24, 10, 10).solve("cpu")
    print("solved")
except MemoryError as error:
    print(type(error).__name__, error)
"""


def test_allocations_that_fail_are_exceptions():
    # Else arrays may lie in what malloc has kept for its threads, which is not limited.
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": str(1 << 17)}
    said = []
    for limit in (20, 100, 1000):
        words = [sys.executable, "-c", LIMITED, str(limit)]
        done = subprocess.run(words, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, f"{limit} MiB: {done.stderr}"
        said.append(done.stdout)
    assert said[0].startswith("OutOfMemory out of memory on this machine") and said[-1] == "solved\n", said


def test_values_that_toml_has_not():
    for value in (object(), {1: 2}, {"a", "b"}, b"bytes", 1j, lambda: 0, [object()]):
        with pytest.raises(TypeError):
            beam().material(name=value).check("cpu")
    with pytest.raises(ValueError, match="text"):
        beam().material(name="\ud800").check("cpu")
    odd = 'a "name"\\ with\n\t\x7f ends é 𝄞'
    model = warpfem.Model(generate={"kind": "box", "element": "hex8", "size": [1, 1, 1], "cells": [1, 1, 1]})
    model.material(name="soft", young=np.float32(2.0), poisson=np.float64(0.25)).support(name=odd, on="xmin", fix="xyz")
    result = model.traction(on=("xmax",), vector=np.array([1, 0, 0])).solve("cpu")
    assert list(result.tables["reactions"]) == [odd]


WORDS = [
    "xmin",
    "xmax",
    "body",
    "xyz",
    "normal",
    "nowhere",
    "",
    "é",
    "auto",
    "cg",
    "direct",
    "amg",
    "mixed",
    "hex8",
    "modal",
    "x" * 300,
    "\0",
    "[[",
]


def anything(rng, depth=0):
    """A value of any kind."""
    numbers = [
        0,
        1,
        -1,
        7,
        2**31,
        2**63 - 1,
        2**70,
        -(2**63),
        0.3,
        1e-300,
        1e308,
        float("nan"),
        float("inf"),
        210e9,
        True,
        False,
    ]
    choice = rng.randrange(8 if depth < 2 else 5)
    if choice < 3:
        return rng.choice(numbers)
    if choice < 5:
        return rng.choice(WORDS)
    if choice == 5:
        return {
            rng.choice(["x", "axis", "at", "min", "max", "name", "node"]): anything(rng, depth + 1)
            for _ in range(rng.randrange(3))
        }
    if choice == 6:
        return np.array([rng.choice(numbers[:4]) for _ in range(rng.randrange(4))])
    return [anything(rng, depth + 1) for _ in range(rng.randrange(4))]


def test_arguments_of_any_kind():
    rng, ended = random.Random(34), {}
    tables = {**_tables.SINGLE, **_tables.SEVERAL}
    for _ in range(1500):
        model = beam((2, 1, 1), "hex8")
        for _ in range(rng.randrange(1, 3)):
            name = rng.choice(list(tables))
            keys = [*tables[name][1].split(), "unknown"]
            getattr(model, name)(**{key: anything(rng) for key in rng.sample(keys, min(len(keys), rng.randrange(4)))})
        try:
            with warnings.catch_warnings(action="ignore"):
                model.solve("cpu")
            kind = None
        except warpfem.InternalError as error:
            raise AssertionError(model.case) from error
        except (warpfem.Error, ValueError, TypeError) as error:
            kind = type(error)
        ended[kind] = ended.get(kind, 0) + 1
    assert ended[warpfem.CaseError] > 500 and ended.get(None, 0) > 5, ended
