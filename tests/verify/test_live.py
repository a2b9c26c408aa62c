"""Liveness: the classics, random programs with waiting against a naive enumerator, lassos by a checker of their own."""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import live_reference  # noqa: E402
import random_live  # noqa: E402
from classics import CLASSICS, NETWORKS  # noqa: E402

SIGN = {"live": "+", "not live": "-", "unknown": "?"}
SLOW = {"dekker_endless_unflushed", "peterson_endless_unflushed", "count_lock_free", "count_not_wait_free"}


@pytest.fixture(scope="module")
def verify():
    program = os.environ.get("LOCO_SIM")
    if not program or not os.path.exists(program):
        pytest.skip("LOCO_SIM does not name the command line")

    def run(files, *options):
        done = subprocess.run([program, "verify", "--json", *options, *map(str, files)], capture_output=True, text=True)
        assert done.returncode in (0, 1, 3), done.stderr
        answers = json.loads(done.stdout)
        verdicts = {live["verdict"] for answer in answers for live in answer["liveness"]}
        verdicts |= {answer["verdict"] for answer in answers}
        assert done.returncode == (1 if verdicts & {"unsafe", "not live"} else 3 if "unknown" in verdicts else 0)
        return answers
    return run


def files(tmp_path, texts):
    result = []
    for name, text in texts.items():
        result.append(tmp_path / f"{name}.rma")
        result[-1].write_text(text)
    return result


def check_classics(verify, tmp_path, names):
    paths = files(tmp_path, {name: CLASSICS[name].text for name in names})
    found, kinds = collections.defaultdict(str), collections.defaultdict(set)
    for network in NETWORKS:
        for name, answer in zip(names, verify(paths, "--network", network)):
            [live] = answer["liveness"]
            found[name] += SIGN[live["verdict"]]
            if live["verdict"] == "not live":
                kinds[name].add(live["kind"])
                live_reference.assert_lasso(CLASSICS[name].text, network, live, 0)
    assert dict(found) == {name: CLASSICS[name].live for name in names}
    assert {n: k for n, k in kinds.items() if CLASSICS[n].kind} == {
        n: {CLASSICS[n].kind} for n in names if CLASSICS[n].kind and "-" in CLASSICS[n].live}


def test_classics(verify, tmp_path):
    check_classics(verify, tmp_path, sorted(set(CLASSICS) - SLOW))


@pytest.mark.long
def test_slow_classics(verify, tmp_path):
    check_classics(verify, tmp_path, sorted(SLOW))


@pytest.mark.parametrize("name", [n for n, c in CLASSICS.items() if c.needed])
def test_fewest_flushes(verify, tmp_path, name):
    fewest, of = CLASSICS[name].needed
    [answer] = verify(files(tmp_path, {name: CLASSICS[name].text}), "--search-flushes")
    assert (answer["flushes"]["needed"], answer["flushes"]["given"]) == (fewest, of)


def compare(verify, tmp_path, seeds):
    """How often which pair of verdicts (the enumerator's, the verifier's) was seen."""
    texts = {str(seed): random_live.program(seed) for seed in seeds}
    paths, seen, live_before = files(tmp_path, texts), collections.Counter(), set()
    for network in NETWORKS:
        for (seed, text), answer in zip(texts.items(), verify(paths, "--network", network, "--max-seconds", "5")):
            program = live_reference.parse(text)
            try:
                graph = live_reference.Graph(program, network, pending=2, max_states=4000)
            except OverflowError:
                graph = None
            for i, (live, asked) in enumerate(zip(answer["liveness"], program.liveness)):
                fairness = asked.under or "weak"
                expected = live_reference.check(graph, asked, fairness) if graph else "unknown"
                seen[expected, live["verdict"]] += 1
                place = f"seed {seed}, {network}, property {i}\n{text}"
                assert "unknown" in (expected, live["verdict"]) or live["verdict"] == expected, place
                if live["verdict"] == "not live":
                    live_reference.assert_lasso(text, network, live, i)
                # What is live stays so on a stronger network; but sc hides states (docs/verify.md).
                if (seed, i) in live_before and (network != "sc" or asked.kind in ("ends", "progress")):
                    assert live["verdict"] != "not live", place
                if live["verdict"] == "live":
                    live_before.add((seed, i))
    return seen


def test_random_programs_with_waiting(verify, tmp_path):
    seen = compare(verify, tmp_path, range(30))
    assert seen["live", "live"] > 30 and seen["not live", "not live"] > 30
    assert sum(n for (_, found), n in seen.items() if found == "unknown") < 0.05 * sum(seen.values()), seen


@pytest.mark.long
@pytest.mark.parametrize("first", [0, *range(1000, 11_000, 100)])
def test_many_random_programs_with_waiting(verify, tmp_path, first):
    compare(verify, tmp_path, range(first, first + 100))


PATIENT = ("--max-seconds", "600")  # 450,000 states
LIVE = pathlib.Path(__file__).parents[2] / "scenarios" / "verify" / "live"


def without(text: str, *remarks: str) -> str:
    """The program without the lines that bear these remarks."""
    lines = text.splitlines()
    kept = [line for line in lines if not any(f"// {remark}" in line for remark in remarks)]
    assert len(kept) < len(lines)
    return "\n".join(kept) + "\n"


