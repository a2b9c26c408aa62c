"""Transports from the command line: which cells of Fig. 10 searches see given up, what verdicts say, bad input."""

import json
import subprocess

import pytest

GIVEN_UP = {"G7-aNRW-aNRW", "G8-aNRW-aNRR", "G9-aNRW-aNLW", "H9-aNRR-aNLW", "I9-aNLW-aNLW"}  # of one node


def call(program, root, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120, cwd=root, check=False)


def unexpected(program, root, *arguments):
    """Names of the litmus tests that show what their model forbids."""
    done = call(program, root, "litmus", *arguments, "--engine", "explore", "--json")
    assert done.returncode < 2, done.stderr
    return {test["name"] for test in json.loads(done.stdout) if test["verdict"] == "fail"}


@pytest.mark.parametrize("hardware", ["srd-weak", "rud-weak", "rudi-weak"])
def test_searches_see_what_is_given_up_and_nothing_else(program, root, hardware):
    tests = ("tests/litmus/cells-pairs.yaml", "tests/litmus/waits.yaml")
    assert unexpected(program, root, *tests, "--hardware", hardware) == GIVEN_UP


def test_searches_see_nothing_given_up_of_what_is_ordered(program, root, tmp_path):
    rod = tmp_path / "rod.yaml"
    rod.write_text("name: rod\nbase: model-weak\ntransport: {kind: uet, mode: rod}\n")
    assert not unexpected(program, root, "tests/litmus/cells-pairs.yaml", "--hardware", str(rod))


AGAIN = """
name: {name}
model: rdmawait
locations: {{x: {{node: 1}}}}
threads:
  - {{node: 0, code: "put(x, 1) as w; wait(w); b = 1"}}
  - {{node: 1, code: "a = x; x = 2; mfence; c = x"}}
outcomes: {{forbidden: [{{a: 1, c: 1}}]}}
"""


def test_a_write_takes_effect_again_with_rudi_only(program, root, tmp_path):
    document = tmp_path / "again.yaml"
    document.write_text(AGAIN.format(name="again"))
    assert not unexpected(program, root, str(document), "--hardware", "rud-weak")
    assert unexpected(program, root, str(document), "--hardware", "rudi-weak") == {"again"}


def two_puts(program, root, *settings):
    pattern = '{"kind":"pattern","pattern":"put_put_twice"}'
    return call(program, root, "run", "scenarios/quickstart.yaml", "--set", f"workload={pattern}", "--set", "hardware=model-weak",
                "--set", "schedule=random", *(word for setting in settings for word in ("--set", setting)))


def test_a_verdict_names_the_cell_and_says_that_the_others_are_kept(program, root):
    done = two_puts(program, root, "transport=srd")
    assert done.returncode == 1
    assert "transport srd executes requests as they are whole" in done.stdout
    assert "The cycle goes against G7. Everything else is kept: the program needs an order that is not promised" in done.stdout
    assert two_puts(program, root, "transport=uet", "transport.mode=rod").returncode == 0


@pytest.mark.parametrize("settings, expected", [
    (["transport=tcp"], "transport.kind: expected one of rc, srd, uet, found \"tcp\""),
    (["transport=srd", "transport.mode=rod"], "transport.mode is one of transport.kind: uet"),
    (["transport=uet", "transport.mode=rod", "transport.paths.choice=random"], "transport.paths.choice needs packets that are placed as they come"),
    (["transport=uet", "transport.paths.entropies=0"], "transport.paths.entropies: expected an integer from 1 to 16384"),
    (["transport=srd", "fabric.model=flow"], "the flow model has no packets"),
])  # fmt: skip
def test_bad_input(program, root, settings, expected):
    done = call(program, root, "run", "scenarios/quickstart.yaml", *(word for setting in settings for word in ("--set", setting)))
    assert done.returncode == 2
    assert expected in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
