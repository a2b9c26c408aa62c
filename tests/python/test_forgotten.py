"""A helper that is called without `yield from`: it does nothing, which a warning says."""

import functools
import warnings

import pytest

import loco_sim as ls


def helper(ctx):
    yield ctx.put("x", node=1, value=1)


class Helpers:
    @staticmethod
    def put(ctx):
        yield ctx.put("x", node=1, value=2)


def other(ctx):
    yield ctx.load("x")


def program(*threads):
    return ls.Program(nodes={0: list(threads), 1: [other] * len(threads)})


def lines(told):
    return sorted((w.filename, w.lineno) for w in told if "yield from" in str(w.message))


def at(function, *offsets):
    return [(__file__, function.__code__.co_firstlineno + offset) for offset in offsets]


def test_the_line_is_named():
    def thread(ctx):
        helper(ctx)
        if True:
            Helpers.put(ctx)
        yield ctx.store("y", 1)

    with pytest.warns(RuntimeWarning, match="put `yield from` in front") as told:
        program(thread)
    assert lines(told) == at(thread, 1, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program(thread)  # once is enough


def test_a_helper_of_a_helper_and_one_within_the_thread_are_seen():
    def inner(ctx):
        helper(ctx)
        yield ctx.fence()

    def thread(ctx, count):
        def local(ctx):
            yield ctx.fence()
        yield from inner(ctx)
        for _ in range(count):
            local(ctx)

    with pytest.warns(RuntimeWarning) as told:
        program(functools.partial(thread, count=2))
    assert lines(told) == sorted(at(inner, 1) + at(thread, 5))


def test_verbs_too():
    machine = ls.verbs.Machine(nodes=2, hardware="cx5-roce-25g")

    def thread(th):
        helper(th)
        yield th.fence()

    with pytest.warns(RuntimeWarning) as told:
        machine.spawn(0, thread)
    assert lines(told) == at(thread, 1)


def test_what_runs_does_not_warn():
    def plain(ctx):
        return ctx.load("x")

    def thread(ctx):
        yield from helper(ctx)
        print(len(list(Helpers.put(ctx)))) if False else None
        later = helper(ctx)
        yield from later
        plain(ctx) if False else None
        yield plain(ctx)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program(thread, eval("lambda ctx: helper(ctx)", {"helper": helper}))
