"""The remote operations of a trace, each with its times."""

from __future__ import annotations

from typing import Any

from ..outcome import Outcome
from ..trace import Trace
from ._canvas import wrong

_NEVER = 2**64 - 1


def trace_of(subject: Any, expected: str = "a Trace or a Result") -> Trace:
    trace = subject.trace if isinstance(subject, Outcome) else subject
    if not isinstance(trace, Trace):
        raise wrong("trace", expected, trace)
    return trace


class Transfer:
    """A remote operation, from the subevents of its call: when and where it read, when and where it wrote."""

    def __init__(self, thread: int, local: int, peer: int, kind: str, words: int, start: int, arrive: int,
                 end: int) -> None:
        self.thread, self.local, self.peer, self.kind = thread, local, peer, kind
        self.words, self.start, self.arrive, self.end = words, start, arrive, end


def transfers_of(trace: Trace) -> list[Transfer]:
    """Puts: read at home (aNLR), written remotely (aNRW). Gets: read remotely (aNRR), written at home (aNLW)."""
    import numpy

    trace._core.require_places()
    events, calls = trace.subevents, trace.calls
    nodes = [t.node for t in trace.threads]
    remote = numpy.flatnonzero((events["stamp"] >= 5) & (events["stamp"] <= 8))
    if not len(remote):
        return []
    remote = remote[numpy.argsort(events["call"][remote], kind="stable")]
    part = events[remote]
    call, first, own = numpy.unique(part["call"], return_index=True, return_inverse=True)
    stamp, begun = part["stamp"], part["start_ps"]
    reading = (stamp == 5) | (stamp == 7)
    done = ~reading & (part["finish"] != _NEVER)
    late, soon = numpy.iinfo(numpy.int64).max, numpy.int64(0)

    def most(values: Any, of: Any) -> Any:
        return numpy.maximum.reduceat(numpy.where(of, values, soon), first)

    start = numpy.minimum.reduceat(numpy.where(reading, begun, late), first)
    arrive = most(begun, ~reading)
    # of those that arrived; of none, when the last was on its way
    end = numpy.where(numpy.bincount(own, done) > 0, most(part["finish_ps"], done), most(part["finish_ps"], ~reading))
    end = numpy.where(end > 0, end, arrive)
    words, reads, gets = (numpy.bincount(own, mask) for mask in (~reading, reading, stamp == 7))
    thread, peer = calls["thread"][call.astype(numpy.int64) - 1], part["peer"][first]
    # The part that crosses the network: from the first read at one end to the last write at the other.
    return [Transfer(int(thread[i]), nodes[int(thread[i])], int(peer[i]), "get" if gets[i] else "put", int(words[i]),
                     int(start[i]), int(arrive[i]), int(end[i])) for i in numpy.flatnonzero((words > 0) & (reads > 0))]
