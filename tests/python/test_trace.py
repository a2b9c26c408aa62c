"""Traces as NumPy arrays, as files, and as something to check."""

import gc
import pathlib
import pickle

import numpy as np
import pytest

import loco_sim as ls
from loco_sim import _core


@pytest.fixture
def trace(barrier):
    return ls.run(barrier).trace


def test_arrays_are_views_of_the_trace(trace):
    """By address: two arrays made from the trace lie in the same memory, which is the trace's own."""
    first = np.frombuffer(trace._core.subevent_bytes(), dtype=np.uint8)
    second = np.frombuffer(trace._core.subevent_bytes(), dtype=np.uint8)
    address = trace.subevents.__array_interface__["data"][0]
    assert first.__array_interface__["data"][0] == second.__array_interface__["data"][0] == address
    assert not trace.subevents.flags.owndata and not trace.subevents.flags.writeable
    calls = np.frombuffer(trace._core.call_bytes(), dtype=np.uint8)
    assert calls.__array_interface__["data"][0] == trace.calls.__array_interface__["data"][0]
    assert first.nbytes == trace.subevents.nbytes == len(trace) * ls.subevent_dtype().itemsize


def test_arrays_keep_the_trace_alive(barrier):
    subevents = ls.run(barrier).trace.subevents
    before = subevents.copy()
    gc.collect()
    ls.run(barrier)  # would reuse the memory, had it been given back
    assert (subevents == before).all()


def test_fields(trace):
    events, calls = trace.subevents, trace.calls
    assert events.shape == (len(trace),)
    assert events["call"].min() >= 1 and events["call"].max() <= len(calls)
    assert set(calls["thread"]) <= set(range(len(trace.threads)))
    assert (events["address"] % 8 == 0).all()
    assert (events["finish_ps"] >= events["start_ps"]).all()
    assert (calls["parent"] < np.arange(1, len(calls) + 1)).all(), "a call's parent began before it"
    assert trace.nodes == 3 and trace.seed == 1 and trace.scenario == "barrier"
    assert {t.node for t in trace.threads} == {0, 1, 2}
    assert trace.objects[0].name == "" and trace.node_sets[0] == []
    assert any(o.participants for o in trace.objects), "the barrier knows its participants"


def test_to_pandas(trace):
    pytest.importorskip("pandas")
    table = trace.to_pandas()
    assert len(table) == len(trace) and table.index[0] == 1
    assert set(table["stamp"]) <= {"aCR", "aCW", "aCAS", "aMF", "aWT", "aNLR", "aNRW", "aNRR", "aNAR", "aNLW", "aRF", "aGF"}
    assert "0:main" in set(table["thread"])
    calls = trace.to_pandas("calls")
    assert (calls["method"] == "barrier").sum() == 3 * (20 + 1)  # the measured rounds, and one to start together
    assert set(calls["library"]) >= {"rdmawait", "bal"}
    with pytest.raises(ValueError, match="calls"):
        trace.to_pandas("events")


def test_file_round_trip(trace, tmp_path):
    path = tmp_path / "t.trace"
    trace.write(path)
    again = ls.read_trace(path)
    assert again.encode() == trace.encode() == path.read_bytes()
    assert (again.subevents == trace.subevents).all() and (again.calls == trace.calls).all()
    assert again.threads == trace.threads and again.objects == trace.objects
    assert ls.check(path).ok and ls.check(str(path), "rdmawait").ok
    assert repr(again) == repr(trace)


def test_pickle(trace):
    assert pickle.loads(pickle.dumps(trace)).encode() == trace.encode()


def test_text_form_has_a_line_for_each_subevent(trace):
    assert len(trace.to_text().splitlines()) >= len(trace)


