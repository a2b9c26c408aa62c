"""The HTML page about a run, and the commands sweep and report."""

import contextlib
import html.parser
import json
import os
import pathlib
import re
import resource
import shutil
import struct
import subprocess
import sys

import pytest

import loco_sim as ls

pytest.importorskip("matplotlib")


class Page(html.parser.HTMLParser):
    VOID = {"meta", "br", "path", "use"}

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.references, self.text, self.links = [], [], [], "", []
        self.feed(text)
        assert self.open == [], "every element is closed"

    def handle_starttag(self, tag, attributes):
        if tag not in self.VOID:
            self.open.append(tag)
        self.note(attributes)

    def handle_startendtag(self, tag, attributes):
        self.note(attributes)

    def note(self, attributes):
        for key, value in attributes:
            if key == "id":
                self.ids.append(value)
            if key in ("href", "src", "xlink:href"):
                self.links.append(value)
            self.references += re.findall(r"url\(#([^)]+)\)", value or "")

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def result(barrier):
    return ls.run(barrier)


def test_page_is_whole_and_self_contained(result, tmp_path):
    path = tmp_path / "r.html"
    text = ls.report(result, path)
    assert path.read_text() == text
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert set(page.references) <= set(page.ids)
    assert "<script" not in text and "@import" not in text
    for word in ("barrier, seed 1", "median", "consistent: rdmawait, sv, bal", "packets sent", "Run it again",
                 result.scenario.config_hash(), "topology.nodes: 3"):
        assert word in page.text
    assert text.count("<figure") == 6


def test_same_result_same_page(barrier):
    assert ls.report(ls.run(barrier)) == ls.report(ls.run(barrier))


def test_violation_is_told_and_drawn(broken):
    bad = next(r for r in (ls.run(broken, seed=s) for s in range(1, 200))
               if any(v.cycle for v in r.verdict.violations))
    text = ls.report(bad)
    assert "not consistent" in text and "The cycle" in text
    step = next(v for v in bad.verdict.violations if v.cycle).cycle[0]
    assert step.call_text.split("(")[0] in Page(text).text


def test_libraries_that_hold_are_not_among_those_that_do_not():
    result = ls.run(pathlib.Path(__file__).parents[2] / "scenarios/faults/barrier_without_fence.yaml")
    assert [r.consistent for r in result.verdict.results] == [True, True, False]
    page = Page(ls.report(result)).text
    assert "consistent: rdmawait, sv (" in page and "not consistent with bal\n" in page


def test_counters_of_the_workload_and_times_that_mean_nothing(barrier):
    timed = {"hardware": "model-weak", "workload": {"kind": "lock", "iterations": 3}}
    page = Page(ls.report(ls.run(timed))).text
    assert "lost updates" in page and "times mean nothing" not in page
    assert "times mean nothing" in Page(ls.report(ls.run({**timed, "schedule": "random"}))).text


def test_saved_result(result, tmp_path):
    saved = tmp_path / "r.json"
    result.save(saved)
    data = json.loads(saved.read_text())
    assert data["samples_ps"]["barrier"] == result.latency.samples_ps.tolist()
    assert ls.report(saved) == ls.report(data)
    assert ls.report(saved).count("<figure") == 2
    assert result.report(tmp_path / "r.html") == ls.report(result)


def test_what_the_command_line_prints_will_do(result):
    text = ls.report(json.loads(result.to_json()))
    assert "consistent" in text and "<figure" not in text


def test_text_is_escaped(barrier):
    barrier["name"] = "<b>&name"
    assert "<b>&name" not in ls.report(ls.run(barrier))


