"""The tests that Debian's rdma-core documentation has for pyverbs: those that are of no particular driver."""

import gzip
import re
import shutil
from pathlib import Path

import pytest

from .conftest import needs_shim, start

pytestmark = [needs_shim, pytest.mark.long]

TESTS = Path("/usr/share/doc/rdma-core/tests")
OF_DRIVERS = ("mlx5", "efa", "cuda")
#: They talk to children of fork, which are nobody's programs here.
FORKS = ("test_multi_process_alloc_dm", "test_rdmacm")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    if not TESTS.exists() or not Path("/usr/lib/python3/dist-packages/pyverbs").exists():
        pytest.skip("no python3-pyverbs or rdma-core: their Debian packages are not installed")
    out = tmp_path_factory.mktemp("pyverbs") / "tests"
    out.mkdir()
    for file in TESTS.iterdir():
        if file.suffix == ".gz":
            (out / file.stem).write_bytes(gzip.decompress(file.read_bytes()))
        else:
            shutil.copy(file, out)
    return out


def names_in(file: Path) -> list[str]:
    """Names of the tests of a file, those left out that talk to children."""
    names, of = [], ""
    for kind, name in re.findall(r"^(class|    def) (\w+)", file.read_text(), re.MULTILINE):
        if kind == "class":
            of = name
        elif name.startswith("test_") and name not in FORKS:
            names.append(f"tests.{file.stem}.{of}.{name}")
    return names


def test_at_least_120_pass(folder):
    passed = 0
    for file in sorted(folder.glob("test_*.py")):
        if any(name in file.stem for name in (*OF_DRIVERS, *FORKS)):
            continue
        r = start(f"/usr/bin/python3 {folder}/run_tests.py --dev loco0 {' '.join(names_in(file))}", options=("--hosts", "1"))
        ran = int(re.search(r"^Ran (\d+) tests?", r.err[0], re.MULTILINE)[1])
        end = re.search(r"^OK(?: \(skipped=(\d+)\))?$", r.err[0], re.MULTILINE)
        assert end, (file.stem, r.err[0])
        passed += ran - int(end[1] or 0)
        assert not r.report["not_deterministic"]
    assert passed >= 120
