"""Litmus tests from Python."""

import html
import pathlib
import pickle

import pytest

import loco_sim as ls

PAPER = pathlib.Path(__file__).parents[1] / "litmus" / "loco-paper.yaml"

# LOCO paper, Fig. 4 (top): both threads may read 0, since a put's remote write may be late
STORE_BUFFERING = """
name: store-buffering
model: rdmawait
locations: {x: {node: 2}, y: {node: 1}}
threads:
  - {node: 1, code: "put(x, 1) as d; wait(d); a = y"}
  - {node: 2, code: "put(y, 1) as e; wait(e); b = x"}
outcomes: {allowed: [{a: 0, b: 0}]}
"""


def test_the_papers_figures_are_as_they_should_be():
    results = ls.litmus(PAPER)
    assert len(results) >= 20 and results.ok
    assert results["fig2a-poll-one"].outcomes == ({"z": 0},)
    with pytest.raises(KeyError):
        results["nosuch"]
    assert "Observation fig2a-poll-one Always" in str(results)
    assert "fig2a-poll-one" in results._repr_html_()


def test_text_pattern_and_list_of_files():
    assert ls.litmus(STORE_BUFFERING)[0].name == "store-buffering"
    pattern = str(PAPER.parent / "loco-*.yaml")
    assert [r.name for r in ls.litmus(pattern)] == [r.name for r in ls.litmus([PAPER])]


def test_files_of_a_pattern_come_by_name(tmp_path):
    for name in ("b", "c", "a"):
        (tmp_path / f"{name}.yaml").write_text(STORE_BUFFERING.replace("store-buffering", name))
    assert [r.name for r in ls.litmus(str(tmp_path / "*.yaml"))] == ["a", "b", "c"]


def test_engines_agree_on_store_buffering():
    everything = {(a, b) for a in (0, 1) for b in (0, 1)}
    for engine in ("declarative", "explore", "sample"):
        result = ls.litmus(STORE_BUFFERING, engine=engine, runs=2000)[0]
        assert result.ok and result.engine == engine
        assert {(o["a"], o["b"]) for o in result.outcomes} == everything


def test_another_model_in_place_of_the_tests_own():
    """The papers' outcomes (tests/litmus/corerma-paper.yaml): r = 1 needs the get before the put that the program has first."""
    papers = PAPER.parent / "corerma-paper.yaml"
    own, strict = (ls.litmus(papers, model=model)["extrapolation-fig2"] for model in (None, "corerma"))
    assert (own.model, strict.model) == ("corerma-unordered", "corerma")
    assert {"r": 1} in own.outcomes and {"r": 1} not in strict.outcomes
    assert own.witness({"r": 1}) is not None and strict.witness({"r": 1}) is None
    assert strict.explain({"r": 1}) and not own.explain({"r": 1})


def test_loops_are_cut_where_one_says():
    polling = """
name: polling
model: rdmawait
locations: {x: {node: 1}}
threads:
  - {node: 1, code: "a = x; while (a == 0) { a = x }"}
  - {node: 1, code: "x = 1"}
outcomes: {allowed: [{a: 1}]}
"""
    # after n repetitions the loop has ended in any of n + 1 passes through its head
    assert [ls.litmus(polling, loop_bound=n)[0].executions for n in (0, 2)] == [1, 3]


def test_sampling_follows_its_seed():
    a, b = (ls.litmus(STORE_BUFFERING, engine="sample", runs=50, seed=3)[0] for _ in range(2))
    assert a.text == b.text and a.executions == 50
    assert len({ls.litmus(STORE_BUFFERING, engine="sample", runs=50, seed=seed)[0].text for seed in range(5)}) > 1


@pytest.mark.parametrize("limits", [{"engine": "explore", "max_executions": 1},
                                    {"engine": "sample", "runs": 10**9, "max_seconds": 1e-3}])
def test_limits_that_were_reached_are_told(limits):
    [result] = ls.litmus(STORE_BUFFERING, **limits)
    assert not result.complete and result.notes
    [result] = ls.litmus(STORE_BUFFERING, loop_bound=0)
    assert result.complete and not result.notes, "without a loop there is nothing to bound"


