"""Reads a case file and its mesh without any of warpfem's code: by `tomllib` and by Gmsh's Python module.

Covers what the cases in `meshes/` use: tet4 elasticity; supports by `fix` or `displacement` on groups, extreme planes,
boxes or node tags; gravity, pressure, traction, force, point force, push.
"""

import pathlib
import tomllib
from dataclasses import dataclass, field

import gmsh
import numpy as np

TET4, TRI3 = 4, 2
PLANE_TOLERANCE = 1e-6
LOADS = {"gravity", "pressure", "traction", "force", "point_force", "push"}
KNOWN_TABLES = {"mesh", "analysis", "material", "support", "solver", "output"} | LOADS


@dataclass
class Case:
    """A case file's tables, and the mesh: `points` [n][3], their `tags` [n], `tets` [m][4].

    By group name: `faces` (corner nodes, [k][3]), `nodes` (ids), `cells` (rows of `tets`)."""

    name: str
    tables: dict
    points: np.ndarray
    tets: np.ndarray
    tags: np.ndarray
    faces: dict = field(default_factory=dict)
    nodes: dict = field(default_factory=dict)
    cells: dict = field(default_factory=dict)

    def group_nodes(self, name):
        """Node ids of a group, or of one of the mesh's extreme planes where no group has that name."""
        if name in self.nodes:
            return self.nodes[name]
        axis, end = "xyz".index(name[0]), name[1:]
        x = self.points[:, axis]
        at = {"min": x.min(), "max": x.max()}[end]
        return np.flatnonzero(np.abs(x - at) <= PLANE_TOLERANCE * extent(self.points))

    def group_faces(self, name):
        """Corner node ids [k][3] of a surface group, or of the skin faces on an extreme plane."""
        if name in self.faces:
            return self.faces[name]
        return within(skin(self.tets), self.group_nodes(name))

    def support_nodes(self, table):
        """Node ids one `[[support]]` holds."""
        if "nodes" in table:
            where = {int(tag): i for i, tag in enumerate(self.tags)}
            return np.array([where[tag] for tag in table["nodes"]])
        if "box" in table:
            low, high = np.array(table["box"]["min"]), np.array(table["box"]["max"])
            return np.flatnonzero(((self.points >= low) & (self.points <= high)).all(axis=1))
        names = table["on"] if isinstance(table["on"], list) else [table["on"]]
        return np.unique(np.concatenate([self.group_nodes(n) for n in names]))


def extent(points):
    """The largest side of the bounding box."""
    return float((points.max(axis=0) - points.min(axis=0)).max())


def skin(tets):
    """Faces [k][3] that belong to one tet only."""
    every = tets[:, [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]]].reshape(-1, 3)
    _, first, count = np.unique(np.sort(every, axis=1), axis=0, return_index=True, return_counts=True)
    return every[np.sort(first[count == 1])]


def within(faces, nodes):
    """Those of `faces` whose nodes are all among `nodes`."""
    return faces[np.isin(faces, nodes).all(axis=1)]


def load(path, generated=None):
    """The case at `path`; `generated = (points, tets)` stands in for a mesh the case file has generated."""
    path = pathlib.Path(path)
    tables = tomllib.loads(path.read_text())
    if unknown := set(tables) - KNOWN_TABLES:
        raise ValueError(f"the reference does not cover {', '.join(sorted(unknown))}")
    if tables["analysis"]["kind"] != "elasticity":
        raise ValueError("the reference covers elasticity only")
    if "file" in tables["mesh"]:
        return read_mesh(path.stem, tables, path.parent / tables["mesh"]["file"])
    points, tets = generated
    return Case(path.stem, tables, points, tets, np.arange(1, len(points) + 1))


def read_mesh(name, tables, mesh_path):
    """The case with Gmsh's reading of the mesh; nodes that no tet uses are dropped."""
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.open(str(mesh_path))
    try:
        mesh = gmsh.model.mesh
        tags, coords, _ = mesh.getNodes()
        tet_tags, tets = mesh.getElementsByType(TET4)
        used, tets = np.unique(tets, return_inverse=True)
        position = np.argsort(tags)
        rows = position[np.searchsorted(tags[position], used)]
        case = Case(name, tables, coords.reshape(-1, 3)[rows], tets.reshape(-1, 4), used)
        cell_row = {int(tag): i for i, tag in enumerate(tet_tags)}
        for dim, tag in gmsh.model.getPhysicalGroups():
            label = gmsh.model.getPhysicalName(dim, tag)
            entities = gmsh.model.getEntitiesForPhysicalGroup(dim, tag)
            if dim == 2:
                found = np.concatenate([mesh.getElementsByType(TRI3, e)[1] for e in entities])
                case.faces[label] = np.searchsorted(used, found).reshape(-1, 3)
                case.nodes[label] = np.unique(case.faces[label])
            elif dim == 3:
                found = np.concatenate([mesh.getElementsByType(TET4, e)[0] for e in entities])
                case.cells[label] = np.array([cell_row[int(t)] for t in found])
                case.nodes[label] = np.unique(case.tets[case.cells[label]])
        return case
    finally:
        gmsh.finalize()
