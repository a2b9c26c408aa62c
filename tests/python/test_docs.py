"""The Python of the documentation and the examples runs as printed."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import loco_sim as ls

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


def test_the_table_of_ordered_reads(workplace):
    page = (ROOT / "docs/read-ordering.md").read_text()
    rows = re.findall(r"^\|[^|]*\| `(\w+)`, `(\w+)` \| (.*) us \| (.*) us \| (.*) M \|$", page, re.MULTILINE)
    assert len(rows) == 5
    for reads, order, *figures in rows:
        result = lookups(reads, order)
        assert figures == [f"{result.latency.median / 1e6:.1f}", f"{result.latency.percentile(99) / 1e6:.1f}",
                           f"{result.operations_per_second / 1e6:.2f}"], (reads, order)
    [figure] = re.findall(r"qp_gap=0ps`\) it is ([\d.]+) M by\s+speculation", page)
    small = {"workload.size": 64, "workload.outstanding": 8, "workload.objects": 4096, "hardware.nic.qp_gap": "0ps"}
    assert figure == f"{lookups('pipelined', 'speculative', small).operations_per_second / 1e6:.2f}"


def lookups(reads, order, overrides={}):
    return ls.run("scenarios/lookup.yaml", overrides={"workload.reads": reads, "hardware.pcie.read_ordering": order,
                                                      **overrides})


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
