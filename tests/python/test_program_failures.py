"""What goes wrong in programs: mistakes, deadlocks, limits, hosts that stop, Ctrl-C."""

import os
import signal
import threading

import pytest

import loco_sim as ls


def run(program, **kwargs):
    options = {k: kwargs.pop(k) for k in ("arrays", "barriers", "variables") if k in kwargs}
    return ls.Program(program, **options).run(**{"hardware": "model-weak", **kwargs})


@pytest.mark.parametrize("arguments, expected", [(("work", 5, 4), "a later end"), (("work", -1, 4), "a later end"),
                                                 (("work", 0.5, 4), "picoseconds"), ((3, 0, 1), "a name, found 3")])
def test_samples_that_are_none(arguments, expected):
    def node(ctx):
        yield ctx.now()
        ctx.sample(*arguments)

    with pytest.raises((TypeError, ValueError), match=expected):
        run({0: node})


def test_exception_of_a_generator_comes_out():
    class Mine(Exception):
        pass

    closed = []

    def good(ctx):
        try:
            while True:
                yield ctx.wait_until("never", "==", 1)
        finally:
            closed.append(True)

    def bad(ctx):
        yield ctx.compute(5)
        raise Mine("here")

    with pytest.raises(Mine, match="here") as caught:
        run({0: good, 1: bad})
    assert caught.traceback[-1].name == "bad" and closed == [True]


def test_an_operation_in_finally_does_not_hide_why_the_run_failed():
    closed = []

    def holder(ctx):
        try:
            yield ctx.wait_until("never", "==", 1)
        finally:
            closed.append(ctx.node)
            yield ctx.store("lock", 0)

    with pytest.raises(ls.RunError, match="deadlock"):
        run({0: holder, 1: holder})
    assert closed == [0, 1]


@pytest.mark.parametrize("yielded", [5, "load", (99,), (), (2, "x"), (3, 0, 0, 0, 0, 0, 0), None])
def test_yield_of_something_else(yielded):
    def node(ctx):
        yield yielded

    with pytest.raises(TypeError):
        run({0: node})


def test_mistakes_are_raised_where_they_are_made():
    def node(ctx):
        with pytest.raises(ValueError, match="comparison"):
            ctx.wait_until("x", "=", 1)
        with pytest.raises(IndexError):
            ctx.load("x", 1)
        with pytest.raises(ValueError, match="barrier"):
            ctx.barrier("nosuch")
        with pytest.raises(ValueError, match="time"):
            ctx.compute("5KiB")
        with pytest.raises(ValueError, match="time"):
            ctx.compute(2**63)
        for name in (5, [], None):
            with pytest.raises(TypeError, match="expected the name of a variable, found"):
                ctx.load(name)
        for index in (1.0, "1", None):
            with pytest.raises(TypeError, match=f"index: expected an integer, found {index!r}"):
                ctx.store("x", 1, index=index)
        for duration in (1e3, None):
            with pytest.raises(TypeError, match=f"time: expected an integer, found {duration}"):
                ctx.compute(duration)
        for wrong in (None, [], "="):
            with pytest.raises(ValueError, match="comparison: expected one of"):
                ctx.wait_until("x", wrong, 1)
            with pytest.raises(ValueError, match="barrier: expected one"):
                ctx.barrier(wrong)
        with pytest.raises(ValueError, match="handle: expected 0 or more, found -1"):
            ctx.wait(-1)
        for value in (1 << 64, -(1 << 63) - 1):
            for wrong in (lambda v: ctx.store("x", v), lambda v: ctx.put("x", 1, value=v), lambda v: ctx.cas("x", 0, v),
                          lambda v: ctx.wait_until("x", "==", v), lambda v: ctx.fetch_add("x", 1, v),
                          lambda v: ctx.compare_swap("x", 1, v, 0), lambda v: ctx.put("x", v, value=1)):
                with pytest.raises(ValueError, match=f"expected an integer from -2\\^63 to 2\\^64 - 1, found {value}"):
                    wrong(value)
        with pytest.raises(TypeError, match="value: expected an integer, found 1.5"):
            ctx.store("x", 1.5)
        with pytest.raises(ValueError, match="put: expected a value or a source, found both"):
            ctx.put("x", 1, value=1, source="y")
        with pytest.raises(ValueError, match="index"):
            ctx.put("x", 1, source="y", index=1)
        with pytest.raises(ValueError, match="index"):
            ctx.get("x", 1, into="y", index=1)
        with pytest.raises(ls.RunError, match="found -1"):
            yield ctx.put("x", node=-1, value=1)
        for nowhere in (2, 7):
            with pytest.raises(ls.RunError, match="0 to 1"):
                yield ctx.put("x", node=nowhere, value=1)
        with pytest.raises(ls.RunError, match="last 64"):
            yield ctx.wait(1000)
        return (yield ctx.load("x"))

    assert run({0: node}).returned[0] == 0


