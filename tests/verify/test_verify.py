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
        for path, answer in zip(paths, verify(paths, "--network", network, "--max-seconds", "5", *options)):
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


def some(cases):
    """A third of so many cases, or all, as of the C++ tests (tests/catch.hpp)."""
    return cases if "LOCO_SIM_ALL_CASES" in os.environ else cases // 3


def test_random_programs(verify, tmp_path):
    programs = some(60)
    seen = compare(verify, written(tmp_path, range(1000, 1000 + programs)))
    decided = sum(count for (_, verdict), count in seen.items() if verdict != "unknown")
    assert decided >= 0.95 * sum(seen.values()), seen
    assert min(seen["safe", "safe"], seen["unsafe", "unsafe"]) > 50 / 60 * programs


@pytest.mark.long
@pytest.mark.parametrize("first", range(10_000, 12_000, 100))
def test_many_random_programs(verify, tmp_path, first):
    compare(verify, written(tmp_path, range(first, first + 100)))


@pytest.fixture(scope="module")
def decides(verify):
    """Whether a program must be decided: data without bound need the predicate engine, which a build may lack."""
    program = os.environ["LOCO_SIM"]
    example = PROGRAMS / "put_then_store_flush.rma"
    done = subprocess.run([program, "verify", "--engine", "extrapolate", str(example)], capture_output=True)
    return lambda expected: not expected.infinite or done.returncode == 0


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_programs(verify, decides, name):
    path, expected = PROGRAMS / f"{name}.rma", EXPECTED[name]
    limit = "300" if decides(expected) else "2"
    for network in reference.NETWORKS:
        [answer] = verify([path], "--network", network, "--max-seconds", limit)
        verdict = "safe" if network in expected.safe else "unsafe"
        assert answer["verdict"] == verdict or answer["verdict"] == "unknown" and not decides(expected), network
        assert answer["network"] == network
        if answer["verdict"] == "unsafe":
            assert_replays(path.read_text(), network, answer)


PATIENT = {"bakery", "ticket"}  # some ten seconds each


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.long] if n in PATIENT else [])
                                  for n, e in EXPECTED.items() if e.flushes and e.safe == reference.NETWORKS])
def test_smallest_placements_of_the_programs(verify, decides, name):
    path, expected = PROGRAMS / f"{name}.rma", EXPECTED[name]
    if not decides(expected):
        pytest.skip("needs the predicate engine")
    [answer] = verify([path], "--search-flushes", "--max-seconds", "600")  # wall time, of a machine that may be busy
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
        text, bounds = path.read_text(), {"max_states": 3_000, "many": ()}
        if not 1 < len(reference.parse(text).flushes) < 5 or reference.decide(reference.parse(text), **bounds) != "safe":
            continue
        placements, undecided = reference.smallest_placements(text, **bounds)
        if undecided:
            continue
        [answer] = verify([path], "--search-flushes", "--max-seconds", "200")
        assert sorted(answer["flushes"]["placements"]) == placements, path
        compared += 1
    return compared


def test_smallest_placements_of_random_programs(verify, tmp_path):
    programs = some(60)
    assert compare_placements(verify, tmp_path, range(2000, 2000 + programs)) > 2 / 60 * programs


@pytest.mark.long
def test_smallest_placements_of_many_random_programs(verify, tmp_path):
    assert compare_placements(verify, tmp_path, range(20_000, 21_000)) > 100


PETERSON_WITHOUT = PROGRAMS / "peterson_no_put_flush.rma"


def test_replay_on(verify):
    """A READ behind a WRITE pushes it on a reliable connection with in-order placement, and overtakes it on one like SRD."""
    hardware = ["--replay-on", "cx5-roce-25g", "--replay-on", "efa-srd-like"]
    [answer] = verify([PETERSON_WITHOUT], *hardware)
    shown = {one["hardware"]: one for one in answer["replay_on"]}
    assert shown["cx5-roce-25g"]["shows"] == "forbidden" and shown["efa-srd-like"]["shows"] == "seen"
    assert all(one["how"] == "explored" and one["states"] > 0 and one["runs"] == 0 for one in shown.values())
    [safe] = verify([PROGRAMS / "peterson.rma"], *hardware)
    assert "replay_on" not in safe
    [needs_atomics] = verify([PROGRAMS / "bluetooth_broken.rma"], "--replay-on", "efa-srd-like")
    assert needs_atomics["replay_on"][0]["shows"] == "not run" and "remote atomics" in needs_atomics["replay_on"][0]["why"]
    schema = json.loads((PROGRAMS.parents[1] / "docs" / "verify.schema.json").read_text())
    pytest.importorskip("jsonschema").validate([answer, safe, needs_atomics], schema)


def test_replay_on_of_a_trace(verify, tmp_path):
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps(verify([PETERSON_WITHOUT])))
    done = subprocess.run([os.environ["LOCO_SIM"], "verify", PETERSON_WITHOUT, "--replay", trace, "--replay-on", "efa-srd-like",
                           "--json"], capture_output=True, text=True)
    assert done.returncode == 1
    assert [one["shows"] for one in json.loads(done.stdout)["replay_on"]] == ["seen"]


@pytest.mark.parametrize("hardware", ["efa-srd-lik", "", "/nowhere/x.yaml"])
def test_replay_on_unknown_hardware(verify, hardware):
    done = subprocess.run([os.environ["LOCO_SIM"], "verify", PETERSON_WITHOUT, "--replay-on", hardware],
                          capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.stderr
    assert hardware != "efa-srd-lik" or 'did you mean "efa-srd-like"' in done.stderr


def test_page(verify, tmp_path):
    """All verdicts; of a counterexample each step once, in the column of who takes it; what users write stays text."""
    odd = tmp_path / "a<b>&.rma"
    odd.write_text(PETERSON_WITHOUT.read_text())
    page = tmp_path / "page.html"
    answers = verify([odd, PROGRAMS / "peterson.rma"], "--search-flushes", "-o", page, "--replay-on", "efa-srd-like")
    text = page.read_text()
    assert text.count("<h2 ") == 2 and "<b>&" not in text and "a&lt;b&gt;&amp;.rma" in text
    assert text.count("class=what") == len(answers[0]["trace"]) and text.count("broken") >= 1
    assert "4 of 7" in text and "on efa-srd-like: seen" in text
    assert all(f"CPU {p}<th>NIC {p}" in text for p in (0, 1))
    done = subprocess.run([os.environ["LOCO_SIM"], "verify", odd, "-o", tmp_path / "no" / "page.html"], capture_output=True,
                          text=True)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