def test_not_a_result(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    (tmp_path / "y.json").write_text("hello")
    for name in ("x.json", "y.json"):
        with pytest.raises(ValueError, match="expected"):
            ls.report(tmp_path / name)
    with pytest.raises(ValueError, match="result: expected a Result, .* the JSON of one run or its file, found list"):
        ls.report([])


@pytest.mark.parametrize("key", ["operations", "operations_done", "operations_per_second", "measured_ps", "counters"])
def test_a_part_of_a_result(result, key):
    rest = result.to_dict()
    del rest[key]
    for part in (rest, {**rest, key: None}):
        with pytest.raises(ValueError, match=f"expected the JSON of one run, .* found no {key}$"):
            ls.report(part)


def chromium():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.skipif(not chromium(), reason="no Chromium")
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_overflows_in_chromium(broken, tmp_path, width):
    bad = next(r for r in (ls.run(broken, seed=s) for s in range(1, 200)) if not r.verdict.ok)
    # A probe script writes what it measures into the title, which --dump-dom shows.
    probe = ("<script>onload = () => { const w = document.documentElement; document.title = 'overflow ' + "
             "(w.scrollWidth - w.clientWidth) + ' of ' + w.clientWidth; }</script></body>")
    page = tmp_path / "r.html"
    page.write_text(ls.report(bad).replace("</body>", probe))
    frame = tmp_path / "frame.html"  # headless windows have a least width: an iframe has none
    frame.write_text(f"<title>-</title><iframe id=f src=r.html width={width} height=800 style='border:0'></iframe><script>"
                     "onload = () => setTimeout(() => document.title = f.contentDocument.title, 500)</script>")
    base = [chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
            f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000"]
    dom = subprocess.run([*base, "--dump-dom", frame.as_uri()], capture_output=True, text=True, timeout=60).stdout
    found = re.search(r"overflow (-?\d+) of (\d+)", dom)
    assert found and int(found[1]) == 0 and width - 20 <= int(found[2]) <= width  # less a scroll bar
    shot = tmp_path / "shot.png"
    subprocess.run([*base, f"--screenshot={shot}", f"--window-size={width},1000", page.as_uri()], timeout=60,
                   capture_output=True)
    assert struct.unpack(">I", shot.read_bytes()[16:20])[0] >= width


def command(*arguments, stdout=None, **options):
    """`stdout`: a file in place of a pipe."""
    with open(stdout, "w") if stdout else contextlib.nullcontext(subprocess.PIPE) as out:
        return subprocess.run([sys.executable, "-m", "loco_sim", *map(str, arguments)], stdout=out,
                              stderr=subprocess.PIPE, text=True, **options,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})


def test_sweep_command(barrier, tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text(ls.Scenario(barrier).dump() + "sweep: {topology.nodes: [2, 3]}\n")
    done = command("sweep", path, "--jobs", 2)
    assert done.returncode == 0 and done.stderr == ""
    assert [json.loads(line)["topology.nodes"] for line in done.stdout.splitlines()] == ["2", "3"]
    out = tmp_path / "s.csv"
    assert command("sweep", path, "--out", out, "--seeds", 2, "--set", "workload.iterations=3").returncode == 0
    assert len(out.read_text().splitlines()) == 5
    failing = command("sweep", path, "--set", "limits.events=100")
    assert failing.returncode == 1 and "point 0:" in failing.stderr
    wrong = command("sweep", path, "--set", "topology.nodse=3")
    assert wrong.returncode == 2 and "nodse" in wrong.stderr and "Traceback" not in wrong.stderr
    assert command("sweep", path, "--set", "topology").returncode == 2


def test_report_command(barrier, result, tmp_path):
    scenario, saved, out = tmp_path / "s.yaml", tmp_path / "r.json", tmp_path / "r.html"
    scenario.write_text(result.scenario.dump())
    result.save(saved)
    assert command("report", saved, "-o", out).returncode == 0 and "<figure" in out.read_text()
    assert command("report", scenario, "-o", out, "--seed", 3).returncode == 0 and "seed 3" in out.read_text()
    missing, text = tmp_path / "nothing.json", tmp_path / "text.json"
    text.write_text('{\n  "operations": [}\n')
    for file, message in ((missing, "1:1: expected a readable file, found none"),
                          (text, "2:18: expected a result as JSON, found a mistake (expecting value)")):
        wrong = command("report", file, "-o", out)
        assert wrong.returncode == 2 and wrong.stderr == f"{file}:{message}\n"
    assert command("report", saved, "-o", out, "--seed", 3).returncode == 2
    assert command("--version").stdout.strip() == f"loco-sim {ls.__version__}"


def test_a_report_of_a_scenario_by_name_or_in_json(barrier, tmp_path):
    scenario, out = tmp_path / "s.json", tmp_path / "r.html"
    scenario.write_text(json.dumps({**barrier, "name": "in JSON"}))
    assert command("report", scenario, "-o", out, "--seed", 3).returncode == 0
    assert "in JSON, seed 3" in out.read_text()
    assert command("report", "quickstart", "-o", out, "--set", "workload.iterations=1").returncode == 0
    assert "quickstart" in out.read_text()


def test_a_result_that_begins_with_a_byte_order_mark(result, tmp_path):
    """As Windows' tools write text."""
    saved = tmp_path / "r.json"
    result.save(saved)
    saved.write_bytes(b"\xef\xbb\xbf" + saved.read_bytes())
    assert ls.report(saved) == ls.report(result.to_dict(everything=True))


@pytest.mark.parametrize("content, found", [("", "nothing"), ("{", "a mistake (expecting property name enclosed in double quotes)"),
                                            ('{"a":"\n"}', "a mistake (invalid control character)")])
def test_what_is_no_json_is_told(tmp_path, content, found):
    file = tmp_path / "r.json"
    file.write_text(content)
    wrong = command("report", file, "-o", tmp_path / "r.html")
    assert wrong.returncode == 2 and wrong.stderr.endswith(f": expected a result as JSON, found {found}\n"), wrong.stderr


def test_a_file_that_cannot_be_read_is_bad_input(tmp_path):
    wrong = command("report", "/proc/self/mem", "-o", tmp_path / "r.html")
    assert (wrong.returncode, wrong.stderr) == (2, "/proc/self/mem:1:1: expected a readable file, found none\n")


def test_a_report_does_not_write_over_its_result(result, tmp_path):
    saved = tmp_path / "r.json"
    result.save(saved)
    before = saved.read_bytes()
    with pytest.raises(ValueError, match="r.json: expected another file to write, found the result itself"):
        ls.report(saved, saved)
    assert saved.read_bytes() == before


def test_exit_codes_are_those_of_a_run(tmp_path):
    """docs/command-line.md: 1 for what is inconsistent, could not go on or could not be written; 2 for bad input."""
    scenario, saved, out = tmp_path / "s.yaml", tmp_path / "r.json", tmp_path / "r.html"
    bad = ls.run(pathlib.Path(__file__).parents[2] / "scenarios/faults/barrier_without_fence.yaml")
    scenario.write_text(bad.scenario.dump())
    bad.save(saved)
    for source in (scenario, saved):
        assert command("report", source, "-o", out).returncode == 1
        assert "not consistent with bal" in Page(out.read_text()).text
    stopped = command("report", scenario, "-o", out, "--set", "limits.events=10")
    assert stopped.returncode == 1 and stopped.stderr.startswith("loco-sim: the run has taken 10 events")
    folder = command("report", scenario, "-o", tmp_path)
    assert folder.returncode == 2 and folder.stderr == f"{tmp_path}: expected a file, found a folder\n"
    closed = command("sweep", scenario, stdout="/dev/full")
    assert closed.returncode == 1 and closed.stderr == "loco-sim: stdout: No space left on device\n"


def test_a_process_without_streams(barrier, tmp_path):
    """As a shell's >&- begins it: rows that nobody can have are an error, and messages are lost."""
    scenario, rows = tmp_path / "s.yaml", tmp_path / "r.csv"
    scenario.write_text(ls.Scenario(barrier).dump())
    lost = command("sweep", scenario, preexec_fn=lambda: os.close(1))
    assert lost.returncode == 1 and lost.stderr == "loco-sim: stdout: Bad file descriptor\n"
    assert command("sweep", scenario, "--out", rows, preexec_fn=lambda: os.close(1)).returncode == 0 and rows.exists()
    mute = command("sweep", scenario, preexec_fn=lambda: os.close(2))
    assert mute.returncode == 0 and json.loads(mute.stdout)["error"] is None
    wrong = command("sweep", tmp_path / "nothing.yaml", preexec_fn=lambda: os.close(2))
    assert wrong.returncode == 2 and wrong.stdout == ""


def test_what_cannot_be_written_whole_is_not_written(result, barrier, tmp_path):
    scenario = tmp_path / "s.yaml"
    scenario.write_text(ls.Scenario(barrier).dump())
    saved, page, rows = (tmp_path / name for name in ("r.json", "r.html", "r.csv"))
    result.save(saved)
    page.write_text("before")
    # A limit on the size of files, in place of a full disk.
    short = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16, resource.RLIM_INFINITY))}
    for arguments, file in ((["report", saved, "-o", page], page), (["sweep", scenario, "--out", rows], rows)):
        lost = command(*arguments, **short)
        assert lost.returncode == 1 and lost.stderr.splitlines()[-1] == f"loco-sim: {file}: File too large", lost.stderr
    assert page.read_text() == "before"
    assert sorted(tmp_path.iterdir()) == [page, saved, scenario]


