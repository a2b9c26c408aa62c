"""The Python of the documentation and the examples runs as printed."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A directory that looks like the source tree, for paths in examples, and takes what they write."""
    for name in ("scenarios", "tests", "hardware"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "docs/sweeps.md", "docs/plots.md"])
def test_page(page, workplace):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    assert blocks
    # a file, so that what it defines can be sent to other processes
    script = workplace / "page.py"
    script.write_text("\n".join(blocks))
    done = run(script)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("example", sorted(p.name for p in (ROOT / "examples").glob("*.py")))
def test_example(example, workplace):
    pytest.importorskip("matplotlib")
    done = run(ROOT / "examples" / example)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def run(script):
    path = os.pathsep.join([p for p in sys.path if p])
    return subprocess.run([sys.executable, str(script)], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": path})
