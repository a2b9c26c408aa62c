"""Every scenario that is shipped validates, runs, and has the verdict that it should have."""

import json
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCENARIOS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "scenarios").rglob("*.yaml"))


def test_there_are_scenarios():
    assert "scenarios/quickstart.yaml" in SCENARIOS
    assert "scenarios/barrier.yaml" in SCENARIOS


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario(loco_sim, scenario):
    valid = loco_sim("validate", scenario)
    if "no SimGrid" in valid.stderr:
        pytest.skip("a build without the flow model")
    assert valid.returncode == 0, valid.stderr
    done = loco_sim("run", scenario, "--json")
    assert done.stderr == ""
    faulty = "/faults/" in scenario
    assert done.returncode == (1 if faulty else 0), done.stdout
    verdict = json.loads(done.stdout).get("check")  # none where the scenario asks for none
    assert verdict is None or verdict["consistent"] is not faulty
    if faulty:
        clean = loco_sim("run", scenario, "--set", "faults=[]")
        assert clean.returncode == 0, clean.stdout


@pytest.mark.parametrize("part, component, place", [("loco_sim/cli", "program", "share/loco-sim"),
                                                    ("pybind", "python", "loco_sim/data")])
def test_what_scenarios_and_commands_read_is_installed(program, tmp_path, part, component, place):
    release = pathlib.Path(program).resolve().parent.parent
    if not (release / part / "cmake_install.cmake").exists():
        pytest.skip("the program is not in a build tree with this part")
    subprocess.run(["cmake", f"-DCMAKE_INSTALL_COMPONENT={component}", f"-DCMAKE_INSTALL_PREFIX={tmp_path}", "-P",
                    release / part / "cmake_install.cmake"], check=True, capture_output=True, timeout=120)
    for folder in ("hardware", "scenarios"):
        there = {path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file()}
        # pages, what draws pictures, and what is compared with are of the source tree
        needed = {path for path in there if path.suffix not in (".md", ".py", ".pyc", ".c")}
        installed = tmp_path / place
        assert {path.relative_to(installed) for path in (installed / folder).rglob("*") if path.is_file()} == needed
        assert not [path for path in (installed / folder).rglob("*") if path.is_dir() and not any(path.iterdir())]
    for name in ("traffic/flows", "traffic/congestion_control", "gallery/congestion_control"):
        done = subprocess.run([program, "validate", installed / f"scenarios/{name}.yaml"], capture_output=True, text=True,
                              timeout=60)
        assert done.returncode == 0, done.stderr