def test_too_many_variables():
    def node(ctx):
        for i in range(3):
            yield ctx.load(f"v{i}")

    with pytest.raises(ValueError, match="more than 2 variables"):
        run({0: node}, variables=2)


def test_deadlock_is_a_run_error():
    def node(ctx):
        yield ctx.wait_until("x", "==", 1)

    with pytest.raises(ls.RunError, match="deadlock") as caught:
        run({0: node})
    assert caught.value.trace is not None and len(caught.value.trace.calls) > 0
    assert caught.value.trace.check("rdmawait").ok


def test_a_deadlock_names_the_variable():
    def node(ctx):
        yield ctx.load("x")
        yield ctx.wait_until("a", "==", 1, index=3)

    with pytest.raises(ls.RunError, match=r"waits for a change of a\[3\] \(= 0\)"):
        run({0: node}, arrays={"a": 64})


def test_a_failed_operation_that_nobody_catches_leaves_a_trace():
    def node(ctx):
        yield ctx.put("x", 1, value=1, wait=True)
        yield ctx.put("x", 7, value=1)

    with pytest.raises(ls.RunError, match="0 to 1") as caught:
        run({0: node})
    assert caught.traceback[-1].name == "node" and len(caught.value.trace.calls) > 0
    with pytest.raises(ls.RunError, match="0 to 1") as caught:
        run({0: node}, check=[], overrides={"trace.level": "none"})
    assert caught.value.trace is None


def test_an_error_that_has_a_trace_keeps_it():
    inner = []

    def node(ctx):
        yield ctx.now()
        try:
            ls.Program({0: lambda ctx: (yield ctx.put("x", 7, value=1))}).run()
        except ls.RunError as error:
            inner.append(error.trace)
            raise

    with pytest.raises(ls.RunError) as caught:
        run({0: node})
    assert caught.value.trace is inner[0] is not None


def test_too_many_events_leave_a_trace():
    def node(ctx):
        while True:
            yield ctx.fetch_add("x", 1, 1)

    with pytest.raises(ls.RunError, match="2000 events") as caught:
        run({0: node}, overrides={"limits.events": 2000})
    assert len(caught.value.trace) > 0
    with pytest.raises(ls.RunError, match="2000 events") as caught:
        run({0: node}, check=[], overrides={"limits.events": 2000, "trace.level": "none"})
    assert caught.value.trace is None


def test_wrong_programs():
    with pytest.raises(ValueError, match="variables: expected 0 or more, found -1"):
        ls.Program({0: lambda ctx: None}, variables=-1)
    with pytest.raises(ValueError, match="at least one"):
        ls.Program({})
    with pytest.raises(ValueError, match="number of a node"):
        ls.Program({-1: lambda ctx: None})
    with pytest.raises(TypeError, match="generator function"):
        run({0: lambda ctx: 5})
    for threads in (5, None, "abc", [5], (lambda ctx: (yield ctx.now()))(None)):
        with pytest.raises(TypeError, match="nodes: 3: expected a generator function, or a list of them, found"):
            ls.Program({3: threads})
    for nodes in (None, [lambda ctx: None], 5):
        with pytest.raises(TypeError, match="nodes: expected a mapping from numbers of nodes to generator functions"):
            ls.Program(nodes)
    with pytest.raises(ValueError, match="nodes: expected a number of a node, found 'a'"):
        ls.Program({0: lambda ctx: None, "a": lambda ctx: None})
    for arrays in (["a"], 5):
        with pytest.raises(TypeError, match="arrays: expected a mapping from names to sizes"):
            ls.Program({0: lambda ctx: None}, arrays=arrays)
    for barriers in (5, None, ["a", 5]):
        with pytest.raises(TypeError, match="barriers: expected names, found (5|None)"):
            ls.Program({0: lambda ctx: None}, barriers=barriers)
    with pytest.raises(TypeError, match="arrays: expected the name of a variable, found 5"):
        run({0: lambda ctx: (yield ctx.now())}, arrays={5: 8})
    for size in ({"arrays": {"a": 2**64}}, {"variables": 2**60}):
        with pytest.raises(ValueError, match=r"expected less than 2\^63 bytes of memory, found"):
            run({0: lambda ctx: (yield ctx.now())}, **size)
    for check in (None, 5):
        with pytest.raises(ls.InputError, match="check: expected a list of rdmawait"):
            run({0: lambda ctx: (yield ctx.now())}, check=check)
    with pytest.raises(ValueError, match="expected more than 5"):
        run({5: lambda ctx: (yield ctx.now())}, nodes=2)
    with pytest.raises(ValueError, match="multiple of 8"):
        run({0: lambda ctx: (yield ctx.now())}, arrays={"a": 12})
    with pytest.raises(ls.InputError, match="nosuch"):
        run({0: lambda ctx: (yield ctx.now())}, hardware="nosuch")


