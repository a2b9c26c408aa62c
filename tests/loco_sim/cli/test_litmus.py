"""loco-sim litmus: the papers' corpus, its formats, bad input."""

import json


def test_the_papers_tests_hold(loco_sim, root):
    done = loco_sim("litmus", *sorted((root / "tests/litmus").glob("*.yaml")), "--json")
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert len(results) > 50
    assert {r["verdict"] for r in results} == {"ok"}
    assert {"name", "model", "engine", "outcomes", "executions", "verdict", "missing", "unexpected", "seconds"} <= set(
        results[0]
    )


TEST = """\
name: coherence
model: rdmawait
locations: {x: {node: 1}}
threads:
  - {node: 1, code: "x = 1"}
  - {node: 1, code: "a = x; b = x"}
outcomes:
  allowed: [{a: 0, b: 1}]
  forbidden: [{a: 1, b: 0}]
"""


def test_a_wrong_expectation_fails(loco_sim, tmp_path):
    test = tmp_path / "t.yaml"
    test.write_text(TEST)
    done = loco_sim("litmus", test)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Ok" in done.stdout.splitlines()
    # reads of one location by one thread keep their order (Fig. 10, A1): 1 then 0 is impossible
    test.write_text(TEST.replace("allowed: [{a: 0, b: 1}]", "allowed: [{a: 1, b: 0}]").replace("forbidden: [{a: 1, b: 0}]", "forbidden: []"))
    wrong = loco_sim("litmus", test)
    assert wrong.returncode == 1
    assert "No" in wrong.stdout.splitlines()
    quiet = loco_sim("litmus", test, "--quiet")
    assert quiet.returncode == 1
    assert quiet.stdout.splitlines()[-1] == "1 tests, 0 ok, 1 failed"


def test_hardware_shows_no_more_than_the_model(loco_sim, tmp_path):
    test = tmp_path / "t.yaml"
    test.write_text(TEST)
    allowed = json.loads(loco_sim("litmus", test, "--json").stdout)[0]["outcomes"]
    for engine in ("explore", "sample"):
        done = loco_sim("litmus", test, "--json", "--engine", engine)
        assert done.returncode == 0, done.stderr
        seen = json.loads(done.stdout)[0]["outcomes"]
        assert seen
        assert all(outcome in allowed for outcome in seen)


def test_a_test_that_is_too_large_is_not_ok(loco_sim, tmp_path):
    test = tmp_path / "large.yaml"
    threads = [f"  - {{node: 1, code: '{'; '.join(f'a{t}_{i} = x; x = {i}' for i in range(60))}'}}" for t in range(64)]
    test.write_text("name: large\nmodel: rdmawait\nlocations: {x: {node: 1}}\nthreads:\n" + "\n".join(threads)
                    + "\noutcomes: {forbidden: [{a0_0: 7}]}\n")
    done = loco_sim("litmus", test)
    assert done.returncode == 1
    assert "No" in done.stdout.splitlines() and "Ok" not in done.stdout.splitlines()
    assert "Note: too large: ways through the code were left out, so the verdict is not known\n" in done.stdout
    [result] = json.loads(loco_sim("litmus", test, "--json").stdout)
    assert result["verdict"] == "fail" and result["complete"] is False
    assert "too large" in loco_sim("litmus", test, "--quiet").stdout


def test_a_test_with_too_many_nodes_for_the_hardware_has_its_place(loco_sim, tmp_path):
    test = tmp_path / "wide.yaml"
    places = ", ".join(f"x{n}: {{node: {n}}}" for n in range(33))
    test.write_text(f"# 33 nodes\nname: wide\nlocations: {{{places}}}\nthreads: [{{node: 0, code: 'x0 = 1'}}]\n")
    assert loco_sim("litmus", test).returncode == 0
    for engine in ("explore", "sample", "all"):
        done = loco_sim("litmus", test, "--engine", engine)
        assert done.returncode == 2 and done.stdout == ""
        assert done.stderr == f"{test}:2:1: expected at most 32 nodes of a test that runs on hardware, found 33\n"


def test_bad_documents_and_arguments(loco_sim, tmp_path):
    test = tmp_path / "t.yaml"
    test.write_text(TEST.replace("a = x;", "a = ;"))
    done = loco_sim("litmus", test)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{test}:6:")
    test.write_text(TEST)
    assert loco_sim("litmus", test, "--engine", "guess").returncode == 2
    assert loco_sim("litmus", test, "--engine", "sample", "--hardware", "none").returncode == 2
    assert loco_sim("litmus", "no-such-file.yaml").returncode == 2


def test_a_drawing_is_written_whole_or_not_at_all(loco_sim, tmp_path):
    test, drawing = tmp_path / "t.yaml", tmp_path / "t.dot"
    draw = ["litmus", test, "--explain", "a=1 b=0", "--dot"]
    drawing.write_text("before")
    test.write_text("no test\n")
    assert loco_sim(*draw, drawing).returncode == 2
    assert drawing.read_text() == "before"  # bad input writes nothing and takes nothing away
    test.write_text(TEST)
    told = loco_sim(*draw, drawing)
    assert told.returncode == 0, told.stderr
    whole = drawing.read_text()
    assert whole.startswith("digraph")
    # Devices are written to and stay what they are.
    out, full = tmp_path / "out", tmp_path / "full"
    out.symlink_to("/dev/stdout")
    full.symlink_to("/dev/full")
    assert loco_sim(*draw, out).stdout == told.stdout + whole
    lost = loco_sim(*draw, full)
    assert lost.returncode == 1
    assert lost.stdout == told.stdout and lost.stderr == f"loco-sim: {full}: No space left on device\n"
    assert out.is_symlink() and full.is_symlink()
    assert loco_sim(*draw, "-").stdout == whole
