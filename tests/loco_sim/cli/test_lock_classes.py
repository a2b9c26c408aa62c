"""Locks of weaker classes in a scenario: their traces are judged under their own promise (docs/atomics.md)."""

import json

import pytest

WEAK = ["run", "scenarios/loco/lock.yaml", "--set", "hardware=model-weak", "--set", "schedule=adversarial",
        "--set", "topology.nodes=3", "--set", "workload.iterations=3", "--set", "workload.threads_per_node=1",
        "--set", "workload.lock_class=weak"]


@pytest.mark.parametrize("fence", ["true", "false"])
def test_a_weak_lock_where_a_stronger_one_is_needed(loco_sim, tmp_path, fence):
    """Without the threads' own fence a put to the counter's node, 2, may come after the next holder's; with this seed it
    does. The lock has kept its promise: what is told is the fence that would have made a cycle."""
    trace = tmp_path / "lock.trace"
    done = loco_sim(*WEAK, "--set", f"workload.fence={fence}", "--seed", "2", "--trace", trace)
    assert done.returncode == (0 if fence == "true" else 1), done.stdout
    assert ("missing aGF_2" in done.stdout) == (fence == "false")
    assert "promise: " not in done.stdout
    checked = loco_sim("check", trace, "--tower", "--json")
    verdict = json.loads(checked.stdout)
    assert verdict["consistent"] == (fence == "true")
    assert "release(lock, 0), weak" in checked.stdout or fence == "true"


def test_windows_have_their_own_class(loco_sim):
    wrong = loco_sim(*WEAK, "--set", "workload.algorithm=mpi_window")
    assert wrong.returncode == 2
    assert "lock_class: expected strong: the locks of MPI windows are to their node, found \"weak\"" in wrong.stderr
    wrong = loco_sim("run", "scenarios/loco/lock.yaml", "--set", "workload.algorithm=mpi_window", "--set",
                     "workload.device_memory=true")
    assert wrong.returncode == 2
    assert "device_memory: expected off with locks of MPI windows" in wrong.stderr


def test_a_lock_on_the_nic_of_its_home(loco_sim):
    """With a path of its own the models miss an order, which the verdict names; the lock fences its home, and nothing is
    lost."""
    for own_path in (False, True):
        done = loco_sim("run", "scenarios/loco/lock.yaml", "--set", "workload.device_memory=true", "--set",
                        "workload.counter=home", "--set", f"hardware.nic.device_own_path={str(own_path).lower()}",
                        "--set", "workload.iterations=10")
        assert "lost_updates" not in done.stdout
        assert done.returncode == (1 if own_path else 0), done.stdout
        assert ("nic.device_own_path: " in done.stdout) == own_path