def test_check_names_what_it_checked(trace):
    verdict = trace.check("sv")
    assert [r.library for r in verdict.results] == ["rdmawait", "sv"]
    assert [r.library for r in trace.check().results][:3] == ["rdmawait", "sv", "bal"]
    assert verdict and "consistent" in str(verdict) and "consistent" in verdict._repr_html_()
    assert verdict.to_dict()["consistent"] is True
    assert verdict.dot.startswith("digraph")


def test_the_tower_is_checked_on_request():
    """A barrier that notifies without fencing (LOCO paper, Appendix D) does not keep the promise of its aGF."""
    scenario = pathlib.Path(__file__).parents[2] / "scenarios/faults/barrier_without_fence.yaml"
    broken = ls.run(scenario).trace
    rules = [{v.rule for v in ls.check(broken, tower=tower).violations} for tower in (False, True)]
    assert rules[1] - rules[0] == {"promise"}, rules


def test_models_may_be_a_list(trace):
    expected = trace.check("sv", "bal").to_dict()
    assert trace.check(["sv", "bal"]).to_dict() == ls.check(trace, ("sv", "bal")).to_dict() == expected
    for wrong in (3, [3], None):
        with pytest.raises(TypeError, match="models: expected names such as \"sv\", found"):
            trace.check(wrong)
    with pytest.raises(ValueError, match="max_violations: expected 0 or more, found -1"):
        ls.check(trace, max_violations=-1)
    with pytest.raises(ValueError, match="limit: expected 0 or more, found -1"):
        trace.to_dot(-1)


def test_a_changed_value_is_noticed(trace):
    """A read that returns what nobody wrote is no execution of any model."""
    events = trace.subevents.copy()
    reads = np.flatnonzero((events["stamp"] == 0) & (events["source"] != 0))
    events["value"][reads[0]] += 1
    bad = trace.replace(subevents=events)
    assert len(ls.check(bad, "rdmawait", max_violations=0).violations) < len(ls.check(bad, "rdmawait").violations)
    verdict = bad.check("rdmawait")
    assert not verdict.ok and not verdict
    assert verdict.violations[0].rule in ("rf source", "returned value")
    assert "#b42318" in verdict._repr_html_() and "#1a7f37" in trace.check("rdmawait")._repr_html_(), "red, and green"
    assert trace.check("rdmawait").ok, "the original is as it was"


def store_buffering(a, b):
    """Two threads: write one's own word, fence if asked, read the other's; a and b are what they read."""
    events = np.zeros(4, ls.subevent_dtype())
    calls = np.zeros(4, ls.call_dtype())
    # (thread, method, stamp, address, value): methods and stamps by number, from the order of the tables
    rows = [(0, 0, 1, 64, 1), (0, 1, 0, 128, a), (1, 0, 1, 128, 1), (1, 1, 0, 64, b)]
    for i, (thread, method, stamp, address, value) in enumerate(rows):
        calls[i] = (0, thread, 0, method, True, 0, 0, 0, value if method == 0 else 0, value if method == 1 else 0, 2 * i,
                    2 * i + 1, 0, 0)
        events[i]["call"], events[i]["stamp"], events[i]["address"], events[i]["value"] = i + 1, stamp, address, value
        events[i]["start"] = events[i]["finish"] = 2 * i
    events[1]["source"], events[3]["source"] = (3 if a else 0), (1 if b else 0)
    # stores begin in program order and reach memory last
    events[0]["finish"], events[2]["finish"] = 100, 101
    return ls.Trace.from_arrays(threads=[(0, "t"), (0, "u")], calls=calls, subevents=events)


def test_from_arrays_shows_store_buffering():
    """x86-TSO, and so rdmawait, lets both threads read 0 (models: cell B1 of the stamp order is not ordered)."""
    trace = store_buffering(0, 0)
    assert trace.check("rdmawait").ok
    assert trace.nodes == 1 and trace.threads[1] == (0, "u")


