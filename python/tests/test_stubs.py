"""The stubs say what is there: tables and keys are those of the library, names and arguments those of the package."""

import ast
import inspect
import re

from conftest import ROOT

import warpfem
from warpfem import _tables

STUBS = ast.parse((ROOT / "python" / "lib" / "warpfem" / "__init__.pyi").read_text())
TABLES = {**_tables.SINGLE, **_tables.SEVERAL}


def of_library():
    """Tables and keys in `host/src/model/case/tables.rs` and `heat_tables.rs`, without those of decks alone."""
    case = ROOT / "host" / "src" / "model" / "case"
    text = (case / "tables.rs").read_text() + (case / "heat_tables.rs").read_text()
    text = re.sub(r"#\[serde\(skip[^]]*\)\]\s*pub \w+: .*", "", text)
    structs = {}
    for name, body in re.findall(r"pub struct (\w+) \{(.*?)\}", text, re.S):
        fields = re.findall(r'(?:rename = "(\w+)"\)\]\s*)?pub (\w+): (.*),', body)
        structs[name] = {renamed or key: kind for renamed, key, kind in fields}
    for table, kind in structs["Tables"].items():
        keys = structs[re.search(r"(\w+Table)", kind)[1]]
        yield table, kind.startswith("Vec"), list(keys)


def test_tables_are_those_of_the_library():
    found = {table: (is_several, set(keys)) for table, is_several, keys in of_library() if table != "mesh"}
    # What cases of other programs have.
    found["cyclic"][1].discard("sectors")
    assert found == {table: (table in _tables.SEVERAL, set(keys.split())) for table, (_, keys) in TABLES.items()}


def classes():
    return {node.name: node for node in STUBS.body if isinstance(node, ast.ClassDef)}


def arguments(function):
    return [each.arg for each in (*function.args.args, *function.args.kwonlyargs)]


def test_methods_of_tables_have_their_keys():
    methods = {node.name: node for node in classes()["Model"].body if isinstance(node, ast.FunctionDef)}
    for table, (_, keys) in TABLES.items():
        given = [key.removesuffix("_") for key in arguments(methods[table])[1:]]
        assert given == keys.split() or set(given) == set(keys.split()), table
        assert "Parameters\n    ----------" in getattr(warpfem.Model, table).__doc__


def test_names_and_arguments():
    stubs = {node.name: node for node in STUBS.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert {name for name in stubs if not name.startswith("_")} == set(warpfem.__all__) - {"__version__"}
    for name, node in stubs.items():
        if not isinstance(node, ast.ClassDef) or name.startswith("_"):
            continue
        real = getattr(warpfem, name)
        assert real.__doc__
        for method in node.body:
            if not isinstance(method, ast.FunctionDef) or method.name in TABLES and name == "Model":
                continue
            there = inspect.getattr_static(real, method.name)
            if any(isinstance(each, ast.Name) and each.id == "property" for each in method.decorator_list):
                assert isinstance(there, property), (name, method.name)
            elif isinstance(there, classmethod) or inspect.isfunction(there):
                function = there.__func__ if isinstance(there, classmethod) else there
                real_names = [key for key in inspect.signature(function).parameters if key not in ("keys", "given")]
                given = [key for key in arguments(method) if key not in ("generate", "element", "allow_hanging")]
                assert given == real_names, (name, method.name)
        public = {
            key
            for key, value in vars(real).items()
            if not key.startswith("_") and (callable(value) or isinstance(value, (property, classmethod)))
        }
        stubbed = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
        assert public <= stubbed, (name, public - stubbed)
