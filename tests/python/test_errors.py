"""Mistakes become exceptions with the command line's text."""

import os
import subprocess

import pytest

import loco_sim as ls


def test_input_error_has_its_place(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("topology: {nodes: 2}\nworkload: {kind: barrier, iteratons: 3}\n")
    with pytest.raises(ls.InputError) as caught:
        ls.run(path)
    e = caught.value
    assert (e.file, e.line, e.column) == (str(path), 2, 27)
    assert e.found == '"iteratons"' and e.hint == 'did you mean "iterations"?'
    assert str(e).startswith(f"{path}:2:27: ")
    assert isinstance(e, ls.Error) and isinstance(e, ValueError)


def test_input_error_says_what_was_expected():
    with pytest.raises(ls.InputError) as caught:
        ls.Scenario({"topology": {"nodes": "many"}, "workload": {"kind": "barrier"}})
    assert caught.value.key == "topology.nodes" and "integer" in caught.value.expected and caught.value.found == '"many"'


@pytest.mark.parametrize("text", [
    "workload: {kind: barrier}\nseed: 1\nseed: 2\n",
    "workload: {kind: barier}\n",
    "workload: {kind: barrier}\ntopology: {nodes: many}\n",
    "workload: {kind: barrier}\nfabric: {link: {delay: 5}}\n",
    "workload: {kind: barrier\n",
    "",
    "hardware: no-such\nworkload: {kind: barrier}\n",
])
def test_same_text_as_the_command_line(text, tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text(text)
    with pytest.raises(ls.InputError) as caught:
        ls.validate(path)
    program = os.environ.get("LOCO_SIM")
    if not program or not os.path.exists(program):
        pytest.skip("LOCO_SIM does not name the command line")
    done = subprocess.run([program, "validate", str(path)], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.strip() == str(caught.value)


def test_override_error_names_the_override(barrier):
    with pytest.raises(ls.InputError) as caught:
        ls.run(barrier, overrides={"topology.nodes": "few"})
    assert caught.value.file == "--set topology.nodes=few" and caught.value.line == 0
    assert caught.value.key == "topology.nodes"


@pytest.mark.parametrize("overrides, message", [
    ({1: 2}, "overrides: expected dotted keys, found 1"),
    ([("seed", 1)], r"overrides: expected a mapping from dotted keys to values, found \[\('seed', 1\)\]"),
    ("seed=1", "overrides: expected a mapping from dotted keys to values, found 'seed=1'"),
])
def test_overrides_that_are_none(barrier, overrides, message):
    def program(ctx):
        yield ctx.now()

    scenario = ls.Scenario(barrier)
    for call in (lambda: ls.run(barrier, overrides=overrides), lambda: scenario.override(overrides),
                 lambda: ls.Scenario.from_yaml("workload: {kind: barrier}", overrides=overrides),
                 lambda: ls.sweep_rows(barrier, {"topology.nodes": [2]}, overrides=overrides),
                 lambda: ls.Program({0: program}).run(overrides=overrides)):
        with pytest.raises(TypeError, match=message):
            call()


def test_a_flag_that_is_none(barrier):
    def program(ctx):
        yield ctx.now()

    for call in (lambda: ls.run(barrier, stop=5), lambda: ls.Program({0: program}).run(stop=5)):
        with pytest.raises(TypeError, match=r"stop: expected a stop_flag\(\), found 5"):
            call()


def test_text_that_is_none():
    with pytest.raises(TypeError, match="text: expected the text of a scenario, found None"):
        ls.Scenario.from_yaml(None)


def test_missing_file(tmp_path):
    with pytest.raises(ls.InputError, match="nothing.yaml"):
        ls.run(tmp_path / "nothing.yaml")


def test_wrong_type_of_scenario():
    with pytest.raises(TypeError):
        ls.run(5)
    with pytest.raises(TypeError, match="object"):
        ls.run({"workload": object()})


def test_run_error_when_there_are_too_many_events(barrier):
    with pytest.raises(ls.RunError, match="events"):
        ls.run(barrier, overrides={"limits.events": 100})


def test_check_of_an_unknown_model(barrier):
    with pytest.raises(ValueError, match="nosuch"):
        ls.run(barrier).check("nosuch")
    with pytest.raises(ValueError, match="models: expected one of rdmawait, sv, bal, rbl, msw, lock, kvstore, found 'tower'"):
        ls.run(barrier).check("sv", "tower")


def test_damaged_trace_is_refused_with_its_offset(barrier, tmp_path):
    path = tmp_path / "t.trace"
    data = bytearray(ls.run(barrier).trace.encode())
    path.write_bytes(data[:len(data) // 2])
    with pytest.raises(ls.TraceError, match="offset") as caught:
        ls.read_trace(path)
    assert 0 < caught.value.offset <= len(data)
    with pytest.raises(ls.TraceError):
        ls.check(path)


def test_missing_trace_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        ls.read_trace(tmp_path / "nothing.trace")
    assert caught.value.filename == str(tmp_path / "nothing.trace")


def test_missing_package_says_how_to_get_it(barrier, monkeypatch):
    import sys
    result = ls.run(barrier)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ls.MissingPackageError, match="pip install pandas"):
        result.to_pandas()
    with pytest.raises(ImportError, match="apt install python3-pandas"):
        result.trace.to_pandas()


def test_a_run_that_cannot_go_on_keeps_its_trace(barrier):
    with pytest.raises(ls.RunError, match="3000 events") as caught:
        ls.run(barrier, overrides={"limits.events": 3000})
    trace = caught.value.trace
    assert len(trace) > 0 and not trace.calls["returned"].all()
    assert trace.check("rdmawait").ok
    with pytest.raises(ls.RunError) as caught:
        ls.run(barrier, overrides={"limits.events": 3000, "check": [], "trace.level": "none"})
    assert caught.value.trace is None
