"""sim.threads: parts of a network on threads of their own give the result of one thread (docs/parallel-runs.md).

That these scenarios do run in parts is in tests/loco_sim/run/parallel_test.cpp; what a machine does in parts, event by
event, in tests/nic_model/parts_test.cpp.
"""

import json

import pytest

BASE = """
name: parted
hardware: {{base: cx5-roce-100g, link: {{delay: 2us}}}}
topology: {topology}
fabric: {fabric}
workload: {workload}
trace: {{level: none}}
check: []
"""
FAT_TREE = "{kind: fat_tree, k: 4}"


def flows(more: str = "", operation: str = "write") -> str:
    return f"{{kind: flows, pattern: permutation, size: 50kB, operation: {operation}{more}}}"


CASES = {
    "ecmp, pfc": ("{routing: ecmp, flow_control: pfc, buffer: {size: 2MB}}", flows()),
    "spray, no limit": ("{routing: spray, flow_control: unlimited}", flows()),
    "drop tail, reads": ("{routing: ecmp, flow_control: drop_tail, buffer: {size: 60kB}}", flows(operation="read")),
    "loss": ("{routing: ecmp, loss: 1000}", flows()),
    "dcqcn": ("{routing: ecmp, ecn: {enabled: true}, dcqcn: {enabled: true}}", flows()),
    "hpcc": ("{routing: ecmp, congestion: {algorithm: hpcc}}", flows()),
    "trimming": ("{routing: ecmp, flow_control: drop_tail, buffer: {size: 20kB}, trim: {enabled: true}}",
                 "{kind: flows, pattern: incast, size: 50kB}"),
    "classes": ("{routing: ecmp, flow_control: pfc, buffer: {size: 4MB}, "
                "classes: [{id: 3, schedule: {weight: 2}}, {id: 6, schedule: strict}]}",
                flows(", class: 3, ack_class: 6")),
    "links fail": ("{routing: ecmp, reroute: true, reroute_delay: 5us, "
                   "failures: [{link: [s0, s8], down: 8us, up: 40us}, {link: [h5, s2], down: 6us, up: 30us}]}", flows()),
    "a storm": ("{routing: ecmp, flow_control: pfc, buffer: {size: 4MB}, failures: [{host: h9, pauses: 5us, until: 200us}], "
                "pfc: {watchdog: {poll: 10us, detect: 20us, restore: 20us, action: drop}}}", flows()),
    "exchange": ("{routing: ecmp}", "{kind: traffic, pattern: all_to_all, size: 4KiB, count: 2}"),
    "ring": ("{routing: ecmp}", "{kind: all_reduce, size: 1MiB, iterations: 2}"),
    "halving and doubling": ("{routing: ecmp}",
                             "{kind: all_reduce, algorithm: halving_doubling, size: 256KiB, iterations: 3, warmup: 1}"),
    "all to all, channels": ("{routing: ecmp}", "{kind: all_to_all, size: 256KiB, iterations: 2, channels: 2}"),
    "broadcast": ("{routing: ecmp}", "{kind: broadcast, algorithm: binomial, size: 64KiB, iterations: 3}"),
    "all_gather of one part": ("{routing: ecmp}", "{kind: all_gather, size: 64KiB, iterations: 2, ranks: [0-3]}"),
    "all_gather of some": ("{routing: ecmp}", "{kind: all_gather, size: 64KiB, iterations: 2, ranks: [0, 5, 9, 14]}"),
}


