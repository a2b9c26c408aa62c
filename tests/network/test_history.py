"""Histories of the store, with all nodes at the same few keys, are linearisable on real networks, too."""

import pytest

from .conftest import needs_libfabric, needs_shim
from .linearisable import Operation, linearisable, read
from .test_libfabric import PROVIDERS, start
from .test_verbs import executed, printed

ROUNDS = ("--object", "history", "--rounds", "40")


def test_the_search_tells_histories_apart():
    put = Operation("insert", 0, 7, 1, 0, 10)
    assert linearisable([put, Operation("lookup", 0, 1, 0, 5, 6)])  # before the insert, which is under way
    assert linearisable([put, Operation("lookup", 0, 1, 7, 5, 6)])
    assert not linearisable([put, Operation("lookup", 0, 1, 0, 11, 12)])  # it has ended
    assert not linearisable([put, Operation("lookup", 0, 1, 8, 5, 6)])
    assert not linearisable([put, Operation("insert", 0, 9, 1, 20, 30)])
    seen_then_not = [put, Operation("lookup", 0, 1, 7, 2, 3), Operation("lookup", 0, 1, 0, 4, 5)]
    assert not linearisable(seen_then_not)


@pytest.mark.parametrize("provider", PROVIDERS)
@needs_libfabric
@pytest.mark.long
def test_over_libfabric(provider):
    told = start("objects", provider, 4, *ROUNDS).end()
    assert [status for status, _, _ in told] == [0] * 4, [err for _, _, err in told]
    history = [op for _, out, _ in told for op in read(out)]
    assert len(history) == 160 and linearisable(history)


@needs_shim
def test_over_verbs():
    history = read(printed(executed("objects", 4, *ROUNDS)))
    assert len(history) == 160 and linearisable(history)
