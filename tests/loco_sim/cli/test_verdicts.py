"""Verdicts of runs that end while operations are under way, on hardware that places packets in any order."""

import csv
import io
import json

import pytest

# A packet that is lost is not sent again, the next ones are placed all the same. Messages below are of two packets.
UNORDERED = """\
topology: {kind: star, nodes: 2}
hardware: {base: efa-srd-like, nic: {retry_count: 0}, link: {mtu: 4096B}}
fabric: {loss: 200000}
"""


@pytest.fixture
def scenario(tmp_path):
    def write(text):
        path = tmp_path / "s.yaml"
        path.write_text(text)
        return path

    return write


def test_data_that_never_arrived_comes_after_the_flag_that_was_seen(loco_sim, scenario):
    """The flag is placed, a packet of the data is lost for ever (with this seed). In a complete execution, the data's
    aNRW comes after the read that missed it, and by G7 before the flag's: a cycle."""
    done = loco_sim("run", scenario(UNORDERED + "workload: {kind: message_passing, iterations: 1, size: 8192B}\n"),
                    "--seed", "4")
    assert done.returncode == 1
    assert "inconsistent: rdmawait" in done.stdout
    assert "which had failed" in done.stdout  # the run went on until the node was told
    assert "ppo (aNRW before aNRW, same node)" in done.stdout
    assert ("efa-srd-like (changed) does not make these promises of the models: G7 (a put's write before a later put's, same node), "
            in done.stdout)
    assert done.stdout.endswith("nic.placement: unordered places the packets of a queue pair as they come. "
                                "The cycle goes against G7\n")


def test_words_are_paired_by_address_when_a_put_is_placed_in_part(loco_sim, scenario, tmp_path):
    """A message of 513 words is two packets, of which one may be lost: no word is a wrong copy for that."""
    ring = scenario(UNORDERED + "workload: {kind: broadcast, iterations: 2, over: ring_buffer, size: 4096B}\n")
    partial = 0
    for seed in range(1, 13):
        done = loco_sim("run", ring, "--check", "rdmawait,sv", "--seed", seed, "--trace", tmp_path / "t.trace")
        assert done.returncode in (0, 1)
        assert "copied value" not in done.stdout
        rows = list(csv.DictReader(io.StringIO(loco_sim("trace", "export", tmp_path / "t.trace", "--to", "csv").stdout)))
        begun = {r["call"] for r in rows if r["stamp"] == "aNRW" and r["start"]}
        partial += bool(begun & {r["call"] for r in rows if r["stamp"] == "aNRW" and not r["start"]})
    assert partial > 0


def test_two_paths_to_a_node_are_named(loco_sim, scenario):
    """Locks in the NIC's memory, values in the host's: the models know one path to a node, this machine has two."""
    store = scenario("""\
topology: {kind: star, nodes: 3}
hardware: {base: model-weak, nic: {device_own_path: true}}
workload: {kind: kvstore, iterations: 30, mix: write, key_space: 16, device_locks: true}
schedule: random
""")
    done = loco_sim("run", store)
    assert done.returncode == 1
    assert "a put's write before a later get's read, one of the NIC's" in done.stdout
    assert "; nic.device_own_path: the NIC's memory and the host's are reached on different paths. " in done.stdout
    done = loco_sim("run", store, "--set", "hardware.nic.device_own_path=false")
    assert done.returncode == 0 and "does not make these promises" not in done.stdout


def test_ordered_hardware_has_no_such_line(loco_sim, scenario):
    fault = loco_sim("run", "scenarios/faults/responder_reorders.yaml")
    assert fault.returncode == 1 and "does not make these promises" not in fault.stdout


def test_a_check_of_calls_that_are_not_there_says_so(loco_sim, tmp_path):
    trace = tmp_path / "q.trace"
    assert loco_sim("run", "scenarios/quickstart.yaml", "--trace", trace).returncode == 0
    done = loco_sim("check", trace, "--model", "lock")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "no lock calls in this trace"
    assert json.loads(loco_sim("check", trace, "--model", "lock,sv", "--json").stdout)["without_calls"] == ["lock"]


def test_a_run_says_so_as_well(loco_sim):
    arguments = ["run", "scenarios/barrier.yaml", "--set", "workload.iterations=2", "--set", "check=[lock]"]
    assert loco_sim(*arguments).stdout.splitlines()[-1] == "no lock calls in this trace"
    assert json.loads(loco_sim(*arguments, "--json").stdout)["check"]["without_calls"] == ["lock"]
    assert "calls in this trace" not in loco_sim("run", "scenarios/barrier.yaml").stdout


@pytest.mark.parametrize("scenario", ["scenarios/quickstart.yaml", "scenarios/fabric/incast.yaml"])
@pytest.mark.parametrize("fault", [
    "posted_passes_posted", "read_does_not_flush", "completion_before_data", "doorbell_before_stores",
    "payload_reads_reorder", "fence_ignored", "responder_reorders", "early_write_completion", "atomic_replayed",
    "barrier_without_fence", "guards_read_forward", "ring_without_wait"])
def test_with_any_fault_the_machine_comes_to_rest(loco_sim, scenario, fault):
    small = "workload.count=1" if "incast" in scenario else "workload.iterations=2"
    done = loco_sim("run", scenario, "--set", f"faults=[{fault}]", "--set", small, "--set", "topology.nodes=4",
                    "--set", "limits.events=2000000")
    assert done.returncode in (0, 1) and "has not ended" not in done.stderr
    assert done.stdout or "deadlock" in done.stderr
