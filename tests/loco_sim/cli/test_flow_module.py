"""SimGrid is loaded by runs that need it, and by nothing else."""

import os
import shutil
import subprocess

import pytest

FLOW = "scenarios/fabric/flow.yaml"


def test_a_start_loads_no_simgrid(program):
    environment = os.environ | {"LD_TRACE_LOADED_OBJECTS": "1"}  # what ldd does
    loaded = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=60, check=True).stdout
    assert "libc.so" in loaded
    assert "simgrid" not in loaded and "ns3" not in loaded


def test_the_module_beside_an_installed_program_comes_first(loco_sim, program, root, tmp_path):
    if "no SimGrid" in loco_sim("validate", FLOW).stderr:
        pytest.skip("a build without the flow model")
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib/loco-sim").mkdir(parents=True)
    copy = shutil.copy(program, tmp_path / "bin")
    module = tmp_path / "lib/loco-sim/libloco_sim_flow.so"
    module.write_text("no module\n")
    environment = os.environ | {"LOCO_SIM_DATA": str(root)}
    done = subprocess.run([copy, "run", FLOW], cwd=root, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith(f"loco-sim: SimGrid's module cannot be loaded: {module}: ")
    assert done.stderr.count("\n") == 1
