"""What `pip install .` gives a new user, in a virtual environment of its own."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
pytestmark = pytest.mark.long  # it compiles everything, and asks the package index for the build's requirements


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment's folder; LOCO_SIM_VENV names one that is ready."""
    if "LOCO_SIM_VENV" in os.environ:
        return pathlib.Path(os.environ["LOCO_SIM_VENV"])
    folder = tmp_path_factory.mktemp("install") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=120)
    done = subprocess.run([folder / "bin/pip", "install", "-q", ROOT], capture_output=True, text=True, timeout=1800)
    if "Could not find a version" in done.stderr or "Failed to establish a new connection" in done.stderr:
        pytest.skip("no package index")
    assert done.returncode == 0, done.stderr
    return folder


def run(installed, *command, cwd, text=None):
    """As in a shell with the environment active, and nothing of the source tree on any path."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "LOCO_SIM"))}
    env["PATH"] = f"{installed / 'bin'}{os.pathsep}{env['PATH']}"
    done = subprocess.run(command, cwd=cwd, env=env, input=text, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


def test_import_is_cheap(installed, tmp_path):
    code = "import time; t = time.perf_counter(); import loco_sim; print(time.perf_counter() - t, loco_sim.__file__)"
    outputs = [run(installed, "python", "-c", code, cwd=tmp_path).stdout.split() for _ in range(5)]
    assert min(float(seconds) for seconds, _ in outputs) < 0.150
    assert outputs[0][1].startswith(str(installed))


def test_the_tour_of_the_readme_pasted_line_by_line(installed, tmp_path):
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    block = re.search(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)[1]
    done = run(installed, "python", "-i", "-q", cwd=tmp_path, text=block)
    assert "Error" not in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert "latency" in done.stdout or "operation" in done.stdout


def test_the_command(installed, tmp_path):
    names = run(installed, "loco-sim", "list", "hardware", cwd=tmp_path).stdout
    assert "cx5-roce-25g" in names and "model-weak" in names
    assert {p.stem for p in (ROOT / "hardware").glob("*.yaml")} <= set(re.findall(r"[\w.-]+", names))
    assert list((installed / "share/man").rglob("loco-sim.1*")), "a manual page where man looks for it"
    run(installed, "loco-sim", "run", str(ROOT / "scenarios/quickstart.yaml"), cwd=tmp_path)


def test_the_flow_model_comes_with_the_command_and_with_the_package(installed, tmp_path):
    modules = sorted(path.parent.name for path in installed.rglob("libloco_sim_flow.so"))
    if not modules:
        pytest.skip("a build without SimGrid")
    assert modules == ["loco-sim", "loco_sim"]
    scenario = str(ROOT / "scenarios/fabric/flow.yaml")
    assert "as flows" in run(installed, "loco-sim", "run", scenario, cwd=tmp_path).stdout
    code = f"import loco_sim; print(loco_sim.run({scenario!r}))"
    assert "message" in run(installed, "python", "-c", code, cwd=tmp_path).stdout
