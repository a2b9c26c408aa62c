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
    by_call: dict[int, list[int]] = {}
    for i in remote:
        by_call.setdefault(int(events["call"][i]), []).append(int(i))
    out = []
    for call, indices in by_call.items():
        part = events[indices]
        thread = int(calls["thread"][call - 1])
        reads, writes = part[(part["stamp"] == 5) | (part["stamp"] == 7)], part[(part["stamp"] == 6) | (part["stamp"] == 8)]
        if not len(reads) or not len(writes):
            continue
        done = writes[writes["finish"] != _NEVER]
        end = int((done if len(done) else writes)["finish_ps"].max()) or int(writes["start_ps"].max())
        # The part that crosses the network: from the first read at one end to the last write at the other.
        out.append(Transfer(thread, nodes[thread], int(part["peer"][0]), "get" if (part["stamp"] == 7).any() else "put",
                             len(writes), int(reads["start_ps"].min()), int(writes["start_ps"].max()), end))
    return out
