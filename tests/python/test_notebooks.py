"""The notebooks run from top to bottom."""

import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebook(path, tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    for module in ("ipykernel", "pandas", "matplotlib"):
        pytest.importorskip(module)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in sys.path if p))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells), "no outputs in the tree: they go out of date"
    client = nbclient.NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(ROOT)}})
    client.execute()
    pictures = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
                if "image/png" in output.get("data", {})]
    assert pictures
