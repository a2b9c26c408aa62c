"""sim.threads: parts of a network on threads of their own give the result of one thread (docs/parallel-runs.md)."""

import json

import pytest

PERMUTATION = """
name: permutation
hardware: {{base: cx5-roce-100g, link: {{delay: 2us}}}}
topology: {{kind: fat_tree, k: 4}}
fabric: {{routing: {routing}, {fabric}}}
workload: {{kind: flows, pattern: permutation, size: 50kB, operation: {operation}}}
trace: {{level: none}}
check: []
"""

CASES = {
    "ecmp, pfc": ("ecmp", "flow_control: pfc, buffer: {size: 2MB}", "write"),
    "spray, no limit": ("spray", "flow_control: unlimited", "write"),
    "drop tail, reads": ("ecmp", "flow_control: drop_tail, buffer: {size: 60kB}", "read"),
    "loss": ("ecmp", "loss: 1000", "write"),
    "dcqcn": ("ecmp", "ecn: {enabled: true}, dcqcn: {enabled: true}", "write"),
}


def result_of(loco_sim, path, threads):
    done = loco_sim("run", str(path), "--set", f"sim.threads={threads}", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", CASES)
def test_the_result_is_the_same_for_any_number_of_threads(loco_sim, tmp_path, case):
    routing, fabric, operation = CASES[case]
    path = tmp_path / "permutation.yaml"
    path.write_text(PERMUTATION.format(routing=routing, fabric=fabric, operation=operation))
    one = result_of(loco_sim, path, 1)
    for threads in (2, 4):
        assert result_of(loco_sim, path, threads) == one
