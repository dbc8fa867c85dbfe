"""The tree, and models that many tests use."""

import os
import pathlib

import pytest

import warpfem

ROOT = pathlib.Path(__file__).resolve().parents[2]
MESHES = ROOT / "meshes"


@pytest.fixture(autouse=True)
def folder(tmp_path):
    """Tests run in a folder of their own."""
    before = os.getcwd()
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(before)


def beam(cells=(8, 2, 2), element="hex20", **keys):
    """A cantilever under a force at its end."""
    model = warpfem.Model(
        generate={"kind": "box", "element": element, "size": [4.0, 1.0, 1.0], "cells": list(cells)}, **keys
    )
    return held(model)


def held(model):
    """A material, and what holds and loads a cantilever along x."""
    model.material(name="steel", young=210e9, poisson=0.3).support(on="xmin", fix="xyz")
    return model.force(on="xmax", total=[0.0, 0.0, -1e3])
