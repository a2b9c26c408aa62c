"""LOCO over libfabric with four processes on loopback: the same answers as in one simulated run."""

import subprocess
import time

import pytest

from .conftest import Cluster, answers, example, knows, needs_libfabric, simulated

pytestmark = needs_libfabric
PROVIDERS = ["tcp;ofi_rxm", "udp;ofi_rxd"]


def start(name: str, provider: str, nodes: int, *options: str) -> Cluster:
    program = example(name)
    if not knows(program, "libfabric"):
        pytest.skip("built without libfabric-dev")
    return Cluster(program, nodes, "--transport", "libfabric", "--provider", provider, *options)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_objects_answer_alike(provider):
    options = ("--rounds", "30")
    told = start("objects", provider, 4, *options).end()
    assert [status for status, _, _ in told] == [0] * 4, [err for _, _, err in told]
    assert answers("\n".join(out for _, out, _ in told)) == answers(simulated("objects", 4, *options))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name, nodes", [("broadcast", 4), ("counter", 4), ("message_passing", 2), ("replicated_log", 4)])
def test_examples_answer_alike(name, nodes, provider):
    told = start(name, provider, nodes).end()
    assert [status for status, _, _ in told] == [0] * nodes, [err for _, _, err in told]
    assert answers("\n".join(out for _, out, _ in told)) == answers(simulated(name, nodes))


# The store has a slot for each round on each node.
ROUNDS = {"barrier": 10**8, "mutex": 10**8, "ring": 10**8, "store": 10**5}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", ROUNDS)
@pytest.mark.parametrize("when", ["as it sets up", "at work"])
def test_a_killed_process_is_told_to_the_others_by_name(when, name, provider):
    cluster = start("objects", provider, 4, "--object", name, "--rounds", str(ROUNDS[name]))
    victim = cluster.processes[2]
    deadline = time.monotonic() + 60
    while threads_of(victim.pid) < 4 and time.monotonic() < deadline:  # its manager's threads run: it has begun
        time.sleep(0.005)
    if when == "at work":
        time.sleep(1)  # wherever it is by then: what the others are told does not depend on it
    victim.kill()
    told = cluster.end(60)
    assert told[2][0] == -9
    for rank in (0, 1, 3):
        status, _, err = told[rank]
        assert status == 1 and "node" in err, (rank, status, err)
    assert any("node 2" in told[rank][2] for rank in (0, 1, 3))  # who notices later may name who has ended for it


def threads_of(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("Threads:"))
    except (FileNotFoundError, ProcessLookupError, StopIteration):
        return 99


def test_what_is_not_there_is_refused_by_name():
    program = example("objects")
    if not knows(program, "libfabric"):
        pytest.skip("built without libfabric-dev")

    def refusal(*options: str) -> str:
        done = subprocess.run([program, "--transport", *options], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1
        return done.stderr

    one = ("--hosts", "127.0.0.1", "--rank", "0")
    assert "no provider of libfabric called 'nothing'" in refusal("libfabric", "--provider", "nothing", *one)
    assert "transport 'pigeon': this build has" in refusal("pigeon", *one)
    assert "rank 3: expected less than 1" in refusal("libfabric", "--hosts", "127.0.0.1", "--rank", "3")
    assert "expected a rank, or LOCO_RANK" in refusal("libfabric", "--hosts", "127.0.0.1")
    assert "no host list" in refusal("libfabric", "--rank", "0")
