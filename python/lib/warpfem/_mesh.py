"""Meshes: from files, from arrays, and from other packages."""

import os
import pathlib
import tempfile

import numpy as np

from . import _warpfem

# Names of meshio, whose order of nodes is VTK's as theirs is.
_MESHIO = {
    "vertex": 1, "line": 3, "line3": 21, "triangle": 5, "triangle6": 22, "quad": 9, "quad8": 23,
    "tetra": 10, "tetra10": 24, "hexahedron": 12, "hexahedron20": 25, "wedge": 13, "wedge15": 26, "pyramid": 14, "pyramid13": 27,
}  # fmt: skip

_KINDS = {name: (dim, n_nodes, vtk, order) for name, dim, n_nodes, vtk, order, _ in _warpfem.elements()}
# The first of a code: kinds that are integrated otherwise come later.
_OF_VTK = {vtk: name for name, (_, _, vtk, _) in reversed(_KINDS.items())}


def is_path(it):
    """Whether it is the name of a file."""
    return isinstance(it, (str, os.PathLike))


class Mesh:
    """Points, elements and named groups.

    Parameters
    ----------
    source : path, array, meshio.Mesh, pyvista.DataSet or gmsh.model
        A Gmsh file or a deck; points, ``(n, 3)`` or ``(n, 2)``; or a mesh of another package.
    cells : dict or list of pairs, optional
        With points: nodes of the elements of each kind, ``{"tet10": (n, 10)}``, from 0, in Gmsh's order; kinds by
        meshio's names, ``"tetra10"``, are in VTK's.
    groups : dict, optional
        With points: the nodes of each group, or its elements, ``{"steel": {0: [..]}}``, by the position of their block
        in `cells`.

    Notes
    -----
    Arrays are copied once, into the library's own; those of files are where the file has been read. `points` and
    `cells` are views. A mesh of Gmsh's API goes through a temporary file.
    """

    def __init__(self, source, cells=None, groups=None):
        if isinstance(source, Mesh):
            self._native = source._native
        elif isinstance(source, _warpfem.Mesh):
            self._native = source
        elif cells is not None:
            self._native = _of_arrays(
                source, list(cells.items()) if isinstance(cells, dict) else list(cells), groups or {}
            )
        elif is_path(source):
            self._native = _warpfem.Mesh.read(source)
        elif hasattr(source, "cell_sets"):
            self._native = _of_meshio(source)
        elif hasattr(source, "cast_to_unstructured_grid"):
            self._native = _of_pyvista(source.cast_to_unstructured_grid())
        elif hasattr(source, "getPhysicalGroups"):
            self._native = _of_gmsh()
        else:
            raise TypeError(
                f"a {type(source).__name__} is no mesh: expected a file, points and cells, meshio's, pyvista's, or gmsh.model"
            )

    @property
    def points(self):
        """Coordinates of the nodes, ``(n, 3)``; a view."""
        return np.asarray(self._native.points)

    @property
    def node_tags(self):
        """What messages and `nodes` of supports call the nodes, ``(n,)``; a view. Of arrays their positions."""
        return np.asarray(self._native.node_tags)

    @property
    def cells(self):
        """Nodes of the elements of each kind, ``{kind: (n, n_nodes)}``, in Gmsh's order; views."""
        return {kind: np.asarray(nodes) for kind, nodes, _ in self._native.cells}

    @property
    def element_tags(self):
        """What messages call the elements, ``{kind: (n,)}``; views."""
        return {kind: np.asarray(tags) for kind, _, tags in self._native.cells}

    @property
    def groups(self):
        """Elements of each group, ``{name: {kind: (n,)}}``, by their positions in `cells`; views."""
        kinds = list(self.cells)
        groups = {}
        for name, _, members in self._native.groups:
            of_name = groups.setdefault(name, {})
            of_name.update({kinds[block]: np.asarray(cells) for block, cells in members})
        return groups

    @property
    def dim(self):
        """2 or 3."""
        return self._native.dim

    @property
    def warnings(self):
        """What is worth saying of it."""
        return self._native.warnings

    def solids(self):
        """Kinds of the elements that are solved on, in the order of results at elements."""
        return [kind for kind in self.cells if _KINDS[kind][0] == self.dim]

    def to_pyvista(self):
        """The elements that are solved on as a `pyvista.UnstructuredGrid`; a copy."""
        import pyvista

        cells = self.cells
        blocks = [(kind, cells[kind]) for kind in self.solids() if len(cells[kind])]
        parts = [
            np.insert(nodes[:, _KINDS[kind][3] or slice(None)].astype(np.int64), 0, nodes.shape[1], axis=1)
            for kind, nodes in blocks
        ]
        codes = [np.full(len(nodes), _KINDS[kind][2], np.uint8) for kind, nodes in blocks]
        return pyvista.UnstructuredGrid(
            np.concatenate([part.ravel() for part in parts]), np.concatenate(codes), self.points.copy()
        )

    def __repr__(self):
        cells = ", ".join(f"{len(nodes)} {kind}" for kind, nodes in self.cells.items())
        return f"<warpfem.Mesh: {len(self.points)} nodes, {cells}; groups {', '.join(self.groups) or 'none'}>"


