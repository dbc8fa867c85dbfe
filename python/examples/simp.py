"""Topology optimisation: the stiffest cantilever of a given volume, `python simp.py [--cells X Y Z] [--device cuda]`.

SIMP: an element of density x is `x^3` times as stiff as solid material. Densities are filtered over neighbours and
updated by the optimality criteria (Andreassen, Clausen, Schevenels, Lazarov, Sigmund: Efficient topology optimization
in MATLAB using 88 lines of code, Struct. Multidisc. Optim. 43, 2011), in space instead of in the plane.
"""

import argparse
import time

import numpy as np
from scipy.ndimage import convolve

import warpfem

PENALTY, VOID, MOVE = 3.0, 1e-6, 0.2


def cone(radius):
    """Weights of the filter."""
    reach = np.arange(-int(radius), int(radius) + 1)
    distance = np.sqrt(sum(np.square(np.meshgrid(reach, reach, reach, indexing="ij"))))
    return np.maximum(0.0, radius - distance)


def update(density, of_compliance, of_volume, fraction, filtered):
    """The densities that the optimality criteria ask for, with the volume that is allowed."""
    gain = np.maximum(0.0, -of_compliance / of_volume)
    low, high = 0.0, 4.0 * gain.max()
    while high - low > 1e-4 * (high + low):
        middle = 0.5 * (low + high)
        wanted = density * np.sqrt(gain / middle)
        wanted = np.clip(wanted, np.maximum(0.0, density - MOVE), np.minimum(1.0, density + MOVE))
        if filtered(wanted).mean() > fraction:
            low = middle
        else:
            high = middle
    return wanted


def optimise(cells, device, fraction=0.3, radius=1.5, steps=30, say=print):
    """The densities, `cells`, and the compliance of each step."""
    model = warpfem.Model(
        generate={"kind": "box", "element": "hex8", "size": [float(n) for n in cells], "cells": list(cells)}
    )
    model.material(name="solid", young=1.0, poisson=0.3).support(on="xmin", fix="xyz")
    model.load(on="xmax", force=[0.0, 0.0, -1.0])
    stiffness, mesh = model.stiffness(device), model.mesh
    # Where each element is in the grid.
    place = tuple(mesh.points[mesh.cells["hex8"]].mean(axis=1).astype(int).T)
    kernel = cone(radius)
    weights = convolve(np.ones(cells), kernel, mode="constant")

    def filtered(values):
        return convolve(values, kernel, mode="constant") / weights

    def back(values):
        return convolve(values / weights, kernel, mode="constant")

    density, compliances = np.full(cells, fraction), []
    of_volume = back(np.ones(cells))
    for step in range(steps):
        start = time.monotonic()
        physical = filtered(density)
        factors = VOID + physical**PENALTY * (1 - VOID)
        stiffness.scale(factors[place])
        u = stiffness.solve(tolerance=1e-5)
        energy = np.empty(cells)
        # Of solid material.
        energy[place] = stiffness.energies(u)
        energy /= factors
        compliances.append(stiffness.load @ u)
        of_compliance = back(-PENALTY * (1 - VOID) * physical ** (PENALTY - 1) * energy)
        density = update(density, of_compliance, of_volume, fraction, filtered)
        seconds = time.monotonic() - start
        say(
            f"{step:3}: compliance {compliances[-1]:.4g}, {stiffness.iterations} iterations, {seconds:.2f} s",
            flush=True,
        )
    return filtered(density), compliances


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, nargs=3, default=(32, 8, 16), metavar=("X", "Y", "Z"))
    parser.add_argument("--device", default="auto")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--output", help="a file of densities for ParaView, .vtu")
    arguments = parser.parse_args()
    density, compliances = optimise(tuple(arguments.cells), arguments.device, steps=arguments.steps)
    print(f"{100 * compliances[-1] / compliances[0]:.1f} % of the first compliance")
    if arguments.output:
        import pyvista

        grid = pyvista.ImageData(dimensions=np.add(arguments.cells, 1))
        grid.cell_data["density"] = density.ravel(order="F")
        grid.threshold(0.5).save(arguments.output)


if __name__ == "__main__":
    main()