def result_of(loco_sim, path, threads):
    done = loco_sim("run", str(path), "--set", f"sim.threads={threads}", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", CASES)
def test_the_result_is_the_same_for_any_number_of_threads(loco_sim, tmp_path, case):
    fabric, workload = CASES[case]
    path = tmp_path / "parted.yaml"
    path.write_text(BASE.format(topology=FAT_TREE, fabric=fabric, workload=workload))
    one = result_of(loco_sim, path, 1)
    for threads in (2, 4):
        assert result_of(loco_sim, path, threads) == one


@pytest.mark.parametrize("case", ["ecmp, pfc", "spray, no limit", "hpcc", "trimming", "classes", "links fail", "a storm", "ring"])
def test_a_capture_is_the_same_for_any_number_of_threads(loco_sim, tmp_path, case):
    fabric, workload = CASES[case]
    path = tmp_path / "parted.yaml"
    path.write_text(BASE.format(topology=FAT_TREE, fabric=fabric, workload=workload))

    def captured(threads):
        file = tmp_path / f"{threads}.pcapng"
        done = loco_sim("run", str(path), "--set", f"sim.threads={threads}", "--pcap", str(file))
        assert done.returncode == 0, done.stderr
        assert "one thread has done it" not in done.stdout + done.stderr
        return file.read_bytes()

    one = captured(1)
    assert len(one) > 100_000
    for threads in (2, 4):
        assert captured(threads) == one


def test_hosts_with_several_nics_are_parted_whole(loco_sim, tmp_path):
    path = tmp_path / "rails.yaml"
    path.write_text(BASE.format(topology="{kind: rails, hosts: 8, rails: 2, spines: 2}", fabric="{routing: ecmp}",
                                workload="{kind: all_gather, size: 256KiB, iterations: 2, channels: 2}"))
    one = result_of(loco_sim, path, 1)
    for threads in (2, 4):
        assert result_of(loco_sim, path, threads) == one


LIST = """
name: parted
hardware: {base: cx5-roce-100g, link: {delay: 2us}}
topology: {kind: fat_tree, k: 4}
fabric: {routing: ecmp, flow_control: pfc, buffer: {size: 4MB}, classes: [{id: 3, schedule: {weight: 2}}]}
workloads:
  - {name: a, kind: all_reduce, size: 64KiB, iterations: 2, nodes: [0-7]}
  - {name: b, kind: flows, pattern: permutation, size: 50kB, measure: {from: 5us}, class: 3}
  - {name: c, kind: all_to_all, size: 48KiB, iterations: 3, nodes: [4-15], start: 20us, channels: 2}
  - {name: d, kind: traffic, pattern: incast, size: 4KiB, count: 3, nodes: [1, 6, 11, 15]}
trace: {level: none}
check: []
"""


def test_several_workloads_meet_each_their_own(loco_sim, tmp_path):
    """Two collectives gather, each in its own rounds, on hosts that both use; the queue pairs of all are made ahead."""
    path = tmp_path / "list.yaml"
    path.write_text(LIST)
    assert result_of(loco_sim, path, 2) == result_of(loco_sim, path, 1)
    assert "one thread has done it" not in loco_sim("run", str(path), "--set", "sim.threads=2").stdout


@pytest.mark.parametrize(("fabric", "workload", "why"), [
    ("{routing: ecmp}", flows(", queue_pairs: flow"), "flows of a list, SENDs, and a queue pair a flow run in one part"),
    ("{failures: [{link: [h5, s2], down: 8us}]}", flows(), "a part has failed, and one thread says how"),
    ("{routing: ecmp}", "{kind: barrier, iterations: 2}", "its threads meet in objects of the simulating program"),
])
def test_one_thread_in_place_of_two_is_said(loco_sim, tmp_path, fabric, workload, why):
    path = tmp_path / "whole.yaml"
    path.write_text(BASE.format(topology=FAT_TREE, fabric=fabric, workload=workload))
    assert f"hint: sim.threads: 2: one thread has done it: {why}" in loco_sim("run", str(path), "--set", "sim.threads=2").stdout
    assert "hint: sim.threads" not in loco_sim("run", str(path), "--set", "sim.threads=1").stdout


def test_a_limit_of_events_is_that_of_all_parts(loco_sim, tmp_path):
    """The same run ends at the same event on however many threads, by a limit that no part reaches alone."""
    path = tmp_path / "limited.yaml"
    path.write_text(BASE.format(topology=FAT_TREE, fabric="{routing: ecmp}", workload=flows()))
    events = result_of(loco_sim, path, 1)["counters"]["events"]

    def told(threads, most):
        return loco_sim("run", str(path), "--set", f"sim.threads={threads}", "--set", f"limits.events={most}").stderr

    # Several TLPs of a packet may be one step, which the counter of events does not say: the largest of these that ends it.
    most = next(most for most in (events * n // 12 for n in range(11, 0, -1)) if told(1, most))
    assert f"has taken {most} events" in told(1, most)
    assert told(2, most) == told(4, most) == told(1, most)
