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
    assert {name: sorted(of) for name, of in given.groups.items()} == {
        name: sorted(of) for name, of in mesh.groups.items()
    }
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
        assert isinstance(grid, pyvista.UnstructuredGrid) and grid.compute_cell_sizes()[
            "Volume"
        ].sum() == pytest.approx(4.0)
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


def test_sets_of_meshio():
    meshio = pytest.importorskip("meshio")
    points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0.0]]
    cells = [("quad", [[0, 1, 2, 3]]), ("quad", [[1, 4, 5, 2]])]
    given = meshio.Mesh(
        points, cells, point_sets={"left": np.array([0, 3])}, cell_sets={"far": [np.array([], int), np.array([0])]}
    )
    mesh = warpfem.Mesh(given)
    assert list(mesh.groups["far"]["quad4"]) == [1] and sorted(mesh.groups) == ["far", "left"]
    with pytest.raises(ValueError, match="hexahedron27"):
        warpfem.Mesh(meshio.Mesh(np.zeros((27, 3)), [("hexahedron27", [list(range(27))])]))


def test_arrays_of_any_kind():
    rng, ended = np.random.default_rng(34), {}
    kinds = {"tet4": 4, "tetra10": 10, "hex8": 8, "tri3": 3, "quad": 4, "line2": 2, "point1": 1, "hex8i": 8}
    for _ in range(600):
        n = int(rng.integers(0, 12))
        points = rng.choice(
            [0.0, 1.0, 0.3, -1e20, np.nan, np.inf], (n, int(rng.integers(1, 5))), p=[0.4, 0.4, 0.14, 0.02, 0.02, 0.02]
        )
        cells = [(kind, rng.integers(-1 if rng.random() < 0.1 else 0, n + 1, (int(rng.integers(0, 3)), kinds[kind] + (rng.random() < 0.05))))
                 for kind in rng.choice(list(kinds), rng.integers(0, 4))]  # fmt: skip
        groups = {"a": rng.integers(0, n + 2, 3), "b": {int(rng.integers(0, 4)): rng.integers(0, 3, 2)}}
        try:
            model = held(warpfem.Model(warpfem.Mesh(points, cells, groups if rng.random() < 0.3 else {})))
            model.solve("cpu")
            kind = None
        except (warpfem.CaseError, warpfem.MeshError, warpfem.ModelError, ValueError) as error:
            kind = type(error)
        ended[kind] = ended.get(kind, 0) + 1
    assert ended[warpfem.MeshError] > 100, ended
