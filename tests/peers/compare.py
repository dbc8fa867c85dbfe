#!/usr/bin/env python3
"""Compares warpfem's results with scikit-fem's on the same case and mesh.

    compare.py CASE.toml RESULT.vtu [CASE.toml RESULT.vtu ...]   a line per case; exit 1 on a miss
    compare.py --reference CASE.toml ...                         scikit-fem alone: displacement, von Mises, balance
    compare.py --self-test                                       the reference against closed forms

Needs scikit-fem, scipy, meshio, pyvista and gmsh.
"""

import sys
import time

import meshio
import numpy as np
import pyvista
from scipy.spatial import cKDTree

import case as cases
import reference
import selftest

LIMITS = {"displacement": 1e-6, "von_mises": 1e-5, "stress": 1e-5, "reaction_force": 1e-5}


def relative(ours, theirs):
    """Relative L2 difference."""
    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))


def read_vtu(path):
    """Points, tets, point data and cell data as meshio reads them, checked against pyvista's reading."""
    ours, theirs = meshio.read(path), pyvista.read(path)
    tets = np.concatenate([c.data for c in ours.cells if c.type == "tetra"])
    if (theirs.n_points, theirs.n_cells) != (len(ours.points), len(tets)):
        raise ValueError(f"pyvista reads {theirs.n_points} points and {theirs.n_cells} cells, meshio other numbers")
    point_data = ours.point_data
    cell_data = {k: np.concatenate(v) for k, v in ours.cell_data.items()}
    for mine, other in ((point_data, theirs.point_data), (cell_data, theirs.cell_data)):
        for key, values in mine.items():
            if not np.isfinite(values).all():
                raise ValueError(f"{key} has values that are not finite")
            if key not in other or not np.array_equal(np.asarray(other[key]), values):
                raise ValueError(f"pyvista and meshio read {key} differently")
    return ours.points, tets, point_data, cell_data


def matched(case, points, tets):
    """For each node and each tet of the case, its row in the result; by coordinates, then by corner nodes."""
    if len(points) != len(case.points) or len(tets) != len(case.tets):
        raise ValueError(f"{len(points)} nodes and {len(tets)} tets, expected {len(case.points)} and {len(case.tets)}")
    distance, nodes = cKDTree(points).query(case.points)
    if distance.max() > 1e-9 * cases.extent(case.points) or len(np.unique(nodes)) != len(nodes):
        raise ValueError("the nodes are not the mesh's")
    wanted, present = np.sort(nodes[case.tets], axis=1), np.sort(tets, axis=1)
    a, b = np.lexsort(wanted.T), np.lexsort(present.T)
    if not np.array_equal(wanted[a], present[b]):
        raise ValueError("the tets are not the mesh's")
    rows = np.empty(len(tets), np.int64)
    rows[a] = b
    return nodes, rows


def compare(case_path, vtu_path):
    """Prints a case's line; returns whether every difference is within its limit."""
    points, tets, point_data, cell_data = read_vtu(vtu_path)
    case = cases.load(case_path, (points, tets))
    nodes, rows = matched(case, points, tets)
    start = time.perf_counter()
    solution = reference.Problem(case).solve()
    seconds = time.perf_counter() - start
    found = {"displacement": relative(point_data["displacement"][nodes], solution.u)}
    for key, expected in (("von_mises", solution.von_mises), ("stress", solution.stress)):
        if key in case.tables["output"]["fields"]:
            found[key] = relative(cell_data[key][rows], expected)
    if "reaction_force" in point_data:
        found["reaction_force"] = relative(point_data["reaction_force"][nodes], solution.reactions)
    good = all(error <= LIMITS[key] for key, error in found.items())
    figures = "  ".join(f"{key} {error:.1e}" for key, error in found.items())
    print(f"{'ok  ' if good else 'MISS'} {case.name:12} {len(points):6} nodes  {figures}  ({seconds:.1f} s)", flush=True)
    return good


def show(case_path):
    """Prints what scikit-fem finds for a case that has a mesh file."""
    case = cases.load(case_path)
    start = time.perf_counter()
    s = reference.Problem(case).solve()
    balance = np.linalg.norm(s.reactions.sum(axis=0) + s.applied) / np.abs(s.reactions).sum()
    largest = np.linalg.norm(s.u, axis=1).max()
    print(
        f"{case.name:12} {len(case.points):6} nodes {len(case.tets):6} tets  max |u| {largest:.4e} m  "
        f"max von Mises {s.von_mises.max():.4e} Pa  mean {s.von_mises.mean():.3e}  applied {np.round(s.applied, 3)} N  "
        f"residual {s.residual:.0e}  balance {balance:.0e}  {time.perf_counter() - start:.1f} s",
        flush=True,
    )


def main(arguments):
    """Exit status."""
    if arguments == ["--self-test"]:
        return selftest.run()
    if arguments[:1] == ["--reference"]:
        for path in arguments[1:]:
            show(path)
        return 0
    if not arguments or len(arguments) % 2:
        print(__doc__, file=sys.stderr)
        return 2
    good = True
    for case_path, vtu_path in zip(arguments[::2], arguments[1::2]):
        try:
            good &= compare(case_path, vtu_path)
        except (ValueError, KeyError, OSError) as error:
            print(f"MISS {case_path}: {error}", flush=True)
            good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
