"""Operators for scipy."""

import warnings

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import LinearOperator

from . import _warpfem
from ._errors import ConvergenceWarning


def _vector(values):
    return np.ascontiguousarray(values, np.float64).ravel()


def _right_side(values):
    f = _vector(values)
    if not np.isfinite(f).all():
        i = int(np.flatnonzero(~np.isfinite(f))[0])
        raise ValueError(f"the right-hand side is {f[i]} at {i}: expected finite numbers")
    return f


class _Solver(LinearOperator):
    """An operator that is solved with, too."""

    def __init__(self, native, n):
        super().__init__(np.float64, (n, n))
        self._native = native
        #: Iterations of the last solution, and its residual relative to the right-hand side.
        self.iterations, self.residual = 0, 0.0

    def _matvec(self, x):
        return np.asarray(self._native.apply(_vector(x)))

    def _rmatvec(self, x):
        return self._matvec(x)

    def _solved(self, solved):
        x, (self.iterations, self.residual, converged) = solved
        if not converged:
            text = f"the relative residual is {self.residual:.2e} after {self.iterations} iterations"
            warnings.warn(text, ConvergenceWarning, stacklevel=3)
        return np.asarray(x)


class Stiffness(_Solver):
    """The stiffness matrix of a model: K, with 0 in rows and columns of what is held but for the diagonal.

    Vectors have the shape ``(components * n_nodes,)``, node by node in the order of `Mesh.points`. It is computed with
    on the device that it was made on; vectors are copied there and back.

    Attributes
    ----------
    components : int
        Unknowns of a node.
    n_elements : int
        Elements, in the order of `Mesh.solids`.
    iterations, residual
        Of the last solution.
    """

    def __init__(self, native):
        super().__init__(native, native.n)
        self.components, self.n_elements, self.device = native.components, native.n_elements, native.device

    @property
    def load(self):
        """The right-hand side: loads, and what prescribed displacements cause; 0 where something is held."""
        return np.asarray(self._native.load())

    def tobsr(self):
        """The matrix as a `scipy.sparse.bsr_array` in the order of the mesh; a copy."""
        size, start, columns, values = self._native.blocks()
        start, columns = np.asarray(start).astype(np.int64), np.asarray(columns).astype(np.int64)
        return scipy.sparse.bsr_array((np.asarray(values).reshape(-1, size, size), columns, start), shape=self.shape)

    def solve(self, f=None, tolerance=1e-8, max_iterations=20_000):
        """Solve ``K u = f`` by conjugate gradients with multigrid.

        Parameters
        ----------
        f : array, optional
            The right-hand side. Where something is held, it does not count, and the solution is 0. If left out, the
            loads and what is prescribed.
        tolerance : float
            On the residual, relative to f.
        max_iterations : int
            Where to give up.

        Returns
        -------
        array
            The displacement; without f that of the model, prescribed values among it.

        Warns
        -----
        ConvergenceWarning
            If the tolerance is not met.
        """
        return self._solved(self._native.solve(None if f is None else _right_side(f), tolerance, max_iterations))

    def energies(self, u):
        """``u . K_e u`` of each element, ``(n_elements,)``: twice its strain energy."""
        return np.asarray(self._native.energies(_vector(u)))

    def scale(self, factors):
        """Make each element so many times as stiff as its material, ``(n_elements,)``, all above 0; loads stay."""
        self._native.scale(_vector(factors))


class Amg(_Solver):
    """Smoothed aggregation multigrid for a symmetric positive definite matrix: ``M @ r`` is nearly ``A^-1 r``.

    Attributes
    ----------
    levels : list of int
        Unknowns of each level.
    operator_complexity : float
        Entries of all levels over those of the first.
    iterations, residual
        Of the last solution.
    """

    def __init__(self, native, n):
        super().__init__(native, n)
        self.levels, self.operator_complexity = native.levels, native.operator_complexity

    def solve(self, b, tolerance=1e-8, max_iterations=1000):
        """Solve ``A x = b`` by flexible conjugate gradients with this; arguments as in `Stiffness.solve`."""
        return self._solved(self._native.solve(_right_side(b), tolerance, max_iterations))


def amg(A, near_nullspace=None, *, points=None, device="cpu"):
    """Set up multigrid for any matrix.

    Parameters
    ----------
    A : sparse matrix or array of scipy or CuPy
        Symmetric, positive definite. Its blocks are those of a BSR matrix, of 1, 2, 3 or 6 rows. Matrices of other formats
        have blocks of so many rows as `points` says, else of one.
    near_nullspace : array (n, k), optional
        What costs no energy, up to six columns; by default the rigid motions of `points`, or without these a constant
        for each component.
    points : array (n_nodes, 3), optional
        Where the nodes are that block rows are of; long couplings are then weak.
    device : str
        ``"cpu"``, ``"cuda"``, ..; vectors are copied there and back.

    Returns
    -------
    Amg
        A `scipy.sparse.linalg.LinearOperator`, for ``M`` of scipy's solvers.

    Warns
    -----
    UserWarning
        If several columns of `near_nullspace` are given for a matrix without blocks, where they help little.

    Notes
    -----
    The cycle contains steps of conjugate gradients, so that it is not quite linear; `Amg.solve` allows for that.
    """
    A = A.get() if hasattr(A, "get") and not scipy.sparse.issparse(A) else A
    if not scipy.sparse.issparse(A):
        raise TypeError(f"a {type(A).__name__} is no sparse matrix")
    if A.format != "bsr":
        n_nodes = A.shape[0] if points is None else len(points)
        size = A.shape[0] // n_nodes if n_nodes and A.shape[0] % n_nodes == 0 else 1
        if points is None and near_nullspace is not None and np.ndim(near_nullspace) > 1 and np.shape(near_nullspace)[1] > 1:
            text = f"a matrix of format {A.format} has no blocks: if several rows belong to a node, pass A.tobsr((3, 3))"
            warnings.warn(text, stacklevel=2)
        A = A.tobsr(blocksize=(size, size))
    size = A.blocksize[0]
    if A.shape[0] != A.shape[1] or A.blocksize != (size, size) or size not in (1, 2, 3, 6):
        raise ValueError(
            f"a matrix of shape {A.shape} and blocks {A.blocksize}: expected a square one, of 1, 2, 3 or 6 rows a block"
        )
    if near_nullspace is None and points is None:
        near_nullspace = np.tile(np.eye(size), (A.shape[0] // size, 1))
    modes = None
    if near_nullspace is not None:
        near_nullspace = np.ascontiguousarray(near_nullspace, np.float64).reshape(A.shape[0], -1)
        modes = (near_nullspace.shape[1], near_nullspace)
    if points is not None:
        points = np.asarray(points, np.float64)
        points = np.ascontiguousarray(np.pad(points, ((0, 0), (0, 3 - points.shape[1]))))
    blocks = tuple(np.ascontiguousarray(of, np.int64) for of in (A.indptr, A.indices))
    values = np.ascontiguousarray(A.data, np.float64)
    return Amg(_warpfem.Amg(size, (*blocks, values), modes, points, device), A.shape[0])
