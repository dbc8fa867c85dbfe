"""Measures the assembly of cubes as one writes it in Python for a GPU: with CuPy, all element matrices at once.

    python3 docs/benchmarks/cupy_assembly.py --cells 60,100,128 [--element hex8] [--json FILE] [--samples 5]
    python3 docs/benchmarks/cupy_assembly.py --self-test        # the matrices, with numpy alone

The cubes are those of `warpfem-bench assembly`: n x n x n cells, a hex8 or six tet4 (cut round the diagonal from the lowest
to the highest corner) each, E = 200 GPa, nu = 0.3. Nothing uses that all cells are alike. Two steps are timed: the element
matrices from the nodes' coordinates, and their addition into the matrix's 3x3 blocks, whose places are known beforehand (that
is the symbolic phase, timed apart). A time is the median of samples between two CUDA events, after a warm-up.
"""

import argparse
import json
import pathlib
import sys
import time

import numpy as np

YOUNG, POISSON = 200e9, 0.3
LAMBDA = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))
MU = YOUNG / (2 * (1 + POISSON))
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
TETRAHEDRA = np.array([[0, 1, 2, 6], [0, 5, 1, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 4, 5, 6], [0, 7, 4, 6]])


def mesh(xp, element, n):
    """Coordinates `[nodes][3]` and the nodes of each cell `[cells][N]` of a unit cube of n^3 cells."""
    z, y, x = xp.meshgrid(*[xp.arange(n + 1)] * 3, indexing="ij")
    coords = xp.stack([x, y, z], -1).reshape(-1, 3) / n
    z, y, x = xp.meshgrid(*[xp.arange(n)] * 3, indexing="ij")
    at = xp.stack([x, y, z], -1).reshape(-1, 1, 3) + xp.asarray(CORNERS)
    corners = at[..., 0] + (n + 1) * (at[..., 1] + (n + 1) * at[..., 2])
    cells = corners if element == "hex8" else corners[:, xp.asarray(TETRAHEDRA)].reshape(-1, 4)
    return coords, cells.astype("i4")


def rule(xp, element):
    """Slopes of the shape functions `[points][N][3]` and weights `[points]`."""
    if element == "tet4":
        return xp.asarray([[[-1.0, -1, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]]), xp.asarray([1 / 6])
    signs = 2.0 * CORNERS - 1
    slopes = []
    for xi in signs / np.sqrt(3):
        factors = 1 + signs * xi
        slopes.append([[s[i] * np.prod(np.delete(f, i)) / 8 for i in range(3)] for s, f in zip(signs, factors)])
    return xp.asarray(slopes), xp.ones(8)


def cofactors(xp, jac):
    """Cofactors and determinants of matrices `[..][3][3]`."""
    (a, b, c), (d, e, f), (g, h, i) = ([jac[..., row, column] for column in range(3)] for row in range(3))
    rows = [[e * i - f * h, f * g - d * i, d * h - e * g], [c * h - b * i, a * i - c * g, b * g - a * h]]
    rows.append([b * f - c * e, c * d - a * f, a * e - b * d])
    return xp.stack([xp.stack(row, -1) for row in rows], -2), a * rows[0][0] + b * rows[0][1] + c * rows[0][2]


def element_matrices(xp, x, slopes, weights):
    """Stiffness `[cells][N][N][3][3]` of cells whose nodes are at `x [cells][N][3]`."""
    along = slopes.transpose(0, 2, 1).reshape(1, -1, x.shape[1])
    jac = xp.swapaxes(xp.matmul(along, x).reshape(len(x), -1, 3, 3), -1, -2)
    cof, det = cofactors(xp, jac)
    gradients = xp.matmul(slopes[None], xp.swapaxes(cof, -1, -2)) / det[..., None, None]
    scaled = gradients * xp.sqrt(weights * det)[..., None, None]
    cells, points, n, _ = scaled.shape
    flat = scaled.reshape(cells, points, 3 * n)
    m = xp.matmul(xp.swapaxes(flat, 1, 2), flat).reshape(cells, n, 3, n, 3).transpose(0, 1, 3, 2, 4)
    blocks = LAMBDA * m + MU * xp.swapaxes(m, -1, -2)
    trace = MU * (m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2])
    for i in range(3):
        blocks[..., i, i] += trace
    return blocks


