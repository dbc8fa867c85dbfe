"""Results: values, addresses, owners, files."""

import gc
import json
import resource
import xml.etree.ElementTree

import numpy as np
import pytest
from conftest import MESHES, ROOT, beam

import warpfem


def address(array):
    return array.__array_interface__["data"][0]


def test_fields_are_views_of_one_array_that_outlives_its_result():
    result = beam().solve("cpu")
    first, second = result["displacement"], result["displacement"]
    assert address(first) == address(second)
    assert not first.flags.owndata and not first.flags.writeable and first.shape == (len(result.mesh.points), 3)
    kept = first.copy()
    del result, second
    gc.collect()
    beam((6, 2, 2)).solve("cpu")
    np.testing.assert_array_equal(first, kept)


def test_points_and_cells_are_views_of_the_mesh_that_the_model_has():
    mesh = warpfem.Mesh(MESHES / "bracket.msh")
    model = warpfem.Model(mesh).material(name="steel", young=210e9, poisson=0.3).support(on="bolts", fix="xyz")
    result = model.force(on="hole", total=[0, 0, -1e3]).solve("cpu") if "hole" in mesh.groups else None
    native = warpfem.Model.read(MESHES / "bracket.toml").solve("cpu").mesh
    for one in [mesh, native, *([result.mesh] if result else [])]:
        assert address(one.points) == address(one.points)
        for kind, nodes in one.cells.items():
            assert address(nodes) == address(one.cells[kind]) and nodes.dtype == np.uint32
    if result:
        assert address(result.mesh.points) == address(mesh.points)


def test_a_copy_is_made_where_one_is_said():
    mesh = warpfem.Mesh(MESHES / "bracket.msh")
    grid = mesh.to_pyvista()
    assert address(np.asarray(grid.points)) != address(mesh.points)


def test_a_cantilever_bends_as_the_theory_says():
    result = beam((16, 2, 2)).solve("cpu")
    theory = 1e3 * 4.0**3 / (3 * 210e9 / 12)
    assert result["displacement"][:, 2].min() == pytest.approx(-theory, rel=0.05)
    reaction = result.tables["reactions"]["xmin"]
    assert reaction["z"] == pytest.approx(1e3, rel=1e-6)
    assert result.summary["results"]["reactions"] and result.converged


def test_files_and_report(folder):
    result = beam().solve("cpu")
    for name in ("a.vtu", "a.frd", "a.csv", "a.html", "a.png", "a.json"):
        result.save(name)
        assert (folder / name).stat().st_size > 500
    xml.etree.ElementTree.fromstring((folder / "a.vtu").read_bytes().split(b"<AppendedData")[0] + b"</VTKFile>")
    assert json.loads((folder / "a.json").read_text())["case"] == "model"
    result.save("all")
    assert {"model.vtu", "model.html", "summary.json"} <= {path.name for path in (folder / "all").iterdir()}
    assert result._repr_html_().startswith("<iframe") and "von Mises" in result._repr_html_()
    with pytest.raises(ValueError, match="expected a folder"):
        result.save("a.xls")
    with pytest.raises(warpfem.OutputError):
        result.save("no/such/folder.html")
    with pytest.raises(warpfem.OutputError):
        result.save("no/such/folder.vtu")


def test_what_pyvista_shows_is_what_was_solved(folder):
    pyvista = pytest.importorskip("pyvista")
    result = warpfem.Model.read(MESHES / "bracket.toml").solve("cpu")
    grid = result.to_pyvista()
    result.save("bracket.vtu")
    read = pyvista.read("bracket.vtu")
    np.testing.assert_array_equal(grid.points, read.points)
    np.testing.assert_array_equal(grid.cells, read.cells)
    np.testing.assert_allclose(grid["displacement"], read["displacement"], rtol=1e-6)
    assert grid.volume == pytest.approx(read.volume) and grid.volume > 0


def test_load_cases_and_modes_are_steps(folder):
    model = beam().force(name="wind", on="xmax", total=[0, 1e3, 0]).load_case(name="calm", factors={})
    result = model.load_case(name="storm", factors={"wind": 2.0}).solve("cpu")
    assert [step.label for step in result.steps] == ["calm", "storm"]
    calm, storm = (step["displacement"] for step in result.steps)
    assert calm[:, 1].mean() == pytest.approx(0.0, abs=1e-6 * storm[:, 1].mean()) and storm[:, 1].mean() > 1e-7
    result.save("cases")
    assert (folder / "cases" / "model_storm.vtu").exists()
    largest = [step.summary["results"]["max_displacement"] for step in result.steps]
    assert largest == [pytest.approx(np.linalg.norm(u, axis=1).max()) for u in (calm, storm)]

    model = warpfem.Model(generate={"kind": "box", "element": "hex20", "size": [4, 1, 1], "cells": [8, 2, 2]})
    model.analysis(study="modal", modes=3).support(on="xmin", fix="xyz")
    result = model.material(name="steel", young=210e9, poisson=0.3, density=7850.0).solve("cpu")
    # Two bending modes of a square section are one.
    assert result.steps[0].value == pytest.approx(result.steps[1].value, rel=1e-3) and len(result.steps) == 3
    assert result._repr_html_()


def test_harmonic_loads_have_curves():
    model = warpfem.Model(generate={"kind": "box", "element": "hex8", "size": [4, 1, 1], "cells": [8, 2, 2]})
    model.analysis(study="modal", modes=3).support(on="xmin", fix="xyz").force(on="xmax", total=[0, 0, 1e3])
    model.material(name="steel", young=210e9, poisson=0.3, density=7850.0).harmonic(from_=1.0, to=50.0, damping=0.02)
    result = model.output(probes=[{"name": "tip", "at": [4.0, 0.5, 0.5]}]).solve("cpu")
    at, curves = result.series["response"]
    assert len(at) == len(curves["tip"]["amplitude"])


def test_fields_on_request():
    result = beam().output(fields=["displacement", "tresca"]).solve("cpu")
    assert result["tresca"].shape == (32,)
    with pytest.raises(KeyError, match="output"):
        result["strain"]
    assert beam().solve("cpu")["stress_nodal"].shape[1] == 6


def test_short_of_the_tolerance_is_a_warning():
    model = beam((8, 4, 4), "hex8").solver(method="cg", preconditioner="jacobi", max_iterations=3)
    with pytest.warns(warpfem.ConvergenceWarning, match="not converged"):
        result = model.solve("cpu")
    assert not result.converged and "NOT CONVERGED" in repr(result)


def test_a_hundred_solutions_leave_nothing_behind():
    def grown(n):
        for _ in range(n):
            result = beam((4, 2, 2)).solve("cpu")
            result["displacement"].sum(), result.summary, result.tables
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    before = grown(20)
    after = grown(100)
    assert after - before < 6 << 20, f"{(after - before) / 2**20:.1f} MiB"


def test_decks(folder):
    deck = ROOT / "tests" / "data" / "decks" / "by_hand.inp"
    (folder / "deck.inp").write_bytes(deck.read_bytes())
    result = warpfem.Model.read("deck.inp").solve("cpu")
    assert abs(result["displacement"]).max() > 0 and result.converged
    with pytest.raises(ValueError, match="takes no tables"):
        warpfem.Model.read("deck.inp").solver(tolerance=1e-8).check()
    assert len(warpfem.Model("deck.inp").mesh.points) == len(result.mesh.points)
