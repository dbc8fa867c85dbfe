"""Operators: the stiffness matrix, its solution and derivatives, multigrid for other matrices."""

import warnings

import numpy as np
import pytest
from conftest import beam

import warpfem

sparse = pytest.importorskip("scipy.sparse")
from scipy.sparse.linalg import LinearOperator, cg, spsolve  # noqa: E402


@pytest.fixture(params=["hex20", "tet4"])
def model(request):
    return beam((6, 2, 2), request.param)


def test_the_matrix_and_the_operator_are_one(model):
    K = model.stiffness()
    A = K.tobsr()
    assert isinstance(K, LinearOperator) and A.blocksize == (3, 3) and abs(A - A.T).max() < 1e-9 * abs(A).max()
    x = np.random.default_rng(1).normal(size=K.shape[0])
    np.testing.assert_allclose(A @ x, K @ x, rtol=1e-9, atol=1e-9 * abs(A @ x).max())
    np.testing.assert_allclose(K.T @ x, K @ x)


def test_it_solves_the_model(model):
    K = model.stiffness()
    u = model.solver(tolerance=1e-10).solve("cpu")["displacement"].ravel()
    for found in (K.solve(), spsolve(K.tobsr().tocsr(), K.load), K.solve(K.load)):
        np.testing.assert_allclose(found, u, atol=1e-6 * abs(u).max())
    assert 0 < K.iterations < 100 and K.residual < 1e-8
    assert K.load.sum() == pytest.approx(-1e3) and K.energies(u).sum() == pytest.approx(K.load @ u)


def test_factors_scale_elements(model):
    K = model.stiffness()
    u, before = K.solve(), K.tobsr()
    K.scale(np.full(K.n_elements, 4.0))
    np.testing.assert_allclose(K.solve(), u / 4, atol=1e-6 * abs(u).max())
    factors = np.linspace(0.5, 2.0, K.n_elements)
    K.scale(np.ones(K.n_elements))
    of_elements = K.energies(u)
    K.scale(factors)
    np.testing.assert_allclose(K.energies(u), factors * of_elements, rtol=1e-9)
    held = np.flatnonzero(abs(before).sum(axis=1) == abs(before.diagonal()))
    assert len(held) > 0


def test_planes_and_potentials():
    mesh = {"kind": "rectangle", "element": "quad8", "size": [2.0, 1.0], "cells": [6, 3]}
    plate = warpfem.Model(generate=mesh).analysis(kind="plane_stress").material(name="m", young=1.0, poisson=0.3)
    K = plate.support(on="xmin", fix="xy").traction(on="xmax", vector=[1.0, 0.0]).stiffness()
    assert K.components == 2
    np.testing.assert_allclose(K.solve().reshape(-1, 2), plate.solve("cpu")["displacement"][:, :2], atol=1e-5)
    heat = warpfem.Model(generate=mesh).analysis(kind="laplace").material(name="m", conductivity=2.0)
    K = heat.support(on="xmin", value=0.0).flux(on="xmax", value=1.0).stiffness()
    np.testing.assert_allclose(K.solve(), heat.solve("cpu")["potential"], atol=1e-6)
    assert K.tobsr().blocksize == (1, 1)


def poisson(n):
    line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    return (sparse.kron(line, sparse.eye_array(n)) + sparse.kron(sparse.eye_array(n), line)).tocsr()


def test_multigrid_for_other_matrices():
    A, b = poisson(120), np.ones(120 * 120)
    M = warpfem.amg(A)
    assert len(M.levels) > 1 and M.levels[0] == A.shape[0] and 1 < M.operator_complexity < 2
    x = M.solve(b, tolerance=1e-10)
    np.testing.assert_allclose(x, spsolve(A, b), rtol=1e-6)
    assert M.iterations < 40
    counts = []
    x, info = cg(A, b, M=M, rtol=1e-8, callback=counts.append)
    assert info == 0 and len(counts) < 60


def test_the_near_nullspace_makes_it_faster():
    model = beam((40, 4, 4), "hex8")
    K, points = model.stiffness(), model.mesh.points
    A, b = K.tobsr(), K.load
    x, y, z = (points - points.mean(axis=0)).T
    modes = np.zeros((len(points), 3, 6))
    modes[:, 0, 0] = modes[:, 1, 1] = modes[:, 2, 2] = 1
    modes[:, 0, 3], modes[:, 1, 3] = -y, x
    modes[:, 1, 4], modes[:, 2, 4] = -z, y
    modes[:, 2, 5], modes[:, 0, 5] = -x, z
    counts = {}
    for name, M in {
        "constants": warpfem.amg(A),
        "modes": warpfem.amg(A, modes),
        "four": warpfem.amg(A, modes.reshape(-1, 6)[:, :4]),
        "points": warpfem.amg(A, points=points),
    }.items():
        np.testing.assert_allclose(A @ M.solve(b), b, atol=1e-6 * abs(b).max())
        counts[name] = M.iterations
    assert counts["points"] <= counts["modes"] < counts["four"] < counts["constants"]
    M = warpfem.amg(A.tocsr(), points=points)
    M.solve(b)
    assert M.iterations == counts["points"]
    with pytest.warns(UserWarning, match="no blocks"):
        warpfem.amg(A.tocsr(), modes.reshape(-1, 6))


@pytest.mark.parametrize(
    ("matrix", "arguments", "error", "text"),
    [
        (np.eye(3), {}, TypeError, "sparse"),
        (sparse.csr_array((3, 4)), {}, ValueError, "square"),
        (sparse.bsr_array(np.eye(8), blocksize=(4, 4)), {}, ValueError, "1, 2, 3 or 6"),
        (sparse.csr_array((3, 3)), {}, ValueError, "no diagonal block"),
        (sparse.eye_array(6).tocsr(), {"near_nullspace": np.ones((6, 7))}, warpfem.Error, "near-nullspace"),
        (sparse.eye_array(6).tocsr(), {"near_nullspace": np.ones(5)}, ValueError, "reshape"),
        (sparse.eye_array(6).tocsr(), {"points": np.ones((5, 3))}, ValueError, "expected"),
        (sparse.eye_array(6).tocsr(), {"device": "tpu"}, ValueError, "expected auto"),
    ],
)
def test_what_is_no_matrix(matrix, arguments, error, text):
    with pytest.raises(error, match=text):
        warpfem.amg(matrix, **arguments)


def test_hard_matrices_end():
    A = poisson(10)
    for odd in (A * np.nan, A * 1e300, -A):
        with warnings.catch_warnings(action="error"), pytest.raises((warpfem.ModelError, warpfem.ConvergenceWarning)):
            warpfem.amg(odd.tocsr()).solve(np.ones(100))


def test_vectors_of_another_length(model):
    K = model.stiffness()
    for call in (K.solve, K.energies, K.scale, warpfem.amg(poisson(4)).solve):
        with pytest.raises(ValueError, match="expected"):
            call(np.ones(7))
    with pytest.raises(ValueError, match="not above 0"):
        K.scale(np.zeros(K.n_elements))
    for solve, n in ((K.solve, K.shape[0]), (warpfem.amg(poisson(4)).solve, 16)):
        f = np.ones(n)
        f[5] = np.nan
        with pytest.raises(ValueError, match="the right-hand side is nan at 5"):
            solve(f)
    for tolerance in (0.0, 1.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            K.solve(tolerance=tolerance)
