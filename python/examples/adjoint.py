"""Derivatives of displacements by the Young's modulus of each element and the load on each node, for PyTorch.

With `K(E) u = f` and a function J of u, one more solution gives all of them: `K l = dJ/du`, `dJ/df = l`, and as K is linear in each
modulus, `dJ/dE_e = -l . K_e u / E_e`. `l . K_e u` is a difference of energies, of `(u + l) / 2` and `(u - l) / 2`.
"""

import numpy as np
import torch

import warpfem


class Displacement(torch.autograd.Function):
    """`u = Displacement.apply(stiffness, moduli, loads)`, the moduli relative to those of the materials."""

    @staticmethod
    def forward(context, stiffness, moduli, loads):
        stiffness.scale(moduli.detach().numpy())
        u = torch.tensor(stiffness.solve(loads.detach().numpy(), tolerance=1e-12))
        context.stiffness = stiffness
        context.save_for_backward(moduli, u)
        return u

    @staticmethod
    def backward(context, of_u):
        (moduli, u), stiffness = context.saved_tensors, context.stiffness
        stiffness.scale(moduli.detach().numpy())
        adjoint = stiffness.solve(of_u.numpy(), tolerance=1e-12)
        # Vectors of one size, as their energies are subtracted.
        size = np.linalg.norm(u) / max(np.linalg.norm(adjoint), np.finfo(float).tiny)
        plus, minus = (stiffness.energies((u.numpy() + sign * size * adjoint) / 2) for sign in (1, -1))
        return None, -torch.tensor((plus - minus) / size) / moduli, torch.tensor(adjoint)


def main():
    model = warpfem.Model(generate={"kind": "box", "element": "hex8", "size": [4.0, 1.0, 1.0], "cells": [8, 2, 2]})
    model.material(name="rubber", young=1e6, poisson=0.3).support(on="xmin", fix="xyz")
    model.force(on="xmax", total=[0.0, 0.0, -100.0])
    stiffness = model.stiffness()

    def tip(moduli, loads):
        return (Displacement.apply(stiffness, moduli, loads).reshape(-1, 3)[-9:] ** 2).sum()

    rng = np.random.default_rng(0)
    moduli = torch.tensor(rng.uniform(0.5, 2.0, stiffness.n_elements), requires_grad=True)
    loads = torch.tensor(stiffness.load, requires_grad=True)
    tip(moduli, loads).backward()
    worst = 0.0
    for given, step in ((moduli, 1e-4), (loads, 1e-2)):
        for _ in range(5):
            direction = torch.tensor(rng.normal(size=given.shape))
            ends = [given.detach() + sign * step * direction for sign in (1, -1)]
            ahead, back = (tip(*((end, loads) if given is moduli else (moduli, end))).item() for end in ends)
            found, expected = (given.grad * direction).sum().item(), (ahead - back) / (2 * step)
            worst = max(worst, abs(found - expected) / abs(expected))
    print(f"derivatives differ from finite differences by {worst:.1e} at most")
    assert worst < 1e-5


if __name__ == "__main__":
    main()
