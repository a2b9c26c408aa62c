"""The package's annotations hold, and cover every public name."""

import ast
import pathlib
import shutil
import subprocess
import sys

import pytest

import loco_sim as ls

PACKAGE = pathlib.Path(ls.__file__).resolve().parent


def mypy():
    try:
        import mypy.api  # noqa: F401
    except ImportError:
        return [shutil.which("mypy")] if shutil.which("mypy") else None
    return [sys.executable, "-m", "mypy"]


@pytest.mark.skipif(mypy() is None, reason="no mypy")
def test_mypy_is_content():
    root = PACKAGE.parents[1]
    done = subprocess.run([*mypy(), "--config-file", str(root / "pyproject.toml"), "--cache-dir=/dev/null",
                           str(PACKAGE)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_stub_names_what_is_public():
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    named = {a.asname for node in stub.body if isinstance(node, ast.ImportFrom) for a in node.names}
    assert named == set(ls.__all__) | {"errors", "plot", "verbs"}
    assert (PACKAGE / "py.typed").exists()


def test_stub_of_the_extension_matches_it():
    from loco_sim import _core
    stub = ast.parse((PACKAGE / "_core.pyi").read_text())
    real = {n for n in dir(_core) if not n.startswith("_")} | {"__version__"}
    named = {}
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            named[node.name] = {f.name for f in node.body if isinstance(f, ast.FunctionDef) and f.name != "__init__"}
        elif isinstance(node, ast.FunctionDef):
            named[node.name] = None
        elif isinstance(node, ast.AnnAssign):
            named[node.target.id] = None
    assert set(named) == real
    for name, members in named.items():
        if members is not None:
            assert members == {m for m in vars(getattr(_core, name)) if not m.startswith("_")}, name
