"""Verdicts of runs that end while operations are under way, on hardware that places packets in any order."""

import json

import pytest

UNORDERED = """\
topology: {kind: star, nodes: 2}
hardware: efa-srd-like
fabric: {flow_control: drop_tail, buffer: {size: 20kB}}
"""


@pytest.fixture
def scenario(tmp_path):
    def write(text):
        path = tmp_path / "s.yaml"
        path.write_text(text)
        return path

    return write


def test_data_that_never_arrived_comes_after_the_flag_that_was_seen(loco_sim, scenario):
    """The flag's put overtakes the data's, whose packet is dropped again and again. In a complete execution, the data's
    aNRW comes after the read that missed it, and by G7 before the flag's: a cycle."""
    done = loco_sim("run", scenario(UNORDERED + "workload: {kind: message_passing, iterations: 1, size: 4096B}\n"))
    assert done.returncode == 1
    assert "inconsistent: rdmawait" in done.stdout
    assert "which had not begun when the run ended" in done.stdout
    assert "ppo (aNRW before aNRW, same node)" in done.stdout
    assert ("efa-srd-like does not make these promises of the models: G7 (a put's write before a later put's, same node), "
            in done.stdout)
    assert done.stdout.endswith("nic.placement: unordered places the packets of a queue pair as they come. "
                                "The cycle goes against G7\n")


def test_words_are_paired_by_address_when_a_put_is_placed_in_part(loco_sim, scenario):
    """A message of 513 words is two packets, of which the second is placed: one word, the last, and no copied value."""
    ring = "workload: {kind: broadcast, iterations: 2, over: ring_buffer, size: 4096B}\n"
    done = loco_sim("run", scenario(UNORDERED + ring), "--check", "rdmawait,sv")
    assert done.returncode == 1
    assert "copied value" not in done.stdout
    assert "inconsistent: rdmawait" in done.stdout  # the head was seen before the cells


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
