"""Solves a case with scikit-fem and SciPy, sharing nothing with warpfem but the case file and the mesh.

The weak form is assembled on P1 tetrahedra by scikit-fem's own quadrature, surface loads by its facet bases, whose
normals come from the volume elements; the linear system goes to a sparse direct solver with one step of refinement.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse.linalg as spla
import skfem
from skfem.helpers import ddot, dot, eye, sym_grad, trace

import case as cases

VOIGT = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2)]


@dataclass
class Solution:
    """`u` and `reactions` [n][3], `stress` [m][6] (order `VOIGT`), `von_mises` [m], `applied` [3] and `residual`."""

    u: np.ndarray
    stress: np.ndarray
    von_mises: np.ndarray
    reactions: np.ndarray
    applied: np.ndarray
    residual: float


class Problem:
    """One case on scikit-fem's mesh; degree of freedom c of node i is 3 i + c."""

    def __init__(self, case):
        self.case = case
        # sort_t=False keeps the case's node order inside each tet; scikit-fem integrates with |det J|.
        p, t = np.ascontiguousarray(case.points.T), np.ascontiguousarray(case.tets.T.astype(np.int64))
        self.mesh = skfem.MeshTet(p, t, sort_t=False)
        self.element = skfem.ElementVector(skfem.ElementTetP1())
        self.basis = skfem.Basis(self.mesh, self.element, intorder=2)
        self.constants = skfem.Basis(self.mesh, skfem.ElementTetP0(), intorder=2)
        facets = np.sort(self.mesh.facets, axis=0)
        self.facet_ids = {tuple(f): i for i, f in enumerate(facets.T)}

    def per_cell(self, key):
        """A material's property for each tet."""
        values = np.full(len(self.case.tets), np.nan)
        for material in self.case.tables["material"]:
            rows = self.case.cells[material["on"]] if material.get("on") in self.case.cells else slice(None)
            values[rows] = material[key]
        return values

    def lame(self):
        """Lame's parameters for each tet."""
        young, nu = self.per_cell("young"), self.per_cell("poisson")
        return young * nu / ((1 + nu) * (1 - 2 * nu)), young / (2 * (1 + nu))

    def stiffness(self):
        """The stiffness matrix, without supports."""

        @skfem.BilinearForm
        def form(u, v, w):
            strain = sym_grad(u)
            return ddot(w.lam * eye(trace(strain), 3) + 2 * w.mu * strain, sym_grad(v))

        lam, mu = (self.constants.interpolate(x) for x in self.lame())
        return form.assemble(self.basis, lam=lam, mu=mu).tocsr()

    def facet_basis(self, faces):
        """A basis on the facets with these corner nodes."""
        ids = [self.facet_ids[tuple(f)] for f in np.sort(faces, axis=1)]
        return skfem.FacetBasis(self.mesh, self.element, facets=np.array(ids), intorder=2)

    def on_faces(self, faces, stress):
        """Nodal forces of the surface traction `stress(normal)` on these faces."""
        return skfem.LinearForm(lambda v, w: dot(stress(w.n), v)).assemble(self.facet_basis(faces))

    def area(self, faces, weight):
        """The integral of `weight(normal)` over these faces."""
        return skfem.Functional(lambda w: weight(w.n)).assemble(self.facet_basis(faces))

    def loads(self):
        """The consistent nodal forces of all of the case's loads."""
        tables, b = self.case.tables, np.zeros(3 * len(self.case.points))
        if "gravity" in tables:
            g = tables["gravity"]["acceleration"]
            weight = skfem.LinearForm(lambda v, w: w.rho * dot(constant(g, w.x), v))
            b += weight.assemble(self.basis, rho=self.constants.interpolate(self.per_cell("density")))
        for load in tables.get("pressure", []):
            b += self.on_faces(self.case.group_faces(load["on"]), lambda n: -load["value"] * n)
        for load in tables.get("traction", []):
            b += self.on_faces(self.case.group_faces(load["on"]), lambda n: constant(load["vector"], n))
        for load in tables.get("force", []):
            faces = self.case.group_faces(load["on"])
            density = np.array(load["total"]) / self.area(faces, lambda n: 1.0 + 0.0 * n[0])
            b += self.on_faces(faces, lambda n: constant(density, n))
        for load in tables.get("point_force", []):
            b.reshape(-1, 3)[self.nearest(load)] += load["vector"]
        for load in tables.get("push", []):
            b += self.push(load)
        return b

    def nearest(self, load):
        """The node a point force acts on."""
        if "node" in load:
            return int(np.flatnonzero(self.case.tags == load["node"])[0])
        return int(np.linalg.norm(self.case.points - np.array(load["at"]), axis=1).argmin())

    def push(self, load):
        """DSM's contact load, a push: against `direction`, on the skin between the nodes furthest along it, by oriented area."""
        d = np.array(load["direction"]) / np.linalg.norm(load["direction"])
        along = self.case.points @ d
        furthest = np.flatnonzero(along >= along.max() - cases.PLANE_TOLERANCE * cases.extent(self.case.points))
        faces = cases.within(cases.skin(self.case.tets), furthest)
        facing = lambda n: dot(constant(d, n), n)
        density = load["total"] / self.area(faces, facing)
        return self.on_faces(faces, lambda n: -density * facing(n) * constant(d, n))

    def supports(self):
        """Mask of the held degrees of freedom, and their prescribed values."""
        held, values = np.zeros((len(self.case.points), 3), bool), np.zeros((len(self.case.points), 3))
        for table in self.case.tables["support"]:
            nodes = self.case.support_nodes(table)
            prescribed = dict.fromkeys(table.get("fix", ""), 0.0) | table.get("displacement", {})
            for letter, value in prescribed.items():
                held[nodes, "xyz".index(letter)] = True
                values[nodes, "xyz".index(letter)] = value
        return held.ravel(), values.ravel()

    def solve(self):
        """Solves the case."""
        k, b = self.stiffness(), self.loads()
        held, u = self.supports()
        free = ~held
        inner, rhs = k[free][:, free].tocsc(), b[free] - k[free][:, held] @ u[held]
        factor = spla.splu(inner, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        x = factor.solve(rhs)
        x += factor.solve(rhs - inner @ x)
        u[free] = x
        residual = float(np.linalg.norm(rhs - inner @ x) / np.linalg.norm(rhs))
        reactions = np.where(held, k @ u - b, 0.0).reshape(-1, 3)
        stress = self.stress(u)
        return Solution(u.reshape(-1, 3), stress, von_mises(stress), reactions, b.reshape(-1, 3).sum(axis=0), residual)

    def stress(self, u):
        """Stress of each tet, from scikit-fem's gradient at its first quadrature point (it is constant)."""
        gradient = self.basis.interpolate(u).grad[..., 0]
        strain = 0.5 * (gradient + gradient.transpose(1, 0, 2))
        lam, mu = self.lame()
        stress = 2 * mu * strain + lam * np.trace(strain) * np.eye(3)[:, :, None]
        return np.stack([stress[i, j] for i, j in VOIGT], axis=1)


def constant(vector, like):
    """A constant vector field on the quadrature points of `like` ([3][cells][points])."""
    return np.asarray(vector, float)[:, None, None] + 0.0 * like


def von_mises(stress):
    """The von Mises stress of [m][6] stresses, from the deviator: sqrt(3/2 s:s)."""
    deviator = stress.copy()
    deviator[:, :3] -= stress[:, :3].mean(axis=1, keepdims=True)
    return np.sqrt(1.5 * ((deviator[:, :3] ** 2).sum(axis=1) + 2.0 * (deviator[:, 3:] ** 2).sum(axis=1)))
