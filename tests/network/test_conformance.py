"""`loco-sim conformance` on the device that `loco-sim exec` shows: as the model, unless the NIC is broken on purpose."""

import json
import subprocess

import pytest

from .conftest import LOCO_SIM, ROOT, needs_shim

pytestmark = needs_shim
PROGRAM = LOCO_SIM.resolve().parent / "loco-conformance"


def conformance(tmp_path, *options: str, faults: str = "[]") -> tuple[int, str, str]:
    """Status, stdout and stderr of the program on a simulated host."""
    if not PROGRAM.exists():
        pytest.skip("loco-conformance is not built")
    words = json.dumps([str(LOCO_SIM), "conformance", "loco0", *options])
    scenario = tmp_path / "conformance.yaml"
    scenario.write_text("name: conformance\nhardware: cx5-roce-25g\ntopology: {kind: star, nodes: 2}\n"
                        f"faults: {faults}\nworkload: {{kind: programs, hosts: {{0: {words}}}}}\n")
    done = subprocess.run([LOCO_SIM, "exec", "--json", scenario], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=280)
    [program] = json.loads(done.stdout)["programs"]
    return program["status"], program["stdout"], program["stderr"]


def litmus(name: str) -> str:
    return str(ROOT / "tests/litmus" / name)


def test_our_device_is_as_the_model_says(tmp_path):
    status, out, err = conformance(tmp_path, litmus("loco-paper.yaml"), litmus("cells-pairs.yaml"), litmus("waits.yaml"),
                                   litmus("atomics.yaml"), "--runs", "20")
    assert status == 0, (out, err)
    assert out.splitlines()[-1].startswith("loco0 is as the model says in ")


def test_a_read_that_passes_writes_is_found(tmp_path):
    """Cell G8 of Fig. 10: a get reads behind its thread's puts to that node."""
    status, out, _ = conformance(tmp_path, litmus("cells-pairs.yaml"), "--runs", "40", faults="[read_does_not_flush]")
    assert status == 1
    assert out.splitlines()[-1] == "loco0 is not as the model says in G8-aNRW-aNRR"


def test_json_is_that_of_the_other_engines(tmp_path):
    status, out, _ = conformance(tmp_path, litmus("loco-paper.yaml"), "--test", "fig4-store-buffering-put", "--runs", "30",
                                 "--json")
    [result] = json.loads(out)
    sampled = subprocess.run([LOCO_SIM, "litmus", litmus("loco-paper.yaml"), "--test", "fig4-store-buffering-put", "--engine",
                              "sample", "--runs", "30", "--json"], capture_output=True, text=True, check=True, timeout=60)
    [other] = json.loads(sampled.stdout)
    assert status == 0 and result["engine"] == "device" and set(result) == set(other)
    assert sum(result["counts"]) == 30 if "counts" in result else True


def test_a_device_that_is_not_there_is_named(tmp_path):
    done = subprocess.run([LOCO_SIM, "conformance", "mlx5_9", litmus("loco-paper.yaml")], capture_output=True, text=True, timeout=60) \
        if PROGRAM.exists() else pytest.skip("loco-conformance is not built")
    assert done.returncode == 2 and "no device of libibverbs is called 'mlx5_9'" in done.stderr
