"""loco-sim generate: counts, documents that loco-sim litmus takes, interruption and going on, bad input."""

import json
import os
import re
import resource
import signal
import subprocess
import time

import pytest


def names(text):
    return re.findall(r"^name: (.*)$", text, re.MULTILINE)


def test_counts_as_text_and_json(loco_sim):
    """Of a naive enumerator: LO with one process, sizes 3 to 5."""
    done = loco_sim("generate", "--pivot", "LO", "--processes", 1, "--size", 5, "--count", "--json")
    assert done.returncode == 0 and done.stderr == ""
    assert json.loads(done.stdout) == {
        "pivot": "LO", "processes": 1, "hosts": 1, "count": 29, "by_size": {"3": 1, "4": 5, "5": 23}}
    text = loco_sim("generate", "--pivot", "LO", "--size", 5, "--count").stdout
    assert [line.split() for line in text.splitlines()] == [
        ["size", "tests"], ["3", "1"], ["4", "5"], ["5", "23"], ["all", "29"]]
    two = json.loads(loco_sim("generate", "--pivot", "PG", "--processes", 2, "--size", 5, "--hosts", 3, "--statements",
                              "read,get,put", "--count", "--json").stdout)
    assert two["hosts"] == 3 and two["by_size"]["5"] == 0


@pytest.mark.long
def test_the_table_of_the_documentation_is_true(loco_sim, root):
    rows = re.findall(r"^\| ([A-Z0-9]+(?:-[TF])?) \| (\d) \| (\d+) \| [\d,]+ \| ([\d,]+) \| ([\d,]+) \|$",
                      (root / "docs/corerma.md").read_text(), re.MULTILINE)
    assert len(rows) == 24
    for pivot, processes, size, *expected in rows:
        for reads, count in zip(("any", "one"), expected):
            done = loco_sim("generate", "--pivot", pivot, "--processes", processes, "--size", size, "--reads", reads,
                            "--count", "--json")
            assert json.loads(done.stdout)["count"] == int(count.replace(",", "")), (pivot, processes, reads)


def test_documents_are_litmus_tests(loco_sim, tmp_path):
    file = tmp_path / "f2.yaml"
    done = loco_sim("generate", "--pivot", "F2", "--size", 8, "-o", file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(names(file.read_text())) == len(set(names(file.read_text()))) > 20
    checked = loco_sim("litmus", file, "--quiet")
    assert checked.returncode == 0, checked.stdout
    forbidden = re.findall(r"forbidden: \[\{(.*)\}\]", file.read_text())
    assert forbidden
    # without the pivot, what tells it is allowed: the test fails
    without = loco_sim("litmus", file, "--rules", "R1,R2,F1,F3,PG,GA,CAS,LO,WS,IR", "--json")
    outcomes = {r["name"]: r["outcomes"] for r in json.loads(without.stdout)}
    for document in file.read_text().split("---\n"):
        for told in re.findall(r"forbidden: \[\{(.*)\}\]", document):
            values = {k: int(v) for k, v in (pair.split(": ") for pair in told.split(", "))}
            assert values in outcomes[names(document)[0]]


def test_json_has_the_documents_and_their_outcomes(loco_sim):
    tests = json.loads(loco_sim("generate", "--pivot", "R1", "--size", 5, "--json").stdout)
    assert len(tests) == 10
    assert tests[0]["name"] == "R1-1x4-wa.ra.ra" and tests[0]["size"] == 4
    assert tests[0]["outcomes"] == [{"u0": 1, "u1": 1}] and tests[0]["forbidden"] == {"u0": 0, "u1": 1}
    assert names(tests[0]["document"]) == ["R1-1x4-wa.ra.ra"]
    assert json.loads(loco_sim("generate", "--pivot", "WS", "--size", 5, "--json").stdout) == []


def test_goes_on_after_any_test_and_takes_samples(loco_sim, tmp_path):
    arguments = ("generate", "--pivot", "R2", "--processes", 2, "--size", 6)
    whole = loco_sim(*arguments).stdout
    all_names = names(whole)
    for name in (all_names[0], all_names[100], all_names[-1]):
        rest = loco_sim(*arguments, "--after", name)
        assert names(rest.stdout) == all_names[all_names.index(name) + 1:]
    file = tmp_path / "r2.yaml"
    loco_sim(*arguments, "--limit", 7, "-o", file)
    assert names(file.read_text()) == all_names[:7]
    loco_sim(*arguments, "--after", all_names[6], "-o", file)
    assert file.read_text() == whole
    before = file.read_text()
    wrong = loco_sim(*arguments, "--after", all_names[6], "-o", file)
    assert wrong.returncode == 2 and all_names[-1] in wrong.stderr and file.read_text() == before
    sample = names(loco_sim(*arguments, "--sample", 10).stdout)
    assert len(sample) == 10 and sample == all_names[::28][:10]


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["documents", "json"])
@pytest.mark.parametrize("spare", [1, 20, 150])
def test_a_full_disk_leaves_whole_tests(loco_sim, program, tmp_path, form, spare):
    """The file may have `spare` bytes more than three tests, fewer than any test has: three are kept."""
    arguments = ["generate", "--pivot", "R2", "--processes", "2", "--size", "6", *form]
    three = loco_sim(*arguments, "--limit", 3).stdout
    file, link = tmp_path / "r2", tmp_path / "link"
    link.symlink_to(file)

    def write(limit, to, *more):
        return subprocess.run([program, *arguments, "-o", str(to), *more], capture_output=True, text=True, preexec_fn=(
            lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))))

    done = write(len(three) + spare, link)
    last = names(three)[-1] if not form else ""
    assert done.returncode == 1 and file.read_text() == three and link.is_symlink()
    assert done.stderr == f"loco-sim: {link}: File too large" + ("\n" if form else f"; go on with --after {last}\n")
    nothing = write(spare, file)
    assert nothing.returncode == 1 and not file.exists()
    assert nothing.stderr == f"loco-sim: {file}: File too large\n"
    if form:
        return
    file.write_text(three)
    assert write(len(three) + spare, file, "--after", last).returncode == 1 and file.read_text() == three
    assert loco_sim(*arguments, "-o", file, "--after", last).returncode == 0
    assert file.read_text() == loco_sim(*arguments).stdout
    assert sorted(os.listdir(tmp_path)) == ["link", "r2"]