def test_from_arrays_refuses_kinds_that_do_not_exist():
    events = np.zeros(1, ls.subevent_dtype())
    count = len(_core.STAMPS)
    events["stamp"] = count
    with pytest.raises(ValueError, match=f"stamp: expected a number below {count}, found {count}"):
        ls.Trace.from_arrays(threads=[(0, "t")], calls=np.zeros(1, ls.call_dtype()), subevents=events)


@pytest.mark.parametrize("field, count", [("library", len(_core.LIBRARIES)), ("method", len(_core.METHODS)), ("returned", 2)])
def test_from_arrays_refuses_calls_that_do_not_exist(field, count):
    """Nor a byte that is no bool, as memory of others may have."""
    calls = np.zeros(1, ls.call_dtype())
    calls.view(np.uint8)[ls.call_dtype().fields[field][1]] = count
    with pytest.raises(ValueError, match=f"record 0: {field}: expected a number below {count}, found {count}"):
        ls.Trace.from_arrays(threads=[(0, "t")], calls=calls, subevents=np.zeros(0, ls.subevent_dtype()))


def test_malformed_trace_is_a_verdict_not_a_crash():
    events = np.zeros(1, ls.subevent_dtype())
    events["call"] = 99
    verdict = ls.Trace.from_arrays(threads=[(0, "t")], calls=np.zeros(1, ls.call_dtype()), subevents=events).check()
    assert not verdict.ok and verdict.violations[0].rule == "structure"


@pytest.mark.parametrize("field, wrong, text", [("call", 10**4, "call: expected 1 to"), ("call", 0, "call: expected 1 to"),
                                                ("node", 99, "node: expected a number below 3, found 99"),
                                                ("peer", 2**16 - 1, "peer: expected a number below 3")])
def test_subevents_that_lead_nowhere(trace, field, wrong, text):
    events = trace.subevents.copy()
    events[field][10] = wrong
    shows_nothing(trace.replace(subevents=events), f"subevent 11: {text}")


@pytest.mark.parametrize("field", ["thread", "object", "node_set", "parent"])
def test_calls_that_lead_nowhere(trace, field):
    calls = trace.calls.copy()
    calls[field][10] = 2**31 - 1
    shows_nothing(trace.replace(calls=calls), f"call 11: {field}: expected a number below")


def shows_nothing(trace, error):
    """What follows the indices refuses the trace; the checkers judge it."""
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    for show in (trace.to_perfetto, trace.to_dot, trace.to_pandas, lambda: trace.to_pandas("calls"),
                 lambda: ls.plot.sequence_chart(trace), lambda: ls.plot.link_utilisation(trace)):
        with pytest.raises(ValueError, match=error):
            show()
    assert trace.check().violations[0].rule == "structure"


def test_arrays_of_another_shape_are_refused(trace):
    with pytest.raises(TypeError, match=r"subevents: expected an array with the fields of loco_sim.subevent_dtype\(\), found int64"):
        trace.replace(subevents=[1, 2, 3])
    with pytest.raises(TypeError, match="calls: expected"):
        trace.replace(calls=trace.subevents)
    with pytest.raises(ValueError, match="subevents: expected an array of one dimension, found one of 2"):
        trace.replace(subevents=np.array([trace.subevents, trace.subevents]))
    swapped = np.zeros(len(trace), [(name, trace.subevents.dtype[name]) for name in reversed(trace.subevents.dtype.names)])
    for name in swapped.dtype.names:
        swapped[name] = trace.subevents[name]
    assert trace.replace(subevents=swapped).encode() == trace.replace().encode(), "fields go by name"


