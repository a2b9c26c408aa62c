"""Every scenario that is shipped validates, runs, and has the verdict that it should have."""

import json
import pathlib

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
