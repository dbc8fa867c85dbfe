"""Meshes of files, arrays and other packages are the same mesh."""

import tomllib

import numpy as np
import pytest
from conftest import MESHES, beam, held

import warpfem

BRACKET = MESHES / "bracket.msh"


def solved(mesh):
    """The bracket's displacements on a mesh, its tables as keyword arguments."""
    model = warpfem.Model(mesh)
    for table, keys in tomllib.loads((MESHES / "bracket.toml").read_text()).items():
        if table != "mesh":
            for each in keys if isinstance(keys, list) else [keys]:
                getattr(model, table)(**each)
    return model.solve("cpu")["displacement"]


@pytest.fixture(scope="module")
def expected():
    return warpfem.Model.read(MESHES / "bracket.toml").solve("cpu")["displacement"]


def same(found, expected, within=1e-6):
    np.testing.assert_allclose(found, expected, rtol=0, atol=within * abs(expected).max())


def test_a_file(expected):
    same(solved(BRACKET), expected)


def test_meshio(expected):
    meshio = pytest.importorskip("meshio")
    same(solved(meshio.read(BRACKET)), expected)


def test_gmsh(expected):
    gmsh = pytest.importorskip("gmsh")
    gmsh.initialize(["", "-v", "0"])
    try:
        gmsh.open(str(BRACKET))
        before = gmsh.option.getNumber("Mesh.Binary")
        same(solved(gmsh.model), expected)
        assert gmsh.option.getNumber("Mesh.Binary") == before
    finally:
        gmsh.finalize()


def test_pyvista(expected):
    pytest.importorskip("pyvista")
    mesh = warpfem.Mesh(BRACKET)
    grid = mesh.to_pyvista()
    for name, members in mesh.groups.items():
        kinds = {kind: mesh.cells[kind][cells] for kind, cells in members.items()}
        if set(members) <= set(mesh.solids()):
            marks = [np.isin(np.arange(len(mesh.cells[kind])), members.get(kind, [])) for kind in mesh.solids()]
            grid.cell_data[name] = np.concatenate(marks)
            continue
        marks = np.zeros(grid.n_points, np.uint8)
        marks[np.unique(np.concatenate([nodes.ravel() for nodes in kinds.values()]))] = 1
        grid.point_data[name] = marks
    # A group of nodes loads all faces between these, some more than that of faces.
    same(solved(grid), expected, 0.01)


def test_arrays_and_their_groups(expected):
    mesh = warpfem.Mesh(BRACKET)
    cells = list(mesh.cells.items())
    place = {kind: i for i, (kind, _) in enumerate(cells)}
    groups = {name: {place[kind]: of for kind, of in members.items()} for name, members in mesh.groups.items()}
    given = warpfem.Mesh(mesh.points, cells, groups)
    assert {name: sorted(of) for name, of in given.groups.items()} == {name: sorted(of) for name, of in mesh.groups.items()}
    same(solved(given), expected)


def test_tags_are_positions():
    points = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
    mesh = warpfem.Mesh(points, {"quad4": [[0, 1, 2, 3]]}, {"left": [0, 3]})
    assert mesh.dim == 2 and list(mesh.node_tags) == [0, 1, 2, 3]
    model = warpfem.Model(mesh).analysis(kind="plane_stress").material(name="soft", young=1.0, poisson=0.0)
    model.support(on="left", fix="xy").support(nodes=[1, 2], displacement={"x": 0.5})
    strain = model.output(fields=["strain"]).solve("cpu")["strain"]
    assert strain[0, 0] == pytest.approx(0.5)


def test_orders_of_nodes():
    pyvista = pytest.importorskip("pyvista")
    for element in ("tet10", "hex20", "wedge15", "pyramid13", "tet4", "hex8", "wedge6", "pyramid5"):
        model = beam((3, 1, 1), element)
        grid = model.mesh.to_pyvista()
        assert isinstance(grid, pyvista.UnstructuredGrid) and grid.compute_cell_sizes()["Volume"].sum() == pytest.approx(4.0)
        again = held(warpfem.Model(grid)).solve("cpu")
        same(again["displacement"], model.solve("cpu")["displacement"])


@pytest.mark.parametrize(
    ("points", "cells", "groups", "error", "text"),
    [
        ([[0, 0, 0, 0]], {}, {}, ValueError, "shape"),
        ([0.0, 1.0], {}, {}, ValueError, "shape"),
        ([[0, 0], [1, 0], [0, 1]], {"tri7": [[0, 1, 2]]}, {}, ValueError, "no element 'tri7'"),
        ([[0, 0], [1, 0], [0, 1]], {"tri3": [0, 1, 2]}, {}, ValueError, "shape"),
        ([[0, 0], [1, 0], [0, 1]], {"tri3": [[0, 1, 3]]}, {}, warpfem.MeshError, "node 3"),
        ([[0, 0], [1, 0], [0, 1]], {"tri3": [[0, 1, -1]]}, {}, ValueError, "negative"),
        ([[0, 0], [1, 0], [0, 1]], {"tri3": [[0.0, 1.0, 2.0]]}, {}, TypeError, "whole numbers"),
        ([[0, 0], [1, 0], [0, np.nan]], {"tri3": [[0, 1, 2]]}, {}, warpfem.MeshError, "node 2"),
        ([[0, 0], [1, 0], [0, 1]], {"tri3": [[0, 1, 1]]}, {}, warpfem.MeshError, "element 0"),
        ([[0, 0], [1, 0], [0, 1]], {"tri3": [[0, 1, 2]]}, {"a": {1: [0]}}, warpfem.MeshError, "group `a`"),
        ([[0, 0], [1, 0], [0, 1]], {"tri3": [[0, 1, 2]]}, {"a": {0: [1]}}, warpfem.MeshError, "group `a`"),
        ([[0, 0], [1, 0], [0, 1]], {"tri3": [[0, 1, 2]]}, {"a": [7]}, warpfem.MeshError, "node 7"),
        ([], {}, {}, ValueError, "shape"),
        (np.zeros((0, 3)), {}, {}, warpfem.MeshError, "no elements"),
    ],
)
def test_bad_arrays(points, cells, groups, error, text):
    with pytest.raises(error, match=text):
        warpfem.Mesh(points, cells, groups)


def test_what_is_no_mesh():
    with pytest.raises(TypeError, match="no mesh"):
        warpfem.Model(7)
    with pytest.raises(warpfem.MeshError, match="no such file"):
        warpfem.Mesh("missing.msh")
