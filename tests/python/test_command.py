"""`loco-sim sweep` and `report` in rough hands: interrupts, several writers, full disks, results from anywhere."""

import csv
import json
import os
import resource
import signal
import subprocess
import sys
import time

import pytest

import loco_sim as ls

FOLDER = os.pathsep.join(sys.path)


def start(*arguments, **options):
    return subprocess.Popen([sys.executable, "-m", "loco_sim", *map(str, arguments)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": FOLDER}, **options)


def command(*arguments, **options):
    process = start(*arguments, **options)
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


@pytest.fixture
def scenario(barrier, tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text(ls.Scenario(barrier).dump() + "sweep: {topology.nodes: [2, 3, 4]}\n")
    return path


@pytest.fixture
def endless_sweep(endless, tmp_path):
    """One point that ends at once, and others that do not."""
    path = tmp_path / "endless.yaml"
    path.write_text(ls.Scenario(endless).dump() + "sweep: {workload.iterations: [1, 10000000, 9999999, 9999998]}\n")
    return path


def interrupted(process):
    """Sends Ctrl-C once the sweep has had time for its first point."""
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def default_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupted_sweep_says_what_is_done_and_goes_on(endless_sweep, tmp_path):
    out = tmp_path / "rows.csv"
    code, text, error = interrupted(start("sweep", endless_sweep, "--out", out, "--jobs", 1, preexec_fn=default_interrupts))
    assert (code, text) == (130, "")
    assert error == "loco-sim sweep: interrupted; 1 of 4 points done, the same command goes on\n"
    assert len(out.read_text().splitlines()) == 2
    code, text, error = interrupted(start("sweep", endless_sweep, "--jobs", 1, preexec_fn=default_interrupts))
    assert error == "loco-sim sweep: interrupted; 1 of 4 points done, none is kept, --out FILE keeps them\n"


def test_a_swept_key_that_is_set_is_not_swept(scenario, tmp_path):
    done = command("sweep", scenario, "--set", "topology.nodes=5")
    assert [json.loads(line).get("topology.nodes") for line in done.stdout.splitlines()] == [None]
    rows = list(ls.sweep_rows(scenario, overrides={"topology.nodes": 5}, progress=False))
    assert len(rows) == 1 and rows[0]["error"] is None
    assert rows[0]["config_hash"] == ls.Scenario(scenario, overrides={"topology.nodes": 5, "sweep": None}).config_hash()
    above = tmp_path / "above.yaml"
    above.write_text("workload: {kind: barrier}\nsweep: {workload: [{kind: barrier, iterations: 2}]}\n")
    below = command("sweep", above, "--set", "workload.iterations=3")
    assert below.returncode == 2 and below.stderr == (
        '--set workload.iterations=3: expected a key that the sweep leaves alone, found one below its key "workload"\n')


def test_one_file_is_of_one_sweep_at_a_time(endless_sweep, tmp_path):
    out = tmp_path / "rows.jsonl"
    first = start("sweep", endless_sweep, "--out", out, "--jobs", 1, preexec_fn=default_interrupts)
    try:
        for _ in range(200):
            if out.exists() and out.stat().st_size:
                break
            time.sleep(0.05)
        second = command("sweep", endless_sweep, "--out", out)
        assert second.returncode == 2 and second.stderr == (
            f"{out}: expected a file of this sweep alone, found one that another sweep is writing\n")
    finally:
        first.send_signal(signal.SIGKILL)
        first.communicate()
    with out.open() as lines:
        assert len([json.loads(line) for line in lines]) == 1  # and a sweep that was killed holds no lock


def test_a_full_disk_names_the_file(scenario, tmp_path):
    out = tmp_path / "rows.csv"
    head = len(",".join(next(csv.reader([_first_line(scenario, tmp_path)]))))

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (head + 50, resource.RLIM_INFINITY))

    done = command("sweep", scenario, "--out", out, "--jobs", 1, preexec_fn=limit)
    assert done.returncode == 1 and done.stderr.splitlines()[-1] == f"loco-sim: {out}: File too large", done.stderr
    assert command("sweep", scenario, "--out", out).returncode == 0
    assert len(out.read_text().splitlines()) == 4 and not list(tmp_path.glob(".loco-sim-*"))


def _first_line(scenario, tmp_path):
    other = tmp_path / "other.csv"
    assert command("sweep", scenario, "--out", other).returncode == 0
    return other.read_text().splitlines()[0]


def test_messages_that_nobody_hears_end_nothing(scenario, tmp_path):
    full = {"preexec_fn": lambda: os.dup2(os.open("/dev/full", os.O_WRONLY), 2)}
    assert command("sweep", scenario, **full).returncode == 0
    assert command("sweep", tmp_path / "nothere", **full).returncode == 2
    assert command("report", tmp_path / "nothere", "-o", tmp_path / "r.html", **full).returncode == 2
    assert command("sweep", scenario, "--frob", **full).returncode == 2


def test_cells_that_a_spreadsheet_would_compute(barrier, tmp_path):
    """name is a parameter that a sweep may have: text from anywhere."""
    names = ["=1+1", "+1", "-1", "@x", "'=1", "plain", "'quoted"]
    out = tmp_path / "rows.csv"

    def rows(**options):
        return list(ls.sweep_rows(barrier, {"name": names}, out=out, progress=False, **options))

    assert len(rows()) == len(names)
    with out.open(newline="") as file:
        assert [row["name"] for row in csv.DictReader(file)] == names
    rows(resume=False, for_spreadsheets=True)
    with out.open(newline="") as file:
        assert [row["name"] for row in csv.DictReader(file)] == ["'=1+1", "'+1", "'-1", "'@x", "''=1", "plain", "'quoted"]
    assert [row["name"] for row in rows(for_spreadsheets=True)] == names  # it goes on: nothing is run again
    with pytest.raises(ls.Error, match="found one with other parameters"):
        rows()


CRAFTED = {
    "count": ("operations[0].count", "<script>alert(1)</script>"), "min_ps": ("operations[0].min_ps", "1"),
    "name": ("operations[0].name", 7), "huge": ("operations[0].max_ps", 10**400), "counters": ("counters", "x"),
    "counter": ("counters.events", "<b>"), "workload": ("workload_counters", ["x"]), "samples": ("samples_ps", {"a": ["x"]}),
    "broken": ("broken", [{}]), "libraries": ("check.libraries", 5), "cycle": ("check.libraries[0].violations", [{"rule": 1}]),
    "nan": ("operations_per_second", float("nan")), "none": ("operations_done", "many"), "command": ("command", ["rm"]),
    "scenario": ("scenario", {"a": 1}), "config": ("config", [1]),
}


def put(tree, path, value):
    parts = path.replace("[", ".[").split(".")
    for part in parts[:-1]:
        tree = tree[int(part[1:-1])] if part.startswith("[") else tree.setdefault(part, {})
    tree[parts[-1]] = value


@pytest.mark.parametrize("craft", CRAFTED)
def test_a_crafted_result_is_refused_in_one_line(barrier, tmp_path, craft):
    path, value = CRAFTED[craft]
    data = ls.run(barrier).to_dict(everything=True)
    put(data, path, value)
    saved = tmp_path / "r.json"
    saved.write_text(json.dumps(data))
    done = command("report", saved, "-o", tmp_path / "r.html")
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith(f"{saved}: ") and not (tmp_path / "r.html").exists()


@pytest.mark.parametrize("text", ["[" * 100_000, '{"operations":' * 50_000, "1" * 5000, "\xff", '{"a": NaN}', ""],
                         ids=["lists", "objects", "digits", "latin", "nan", "empty"])
def test_what_is_no_json_of_a_run_is_refused_in_one_line(tmp_path, text):
    saved = tmp_path / "r.json"
    saved.write_bytes(text.encode("latin-1"))
    done = command("report", saved, "-o", tmp_path / "r.html")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and str(saved) in done.stderr, done.stderr


def test_an_endless_result_is_refused(tmp_path):
    done = command("report", "/dev/zero", "-o", tmp_path / "r.html")
    assert done.returncode == 2 and done.stderr.startswith("/dev/zero:1:1: expected at most ")


def test_all_texts_of_a_page_are_escaped(barrier):
    evil = "<script>alert(1)</script>"
    data = ls.run(barrier).to_dict(everything=True)
    for path in ("scenario", "hardware", "command", "version", "config_hash", "seed", "workload"):
        data[path] = evil
    data["broken"], data["operations"][0]["name"], data["faults"] = [evil], evil, [evil]
    data["counters"][evil], data["config"][evil], data["samples_ps"] = 1, evil, {}
    data["check"]["libraries"] = [{"library": evil, "consistent": False, "violations": [{"rule": evil, "message": evil, "cycle": [
        {"thread_name": evil, "call": evil, "subevent": evil, "edge": evil}]}]}]
    page = ls.report(data)
    assert "<script" not in page and page.count("&lt;script&gt;") >= 14


def test_the_command_line_helps_without_the_package(barrier, scenario, tmp_path):
    program = os.environ.get("LOCO_SIM")
    if not program or not os.path.exists(program):
        pytest.skip("LOCO_SIM does not name the command line")
    alone = tmp_path / "bin"
    alone.mkdir()
    (alone / "loco-sim").write_bytes(open(program, "rb").read())
    (alone / "loco-sim").chmod(0o755)
    (alone / "python3").symlink_to(sys.executable)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    # a folder of that name, as a checkout has one, is no package
    (tmp_path / "loco_sim").mkdir()

    def call(*arguments):
        return subprocess.run([alone / "loco-sim", *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True,
                              env=environment)

    for name in ("sweep", "report"):
        helped = call(name, "--help")
        assert helped.returncode == 0 and "--set" in helped.stdout and "Examples:" in helped.stdout
    if call("sweep", scenario).returncode == 0:
        pytest.skip("the package is installed for this interpreter")
    missing = call("sweep", scenario)
    assert missing.returncode == 2 and missing.stderr == (
        "loco-sim sweep: expected the Python package loco_sim (./dev build, or pip install .), found none\n")


@pytest.mark.parametrize("wait", [0.0, 0.02, 0.05, 0.1, 0.2, 0.4])
def test_interrupts_while_python_starts(scenario, wait):
    program = os.environ.get("LOCO_SIM")
    if not program or not os.path.exists(program):
        pytest.skip("LOCO_SIM does not name the command line")
    process = subprocess.Popen([program, "sweep", str(scenario), "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env={**os.environ, "PYTHONPATH": FOLDER}, preexec_fn=default_interrupts)
    time.sleep(wait)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    if process.returncode == 0:
        return  # it had ended before
    # by the signal while it is not Python yet
    assert process.returncode in (130, -signal.SIGINT) and err.count("\n") <= 1 and "Traceback" not in err, err
    assert err in ("", "loco-sim: interrupted\n") or err.startswith("loco-sim sweep: interrupted; ")