def _positions(array):
    array = np.asarray(array)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"positions of nodes or elements are whole numbers, not {array.dtype}")
    return np.ascontiguousarray(array, np.int64)


def _of_arrays(points, cells, groups):
    points = np.asarray(points, np.float64)
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise ValueError(f"points have the shape (n, 3) or (n, 2), not {points.shape}")
    if points.shape[1] == 2:
        points = np.pad(points, ((0, 0), (0, 1)))
    blocks = []
    for kind, nodes in cells:
        name, order = (_OF_VTK[_MESHIO[kind]], True) if kind in _MESHIO else (kind, False)
        if name not in _KINDS:
            raise ValueError(f"there is no element {kind!r}; there are {', '.join(_KINDS)}")
        _, width, _, vtk_order = _KINDS[name]
        nodes = _positions(nodes)
        if nodes.ndim != 2 or nodes.shape[1] != width:
            raise ValueError(f"the elements {kind!r} have the shape (n, {width}), not {nodes.shape}")
        blocks.append((name, nodes, list(vtk_order) if order else []))
    given = []
    for name, members in groups.items():
        if isinstance(members, dict):
            given.append((str(name), None, [(block, _positions(of).ravel()) for block, of in members.items()]))
        else:
            given.append((str(name), _positions(members).ravel(), []))
    return _warpfem.Mesh.from_arrays(np.ascontiguousarray(points), blocks, given)


def _of_meshio(mesh):
    unknown = sorted({block.type for block in mesh.cells} - set(_MESHIO))
    if unknown:
        raise ValueError(f"elements of the types {', '.join(unknown)} are not supported")
    groups = dict(mesh.point_sets)
    physical = mesh.cell_data.get("gmsh:physical")
    if physical is not None:
        for name, (tag, dim) in mesh.field_data.items():
            dims = [_KINDS[_OF_VTK[_MESHIO[block.type]]][0] for block in mesh.cells]
            members = {i: np.flatnonzero(of == tag) for i, of in enumerate(physical) if dims[i] == dim}
            groups[name] = {i: of for i, of in members.items() if len(of)}
    for name, of_blocks in mesh.cell_sets.items():
        if not name.startswith("gmsh:") and name not in groups:
            groups[name] = {i: of for i, of in enumerate(of_blocks) if of is not None and len(of)}
    return _of_arrays(mesh.points, [(block.type, block.data) for block in mesh.cells], groups)


def _of_pyvista(grid):
    def marks(data):
        for name in data:
            values = np.asarray(data[name])
            if values.ndim == 1 and (values.dtype == bool or values.dtype == np.uint8 and values.max(initial=0) <= 1):
                yield name, np.flatnonzero(values)

    names = {code: name for name, code in _MESHIO.items()}
    unknown = sorted(set(map(int, np.unique(grid.celltypes))) - set(names))
    if unknown:
        raise ValueError(f"elements of VTK's types {', '.join(map(str, unknown))} are not supported")
    blocks = [(names[code], nodes) for code, nodes in grid.cells_dict.items()]
    groups = dict(marks(grid.point_data))
    for name, cells in marks(grid.cell_data):
        of_codes = ((np.flatnonzero(grid.celltypes == code), i) for i, code in enumerate(grid.cells_dict))
        groups[name] = {i: np.flatnonzero(np.isin(of, cells)) for of, i in of_codes}
    return _of_arrays(grid.points, blocks, groups)


def _of_gmsh():
    import gmsh

    names = ("Mesh.Binary", "Mesh.MshFileVersion")
    before = [gmsh.option.getNumber(name) for name in names]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "mesh.msh"
        try:
            for name, number in zip(names, (1, 4.1)):
                gmsh.option.setNumber(name, number)
            gmsh.write(str(path))
        finally:
            for name, number in zip(names, before):
                gmsh.option.setNumber(name, number)
        return _warpfem.Mesh.read(path)
