"""LOCO over libibverbs, as processes under `loco-sim exec`: the same answers as in one process, and the same times.

What exec does not charge is what keeps times from being the same to the picosecond: a processor's own loads, stores and
locked instructions on memory that it shares with other threads, 1 to 20 ns each, some of each in an operation.
"""

import json
import os
import subprocess

import pytest

from .conftest import LOCO_SIM, answers, example, knows, nanoseconds, needs_shim, simulated

pytestmark = needs_shim


def executed(name: str, nodes: int, *options: str, exec_options: tuple = (), hardware: str = "cx5-roce-25g") -> dict:
    program = example(name)
    if not knows(program, "verbs"):
        pytest.skip("built without libibverbs-dev")
    hosts = ",".join(f"node{n}" for n in range(nodes))
    words: list[str] = []
    for rank in range(nodes):
        words += [","] * (rank > 0)
        words += [program, "--transport", "verbs", "--hosts", hosts, "--rank", str(rank), *options]
    done = subprocess.run([LOCO_SIM, "exec", "--json", "--hardware", hardware, *exec_options, "--", *words],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=280, env={**os.environ})
    assert done.stdout, done.stderr
    return {"status": done.returncode, **json.loads(done.stdout)}


def printed(report: dict) -> str:
    assert report["status"] == 0, report
    return "\n".join(p["stdout"] for p in report["programs"])


# nodes do not ask each other whether they are there, as nobody can stop in the simulated run either
QUIET = ("--keep-alive-ms", "0")


@pytest.mark.parametrize("nodes", [2, 4])
def test_objects_answer_alike_in_the_same_time(nodes):
    options = ("--rounds", "60")
    inside = simulated("objects", nodes, *options)
    outside = printed(executed("objects", nodes, *options, *QUIET))
    assert answers(outside) == answers(inside)
    expected, measured = nanoseconds(inside), nanoseconds(outside)
    assert set(measured) == {"atomic", "barrier", "mutex", "ring", "store"}
    for what, ns in measured.items():
        assert ns == pytest.approx(expected[what], rel=0.05), what


@pytest.mark.parametrize("name, nodes", [("broadcast", 4), ("counter", 4), ("message_passing", 2), ("replicated_log", 4)])
def test_examples_answer_alike(name, nodes):
    assert answers(printed(executed(name, nodes, *QUIET))) == answers(simulated(name, nodes))


def test_one_leader_a_term():
    lines = answers(printed(executed("leader_election", 4, *QUIET)))
    terms = [line.split("leads term ")[1].split()[0] for line in lines]
    assert len(terms) == 4 and len(set(terms)) == 4


def test_each_task_is_done_once():
    lines = answers(printed(executed("work_stealing", 4, *QUIET)))
    assert "together 1 + ... + 100 = 5050" in lines
    assert sum(int(line.split(" has done ")[1].split()[0]) for line in lines if " has done " in line) == 100


def test_another_profile_and_nodes_that_ask_each_other():
    options = ("--object", "barrier", "--rounds", "200")
    inside = nanoseconds(simulated("objects", 3, *options, hardware="cx6-ib-hdr"))
    outside = nanoseconds(printed(executed("objects", 3, *options, hardware="cx6-ib-hdr")))
    assert outside["barrier"] == pytest.approx(inside["barrier"], rel=0.05)


def test_the_same_run_twice():
    first, second = (executed("objects", 2, "--object", "mutex", "--rounds", "20") for _ in range(2))
    assert first["status"] == second["status"] == 0
    assert [p["stdout"] for p in first["programs"]] == [p["stdout"] for p in second["programs"]]
    assert first["simulated_ps"] == second["simulated_ps"] and first["fingerprint"] == second["fingerprint"]
    assert not first["not_deterministic"]


def test_without_a_device():
    done = subprocess.run([example("objects"), "--transport", "verbs", "--hosts", "127.0.0.1", "--rank", "0"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "no device of libibverbs with an active port" in done.stderr


def test_a_host_that_stops_is_told_to_the_others_by_name(tmp_path):
    program, hosts = example("objects"), "node0,node1,node2"
    if not knows(program, "verbs"):
        pytest.skip("built without libibverbs-dev")
    commands = {
        rank: [program, "--transport", "verbs", "--hosts", hosts, "--rank", str(rank), "--object", "barrier", "--rounds",
               "100000000", "--keep-alive-ms", "1"]
        for rank in range(3)
    }
    scenario = tmp_path / "stop.yaml"
    scenario.write_text("name: stop\nhardware: cx5-roce-25g\ntopology: {kind: star, nodes: 3}\n"
                        "fabric: {failures: [{host: h2, stops: 5ms}]}\n"
                        f"workload: {{kind: programs, hosts: {json.dumps(commands)}}}\n")
    done = subprocess.run([LOCO_SIM, "exec", "--json", "--keep-going", scenario], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=280)
    programs = json.loads(done.stdout)["programs"]
    for survivor in programs[:2]:
        assert survivor["status"] == 1 and "node 2" in survivor["stderr"], survivor
