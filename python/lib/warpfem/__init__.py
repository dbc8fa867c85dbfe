"""Finite elements for linear elasticity and potentials, on NVIDIA GPUs and CPUs.

>>> model = warpfem.Model("bracket.msh")
>>> model.material(name="steel", young=210e9, poisson=0.3)
>>> model.support(on="bolts", fix="xyz")
>>> model.pressure(on="flange", value=2e6)
>>> result = model.solve()
>>> result["von_mises_nodal"].max()

Tables and keys are those of the case file. Units are yours, if consistent.
"""

from importlib import import_module
from importlib.metadata import version as _version

_PLACES = {
    "Model": "_model",
    "Mesh": "_mesh",
    "Result": "_result",
    "Step": "_result",
    "Progress": "_progress",
    "Stiffness": "_linalg",
    "Amg": "_linalg",
    "amg": "_linalg",
    "Error": "_errors",
    "CaseError": "_errors",
    "MeshError": "_errors",
    "ModelError": "_errors",
    "NotConverged": "_errors",
    "OutOfMemory": "_errors",
    "DeviceError": "_errors",
    "OutputError": "_errors",
    "InternalError": "_errors",
    "ConvergenceWarning": "_errors",
}

__all__ = [*_PLACES, "__version__"]
__version__ = _version("warpfem")


# What is asked for is imported, and numpy with it: the program in this package needs neither.
def __getattr__(name):
    if name not in _PLACES:
        raise AttributeError(f"module 'warpfem' has no attribute {name!r}")
    return getattr(import_module(f"warpfem.{_PLACES[name]}"), name)


def __dir__():
    return sorted(__all__)
