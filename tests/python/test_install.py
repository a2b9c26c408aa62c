"""What a new user gets from `pip wheel .` and `pip install`: in a virtual environment, and on a system without a compiler."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).parents[2]
pytestmark = pytest.mark.long  # it compiles everything, and asks the package index for the build's requirements


def pip(folder, *arguments):
    done = subprocess.run([folder / "bin/pip", *arguments], capture_output=True, text=True, timeout=1800)
    if "Could not find a version" in done.stderr or "Failed to establish a new connection" in done.stderr:
        pytest.skip("no package index")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A virtual environment without anything."""
    folder = tmp_path_factory.mktemp("install") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=120)
    return folder


@pytest.fixture(scope="module")
def wheel(environment):
    """The wheel's file; LOCO_SIM_WHEEL names one that is ready."""
    if "LOCO_SIM_WHEEL" in os.environ:
        return pathlib.Path(os.environ["LOCO_SIM_WHEEL"])
    folder = environment.parent / "wheels"
    pip(environment, "wheel", "-q", "--no-deps", "-w", folder, ROOT)
    return next(folder.glob("loco_sim-*.whl"))


@pytest.fixture(scope="module")
def installed(environment, wheel):
    """The environment's folder, with the wheel and NumPy in it."""
    pip(environment, "install", "-q", wheel)
    return environment


def run(installed, *command, cwd, text=None):
    """As in a shell with the environment active, and nothing of the source tree on any path."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "LOCO_SIM"))}
    env["PATH"] = f"{installed / 'bin'}{os.pathsep}{env['PATH']}"
    done = subprocess.run(command, cwd=cwd, env=env, input=text, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


def test_the_wheel_brings_its_libraries_and_is_small(wheel):
    assert wheel.stat().st_size < 15e6
    names = zipfile.ZipFile(wheel).namelist()
    for library in ("libyaml", "libfmt", "libboost_context"):
        assert sum(library in name for name in names) == 2, "beside the package, and for the command"
    assert any(name.endswith("loco_sim/data/scenarios/quickstart.yaml") for name in names)


@pytest.fixture(scope="module")  # not part of a test, whose time is bounded: making a system takes a minute
def bare(environment, wheel, tmp_path_factory):
    """inside(command, ...) runs in a minimal system of this one's release: Python, NumPy, no compiler, none of our libraries,
    and in /opt/loco-sim what pip makes of the wheel."""
    release = re.search(r"^VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)
    if os.geteuid() != 0 or shutil.which("debootstrap") is None or release is None:
        pytest.skip("needs root and debootstrap")
    system = tmp_path_factory.mktemp("bare") / "system"
    subprocess.run(["debootstrap", "--variant=minbase", "--include=python3,python3-numpy", release[1], system], check=True,
                   capture_output=True, timeout=900)
    pip(environment, "install", "-q", "--no-deps", "--no-index", "--prefix", system / "opt/loco-sim", wheel)

    def inside(*command):
        clean = {"PATH": "/opt/loco-sim/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "HOME": "/root"}
        enter = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
        return subprocess.run(["unshare", "--mount", "--pid", "--fork", "sh", "-c", enter, system, *command], env=clean,
                              capture_output=True, text=True, timeout=120)

    yield inside
    shutil.rmtree(system)


def test_it_runs_on_a_system_with_nothing_but_python(bare):
    version = bare("python3", "-c", "import sys; print(*sys.version_info[:2])").stdout
    if version.split() != [str(part) for part in sys.version_info[:2]]:
        pytest.skip("the system's Python is another one")
    assert bare("sh", "-c", "command -v gcc g++ cc").returncode != 0
    assert "libfmt" not in bare("ldconfig", "-p").stdout
    done = bare("sh", "-c", 'PYTHONPATH=$(echo /opt/loco-sim/lib/python3*/site-packages) exec python3 -c "$0"',
                "import loco_sim; print(loco_sim.run('quickstart'))")
    assert done.returncode == 0, done.stderr
    assert "consistent: rdmawait, sv, bal" in done.stdout
    command = bare("loco-sim", "run", "quickstart")
    assert command.returncode == 0 and "consistent: rdmawait, sv, bal" in command.stdout, command.stderr


def test_what_is_imported_is_what_was_installed(installed, tmp_path):
    found = run(installed, "python", "-c", "import loco_sim; print(loco_sim.__file__)", cwd=tmp_path).stdout
    assert found.startswith(str(installed))


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


def test_scenarios_come_by_name(installed, tmp_path):
    """Outside the source tree, where no path leads to them."""
    code = "import loco_sim as ls; print(len(ls.scenarios())); print(ls.run('quickstart').verdict.ok)"
    count, ok = run(installed, "python", "-c", code, cwd=tmp_path).stdout.split()
    assert int(count) == len(list((ROOT / "scenarios").rglob("*.yaml"))) and ok == "True"
    assert "consistent" in run(installed, "loco-sim", "run", "quickstart", cwd=tmp_path).stdout
    code = ("import loco_sim as ls\ntry:\n    ls.run('scenarios/quickstart.yaml')\n"
            "except ls.InputError as error:\n    print(error)")
    told = run(installed, "python", "-c", code, cwd=tmp_path).stdout
    assert "the name of a scenario" in told and "did you mean the scenario quickstart?" in told


def test_the_flow_model_comes_with_the_command_and_with_the_package(installed, tmp_path):
    modules = sorted(path.parent.name for path in installed.rglob("libloco_sim_flow.so"))
    if not modules:
        pytest.skip("a build without SimGrid")
    assert modules == ["loco-sim", "loco_sim"]
    scenario = str(ROOT / "scenarios/fabric/flow.yaml")
    assert "as flows" in run(installed, "loco-sim", "run", scenario, cwd=tmp_path).stdout
    code = f"import loco_sim; print(loco_sim.run({scenario!r}))"
    assert "message" in run(installed, "python", "-c", code, cwd=tmp_path).stdout


def test_recipes_name_what_the_build_needs():
    """The container's packages are those of ./dev, the conda recipe has the version of the project."""
    root = pathlib.Path(__file__).resolve().parents[2]
    listed = set(re.findall(r"^(?:build|python) +(\S+)", (root / "dev").read_text(), re.MULTILINE))
    docker = (root / "packaging/Dockerfile").read_text().split("FROM")[1]
    installed = set(re.findall(r"\b(?:lib[a-z0-9-]+-dev|[a-z0-9-]+3-dev|zlib1g-dev|cmake|g\+\+|ninja-build)(?=\s)", docker))
    assert installed - {"python3-dev"} <= listed
    chroot = re.search(r"packages=\((.*?)\)", (root / "packaging/manylinux-wheel").read_text(), re.DOTALL)[1].split()
    assert installed <= set(chroot)
    assert {"libboost-context-dev", "libcli11-dev", "libfmt-dev", "libyaml-dev", "nlohmann-json3-dev", "zlib1g-dev"} <= installed
    version = re.search(r"project\(loco-sim VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text())[1]
    assert f'set version = "{version}"' in (root / "packaging/conda/meta.yaml").read_text()
