"""Traces on disk: write, check, export; damaged files are refused."""

import csv
import io
import json
import signal
import subprocess

import pytest


@pytest.fixture
def trace(loco_sim, tmp_path):
    path = tmp_path / "t.trace"
    done = loco_sim("run", "scenarios/quickstart.yaml", "--trace", path)
    assert done.returncode == 0, done.stderr
    return path


def test_a_written_trace_gives_the_verdict_of_the_run(loco_sim, trace):
    ran = json.loads(loco_sim("run", "scenarios/quickstart.yaml", "--json").stdout)["check"]
    checked = loco_sim("check", trace, "--model", "rdmawait,sv,bal", "--json")
    assert checked.returncode == 0
    assert json.loads(checked.stdout) == ran
    assert loco_sim("check", trace).stdout.startswith("consistent: rdmawait, sv, bal (")


def test_the_tower_is_checked_on_request(loco_sim, trace, root, tmp_path):
    done = loco_sim("check", trace, "--tower")
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("consistent: rdmawait, sv, bal (")
    # A barrier that notifies without fencing (LOCO paper, Appendix D) does not keep the promise of its aGF.
    broken = tmp_path / "broken.trace"
    scenario = root / "scenarios/faults/barrier_without_fence.yaml"
    assert loco_sim("run", scenario, "--trace", broken).returncode == 1
    told = loco_sim("check", broken, "--tower")
    assert told.returncode == 1
    assert "promise: " in told.stdout


def test_the_same_run_writes_the_same_bytes(loco_sim, trace, tmp_path):
    again = tmp_path / "again.trace"
    loco_sim("run", "scenarios/quickstart.yaml", "--trace", again)
    assert again.read_bytes() == trace.read_bytes()


def test_csv_has_one_row_a_subevent(loco_sim, trace):
    subevents = json.loads(loco_sim("check", trace, "--json").stdout)["subevents"]
    rows = list(csv.DictReader(io.StringIO(loco_sim("trace", "export", trace, "--to", "csv").stdout)))
    assert len(rows) == subevents
    assert {row["stamp"] for row in rows} >= {"aCR", "aCW", "aNLR", "aNRW"}


def test_text_names_the_calls(loco_sim, trace, tmp_path):
    out = tmp_path / "t.txt"
    assert loco_sim("trace", "export", trace, "--to", "text", "--out", out).returncode == 0
    text = out.read_text()
    assert "barrier" in text
    assert "bcast" in text


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "other"])
def test_a_damaged_trace_is_refused_with_the_offset(loco_sim, trace, damage):
    data = bytearray(trace.read_bytes())
    if damage == "cut":
        data = data[: len(data) // 2]
    elif damage == "flip":
        data[len(data) // 2] ^= 0x40
    elif damage == "empty":
        data = bytearray()
    else:
        data = bytearray(b"name: not a trace\n")
    trace.write_bytes(data)
    for command in (["check", trace], ["trace", "export", trace, "--to", "csv"]):
        done = loco_sim(*command)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
        assert str(trace) in done.stderr
        assert "offset" in done.stderr


def test_an_unknown_model_is_refused(loco_sim, trace):
    done = loco_sim("check", trace, "--model", "rdmawiat")
    assert done.returncode == 2
    assert 'did you mean "rdmawait"?' in done.stderr
    assert loco_sim("check", "no-such.trace").returncode == 2
    for models in ("", "sv,", ",sv"):  # all models are checked when none is named, not when nothing is
        done = loco_sim("check", trace, "--model", models)
        assert done.returncode == 2 and done.stdout == ""
        assert done.stderr.startswith("loco-sim check: --model: expected one of rdmawait, sv, ") and 'found ""' in done.stderr


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_who_breaks_off_writing_finds_what_was_there_before(loco_sim, program, tmp_path, by):
    trace, out = tmp_path / "t.trace", tmp_path / "t.txt"
    done = loco_sim("run", "scenarios/barrier.yaml", "--set", "workload.iterations=200", "--check", "", "--trace", trace,
                    "--quiet")
    assert done.returncode == 0, done.stderr
    for _ in range(50):  # until the signal comes while it writes
        out.write_text("before")
        with subprocess.Popen([program, "trace", "export", trace, "--to", "text", "--out", out], stderr=subprocess.PIPE,
                              preexec_fn=lambda: signal.signal(by, signal.SIG_DFL)) as export:
            while export.poll() is None and not list(tmp_path.glob("*.part")):
                pass
            export.send_signal(by)
        assert {p.name for p in tmp_path.iterdir()} == {"t.trace", "t.txt"}
        if export.returncode == -by:
            break
    assert export.returncode == -by
    assert out.read_text() == "before"
