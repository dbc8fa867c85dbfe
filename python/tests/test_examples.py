"""The examples and what the documents show, run as they are."""

import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from conftest import MESHES, ROOT

EXAMPLES = ROOT / "python" / "examples"
DOCUMENTS = [ROOT / "python" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def module(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def run(*words):
    done = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_bracket(folder):
    out = run(EXAMPLES / "bracket.py", "cpu")
    assert "0.355 mm on cpu" in out and (folder / "bracket.vtu").exists()


def test_derivatives():
    pytest.importorskip("torch")
    run(EXAMPLES / "adjoint.py")


def test_topology_optimisation():
    pytest.importorskip("scipy")
    density, compliances = module("simp").optimise((16, 4, 8), "cpu", steps=20, say=lambda *_, **__: None)
    assert density.mean() == pytest.approx(0.3, abs=1e-3) and 0 <= density.min() and density.max() <= 1 + 1e-12
    assert compliances[-1] < 0.25 * compliances[0] and max(compliances) == compliances[0]
    assert len((EXAMPLES / "simp.py").read_text().splitlines()) < 120


@pytest.mark.parametrize("notebook", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks(notebook):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    read = nbformat.read(notebook, as_version=4)
    nbclient.NotebookClient(read, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    shown = [data for cell in read.cells for out in cell.get("outputs", []) if (data := out.get("data", {}))]
    assert any("<iframe" in data.get("text/html", "") for data in shown)


def blocks():
    for document in DOCUMENTS:
        code = re.findall(r"^```python\n(.*?)^```", document.read_text(), re.S | re.M)
        if code:
            yield pytest.param("\n".join(code), id=str(document.relative_to(ROOT)))


@pytest.mark.parametrize("code", list(blocks()))
def test_documents(folder, code):
    for mesh in MESHES.glob("*.[mt]*"):
        shutil.copy(mesh, folder)
    pathlib.Path("script.py").write_text(code)
    run("script.py")
