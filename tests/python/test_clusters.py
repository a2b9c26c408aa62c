"""The scripts of docs/clusters.md on this machine, with a worker killed in each: the same bytes."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

import loco_sim as ls

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "clusters.md").read_text()
pytestmark = pytest.mark.long


def script(title):
    """The Python of a section."""
    return re.search(rf"^## {title}\n.*?^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[1]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    path = tmp_path_factory.mktemp("alone") / "rows.csv"
    list(ls.sweep_rows("barrier", {"seed": range(40)}, overrides={"workload.iterations": 200}, out=path, jobs=1, progress=False))
    return path.read_bytes()


def children(pid):
    """Processes below one, the youngest last."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *children(child)]
    return found


def words(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return []


def run(command, folder, is_worker=None):
    """The command in the folder; with `is_worker`, one of its processes for which that holds gets SIGKILL when there are
    some rows. Returns its exit code."""
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
                               stdout=subprocess.DEVNULL, stderr=(folder / "stderr").open("w"), start_new_session=True)
    try:
        until = time.monotonic() + 120
        while is_worker is not None and process.poll() is None and time.monotonic() < until:
            rows = folder / "rows.csv"
            workers = [pid for pid in children(process.pid) if is_worker(words(pid))]
            if rows.exists() and rows.read_bytes().count(b"\n") > 3 and workers:
                os.kill(workers[0], signal.SIGKILL)
                break
            time.sleep(0.01)
        return process.wait(120)
    finally:
        if process.poll() is None:
            process.kill()


def test_dask(tmp_path, expected):
    pytest.importorskip("distributed")
    (tmp_path / "sweep.py").write_text(script("Dask"))
    code = run([sys.executable, "sweep.py"], tmp_path, lambda w: any("spawn_main" in x for x in w))
    assert code == 0, (tmp_path / "stderr").read_text()
    assert (tmp_path / "rows.csv").read_bytes() == expected


def test_mpi(tmp_path, expected):
    pytest.importorskip("mpi4py")
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun")
    (tmp_path / "sweep.py").write_text(script("MPI"))
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", sys.executable, "-m", "mpi4py.futures", "sweep.py"]
    assert run(command, tmp_path, lambda w: "mpi4py.futures" in w and "mpirun" not in w[0]) != 0
    assert (tmp_path / "rows.csv").read_bytes() != expected, "it ended before it could be killed"
    assert run(command, tmp_path) == 0, (tmp_path / "stderr").read_text()
    assert (tmp_path / "rows.csv").read_bytes() == expected


def test_ray(tmp_path, expected):
    pytest.importorskip("ray")
    (tmp_path / "sweep.py").write_text(script("Ray"))
    code = run([sys.executable, "sweep.py"], tmp_path, lambda w: w[:1] and w[0].startswith(("ray::work", "ray::IDLE")))
    assert code == 0, (tmp_path / "stderr").read_text()
    assert (tmp_path / "rows.csv").read_bytes() == expected


def test_slurm_is_python():
    compile(script("SLURM"), "sweep.py", "exec")
