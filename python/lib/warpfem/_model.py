"""Models: a mesh, and the tables of a case."""

import pathlib
import warnings

from . import _toml, _warpfem
from ._errors import ConvergenceWarning
from ._mesh import Mesh, is_path
from ._progress import reporter
from ._result import Result
from ._tables import SEVERAL, SINGLE


class Model:
    """A mesh, materials, supports and loads.

    Parameters
    ----------
    mesh : path, Mesh, meshio.Mesh, pyvista.UnstructuredGrid or gmsh.model, optional
        A Gmsh file or a deck, or a mesh in memory. Leave it out to pass `generate`.
    name : str
        Names files, and the case in errors.
    **keys
        Other keys of the table `[mesh]`: `generate`, `element`, `allow_hanging`.

    Notes
    -----
    Each table of the case file is a method, its keys are keyword arguments: ``model.force(on="tip", total=..)``.
    A key that is a word of Python ends in an underscore: ``from_``. Values are checked when the model is
    solved, or by `check`.
    """

    def __init__(self, mesh=None, *, name="model", **keys):
        if not name or pathlib.Path(name).name != name:
            raise ValueError(f"{name!r} is no name of a file: expected one without folders")
        self._path, self._mesh, self._base, self._known = pathlib.Path(f"{name}.toml"), None, None, {}
        if is_path(mesh):
            keys = {"file": mesh, **keys}
        elif mesh is not None:
            self._mesh = Mesh(mesh)
            keys = {"file": "mesh", **keys}
        #: Tables and their keys, in order; yours to change.
        self.tables = [("mesh", keys)]

    @classmethod
    def read(cls, path):
        """Take a case file or a deck.

        Parameters
        ----------
        path : path
            A case (`.toml`) or a deck (`.inp`). Files in it are relative to its folder.

        Returns
        -------
        Model
            To which tables can be added, unless it is a deck.
        """
        model = cls()
        model._path = model._base = pathlib.Path(path)
        model.tables = []
        return model

    @property
    def case(self):
        """The text of the case that this is."""
        before = self._base.read_text() + "\n" if self._base else ""
        if self.tables and self._path.suffix == ".inp":
            raise ValueError(
                f"{self._path} is a deck, which takes no tables: take its mesh, Model({str(self._path)!r})"
            )
        headings = {name: f"[{name}]" for name in ("mesh", *SINGLE)}
        return before + "\n".join(_toml.table(headings.get(name, f"[[{name}]]"), keys) for name, keys in self.tables)

    def _given(self, device):
        text = None if self._base and not self.tables else self.case
        return self._path, text, self._mesh and self._mesh._native, device

    def _resolved(self, device):
        given = self._given(device)
        # What files hold may have changed.
        has_files = self._base or self._mesh is None
        key = (*given[:2], device)
        if has_files or key not in self._known:
            self._known = {key: _warpfem.Model(*given)}
        return self._known[key]

    def check(self, device="auto"):
        """Check everything.

        Returns
        -------
        list of str
            Warnings.

        Raises
        ------
        Error
            The first thing that is wrong.
        """
        return self._resolved(device).warnings

    @property
    def mesh(self):
        """The mesh, read or generated."""
        file = dict(self.tables).get("mesh", {}).get("file")
        return self._mesh or Mesh(file or self._resolved("cpu").mesh)

    def solve(self, device="auto", progress=None):
        """Solve the model.

        Parameters
        ----------
        device : str
            ``"auto"`` (a GPU if there is one), ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"emulate"``.
        progress : bool or callable, optional
            True for a bar of tqdm, or what is called with a `Progress`, twenty times a second.

        Returns
        -------
        Result
            Of the first step; `Result.steps` has all load cases or modes.

        Raises
        ------
        Error
            What is wrong, with the text of the program.
        KeyboardInterrupt
            Ctrl-C ends a solution.

        Warns
        -----
        ConvergenceWarning
            If the solution is short of the tolerance.

        Notes
        -----
        Other threads of Python run meanwhile, and may solve models, too.
        """
        model = self._resolved(device)
        with reporter(progress) as report:
            result = Result(model.solve(device, report))
        text = next(filter(None, (step._failure for step in result.steps)), None)
        if text:
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        return result

    def stiffness(self, device="cpu"):
        """Assemble the stiffness matrix.

        Returns
        -------
        Stiffness
            A `scipy.sparse.linalg.LinearOperator`; `Stiffness.tobsr` copies it.
        """
        from ._linalg import Stiffness

        return Stiffness(_warpfem.Stiffness(*self._given(device)))

    def __repr__(self):
        return f"<warpfem.Model {self._path.stem}: {', '.join(name for name, _ in self.tables)}>"


def _method(table, doc, keys):
    def add(self, **given):
        self.tables.append((table, {key.removesuffix("_"): value for key, value in given.items()}))
        return self

    add.__name__ = add.__qualname__ = table
    add.__doc__ = f"""{doc}

    Parameters
    ----------
    **given
        Keys of the table `{table}`: {", ".join(keys.split()) or "none"}.

    Returns
    -------
    Model
        This one.
    """
    return add


for _table, (_doc, _keys) in {**SINGLE, **SEVERAL}.items():
    setattr(Model, _table, _method(_table, _doc, _keys))
