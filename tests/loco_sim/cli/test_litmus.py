"""loco-sim litmus: the papers' corpus, its formats, bad input."""

import json


def test_the_papers_tests_hold(loco_sim, root):
    done = loco_sim("litmus", *sorted((root / "tests/litmus").glob("*.yaml")), "--json")
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert len(results) > 50
    assert {r["verdict"] for r in results} == {"ok"}
    assert {"name", "model", "engine", "outcomes", "executions", "verdict", "missing", "unexpected"} <= set(
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
    assert "Incomplete" in done.stdout.splitlines() and "Ok" not in done.stdout.splitlines()
    assert ("Note: too large: ways through the code were left out, so the verdict is not known: 7680 accesses, fences and waits "
            "in one execution, of 128 at most") in done.stdout
    [result] = json.loads(loco_sim("litmus", test, "--json").stdout)
    assert result["verdict"] == "incomplete" and result["complete"] is False
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


def loops(k):
    """k threads that loop over one word with compare-and-swap: their ways through the code grow as 62^k."""
    threads = [f"  - {{node: 0, code: 'while (x == 0) {{ x = {i}; a{i} = cas(x, 0, 1) }}'}}" for i in range(k)]
    return "name: loop\nmodel: rdmawait\nlocations: {x: {node: 0}}\nthreads:\n" + "\n".join(threads) + "\n"


def test_a_limit_of_time_holds_for_every_engine(loco_sim, tmp_path):
    test = tmp_path / "loop.yaml"
    test.write_text(loops(8))
    for engine in ("declarative", "explore"):
        done = loco_sim("litmus", test, "--engine", engine, "--max-seconds", "0.2", "--json")
        assert done.returncode == 1, done.stdout + done.stderr
        [result] = json.loads(done.stdout)
        assert result["verdict"] == "incomplete" and result["complete"] is False
        assert any(note.startswith("stopped early by the limit of 0.2 s, after ") for note in result["notes"])
    done = loco_sim("litmus", test, "--engine", "all", "--max-seconds", "0.2", "--runs", "10", "--quiet")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == ("1 tests, 0 ok, 0 failed, 1 incomplete; declarative: 0 ok, 0 failed, 1 incomplete; "
                                            "explore: 0 ok, 0 failed, 1 incomplete; sample: 1 ok, 0 failed")


def test_quiet_counts_tests_and_then_their_engines(loco_sim, tmp_path):
    test = tmp_path / "t.yaml"
    test.write_text(TEST)
    done = loco_sim("litmus", test, "--engine", "all", "--quiet")
    assert done.returncode == 0
    assert done.stdout == ("1 tests, 1 ok, 0 failed; declarative: 1 ok, 0 failed; explore: 1 ok, 0 failed; "
                           "sample: 1 ok, 0 failed\n")


def test_a_folder_is_its_tests_by_name(loco_sim, tmp_path):
    (tmp_path / "b.yaml").write_text(TEST)
    (tmp_path / "a.yaml").write_text(TEST.replace("coherence", "first"))
    (tmp_path / "notes.txt").write_text("no test")
    done = loco_sim("litmus", tmp_path)
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines() if line.startswith("Test ")] == [
        "Test first Allowed", "Test coherence Allowed"]


def test_one_test_is_explained_with_one_graph_a_file(loco_sim, root, tmp_path):
    drawing = tmp_path / "why.dot"
    done = loco_sim("litmus", root / "tests/litmus/loco-paper.yaml", "--test", "fig2a-poll-one")
    assert done.returncode == 0 and done.stdout.count("Test ") == 1
    test = tmp_path / "t.yaml"
    test.write_text(TEST + "---\n" + TEST.replace("coherence", "other").replace("a = x; b = x", "c = x"
                                                                              ).replace("a: 0, b: 1", "c: 0"
                                                                                        ).replace("a: 1, b: 0", "c: 7"))
    done = loco_sim("litmus", test, "--explain", "a=1 b=0", "--dot", drawing)
    assert done.returncode == 0, done.stderr
    assert "coherence: a=1 b=0 is forbidden" in done.stdout
    assert done.stderr.startswith("left out 1 test without such an outcome, the first: ")
    assert drawing.read_text().count("digraph") == 1
    unknown = loco_sim("litmus", test, "--test", "coherense")
    assert unknown.returncode == 2
    assert unknown.stderr == ('loco-sim litmus: --test: expected the name of a test, found "coherense"; did you mean '
                              '"coherence"?\n')


def test_a_cell_of_the_stamp_order_is_turned_round(loco_sim, tmp_path):
    test = tmp_path / "t.yaml"
    test.write_text(TEST)
    # A1 keeps two reads in order: without it, the first may see the write and the second not
    done = loco_sim("litmus", test, "--flip", "A1")
    assert done.returncode == 1
    assert "Unexpected: a=1 b=0" in done.stdout
    for wrong in ("A17", "Q1", "8E"):
        refused = loco_sim("litmus", test, "--flip", wrong)
        assert refused.returncode == 2
        assert refused.stderr == ("loco-sim litmus: --flip: expected a cell of the stamp order, A1 to P16, found "
                                  f'"{wrong}"\n')
    refused = loco_sim("litmus", test, "--flip", "A1", "--engine", "explore")
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
    assert loco_sim("litmus", test, "--variant", "transitive-barriers").returncode == 0


def test_the_page_shows_what_is_printed(loco_sim, root):
    page = (root / "docs/litmus-format.md").read_text()
    shown = page[page.index("    Test fig8b-message-passing"):].split("\n\n")[0]
    done = loco_sim("litmus", "tests/litmus/loco-paper.yaml", "--test", "fig8b-message-passing")
    assert done.stdout.strip().splitlines() == [line[4:] for line in shown.splitlines()]
