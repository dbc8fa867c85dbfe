"""What the program ends with, as exceptions with the same text."""


class Error(Exception):
    """What is wrong, where, and what to do.

    Attributes
    ----------
    exit_code : int
        The exit code of the program for it.
    """

    exit_code = 1


class InternalError(Error):
    """A bug in warpfem."""


class CaseError(Error, ValueError):
    """A table, a key or an argument is wrong; the text points into `Model.case`."""

    exit_code = 2


class MeshError(Error, ValueError):
    """The mesh is broken, or cannot be read."""

    exit_code = 3


class ModelError(Error):
    """The model cannot be solved, as a body that nothing holds."""

    exit_code = 4


class NotConverged(Error):
    """What a solution depends on did not converge."""

    exit_code = 5


class OutOfMemory(Error, MemoryError):
    """The machine or the GPU has too little memory."""

    exit_code = 6


class DeviceError(Error):
    """A GPU is missing, cannot be used, or failed."""

    exit_code = 7


class OutputError(Error, OSError):
    """Results cannot be written."""

    exit_code = 8


class ConvergenceWarning(UserWarning):
    """A solution is short of the tolerance; its results are there, and `Step.converged` is false."""


_OF_CODE = {
    kind.exit_code: kind
    for kind in (InternalError, CaseError, MeshError, ModelError, NotConverged, OutOfMemory, DeviceError, OutputError)
}


def of(code, text):
    """The exception for an exit code."""
    return _OF_CODE.get(code, InternalError)(text)