def test_ctrl_c():
    def node(ctx):
        while True:
            yield ctx.load("x")

    thread = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run({0: node}, check=[], overrides={"trace.level": "none"})
    thread.join()


def test_ctrl_c_stops_the_check_of_a_program():
    """A trace that takes far longer to check than the wait, which begins when the simulation ends."""
    def node(ctx):
        for _ in range(500):
            yield ctx.put("a", 1, source="a")
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt):
        run({0: node}, arrays={"a": 8192})


def test_computing_beyond_the_end_of_simulated_time():
    def node(ctx):
        yield ctx.compute(2**62 - 10**12)
        with pytest.raises(ls.RunError, match=f"within {2**62} ps of simulated time, found {10**12} ps"):
            yield ctx.compute(10**12)
        before = yield ctx.now()
        yield ctx.put("z", node=1, value=1, wait=True)
        return (yield ctx.now()) - before

    r = ls.Program({0: node}).run("cx5-roce-25g")
    assert 0 < r.returned[0] < 10**9  # a put is as long as at any other time


# A peer is told dead after the first attempt and one repetition, 20 us each.
IMPATIENT = {"hardware": {"base": "cx5-roce-25g", "nic": {"ack_timeout": "20us", "retry_count": 1}},
             "overrides": {"fabric.failures": [{"host": "h1", "stops": "1ns"}]}}


def idle(ctx):
    yield ctx.now()


def test_a_failed_operation_has_no_value_however_often_one_asks():
    def survivor(ctx):
        handle = yield ctx.get("z", node=1, wait=False)
        found = []
        for _ in range(3):
            try:
                found.append((yield ctx.wait(handle)))
            except ls.RunError as error:
                found.append(str(error))
        return found

    r = ls.Program({0: survivor, 1: idle}).run(**IMPATIENT)
    assert r.returned[0] == 3 * ["node 0: get to node 1 failed: transport retry counter exceeded"]


def test_a_failure_that_nobody_waits_for_is_raised_once():
    def survivor(ctx):
        yield ctx.put("z", node=1, value=1)
        raised = []
        for value in range(1, 201):  # the 64th would take the place of the put that fails, as would the 128th
            try:
                yield ctx.put("z", node=2, value=value, wait=True)
            except ls.RunError as error:
                raised.append((value, str(error)))
        return raised

    r = ls.Program({0: survivor, 1: idle, 2: idle}).run(**IMPATIENT)
    assert r.returned[0] == [(64, "node 0: put to node 1 failed: transport retry counter exceeded")]


def test_a_host_that_stops():
    def survivor(ctx):
        try:
            yield ctx.put("z", node=1, value=1, wait=True)
        except ls.RunError as error:
            return str(error)

    def dies(ctx):
        while True:
            yield ctx.load("z")

    r = ls.Program({0: survivor, 1: dies}).run(
        hardware={"base": "cx5-roce-25g", "nic": {"ack_timeout": "20us", "retry_count": 2}},
        overrides={"fabric.failures": [{"host": "h1", "stops": "1ns"}]})
    assert r.returned == {0: "node 0: put to node 1 failed: transport retry counter exceeded", 1: None}
    assert r.simulated_ps >= 3 * 20_000_000  # the first attempt and two repetitions, 20 us each
