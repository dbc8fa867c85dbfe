#!/usr/bin/env python3
"""Compares frequencies with those of scipy's dense solver, of random models that scikit-fem assembles.

    eigen.py BINARY [SEEDS]    a line per model; exit 1 if one is beyond the bound

Models are free or held, of tetrahedra and hexahedra that are distorted, of two materials, of which one may have next to no mass;
some have a copy beside them, so that all eigenvalues are double. Needs numpy, scipy, scikit-fem.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import scipy.linalg
import skfem as fem
from skfem.helpers import ddot, dot, eye, sym_grad, trace

# Frequencies differ by this part of themselves at most; what is below a part of the largest is 0.
BOUND, ZERO = 1e-6, 1e-4
N_MODES = 18
# Abaqus's hexahedron in coordinates of the reference cell.
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
ELEMENTS = {
    "C3D4": (fem.MeshTet, fem.ElementTetP1),
    "C3D10": (fem.MeshTet, fem.ElementTetP2),
    "C3D8": (fem.MeshHex, fem.ElementHex1),
}


@fem.BilinearForm
def stiffness(u, v, w):
    strain = sym_grad(u)
    stress = w.lame * eye(trace(strain), 3) + 2.0 * w.shear * strain
    return ddot(stress, sym_grad(v))


@fem.BilinearForm
def mass(u, v, w):
    return w.density * dot(u, v)


def model(random):
    """A name, the deck and its matrices."""
    name = random.choice(list(ELEMENTS))
    mesh_type, element = ELEMENTS[name]
    cells = random.integers(1, 4, 3)
    size = random.uniform(0.5, 2.0, 3)
    axes = [np.linspace(0.0, length, n + 1) for length, n in zip(size, cells)]
    mesh = mesh_type.init_tensor(*axes)
    x = mesh.p + random.uniform(-0.12, 0.12, mesh.p.shape) * (size / cells)[:, None]
    x[0, mesh.p[0] == 0.0] = 0.0
    mesh = mesh_type(x, mesh.t)
    # Of hexahedra 2 x 2 x 2 points, as everywhere; of tetrahedra as many as M needs.
    basis, of_mass = (fem.Basis(mesh, fem.ElementVector(element()), intorder=order) for order in (3, 3 if name == "C3D8" else 5))
    nodes = fem.Basis(mesh, element(), intorder=3)
    order = range(len(nodes.element_dofs))
    if name == "C3D8":
        corners = element().doflocs
        order = [int(np.argmin(np.abs(corners - corner).sum(axis=1))) for corner in CORNERS]
    young, poisson = 10.0 ** random.uniform(9, 11, 2), random.uniform(0.0, 0.4, 2)
    density = 10.0 ** random.uniform(3, 4, 2)
    if random.random() < 0.3:
        density[1] *= 1e-9
    of_cell = (np.arange(mesh.nelements) % 3 == 0).astype(int)
    field = lambda values, basis=basis: np.repeat(np.asarray(values)[of_cell][:, None], basis.X.shape[-1], axis=1)
    lame = young * poisson / ((1 + poisson) * (1 - 2 * poisson))
    shear = young / (2 * (1 + poisson))
    k = stiffness.assemble(basis, lame=field(lame), shear=field(shear)).toarray()
    m = mass.assemble(of_mass, density=field(density, of_mass)).toarray()
    held = np.where(np.abs(nodes.doflocs[0]) < 1e-12)[0] if random.random() < 0.6 else np.array([], dtype=int)
    # skfem numbers components within vertices and within edges; places tell them apart.
    place = {tuple(np.round(p, 9)): node for node, p in enumerate(nodes.doflocs.T)}
    of_dof = np.array([place[tuple(np.round(p, 9))] for p in basis.doflocs.T])
    free = ~np.isin(of_dof, held)
    copies = 2 if random.random() < 0.4 else 1
    lines = ["*NODE"]
    n = nodes.doflocs.shape[1]
    for copy in range(copies):
        shift = np.array([0.0, 3.0 * size[1] * copy, 0.0])
        lines += [f"{copy * n + node + 1}, " + ", ".join(f"{c:.17g}" for c in p + shift) for node, p in enumerate(nodes.doflocs.T)]
    for material in (0, 1):
        lines.append(f"*ELEMENT, TYPE={name}, ELSET=E{material}")
        for copy in range(copies):
            for cell in np.where(of_cell == material)[0]:
                tags = ", ".join(str(copy * n + nodes.element_dofs[row, cell] + 1) for row in order)
                lines.append(f"{copy * mesh.nelements + cell + 1}, {tags}")
    for material in set(of_cell):
        lines += [f"*MATERIAL, NAME=M{material}", "*ELASTIC", f"{young[material]:.17g}, {poisson[material]:.17g}", "*DENSITY",
                  f"{density[material]:.17g}", f"*SOLID SECTION, ELSET=E{material}, MATERIAL=M{material}"]
    lines += ["*STEP", "*FREQUENCY", str(min(N_MODES, copies * int(free.sum())))]
    if len(held):
        lines += ["*BOUNDARY"] + [f"{copy * n + node + 1}, 1, 3" for copy in range(copies) for node in held]
    lines.append("*END STEP")
    matrices = [np.kron(np.eye(copies), of[np.ix_(free, free)]) for of in (k, m)]
    what = f"{name:5} {mesh.nelements:3} cells x {copies}, {'held' if len(held) else 'free'}, densities {density[0]:.0e} {density[1]:.0e}"
    return what, "\n".join(lines) + "\n", matrices


def frequencies(k, m, n):
    # By 1 / lambda: M may be all but singular where mass is missing, and K + M is not.
    shift = np.trace(k) / np.trace(m) * 1e-6
    values = scipy.linalg.eigh(m, k + shift * m, eigvals_only=True)[::-1][:n]
    return np.sqrt(np.maximum(1.0 / values - shift, 0.0)) / (2 * np.pi)


def compare(binary, seed):
    what, deck, (k, m) = model(np.random.default_rng(seed))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "random.inp").write_text(deck)
        command = [binary, "solve", "random.inp", "-o", "out", "--device", "cpu", "--tolerance", "1e-10", "--no-symbols"]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        if result.returncode:
            return True, f"{what}: exit {result.returncode}: {result.stderr.strip()[-300:]}"
        steps = json.loads((folder / "out/summary.json").read_text())["steps"]
    found = np.array([step["frequency"] for step in steps])
    expected = frequencies(k, m, len(found))
    is_zero = expected < ZERO * expected.max()
    difference = np.abs(found / np.where(is_zero, 1.0, expected) - 1.0)[~is_zero].max(initial=0.0)
    zeros = found[is_zero].max(initial=0.0) / expected.max()
    is_bad = difference > BOUND or zeros > ZERO or len(found) != min(N_MODES, len(k))
    return is_bad, f"{what}: {len(found)} modes, {is_zero.sum()} of 0, differ by {difference:.1e}"


def main():
    binary, n = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 20
    failed = False
    for seed in range(n):
        is_bad, shown = compare(binary, seed)
        print("DIFFERS" if is_bad else "agrees ", f"{seed:3}", shown, flush=True)
        failed |= is_bad
    return failed


if __name__ == "__main__":
    sys.exit(main())
