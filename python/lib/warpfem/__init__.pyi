from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str

_Path: TypeAlias = str | PathLike[str]
_Names: TypeAlias = str | Sequence[str]
_Numbers: TypeAlias = float | Sequence[float] | NDArray[np.floating[Any] | np.integer[Any]]
_Whole: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]
_Table: TypeAlias = Mapping[str, Any]
_Points: TypeAlias = Sequence[Sequence[float]]
_Floats: TypeAlias = NDArray[np.float64]

class Error(Exception):
    exit_code: int

class InternalError(Error): ...
class CaseError(Error, ValueError): ...
class MeshError(Error, ValueError): ...
class ModelError(Error): ...
class NotConverged(Error): ...
class OutOfMemory(Error, MemoryError): ...
class DeviceError(Error): ...
class OutputError(Error, OSError): ...
class ConvergenceWarning(UserWarning): ...

class Progress(NamedTuple):
    phase: str
    share: float
    iteration: int
    error: float
    tolerance: float
    case: tuple[int, int]

class Mesh:
    def __init__(
        self,
        source: _Path | ArrayLike | Mesh | Any,
        cells: Mapping[str, ArrayLike] | Sequence[tuple[str, ArrayLike]] | None = ...,
        groups: Mapping[str, ArrayLike | Mapping[int, ArrayLike]] | None = ...,
    ) -> None: ...
    @property
    def points(self) -> _Floats: ...
    @property
    def node_tags(self) -> NDArray[np.uint64]: ...
    @property
    def cells(self) -> dict[str, NDArray[np.uint32]]: ...
    @property
    def element_tags(self) -> dict[str, NDArray[np.uint64]]: ...
    @property
    def groups(self) -> dict[str, dict[str, NDArray[np.uint32]]]: ...
    @property
    def dim(self) -> int: ...
    @property
    def warnings(self) -> list[str]: ...
    def solids(self) -> list[str]: ...
    def to_pyvista(self) -> Any: ...

class Step(Mapping[str, _Floats]):
    label: str
    value: float
    def __getitem__(self, name: str) -> _Floats: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    @property
    def converged(self) -> bool: ...
    @property
    def tables(self) -> dict[str, dict[str, dict[str, float]]]: ...
    @property
    def summary(self) -> dict[str, Any]: ...
    def on_device(self, name: str, device: int = ...) -> Any: ...
    def to_pyvista(self) -> Any: ...
    def save(self, path: _Path) -> None: ...

class Result(Step):
    steps: list[Step]
    @property
    def mesh(self) -> Mesh: ...
    @property
    def series(self) -> dict[str, tuple[_Floats, dict[str, dict[str, _Floats]]]]: ...
    def _repr_html_(self) -> str: ...

