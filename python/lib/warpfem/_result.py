"""Results."""

import html
import json
import pathlib
import shutil
import tempfile
from collections.abc import Mapping

import numpy as np

from ._errors import OutputError
from ._mesh import Mesh

# What the program names the files that are no arrays.
_FILES = {".html": "{}.html", ".png": "{}.png", ".json": "summary.json", ".csv": "{}_nodes.csv"}
_FIELDS = (".vtu", ".frd")


class Step(Mapping):
    """A load case or a mode: fields by name.

    Attributes
    ----------
    label : str
        Its name; empty where there is one step alone.
    value : float
        Its number, frequency or load factor.

    Notes
    -----
    A field at nodes has the shape ``(n_nodes,)`` or ``(n_nodes, components)``, in the order of `Mesh.points`; one at
    elements in that of `Mesh.solids`. Arrays are views, not to be written; a field over several kinds of elements is a
    copy.
    """

    def __init__(self, native, number):
        self._native, self._number = native, number
        self.label, self.value = native.label(number)
        self._failure = native.converged(number)
        self._fields = {name: (nodal, components) for name, nodal, components in native.fields(number)}

    def __getitem__(self, name):
        if name not in self._fields:
            raise KeyError(
                f"{name!r} is not among the fields: {', '.join(self)}; others are asked for by output(fields=[..])"
            )
        parts = [np.asarray(part) for part in self._native.field(self._number, name)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def __iter__(self):
        return iter(self._fields)

    def __len__(self):
        return len(self._fields)

    # A step is itself, not what it holds.
    __eq__, __hash__ = object.__eq__, object.__hash__

    @property
    def converged(self):
        """Whether the solution met the tolerance."""
        return self._failure is None

    @property
    def tables(self):
        """What belongs to names, ``{table: {name: {column: number}}}``: in ``"reactions"`` the supports' forces."""
        return {
            table: {name: dict(zip(columns, row)) for name, row in rows}
            for table, columns, rows in self._native.tables(self._number)
        }

    @property
    def summary(self):
        """The numbers of ``summary.json``."""
        return json.loads(self._native.summary(self._number))

    def on_device(self, name, device=0):
        """Copy a field at nodes to a GPU.

        Parameters
        ----------
        name : str
            A field at nodes.
        device : int
            The number of the GPU.

        Returns
        -------
        object
            With ``__cuda_array_interface__``: for ``cupy.asarray``, ``torch.as_tensor``, ``jax.numpy.asarray``, without
            a copy. It owns the memory.
        """
        if not self._fields.get(name, (False,))[0]:
            raise KeyError(f"{name!r} is no field at nodes")
        return self._native.on_device(self._number, name, device)

    def to_pyvista(self):
        """Mesh and fields as a `pyvista.UnstructuredGrid`; a copy."""
        grid = Mesh(self._native.mesh).to_pyvista()
        for name, values in self.items():
            nodal = self._fields[name][0]
            if nodal or len(values) == grid.n_cells:
                (grid.point_data if nodal else grid.cell_data)[name] = values
        return grid

    def save(self, path):
        """Write results.

        Parameters
        ----------
        path : path
            A file: ``.vtu`` or ``.frd`` for fields, ``.csv`` for nodes, ``.html`` for the report, ``.png``, ``.json``;
            or a folder, for all that the program writes.

        Raises
        ------
        OutputError
            Nothing is written then.
        """
        path = pathlib.Path(path)
        if not path.suffix:
            self._native.save(path)
        elif path.suffix in _FIELDS:
            self._native.write(self._number, path)
        elif path.suffix in _FILES:
            with tempfile.TemporaryDirectory() as folder:
                self._native.save(pathlib.Path(folder))
                file = pathlib.Path(folder) / _FILES[path.suffix].format(self._native.name)
                if not file.exists():
                    raise OutputError(
                        f"{path}: there is no such file of several steps, or of no displacements; save into a folder"
                    )
                try:
                    shutil.copyfile(file, path)
                except OSError as error:
                    raise OutputError(f"{path}: {error.strerror}") from error
        else:
            raise ValueError(f"{path.name}: expected a folder, or a file that ends in {', '.join((*_FIELDS, *_FILES))}")

    def __repr__(self):
        state = "" if self.converged else ", NOT CONVERGED"
        label = f" {self.label}" if self.label else ""
        return f"<warpfem.{type(self).__name__}{label}: {', '.join(self)}{state}>"


class Result(Step):
    """The first step, and all of them.

    Attributes
    ----------
    steps : list of Step
        Load cases or modes.
    """

    def __init__(self, native):
        super().__init__(native, 0)
        self.steps = [self, *(Step(native, number) for number in range(1, len(native)))]

    @property
    def mesh(self):
        """The mesh."""
        return Mesh(self._native.mesh)

    @property
    def series(self):
        """Curves over frequencies, ``{series: (at, {name: {column: (n,)}})}``."""
        return {
            name: (np.array(at), {of: dict(zip(columns, np.array(rows).T)) for of, rows in curves})
            for name, at, columns, curves in self._native.series
        }

    def _repr_html_(self):
        """The report, in a notebook."""
        with tempfile.TemporaryDirectory() as folder:
            self._native.save(pathlib.Path(folder))
            page = (pathlib.Path(folder) / f"{self._native.name}.html").read_text()
        return f'<iframe srcdoc="{html.escape(page)}" style="width: 100%; height: 40em; border: 0"></iframe>'