def test_command_line_hands_on_to_python(barrier, tmp_path):
    program = os.environ.get("LOCO_SIM")
    if not program or not os.path.exists(program):
        pytest.skip("LOCO_SIM does not name the command line")
    path, out = tmp_path / "s.yaml", tmp_path / "r.html"
    path.write_text(ls.Scenario(barrier).dump() + "sweep: {topology.nodes: [2, 3]}\n")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    def call(*arguments):
        return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, env=environment)

    done = call("sweep", "--jobs", 2, path, "--set", "workload.iterations=3")
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["operations"] for line in done.stdout.splitlines()] == [3, 3]
    assert call("report", path, "-o", out, "--set", "workload.iterations=3").returncode == 0 and out.exists()
    assert "--jobs" in call("sweep", "--help").stdout
    wrong = call("sweep", path, "--set", "topology.nodse=3")
    assert wrong.returncode == 2 and "nodse" in wrong.stderr


def test_the_verdict_comes_before_pictures_and_times_that_mean_nothing_have_none(barrier):
    page = ls.report(ls.run(barrier))
    assert 0 < page.index("<h2>Verdict") < page.index("<h2>Latency") < page.index("<h2>Pictures")
    assert all(f'data-of="{column}"' in page for column in ("count", "min", "median", "p99", "max"))
    assert "<h2>Pictures" not in ls.report(ls.run({**barrier, "schedule": "random"}))


def test_a_trace_with_packets_says_what_the_median_operation_went_into(barrier):
    page = ls.report(ls.run(barrier, overrides={"trace.level": "packets"}))
    assert "why barrier takes" in page and "WQE fetch" in page


@pytest.mark.parametrize("key", ["workload_counters", "hints", "broken", "check", "limited_by", "samples_ps", "faults", "config"])
def test_what_is_null_in_a_result_is_not_there(result, key):
    data = result.to_dict() | {key: None}
    assert "<title>" in ls.report(data)