class Model:
    tables: list[tuple[str, dict[str, Any]]]
    def __init__(
        self,
        mesh: _Path | Mesh | Any | None = ...,
        *,
        name: str = ...,
        generate: _Table | None = ...,
        element: str | None = ...,
        allow_hanging: bool | None = ...,
    ) -> None: ...
    @classmethod
    def read(cls, path: _Path) -> Self: ...
    @property
    def case(self) -> str: ...
    @property
    def mesh(self) -> Mesh: ...
    def check(self, device: str = ...) -> list[str]: ...
    def solve(self, device: str = ..., progress: bool | Callable[[Progress], object] | None = ...) -> Result: ...
    def stiffness(self, device: str = ...) -> Stiffness: ...
    def analysis(
        self,
        *,
        kind: str | None = ...,
        study: str | None = ...,
        modes: int | None = ...,
        shift: float | None = ...,
        prestress: bool | None = ...,
        thickness: float | None = ...,
        units: str | None = ...,
    ) -> Self: ...
    def gravity(self, *, name: str | None = ..., acceleration: _Numbers) -> Self: ...
    def rotation(
        self,
        *,
        name: str | None = ...,
        axis: _Numbers | None = ...,
        at: _Numbers | None = ...,
        speed: float,
    ) -> Self: ...
    def temperature(
        self,
        *,
        reference: float,
        value: float | None = ...,
        file: _Path | None = ...,
        from_: _Path | None = ...,
        on: Sequence[_Table] | None = ...,
    ) -> Self: ...
    def inertia_relief(self) -> Self: ...
    def harmonic(
        self,
        *,
        frequencies: _Numbers | None = ...,
        from_: float | None = ...,
        to: float | None = ...,
        points: int | None = ...,
        damping: _Numbers | None = ...,
        rayleigh: _Numbers | None = ...,
        fields: _Numbers | None = ...,
    ) -> Self: ...
    def time(
        self,
        *,
        end: float,
        step: float | None = ...,
        tolerance: float | None = ...,
        scheme: str | None = ...,
        outputs: int | None = ...,
        times: _Numbers | None = ...,
        initial: float | None = ...,
        on: Sequence[_Table] | None = ...,
    ) -> Self: ...
    def source(
        self, *, name: str | None = ..., on: _Names | None = ..., value: float, amplitude: _Points | None = ...
    ) -> Self: ...
    def convection(
        self,
        *,
        name: str | None = ...,
        on: _Names,
        coefficient: float,
        ambient: float,
        amplitude: _Points | None = ...,
    ) -> Self: ...
    def solver(
        self,
        *,
        method: str | None = ...,
        acceleration: str | None = ...,
        operator: str | None = ...,
        format: str | None = ...,
        ordering: str | None = ...,
        preconditioner: str | None = ...,
        order: int | None = ...,
        precision: str | None = ...,
        tolerance: float | None = ...,
        residual_tolerance: float | None = ...,
        check_count: bool | None = ...,
        max_iterations: int | None = ...,
        assembly: str | None = ...,
    ) -> Self: ...
    def output(
        self,
        *,
        fields: Sequence[str] | None = ...,
        frd: str | None = ...,
        probes: Sequence[_Table] | None = ...,
    ) -> Self: ...
    def material(
        self,
        *,
        name: str,
        on: _Names | None = ...,
        young: _Numbers | None = ...,
        poisson: _Numbers | None = ...,
        shear: _Numbers | None = ...,
        stiffness: _Numbers | None = ...,
        axes: _Table | None = ...,
        density: float | None = ...,
        expansion: _Numbers | None = ...,
        yield_strength: float | None = ...,
        conductivity: _Numbers | None = ...,
        specific_heat: float | None = ...,
        by_temperature: Sequence[_Table] | None = ...,
    ) -> Self: ...
    def support(
        self,
        *,
        on: _Names | None = ...,
        nodes: _Whole | None = ...,
        box: _Table | None = ...,
        name: str | None = ...,
        fix: str | None = ...,
        axes: _Table | None = ...,
        displacement: dict[str, float] | None = ...,
        value: float | None = ...,
        amplitude: _Points | None = ...,
    ) -> Self: ...
    def spring(
        self,
        *,
        name: str | None = ...,
        on: _Names,
        stiffness: _Numbers | None = ...,
        foundation: _Numbers | None = ...,
    ) -> Self: ...
    def mass(self, *, name: str | None = ..., on: _Names, mass: float, inertia: _Numbers | None = ...) -> Self: ...
    def tie(
        self,
        *,
        name: str | None = ...,
        slave: _Names,
        master: _Names,
        tolerance: float | None = ...,
        kind: str | None = ...,
        conductance: float | None = ...,
    ) -> Self: ...
    def remote(
        self,
        *,
        name: str | None = ...,
        on: _Names,
        at: _Numbers | None = ...,
        kind: str | None = ...,
        force: _Numbers | None = ...,
        moment: _Numbers | None = ...,
        fix: str | None = ...,
        displacement: dict[str, float] | None = ...,
        rotation: dict[str, float] | None = ...,
    ) -> Self: ...
    def cyclic(
        self,
        *,
        name: str | None = ...,
        from_: _Names,
        to: _Names,
        axis: _Numbers | None = ...,
        at: _Numbers | None = ...,
    ) -> Self: ...
    def bolt(
        self,
        *,
        name: str | None = ...,
        on: _Names,
        preload: float | None = ...,
        shortening: float | None = ...,
    ) -> Self: ...
    def equation(self, *, terms: Sequence[_Table], value: float | None = ...) -> Self: ...
    def pressure(
        self,
        *,
        name: str | None = ...,
        on: _Names,
        value: float | None = ...,
        gradient: float | None = ...,
        level: _Numbers | None = ...,
        direction: _Numbers | None = ...,
        file: _Path | None = ...,
    ) -> Self: ...
    def traction(self, *, name: str | None = ..., on: _Names, vector: _Numbers) -> Self: ...
    def force(self, *, name: str | None = ..., on: _Names, total: _Numbers) -> Self: ...
    def load(
        self,
        *,
        name: str | None = ...,
        on: _Names,
        force: _Numbers | None = ...,
        moment: _Numbers | None = ...,
        at: _Numbers | None = ...,
    ) -> Self: ...
    def point_force(
        self,
        *,
        name: str | None = ...,
        on: _Names | None = ...,
        at: _Numbers | None = ...,
        node: int | None = ...,
        vector: _Numbers,
    ) -> Self: ...
    def push(self, *, name: str | None = ..., direction: _Numbers, total: float) -> Self: ...
    def flux(
        self, *, name: str | None = ..., on: _Names, value: float, amplitude: _Points | None = ...
    ) -> Self: ...
    def load_case(self, *, name: str, factors: dict[str, float]) -> Self: ...

class _Solver:
    shape: tuple[int, int]
    dtype: np.dtype[np.float64]
    iterations: int
    residual: float
    def matvec(self, x: ArrayLike) -> _Floats: ...
    def matmat(self, X: ArrayLike) -> _Floats: ...
    def __matmul__(self, x: ArrayLike) -> _Floats: ...

class Stiffness(_Solver):
    components: int
    n_elements: int
    device: str
    @property
    def load(self) -> _Floats: ...
    def tobsr(self) -> Any: ...
    def solve(self, f: ArrayLike | None = ..., tolerance: float = ..., max_iterations: int = ...) -> _Floats: ...
    def energies(self, u: ArrayLike) -> _Floats: ...
    def scale(self, factors: ArrayLike) -> None: ...

class Amg(_Solver):
    levels: list[int]
    operator_complexity: float
    def solve(self, b: ArrayLike, tolerance: float = ..., max_iterations: int = ...) -> _Floats: ...

def amg(
    A: Any, near_nullspace: ArrayLike | None = ..., *, points: ArrayLike | None = ..., device: str = ...
) -> Amg: ...