def test_an_interruption_leaves_a_file_that_can_be_gone_on_with(loco_sim, program, tmp_path):
    file = tmp_path / "r2.yaml"
    arguments = ["generate", "--pivot", "R2", "--processes", "2", "--size", "11", "-o", str(file)]
    running = subprocess.Popen([program, *arguments], stderr=subprocess.PIPE, text=True)
    while not file.exists() or file.stat().st_size < 100_000:
        assert running.poll() is None
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=20)
    assert running.returncode == 130
    found = names(file.read_text())
    assert told.strip() == f"loco-sim: interrupted; go on with --after {found[-1]}"
    assert loco_sim(*arguments, "--after", found[-1], "--limit", "3").returncode == 0
    expected = loco_sim(*arguments[:-2], "--limit", len(found) + 3).stdout
    assert file.read_text() == expected
    small = tmp_path / "last.yaml"
    small.write_text(file.read_text().split("---\n")[-1])
    assert loco_sim("litmus", small, "--quiet").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pivot", "R9", "--size", "5"], "--pivot: expected a rule (R1, R2, ..., CAS-T, CAS-F), found \"R9\"; did you mean "
         "\"R1\"?"),
        (["--pivot", "IR", "--size", "5", "--rules", "corerma-verbs"],
         "--pivot: expected one of the rules R1,R2,F1,F2,F3,PG,GA,CAS,LO,WS,PP,GG, found \"IR\""),
        (["--pivot", "R1", "--size", "5", "--rules", "R1,Q"], "--rules: expected rules (R1, R2, ...), found \"Q\""),
        (["--pivot", "R1", "--size", "2"], '--size: expected an integer from 3 to 24, found "2"'),
        (["--pivot", "R1", "--size", "5", "--processes", "2", "--hosts", "1"],
         "--hosts: expected a number from 2 to 8, found 1"),
        (["--pivot", "R1", "--size", "5", "--statements", "reed"], "--statements: expected some of read, write, get, put, rga, "
         "cas, flush, found \"reed\"; did you mean \"read\"?"),
        (["--pivot", "R1", "--size", "5", "--after", "R1-1x4-wa.ra"], "--after: expected a test of size 3, found "
         "\"R1-1x4-wa.ra\""),
        (["--pivot", "R1", "--size", "5", "--after", "R1-1x4-q"], "--after: expected the name of a test, found \"R1-1x4-q\": "
         "expected a statement (r, w, g, p, a, c, f), found \"q\" in \"q\""),
    ],
)
def test_bad_input_is_one_line(loco_sim, tmp_path, arguments, message):
    file = tmp_path / "none.yaml"
    done = loco_sim("generate", *arguments, "-o", file)
    assert (done.returncode, done.stdout) == (2, "")
    told = re.sub(r"\(R1, R2, [A-Z0-9, ]*?((?:, CAS-T, CAS-F)?)\)", r"(R1, R2, ...\1)", done.stderr)
    assert told == f"loco-sim generate: {message}\n"
    assert not file.exists()


def test_a_bound_that_is_out_of_reach_says_so_at_once(loco_sim):
    done = loco_sim("generate", "--pivot", "R1", "--processes", 3, "--size", 20, "--count", timeout=10)
    assert done.returncode == 2 and done.stdout == ""
    assert re.fullmatch(r"loco-sim generate: --size: expected a bound within reach, or --limit or --anyway beside it, found 20: "
                        r"about \de\+\d\d programs to look at, .* years\n", done.stderr)
    some = loco_sim("generate", "--pivot", "R1", "--processes", 3, "--size", 20, "--limit", 3)
    assert some.returncode == 0 and len(names(some.stdout)) == 3