def places(xp, cells, n_nodes):
    """The place of every pair of a cell's nodes among the matrix's blocks, flat, and how many blocks there are."""
    keys = cells[:, :, None].astype("i8") * n_nodes + cells[:, None, :]
    blocks, found = xp.unique(keys.reshape(-1), return_inverse=True)
    return found.reshape(-1), blocks.size


def add_up(xp, values, places_, blocks):
    """Sets `values [blocks][3][3]` to the sum of the element matrices."""
    values.fill(0)
    xp.add.at(values.reshape(-1, 9), places_, blocks.reshape(-1, 9))


def timed(cp, run, samples):
    """Milliseconds of a run: the median."""
    run()
    times = []
    for _ in range(samples):
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        run()
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, end))
    return sorted(times)[len(times) // 2]


def measure(cp, element, n, samples):
    """The figures of one cube."""
    coords, cells = mesh(cp, element, n)
    slopes, weights = rule(cp, element)
    matrices_ms = timed(cp, lambda: element_matrices(cp, coords[cells], slopes, weights), samples)
    blocks = element_matrices(cp, coords[cells], slopes, weights)
    cp.get_default_memory_pool().free_all_blocks()
    start = time.perf_counter()
    places_, n_blocks = places(cp, cells, len(coords))
    cp.cuda.runtime.deviceSynchronize()
    symbolic_ms = 1e3 * (time.perf_counter() - start)
    values = cp.zeros((n_blocks, 3, 3))
    scatter_ms = timed(cp, lambda: add_up(cp, values, places_, blocks), samples)
    figures = {"element_matrices_ms": matrices_ms, "scatter_ms": scatter_ms, "assembly_ms": matrices_ms + scatter_ms}
    return {"problem": f"{element} cube {n}", "elements": len(cells), "symbolic_ms": symbolic_ms, **figures}


def self_test():
    """The matrix of a distorted cube is symmetric, costs rigid motions nothing, and has the right energy of a stretch."""
    for element in ("hex8", "tet4"):
        coords, cells = mesh(np, element, 3)
        inner = ((coords > 0) & (coords < 1)).all(axis=1)
        coords[inner] += 0.05 * np.sin(np.arange(3 * inner.sum())).reshape(-1, 3)
        places_, n_blocks = places(np, cells, len(coords))
        blocks = np.zeros((n_blocks, 3, 3))
        add_up(np, blocks, places_, element_matrices(np, coords[cells], *rule(np, element)))
        pairs = np.unique(cells[:, :, None].astype("i8") * len(coords) + cells[:, None, :])
        k = np.zeros((len(coords), 3, len(coords), 3))
        for pair, block in zip(pairs, blocks):
            k[pair // len(coords), :, pair % len(coords), :] = block
        k = k.reshape(3 * len(coords), -1)
        turn = np.stack([-coords[:, 1], coords[:, 0], 0 * coords[:, 0]], -1).reshape(-1)
        stretch = (coords * [1.0, 0.0, 0.0]).reshape(-1)
        assert np.abs(k - k.T).max() < 1e-12 * k.max(), element
        assert np.abs(k @ turn).max() < 1e-12 * k.max(), element
        assert abs(stretch @ k @ stretch / (LAMBDA + 2 * MU) - 1) < 1e-12, element
    print("the element matrices are right")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", default="60,100,128")
    parser.add_argument("--element", default="hex8")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return
    import cupy as cp

    rows = []
    for n in map(int, arguments.cells.split(",")):
        for element in arguments.element.split(","):
            try:
                rows.append(measure(cp, element, n, arguments.samples))
                print(rows[-1], flush=True)
            except cp.cuda.memory.OutOfMemoryError as error:
                print(f"{element} cube {n}: {error}", file=sys.stderr)
            cp.get_default_memory_pool().free_all_blocks()
    if arguments.json:
        device = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
        figures = {"peer_assembly": f"CuPy {cp.__version__}", "device": device, "rows": rows}
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
