"""The task by warpfem: `task_warpfem.py CELLS DEVICE`."""

import sys

import warpfem

n, device = int(sys.argv[1]), sys.argv[2]
cube = {"kind": "box", "element": "tet4", "size": [1.0, 1.0, 1.0], "cells": [n, n, n]}
model = warpfem.Model(generate=cube)
model.material(name="steel", young=210e9, poisson=0.3)
model.support(on="zmin", fix="xyz").pressure(on="zmax", value=1e6)
model.solver(residual_tolerance=1e-8)
result = model.solve(device)
print(result["displacement"][:, 2].min(), result["von_mises"].mean())
