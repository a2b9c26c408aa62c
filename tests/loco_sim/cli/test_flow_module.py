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


PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version='4.1'>{}</platform>
"""
CLUSTER = "<cluster id='c' prefix='h' suffix='' radical='0-15' speed='1Gf' bw='25Gbps' lat='1us' topology='DRAGONFLY' topo_parameters='{}'/>"
WIFI = ("<zone id='w' routing='WIFI'><prop id='access_point' value='ap'/><host id='h0' speed='1Gf'/><host id='h1' speed='1Gf'/>"
        "<router id='ap'/><link id='l' sharing_policy='WIFI' bandwidth='54Mbps' latency='0ms'/></zone>")


@pytest.mark.parametrize("content, runs", [(CLUSTER.format("2,1;2,1;2,1;2"), True), (CLUSTER.format("2,1;4,1;1,1;2"), False),
                                           (WIFI, False)], ids=["dragonfly", "odd dragonfly", "wifi"])
def test_what_simgrid_ends_a_run_for_is_refused(loco_sim, tmp_path, content, runs):
    """SimGrid reads it, and ends the process at the first message."""
    if "no SimGrid" in loco_sim("validate", FLOW).stderr:
        pytest.skip("a build without the flow model")
    (tmp_path / "p.xml").write_text(PLATFORM.format(content))
    scenario = tmp_path / "s.yaml"
    scenario.write_text("platform: p.xml\nfabric: {model: flow}\nworkload: {kind: barrier, iterations: 2}\n")
    for command in ("validate", "run"):
        done = loco_sim(command, scenario)
        assert done.returncode == (0 if runs else 2), done.stderr
        assert runs or (done.stdout == "" and "platform: expected a SimGrid platform file, found" in done.stderr
                        and done.stderr.count("\n") == 1)