def test_verdict_of_a_wrong_expectation():
    result = ls.litmus(STORE_BUFFERING.replace("{allowed: [{a: 0, b: 0}]}", "{forbidden: [{a: 0, b: 0}]}"))[0]
    assert not result.ok and not result and result.unexpected
    both = ls.LitmusResults([result, *ls.litmus(STORE_BUFFERING)])
    assert not both.ok and html.escape(result.unexpected[0]) in both._repr_html_()


def test_witness_and_explanation():
    result = ls.litmus(STORE_BUFFERING)[0]
    witness = result.witness({"a": 0, "b": 0})
    assert len(witness.thread_nodes) == 2 and witness.nodes and witness.edges
    assert witness.dot.startswith("digraph") and "store-buffering" in str(witness)
    assert result.witness("a: 0, b: 7") is None
    # Fig. 3(d) forbids z = 1: the wait keeps the later store behind the put's read of its source
    wait_one = ls.litmus(PAPER)["fig3d-wait-one"]
    assert wait_one.witness({"z": 1}) is None
    cycles = wait_one.explain({"z": 1})
    assert cycles and any(bold for *_, bold in cycles[0].edges)


def test_results_pickle(tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text(STORE_BUFFERING + "---" + STORE_BUFFERING.replace("store-buffering", "again"))
    results = ls.LitmusResults([*ls.litmus(path), *ls.litmus(STORE_BUFFERING)])
    path.unlink()  # a copy does not depend on it
    copies = pickle.loads(pickle.dumps(results))
    assert copies.ok and [r.name for r in copies] == ["store-buffering", "again", "store-buffering"]
    for result, copied in zip(results, copies):
        assert copied == result and copied.witness({"a": 0, "b": 0}).text == result.witness({"a": 0, "b": 0}).text


@pytest.mark.parametrize("number", ["runs", "seed", "max_executions", "loop_bound"])
def test_numbers_that_mean_nothing_are_refused(number):
    with pytest.raises(ValueError, match=f"{number}: expected"):
        ls.litmus(STORE_BUFFERING, engine="sample", **{number: 0 if number == "runs" else -1})


@pytest.mark.parametrize("options, error, message", [
    ({"max_seconds": -1}, ValueError, "max_seconds: expected a number of seconds from 0 on, found -1"),
    ({"max_seconds": float("nan")}, ValueError, "max_seconds: expected a number of seconds from 0 on, found nan"),
    ({"max_seconds": "1"}, TypeError, "max_seconds: expected a number of seconds from 0 on, found '1'"),
    ({"runs": 2**64}, ValueError, "runs: expected an integer from 1 to 1099511627776, found 18446744073709551616"),
    ({"loop_bound": 2**31}, ValueError, "loop_bound: expected an integer from 0 to 2147483647, found 2147483648"),
    ({"engine": 5}, TypeError, "engine: expected one of declarative, explore, sample, found 5"),
    ({"engine": "all"}, ValueError, "engine: expected one of declarative, explore, sample, found 'all'"),
    ({"flip": "x"}, ValueError, "flip: expected a cell of the stamp order, A1 to P16, found "),
    ({"variants": ["x"]}, ValueError, "variants: expected transitive-barriers, "),
    ({"model": 5}, TypeError, "model: expected text, found 5"),
    ({"hardware": {"base": "model-weak"}}, TypeError, "hardware: expected text, found {'base'"),
])
def test_arguments_that_are_none_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        ls.litmus(STORE_BUFFERING, **options)


def test_outcomes_and_tests_that_are_none_are_refused():
    [result] = ls.litmus(STORE_BUFFERING)
    for ask in (result.witness, result.explain):
        for outcome in (None, 5, [1]):
            with pytest.raises(TypeError, match="outcome: expected values by name, .* found"):
                ask(outcome)
    for tests in (None, 5):
        with pytest.raises(TypeError, match=f"tests: expected a file, .* found {tests}"):
            ls.litmus(tests)


def test_values_of_numpy_are_numbers():
    numpy = pytest.importorskip("numpy")
    [result] = ls.litmus(STORE_BUFFERING)
    assert result.witness({"a": numpy.int64(0), "b": numpy.uint8(0)}) == result.witness({"a": 0, "b": 0}) is not None


def test_tests_that_are_none_of_the_model_are_left_out():
    corpus = pathlib.Path(__file__).parents[2] / "tests" / "litmus" / "*.yaml"
    results = ls.litmus(str(corpus), model="rdmawait", engine="explore")
    assert results.ok and len(results) > 200 and {r.model for r in results} == {"rdmawait"}
    assert len(results) + len(results.left_out) == len(ls.litmus(str(corpus)))
    assert any('expected a statement of model rdmawait, found "gf({2})"' in why for why in results.left_out)
    copies = pickle.loads(pickle.dumps(results))
    assert copies == results and copies.left_out == results.left_out
    assert [c._program.core.name for c in copies] == [r.name for r in results], "found again among those that are left"
    assert copies[-1].witness(results[-1].outcomes[0]) is not None
    with pytest.raises(ls.InputError, match=r":1: expected a document of the same family as model corerma"):
        ls.litmus(STORE_BUFFERING, model="corerma")
    assert ls.litmus(STORE_BUFFERING).left_out == ()


def test_mistakes(tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text("name: t\nmodel: rdmawait\nlocations: {x: {node: 1}}\nthreads:\n  - {node: 1, code: \"a = = x\"}\n")
    with pytest.raises(ls.InputError) as caught:
        ls.litmus(path)
    assert caught.value.file == str(path) and caught.value.line == 5
    assert caught.value.column > 1 and str(caught.value).startswith(f"{path}:5:{caught.value.column}:")
    with pytest.raises(ls.InputError, match="nothing"):
        ls.litmus(str(tmp_path / "*.yml"))
    with pytest.raises(ls.InputError):
        ls.litmus(tmp_path / "nothing.yaml")
    with pytest.raises(ValueError, match="engine"):
        ls.litmus(STORE_BUFFERING, engine="nosuch")
    with pytest.raises(ValueError):
        ls.litmus(STORE_BUFFERING, model="nosuch")
    with pytest.raises(ls.InputError, match="nosuch"):
        ls.litmus(STORE_BUFFERING, engine="explore", hardware="nosuch")


COHERENCE = """\
name: coherence
model: rdmawait
locations: {x: {node: 1}}
threads:
  - {node: 1, code: "x = 1"}
  - {node: 1, code: "a = x; b = x"}
outcomes: {forbidden: [{a: 1, b: 0}]}
"""


def test_a_cell_of_the_stamp_order_is_turned_round():
    # A1 keeps two reads in order: without it, the first may see the write and the second not.
    assert ls.litmus(COHERENCE).ok
    [flipped] = ls.litmus(COHERENCE, flip="A1")
    assert flipped.verdict == "fail" and flipped.unexpected == ("a=1 b=0",)
    assert ls.litmus(COHERENCE, variants=["transitive-barriers", "weak-ring-buffers"]).ok
    with pytest.raises(ValueError, match='A1 to P16, found "Z3"'):
        ls.litmus(COHERENCE, flip="Z3")
    with pytest.raises(ValueError, match="expected engine="):
        ls.litmus(COHERENCE, flip="A1", engine="explore")


def test_a_limit_makes_a_test_incomplete():
    loops = "".join(f"  - {{node: 0, code: 'while (x == 0) {{ x = {i}; a{i} = cas(x, 0, 1) }}'}}\n" for i in range(6))
    [result] = ls.litmus("name: loop\nmodel: rdmawait\nlocations: {x: {node: 0}}\nthreads:\n" + loops, max_seconds=0.05)
    assert result.verdict == "incomplete" and not result.ok and not result.complete


def test_a_folder_is_its_documents(tmp_path):
    (tmp_path / "b.yaml").write_text(COHERENCE)
    (tmp_path / "a.yml").write_text(COHERENCE.replace("coherence", "first"))
    (tmp_path / "notes.txt").write_text("no test")
    assert [r.name for r in ls.litmus(tmp_path)] == ["first", "coherence"]


def test_a_test_is_told_in_words(tmp_path):
    results = ls.litmus(PAPER)
    told = results["fig3d-wait-one"].describe()
    assert told.startswith("fig3d-wait-one: Thread 0 on node 1 does ") and "Under rdmawait, z=1 is never seen" in told
    assert html.escape(told) in results["fig3d-wait-one"]._repr_html_()
    few = ls.litmus(STORE_BUFFERING)
    assert "Under rdmawait, a=0 b=0 may be seen" in few[0].describe()
    assert html.escape(few[0].describe()) in few._repr_html_()
    page = ls.report(results, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == page and all(html.escape(r.describe()) in page for r in results)
