"""Matrices and loads of clamped cubes, put together quickly, for fused_cg.py to solve with.

The cubes are those of `warpfem-bench cg`: n x n x n cells, a hex8 or six tet4 each, E = 200 GPa, nu = 0.3 (as
cupy_assembly.py has them), nodes numbered x fastest, clamped at x = 0 (rows and columns zero but for the diagonal, and
kept in the pattern), under their own weight. As all cells are alike, a node's 27 (hex8) or 15 (tet4) blocks are sums of
slices of one array; those of neighbours outside the cube are then dropped. `xp` is numpy or CuPy.
"""

import itertools

import cupy_assembly
import numpy as np
from cusparse import entry_rows

# Newtons per cubic metre: the density of steel, and gravity along -z.
WEIGHT = -7850 * 9.81


def corner(k):
    """Where node k of a cube of one cell is, (z, y, x)."""
    return k >> 2, k >> 1 & 1, k & 1


def step(a, b):
    """The way from node a of that cube to node b."""
    return tuple(there - here for here, there in zip(corner(a), corner(b)))


def cell(element, n):
    """Of one of n^3 cells: stiffness `[8][8][3][3]`, which corners are linked `[8][8]`, shares of its volume `[8]`."""
    coords, elements = cupy_assembly.mesh(np, element, 1)
    blocks = cupy_assembly.element_matrices(np, coords[elements] / n, *cupy_assembly.rule(np, element))
    stiffness, linked = np.zeros((8, 8, 3, 3)), np.zeros((8, 8), dtype=bool)
    for nodes, block in zip(elements, blocks):
        stiffness[np.ix_(nodes, nodes)] += block
        linked[np.ix_(nodes, nodes)] = True
    return stiffness, linked, np.bincount(elements.ravel(), minlength=8) / elements.size


def stencil(linked):
    """Where a node's neighbours are from it, `[S][3]` as (dz, dy, dx), in the order of their numbers."""
    return np.array(sorted({step(a, b) for a, b in np.argwhere(linked).tolist()}))


def inside(xp, n, steps):
    """Which neighbours the nodes of a cube have, `[n + 1][n + 1][n + 1][S]`."""
    at = xp.arange(n + 1)[:, None]
    z, y, x = ((at + xp.asarray(along) >= 0) & (at + xp.asarray(along) <= n) for along in steps.T)
    return z[:, None, None] & y[None, :, None] & x[None, None]


def load(xp, element, n):
    """The weight at the unknowns, consistent with the shape functions; none at clamped ones."""
    *_, shares = cell(element, n)
    force = xp.zeros((n + 1, n + 1, n + 1, 3))
    for k, share in enumerate(shares.tolist()):
        z, y, x = corner(k)
        force[z : z + n, y : y + n, x : x + n, 2] += WEIGHT * share / n**3
    force[:, :, 0] = 0
    return force.reshape(-1)


def stencil_values(xp, element, n):
    """The clamped matrix, `[n + 1][n + 1][n + 1][3][S][3]`, and its stencil."""
    stiffness, linked, _ = cell(element, n)
    steps = stencil(linked)
    places = {tuple(way): s for s, way in enumerate(steps.tolist())}
    values = xp.zeros((n + 1, n + 1, n + 1, 3, len(steps), 3))
    for a, b in np.argwhere(linked).tolist():
        z, y, x = corner(a)
        values[z : z + n, y : y + n, x : x + n, :, places[step(a, b)]] += xp.asarray(stiffness[a, b])
    values[:, :, 0] = 0
    for s in np.flatnonzero(steps[:, 2] < 0).tolist():
        values[:, :, 1, :, s] = 0
    for i in range(3):
        values[:, :, 0, i, places[0, 0, 0], i] = 1
    return values, steps


def compressed(xp, element, n):
    """The clamped matrix in compressed rows, zeros kept: where rows begin, columns, values; and its diagonal."""
    values, steps = stencil_values(xp, element, n)
    has = inside(xp, n, steps)
    row_start = xp.zeros(3 * (n + 1) ** 3 + 1, dtype="i8")
    row_start[1:] = xp.cumsum(xp.repeat(3 * has.sum(axis=-1).reshape(-1), 3))
    columns = xp.empty(int(row_start[-1]), dtype="i4")
    entries = xp.empty(columns.size)
    jumps = xp.asarray(steps @ [(n + 1) ** 2, n + 1, 1])
    plane = xp.arange((n + 1) ** 2).reshape(n + 1, n + 1, 1, 1, 1)
    # By planes, whose temporary arrays are small.
    bounds = row_start[:: 3 * (n + 1) ** 2].tolist()
    for z, (first, last) in enumerate(itertools.pairwise(bounds)):
        chosen = xp.ascontiguousarray(xp.broadcast_to(has[z, :, :, None, :, None], values[z].shape))
        column = (3 * (plane + z * (n + 1) ** 2 + jumps[:, None]) + xp.arange(3)).astype("i4")
        columns[first:last] = xp.ascontiguousarray(xp.broadcast_to(column, values[z].shape))[chosen]
        entries[first:last] = values[z][chosen]
    centre = steps.tolist().index([0, 0, 0])
    diagonal = xp.stack([values[:, :, :, i, centre, i] for i in range(3)], -1).reshape(-1)
    return row_start, columns, entries, diagonal


def check(element):
    """The rows of a small cube are the clamped sum of its elements' matrices, with every pair of an element's nodes."""
    n = 3
    coords, cells = cupy_assembly.mesh(np, element, n)
    blocks = cupy_assembly.element_matrices(np, coords[cells], *cupy_assembly.rule(np, element))
    dense = np.zeros((len(coords), 3, len(coords), 3))
    pattern = np.zeros_like(dense, dtype=bool)
    for nodes, block in zip(cells, blocks):
        for a, b in itertools.product(range(len(nodes)), repeat=2):
            dense[nodes[a], :, nodes[b]] += block[a, b]
            pattern[nodes[a], :, nodes[b]] = True
    clamped = np.repeat(coords[:, 0] == 0, 3)
    dense, pattern = dense.reshape(clamped.size, -1), pattern.reshape(clamped.size, -1)
    dense[clamped], dense[:, clamped] = 0, 0
    dense[clamped, clamped] = 1
    row_start, columns, values, diagonal = compressed(np, element, n)
    found = np.zeros_like(dense)
    found[entry_rows(np, row_start, columns.size), columns] = values
    np.testing.assert_allclose(found, dense, rtol=0, atol=1e-12 * dense.max())
    np.testing.assert_array_equal(diagonal, found.diagonal())
    np.testing.assert_array_equal(np.concatenate([np.flatnonzero(row) for row in pattern]), columns)
    np.testing.assert_array_equal(np.cumsum(pattern.sum(axis=1)), row_start[1:])


def self_test():
    """Small cubes against dense sums, the size and the load of larger ones against known figures."""
    for element, entries, norm in ("hex8", 15_944_049, 297.7663492), ("tet4", 8_945_649, 297.7716673):
        check(element)
        assert 9 * int(inside(np, 40, stencil(cell(element, 40)[1])).sum()) == entries, element
        assert abs(np.linalg.norm(load(np, element, 40)) / norm - 1) < 1e-9, element
