"""The naive interpreter itself: against what the paper and the derivations in the programs say, not against the verifier."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import random_programs  # noqa: E402
import reference  # noqa: E402
from expected import EXPECTED  # noqa: E402

PROGRAMS = pathlib.Path(__file__).parents[2] / "scenarios" / "verify"
ENDS = {name: (PROGRAMS / f"{name}.rma").read_text() for name, e in EXPECTED.items()
        if not e.infinite and name != "endless_puts"}
# Large enough to take seconds in plain Python.
SLOW = {"kessels", "rma_lock", "szymanski", "sober", "dekker", "peterson"}


def final_values(text, name, network):
    program = reference.parse(text)
    index = next(p.locals[name] for p in program.processes if name in p.locals)
    return {state.locals[index] for state in reference.reachable(program, network)
            if all(pc == -1 for pc in state.pcs)}


def test_every_program_has_an_expectation():
    assert {path.stem for path in PROGRAMS.glob("*.rma")} == set(EXPECTED)


def test_values_of_the_papers_first_example():
    """Section 2: under RMA r is any of 0 to 3, under sc it is 2; with the put's flush it may be 0, and not 3."""
    text = (PROGRAMS / "put_then_store.rma").read_text()
    assert final_values(text, "r", "unordered") == {0, 1, 2, 3}
    assert final_values(text, "r", "sc") == {2}
    assert final_values(text.replace("put(Y, 1, X);", "put(Y, 1, X); flush(1);"), "r", "unordered") == {0, 2}


@pytest.mark.parametrize("statements, allowed", [
    # The parts of a compare-and-swap: Y is read before W, both before the update, the result comes last.
    ("R = cas(Z, 1, Y, W); store Y = 5; store W = 6; flush(1); load r = R;", {0}),
    ("R = rga(Z, 1, Y); store Y = 5; flush(1); R = get(Z, 1); flush(1); load r = R;", {1, 5}),
    ("R = rga(Z, 1, Y); load r = R;", {7, 0}),
    ("put(Z, 1, Y); put(Z, 1, W); flush(1); R = get(Z, 1); flush(1); load r = R;", {1, 2}),
    ("skip; flush(1); load r = R;", {7}),
])
def test_parts(statements, allowed):
    text = f"process 1 {{ shared Z = 0; }} process 2 {{ shared R = 7, Y = 1, W = 2; local r; {statements} }}"
    assert final_values(text + "assert always (1);", "r", "unordered") == allowed


def test_operands_of_a_compare_and_swap_are_read_in_order():
    """Stored W first and Y second, the old W cannot go with the new Y."""
    text = """process 1 { shared Z = 5; } process 2 { shared R = 7, Y = 1, W = 2; local r;
              R = cas(Z, 1, Y, W); store W = 6; store Y = 5; flush(1); R = get(Z, 1); flush(1); load r = R; }
              assert always (1);"""
    assert final_values(text, "r", "unordered") == {5, 6}
    other_way = text.replace("store W = 6; store Y = 5;", "store Y = 5; store W = 6;")
    assert final_values(other_way, "r", "unordered") == {5, 6, 2}


@pytest.mark.parametrize("name", sorted(set(ENDS) - SLOW) + [pytest.param(n, marks=pytest.mark.long) for n in sorted(SLOW)])
def test_verdicts_of_the_programs(name):
    for network in reference.NETWORKS:
        answer = reference.check(reference.parse(ENDS[name]), network)
        assert answer.verdict == ("safe" if network in EXPECTED[name].safe else "unsafe"), (network, answer)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_flushes_that_are_needed_are(name):
    """Without one of them that all smallest placements have in common, a few pending operations break the property."""
    expected = EXPECTED[name]
    text = (PROGRAMS / f"{name}.rma").read_text()
    assert len(reference.parse(text).flushes) == expected.flushes
    for flush in set.intersection(*map(set, expected.placements or [[]])):
        answer = reference.check(reference.parse(text, {flush}), pending=2)
        assert answer.verdict == "unsafe", f"without flush {flush}"


@pytest.mark.parametrize("name", [n for n, e in EXPECTED.items()
                                  if e.placements and not e.infinite and n not in SLOW | {"pc1", "loco_mutex"}])
def test_smallest_placements(name):
    assert reference.smallest_placements(ENDS[name]) == (EXPECTED[name].placements, [])


def test_the_papers_counterexample_replays():
    text = (PROGRAMS / "put_then_store.rma").read_text()
    answer = reference.check(reference.parse(text))
    exactly = [lambda step, like=like: step[:3] == like[:3] for like in answer.trace]
    assert reference.replay(reference.parse(text), "unordered", exactly) == "breaks"
    assert reference.replay(reference.parse(text), "unordered", exactly[:-1]) == "holds"
    assert reference.replay(reference.parse(text), "sc", exactly) == 3  # nothing is pending there


def test_random_programs_are_reproducible_and_mixed():
    """Of 21 programs, some are safe under every network, some under none, and some under the stronger ones only."""
    assert random_programs.program(7) == random_programs.program(7) != random_programs.program(13)
    seen = set()
    for seed in range(21):
        program = reference.parse(random_programs.program(seed))
        answers = [reference.check(program, network, max_states=5_000).verdict for network in ("unordered", "sc")]
        if "unknown" not in answers:
            seen.add(tuple(answers))
    assert seen == {("safe", "safe"), ("unsafe", "unsafe"), ("unsafe", "safe")}
