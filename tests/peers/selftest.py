"""The reference against closed forms that P1 tetrahedra reproduce exactly."""

import numpy as np
import skfem

import case as cases
import reference

YOUNG, POISSON, DENSITY = 70e9, 0.33, 2700.0
SIZE = np.array([2.0, 1.0, 0.5])
EXACT = 1e-10


def box(**tables):
    """A box of `SIZE` with jittered inner nodes, tets of both orientations, and the given tables."""
    axes = [np.linspace(0, length, n) for length, n in zip(SIZE, (6, 5, 4))]
    mesh = skfem.MeshTet.init_tensor(*axes)
    points, tets = mesh.p.T.copy(), mesh.t.T.copy()
    inner = ((points > 0) & (points < SIZE)).all(axis=1)
    points[inner] += np.random.default_rng(1).uniform(-0.03, 0.03, (inner.sum(), 3))
    tets[::2] = tets[::2][:, [1, 0, 2, 3]]
    material = {"name": "a", "young": YOUNG, "poisson": POISSON, "density": DENSITY}
    return cases.Case("box", {"material": [material], **tables}, points, tets, np.arange(1, len(points) + 1))


# Three planes held across themselves: no rigid motion, no stress of their own.
ROLLERS = [{"on": f"{a}min", "fix": a} for a in "xyz"]


def error(found, expected):
    """Largest difference, relative to the largest expected value."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def uniaxial():
    """A bar pulled by a traction: u = (sigma / E) (x, -nu y, -nu z)."""
    case = box(support=ROLLERS, traction=[{"on": "xmax", "vector": [3e6, 0.0, 0.0]}])
    s = reference.Problem(case).solve()
    expected = 3e6 / YOUNG * case.points * [1.0, -POISSON, -POISSON]
    return max(error(s.u, expected), error(s.von_mises, np.full(len(case.tets), 3e6)))


def same_force():
    """A total force and a stretch prescribed at the end give the same bar."""
    force = {"on": "xmax", "total": [3e6 * SIZE[1] * SIZE[2], 0.0, 0.0]}
    by_force = reference.Problem(box(support=ROLLERS, force=[force])).solve()
    stretch = ROLLERS + [{"on": "xmax", "displacement": {"x": 3e6 / YOUNG * SIZE[0]}}]
    by_stretch = reference.Problem(box(support=stretch)).solve()
    pull = by_stretch.reactions[by_stretch.u[:, 0] > 0.99 * by_stretch.u[:, 0].max(), 0].sum()
    return max(error(by_stretch.u, by_force.u), abs(pull / force["total"][0] - 1))


def hydrostatic():
    """Pressure on all sides: u = -p (1 - 2 nu) / E x, no von Mises stress."""
    case = box(support=ROLLERS, pressure=[{"on": f"{a}max", "value": 5e6} for a in "xyz"])
    s = reference.Problem(case).solve()
    expected = -5e6 * (1 - 2 * POISSON) / YOUNG * case.points
    return max(error(s.u, expected), s.von_mises.max() / 5e6)


def push():
    """On a plane top a push is a pressure of total / area."""
    by_push = reference.Problem(box(push=[{"direction": [0.0, 0.0, 2.0], "total": 1e4}])).loads()
    pressure = {"on": "zmax", "value": 1e4 / (SIZE[0] * SIZE[1])}
    return error(by_push, reference.Problem(box(pressure=[pressure])).loads())


def patch():
    """A linear displacement field prescribed on the skin continues inside, with constant stress."""
    case = box(support=[{"on": "xmin", "fix": "xyz"}])
    gradient = np.array([[1.0, 2.0, -1.0], [0.5, -2.0, 1.5], [3.0, 0.2, 0.7]]) * 1e-4
    expected = case.points @ gradient.T
    problem = reference.Problem(case)
    skin = np.unique(cases.skin(case.tets))
    held, values = np.zeros((len(case.points), 3), bool), np.zeros((len(case.points), 3))
    held[skin], values[skin] = True, expected[skin]
    problem.supports = lambda: (held.ravel(), values.ravel())
    s = problem.solve()
    lam, mu = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON)), YOUNG / (2 * (1 + POISSON))
    stress = mu * (gradient + gradient.T) + lam * np.trace(gradient) * np.eye(3)
    voigt = np.array([stress[i, j] for i, j in reference.VOIGT])
    return max(error(s.u, expected), error(s.stress, np.tile(voigt, (len(case.tets), 1))))


def weight():
    """Gravity's nodal forces add up to the weight, and the reactions to its opposite."""
    case = box(support=[{"on": "zmin", "fix": "xyz"}], gravity={"acceleration": [0.0, 0.0, -9.81]})
    s = reference.Problem(case).solve()
    expected = np.array([0.0, 0.0, -9.81 * DENSITY * SIZE.prod()])
    return max(error(s.applied, expected), error(-s.reactions.sum(axis=0), expected))


def run():
    """Exit status; a line per test."""
    status = 0
    for test in (uniaxial, same_force, hydrostatic, push, patch, weight):
        found = test()
        good = found <= EXACT
        status |= not good
        print(f"{'ok  ' if good else 'MISS'} {test.__name__:12} {found:.1e}  {test.__doc__}")
    return int(status)