def verdicts(verify, paths, *options):
    return ["".join(SIGN[live["verdict"]] if answer["verdict"] == "safe" else "!" for answer in answers
                    for live in answer["liveness"])
            for answers in zip(*(verify(paths, "--network", network, *options) for network in NETWORKS))]


def test_programs(verify):
    names = {"wake": "--++", "wake_flush": "++++", "loco_handover_two": "++++", "loco_store_update": "++++",
             "loco_store_update_no_fence": "!!!+"}
    assert dict(zip(names, verdicts(verify, [LIVE / f"{name}.rma" for name in names]))) == names


@pytest.mark.long
def test_handover(verify):
    names = ["loco_handover_two_rounds", "loco_handover_gives_up", "loco_handover_three"]
    assert verdicts(verify, [LIVE / f"{name}.rma" for name in names], *PATIENT) == ["++++"] * len(names)


@pytest.mark.long
def test_handover_with_words_in_order(verify, tmp_path):
    """What is served may also be read first, then what is drawn next."""
    order = re.compile(r"( *seenNext\d = .*// drawn next\n *flush\(\d\);\n)( *seen\d = .*// served\n *flush\(\d\);\n)")
    swapped = {}
    for name in ("two", "two_rounds", "gives_up", "three"):
        text = (LIVE / f"loco_handover_{name}.rma").read_text()
        swapped[name], count = order.subn(r"\2\1", text)
        assert count == text.count("= rga(next")
    assert verdicts(verify, files(tmp_path, swapped), *PATIENT) == ["++++"] * len(swapped)


@pytest.mark.long
def test_broken_handovers(verify, tmp_path):
    """Each step of the handover is needed: without, somebody waits for ever."""
    three = (LIVE / "loco_handover_three.rma").read_text()
    once_only = re.sub(r"if \(contended == 1\) \{(\n *flush\(4\); // serving before name)", r"if (1 == 0) {\1", three)
    assert once_only.count("1 == 0") == 3
    broken = {
        "releaser_does_not_look_again": (once_only, "----"),
        "waiter_does_not_look_again": (without(three, "looks again"), "----"),
        "no_flush_before_serving": (without(three, "name before serving"), "--++"),
        "no_flush_before_name": (without(three, "serving before name"), "--++"),
        "waiter_waits_without_a_sign": (re.sub(r"load x = before\d; // sees it wait", "x = 1;", three), "----"),
        "waiters_give_no_sign": (without(three, "waits"), "++++"),  # they look again and again instead
    }
    found = verdicts(verify, files(tmp_path, {name: text for name, (text, _) in broken.items()}), *PATIENT)
    assert dict(zip(broken, found)) == {name: expected for name, (_, expected) in broken.items()}


def replayed(path, trace, *options):
    return subprocess.run([os.environ["LOCO_SIM"], "verify", path, "--replay", trace, *options], capture_output=True,
                          text=True)


def test_replay_of_a_lasso(verify, tmp_path):
    [path] = files(tmp_path, {"ticket": CLASSICS["ticket_source_overwritten"].text})
    answers = verify([path])
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps(answers))
    done = replayed(path, trace)
    assert done.returncode == 1 and "for ever, breaks assert ends" in done.stdout
    lasso = answers[0]["liveness"][0]["trace"]
    wrong = {"a step that cannot be taken": lasso["stem"][:-1], "a loop": lasso["stem"] + lasso["loop"][:1]}
    for why, stem in wrong.items():
        answers[0]["liveness"][0]["trace"] = {**lasso, "stem": stem}
        trace.write_text(json.dumps(answers))
        assert replayed(path, trace).returncode == 2, why
    answers[0]["liveness"][0]["trace"] = {**lasso, "loop": []}
    trace.write_text(json.dumps(answers))
    done = replayed(path, trace)
    assert done.returncode == 2 and "a step can still be taken" in done.stdout


def test_unfair_lassos_are_refused(verify, tmp_path):
    text = "process 1 { shared X = 0; local a; while (a == 0) load a = X; }\n" \
           "process 2 { shared one = 1; put(X, 1, one); }\nassert ends under none;\n"
    [path] = files(tmp_path, {"wait": text})
    answers = verify([path])
    [live] = answers[0]["liveness"]
    assert (live["verdict"], live["kind"]) == ("not live", "livelock")
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps(answers))
    for fairness, code in (("none", 1), ("nic", 1), ("weak", 2)):  # process 2 need not even begin, but it could
        live["fairness"] = fairness
        trace.write_text(json.dumps(answers))
        done = replayed(path, trace)
        assert done.returncode == code, done.stdout
    assert "process 2 could step all the time and does not" in done.stdout


def test_answers_fit_the_schema(verify, tmp_path):
    schema = json.loads((pathlib.Path(__file__).parents[2] / "docs" / "verify.schema.json").read_text())
    names = ["ticket_source_overwritten", "producer_last_item", "message"]
    answers = verify(files(tmp_path, {name: CLASSICS[name].text for name in names}))
    pytest.importorskip("jsonschema").validate(answers, schema)
