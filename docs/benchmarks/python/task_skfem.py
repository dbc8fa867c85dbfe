"""The task by scikit-fem and PyAMG: `task_skfem.py CELLS`."""

import sys

import numpy as np
import pyamg
from scipy.sparse.linalg import cg
from skfem import Basis, ElementTetP0, ElementTetP1, ElementVector, FacetBasis, LinearForm, MeshTet, asm, condense
from skfem.helpers import dot, sym_grad, trace
from skfem.models.elasticity import lame_parameters, linear_elasticity

n = int(sys.argv[1])
lam, mu = lame_parameters(210e9, 0.3)
mesh = MeshTet.init_tensor(*[np.linspace(0, 1, n + 1)] * 3)
element = ElementVector(ElementTetP1())
basis = Basis(mesh, element)
top = FacetBasis(mesh, element, facets=mesh.facets_satisfying(lambda x: x[2] == 1.0))
K = asm(linear_elasticity(lam, mu), basis)
f = asm(LinearForm(lambda v, w: -1e6 * dot(w.n, v)), top)
A, b, u, free = condense(K, f, D=basis.get_dofs(lambda x: x[2] == 0.0))
modes = np.zeros((mesh.p.shape[1], 3, 6))
x, y, z = mesh.p - 0.5
modes[:, 0, 0] = modes[:, 1, 1] = modes[:, 2, 2] = 1.0
modes[:, 0, 3], modes[:, 1, 3] = -y, x
modes[:, 1, 4], modes[:, 2, 4] = -z, y
modes[:, 2, 5], modes[:, 0, 5] = -x, z
hierarchy = pyamg.smoothed_aggregation_solver(A.tobsr((3, 3)), B=modes.reshape(-1, 6)[free])
u[free], failed = cg(A, b, M=hierarchy.aspreconditioner(), rtol=1e-8)
assert not failed
constants = basis.with_element(ElementTetP0())
strain = sym_grad(basis.interpolate(u))
stress = 2 * mu * strain + lam * np.eye(3)[:, :, None, None] * trace(strain)
deviator = stress - np.eye(3)[:, :, None, None] * trace(stress) / 3
von_mises = constants.project(np.sqrt(1.5 * np.einsum("ijkl,ijkl->kl", deviator, deviator)))
print(u[2::3].min(), von_mises.mean())