@pytest.mark.parametrize("wrong, error, text", [
    ({"threads": ["main"]}, TypeError, r"threads: expected \(node, name\), found 'main'"),
    ({"threads": [(0, 1)]}, TypeError, r"threads: expected \(node, name\), found \(0, 1\)"),
    ({"threads": [(-1, "main")]}, ValueError, "threads: node: expected 0 or more, found -1"),
    ({"nodes": -1}, ValueError, "nodes: expected 0 or more, found -1"),
    ({"seed": -1}, ValueError, "seed: expected 0 or more, found -1"),
])
def test_threads_and_numbers_that_are_none_are_refused(trace, wrong, error, text):
    with pytest.raises(error, match=text):
        ls.Trace.from_arrays(**{"threads": trace.threads, "calls": trace.calls, "subevents": trace.subevents, **wrong})


def test_a_copy_has_everything(trace):
    assert trace.seed != 0 and any(o.transitive for o in trace.objects)
    assert trace.replace().encode() == trace.encode()
    events = np.repeat(trace.subevents, 2)[::2]  # not one after the other in memory
    assert trace.replace(subevents=events).encode() == trace.encode()
    wide = np.zeros(len(trace), [*((name, trace.subevents.dtype[name]) for name in trace.subevents.dtype.names), ("more", int)])
    with pytest.raises(TypeError, match="subevents: expected an array with the fields of"):
        trace.replace(subevents=wide)


def test_names_that_come_twice_are_told_apart():
    pytest.importorskip("pandas")
    calls = np.zeros(3, ls.call_dtype())
    calls["thread"] = calls["object"] = [0, 1, 2]
    table = ls.Trace.from_arrays(threads=[(0, "t")] * 3, objects=[("",), ("x",), ("x",)], calls=calls,
                                 subevents=np.zeros(0, ls.subevent_dtype())).to_pandas("calls")
    assert table["thread"].tolist() == ["0:t", "0:t#2", "0:t#3"] and table["object"].tolist() == ["", "x", "x#2"]


def test_empty_trace():
    empty = ls.Trace.from_arrays(threads=[], calls=np.zeros(0, ls.call_dtype()),
                                 subevents=np.zeros(0, ls.subevent_dtype()))
    assert len(empty) == 0 and empty.subevents.shape == (0,) and empty.calls.shape == (0,)
    assert empty.check().ok and empty.nodes == 0
    pytest.importorskip("pandas")
    assert len(empty.to_pandas()) == 0 and len(empty.to_pandas("calls")) == 0


def test_subevents_come_to_numpy_without_a_copy(trace):
    copies = 1_000_000 // len(trace) + 1
    big = ls.Trace.from_arrays(threads=trace.threads, objects=trace.objects, node_sets=trace.node_sets,
                               calls=trace.calls, subevents=np.tile(trace.subevents, copies))
    array = big.subevents
    assert len(array) >= 1_000_000
    assert array.__array_interface__["data"][0] == np.frombuffer(
        big._core.subevent_bytes(), np.uint8).__array_interface__["data"][0]


def test_a_verdict_that_could_not_be_reached_is_undecided():
    from loco_sim.verdict import verdict_from

    budget = ("kvstore", False, 600, 0, (("budget", "too many calls overlap", ()),), True)
    good = ("rdmawait", True, 0, 0, (), False)
    bad = ("lock", False, 2, 0, (("mutual exclusion", "both hold it", ()),), False)
    left_open = verdict_from(((good, budget), 0, "undecided: kvstore\n", ""))
    assert left_open.undecided and not left_open.ok
    libraries = left_open.to_dict()["libraries"]
    assert [library.get("undecided") for library in libraries] == [None, True]
    assert not verdict_from(((budget, bad), 0, "", "")).undecided
    assert not verdict_from(((good,), 0, "", "")).undecided


def test_a_verdict_says_which_libraries_had_no_calls(trace):
    verdict = ls.check(trace, ["lock", "bal"])
    assert verdict.without_calls == ("lock",) and verdict.to_dict()["without_calls"] == ["lock"]
    assert verdict.text.splitlines()[-1] == "no lock calls in this trace"
    verdict = ls.check(trace, "bal")
    assert verdict.without_calls == () and "without_calls" not in verdict.to_dict()
