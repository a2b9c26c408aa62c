"""`loco-sim verify` against the naive interpreter: verdicts, schedules, smallest placements of flushes.

Verdicts of any engine may be `unknown`, never wrong. A program that disagrees is left in the temporary folder, and
`python3 tests/verify/random_programs.py SEED` prints it again.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import random_programs  # noqa: E402
import reference  # noqa: E402
from expected import EXPECTED  # noqa: E402

PROGRAMS = pathlib.Path(__file__).parents[2] / "scenarios" / "verify"
EXIT = {"safe": 0, "unsafe": 1, "unknown": 3}


@pytest.fixture(scope="module")
def verify():
    """Runs the command line; returns one answer a file."""
    program = os.environ.get("LOCO_SIM")
    if not program or not os.path.exists(program):
        pytest.skip("LOCO_SIM does not name the command line")

    def run(files, *options):
        done = subprocess.run([program, "verify", "--json", *options, *map(str, files)], capture_output=True, text=True)
        assert done.returncode in EXIT.values(), done.stderr
        answers = json.loads(done.stdout)
        verdicts = {answer["verdict"] for answer in answers}
        worst = "unsafe" if "unsafe" in verdicts else "unknown" if "unknown" in verdicts else "safe"
        assert done.returncode == EXIT[worst]
        assert [pathlib.Path(answer["file"]) for answer in answers] == [pathlib.Path(file) for file in files]
        return answers
    return run


def describes(program, entry):
    """Whether a step of the interpreter is the one that an entry of a trace in JSON speaks of."""
    number = [p.pid for p in program.processes].index(entry["process"])
    return lambda step: (step.actor, step.number, step.line) == (entry["actor"], number, entry["line"])


def assert_replays(text, network, answer, without=()):
    program = reference.parse(text, without)
    steps = [describes(program, entry) for entry in answer["trace"]]
    assert reference.replay(program, network, steps) == "breaks", (network, answer["trace"])


def written(tmp_path, seeds):
    paths = []
    for seed in seeds:
        path = tmp_path / f"{seed}.rma"
        path.write_text(random_programs.program(seed))
        paths.append(path)
    return paths


def compare(verify, paths, *options, max_states=20_000):
    """How often which pair of verdicts (the interpreter's, the verifier's) was seen."""
    seen = collections.Counter()
    safe_before = set()
    for network in reference.NETWORKS:  # from the weakest
        for path, answer in zip(paths, verify(paths, "--network", network, *options)):
            text = path.read_text()
            expected = reference.check(reference.parse(text), network, max_states=max_states)
            pair = expected.verdict, answer["verdict"]
            assert pair not in {("safe", "unsafe"), ("unsafe", "safe")}, (path, network, pair)
            assert answer["verdict"] != "unsafe" or path not in safe_before, f"{network} shows more: {path}"
            if answer["verdict"] == "unsafe":
                assert_replays(text, network, answer)
            if answer["verdict"] == "safe":
                safe_before.add(path)
            seen[pair] += 1
    return seen


def test_random_programs(verify, tmp_path):
    seen = compare(verify, written(tmp_path, range(1000, 1120)))
    decided = sum(count for (_, verdict), count in seen.items() if verdict != "unknown")
    assert decided >= 0.95 * sum(seen.values()), seen
    assert seen["safe", "safe"] > 100 and seen["unsafe", "unsafe"] > 100


@pytest.mark.long
@pytest.mark.parametrize("first", range(10_000, 12_000, 100))
def test_many_random_programs(verify, tmp_path, first):
    compare(verify, written(tmp_path, range(first, first + 100)))


@pytest.mark.parametrize("network", reference.NETWORKS)
def test_programs(verify, network):
    """Also that engines say `unknown` where they must rather than what is wrong: a program without bounds may be left."""
    paths = [PROGRAMS / f"{name}.rma" for name in sorted(EXPECTED)]
    for path, answer in zip(paths, verify(paths, "--network", network)):
        expected = EXPECTED[path.stem]
        assert answer["verdict"] == ("safe" if network in expected.safe else "unsafe"), path
        assert answer["network"] == network
        if answer["verdict"] == "unsafe":
            assert_replays(path.read_text(), network, answer)


@pytest.mark.parametrize("name", [n for n, e in EXPECTED.items() if e.flushes and e.safe == reference.NETWORKS])
def test_smallest_placements_of_the_programs(verify, name):
    expected = EXPECTED[name]
    path = PROGRAMS / f"{name}.rma"
    [answer] = verify([path], "--search-flushes")
    flushes = answer["flushes"]
    assert flushes["given"] == expected.flushes
    assert {len(placement) for placement in flushes["placements"]} == {flushes["needed"]}
    if expected.paper is not None:
        assert flushes["needed"] <= expected.paper
    if expected.needed is not None:
        assert (flushes["needed"], sorted(flushes["placements"])) == (expected.needed, expected.placements)
    everything = set(range(expected.flushes))
    for placement in flushes["placements"]:
        program = reference.parse(path.read_text(), everything - set(placement))
        assert reference.check(program, pending=2, max_states=20_000).verdict != "unsafe", placement


def compare_placements(verify, tmp_path, seeds):
    """Smallest placements of random programs that have flushes to spare, against all subsets."""
    compared = 0
    for path in written(tmp_path, seeds):
        text = path.read_text()
        if not 1 < len(reference.parse(text).flushes) < 6 or reference.decide(reference.parse(text)) != "safe":
            continue
        placements, undecided = reference.smallest_placements(text, max_states=20_000)
        if undecided:
            continue
        [answer] = verify([path], "--search-flushes")
        assert sorted(answer["flushes"]["placements"]) == placements, path
        compared += 1
    return compared


def test_smallest_placements_of_random_programs(verify, tmp_path):
    assert compare_placements(verify, tmp_path, range(2000, 2100)) > 10


@pytest.mark.long
def test_smallest_placements_of_many_random_programs(verify, tmp_path):
    assert compare_placements(verify, tmp_path, range(20_000, 21_000)) > 100
