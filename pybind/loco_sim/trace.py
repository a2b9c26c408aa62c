"""Traces: what a run did, with its own witness, as NumPy arrays and as something to check."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple, Sequence

from . import _core
from ._keys import file_name, require_path
from ._optional import need
from .errors import RunError
from .units import WORD_MAX, at_least, yes_or_no

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from .verdict import Verdict

__all__ = ["ACTIVITIES", "Object", "Thread", "Trace", "call_dtype", "check", "read_trace", "subevent_dtype"]

NEVER = 2**64 - 1
"""The stamp of an end that had not come when the run ended."""


ACTIVITIES = _core.ACTIVITIES
"""Kinds of `Trace.activities`."""


class Thread(NamedTuple):
    """A simulated thread: the node it runs on, and its name."""

    node: int
    name: str


class Object(NamedTuple):
    """A named thing that calls act on: a variable, a barrier (with its participants, by thread), a ring buffer."""

    name: str
    participants: list[int] = []
    transitive: bool = False


def _dtype(fields: list[tuple[str, str, int]], size: int) -> np.dtype[Any]:
    import numpy

    return numpy.dtype({"names": [f[0] for f in fields], "formats": [f[1] for f in fields],
                        "offsets": [f[2] for f in fields], "itemsize": size})


def call_dtype() -> np.dtype[Any]:
    """The NumPy type of `Trace.calls`.

    >>> call_dtype()["work_id"]
    dtype('uint64')
    """
    return _dtype(_core.CALL_FIELDS, _core.CALL_SIZE)


def subevent_dtype() -> np.dtype[Any]:
    """The NumPy type of `Trace.subevents`.

    >>> subevent_dtype()["finish_ps"]
    dtype('int64')
    """
    return _dtype(_core.SUBEVENT_FIELDS, _core.SUBEVENT_SIZE)


class Trace:
    """A finished trace. Immutable; cheap to pass around; pickles.

    Attributes:
        scenario: name of the scenario that was run.
        seed: its seed.
        nodes: number of nodes.
    """

    def __init__(self, core: _core.Trace) -> None:
        self._core = core
        self._calls: np.ndarray[Any, Any] | None = None
        self._subevents: np.ndarray[Any, Any] | None = None

    @classmethod
    def from_arrays(cls, *, threads: Sequence[tuple[int, str]], calls: npt.ArrayLike, subevents: npt.ArrayLike,
                    objects: Sequence[tuple[Any, ...]] = (("",),), node_sets: Sequence[Sequence[int]] = ((),),
                    nodes: int | None = None, scenario: str = "", seed: int = 0) -> Trace:
        """Makes a trace from arrays of `call_dtype()` and `subevent_dtype()` (copied).

        Args:
            threads: (node, name) of each thread.
            calls, subevents: one-dimensional structured arrays; ids in them count from 1, 0 is none.
            objects: (name, participants, transitive); the first is the unnamed object.
            node_sets: lists of nodes; the first is the empty set.
            nodes: number of nodes; by default as many as the threads need.

        Raises:
            ValueError: a kind of call or subevent that does not exist. Indices are not looked at: `check` judges them.
            TypeError: an array of another type, threads that are no pairs.
        """
        import numpy

        call_bytes = _records("calls", calls, call_dtype())
        subevent_bytes = _records("subevents", subevents, subevent_dtype())
        full = [Object(*o) for o in objects]
        places = [_thread(t) for t in threads]
        count = 1 + max((t.node for t in places), default=-1) if nodes is None else at_least("nodes", nodes, 0, most=2**32 - 1)
        return cls(_core.make_trace(scenario, at_least("seed", seed, 0, most=WORD_MAX), count, places,
                                    [(o.name, list(o.participants), o.transitive) for o in full],
                                    [list(s) for s in node_sets],
                                    call_bytes.view(numpy.uint8), subevent_bytes.view(numpy.uint8)))

    def replace(self, *, calls: npt.ArrayLike | None = None, subevents: npt.ArrayLike | None = None) -> Trace:
        """A copy of this trace with other calls or subevents: what would the checkers say if it had gone like that?"""
        return Trace.from_arrays(threads=self.threads, objects=self.objects, node_sets=self.node_sets, nodes=self.nodes,
                                 scenario=self.scenario, seed=self.seed,
                                 calls=self.calls if calls is None else calls,
                                 subevents=self.subevents if subevents is None else subevents)

    @property
    def scenario(self) -> str:
        """The name of the scenario that was run."""
        return self._core.scenario

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self._core.seed

    @property
    def nodes(self) -> int:
        """Number of hosts."""
        return self._core.nodes

    @property
    def threads(self) -> list[Thread]:
        """The simulated threads; `calls["thread"]` indexes them."""
        return [Thread(*t) for t in self._core.threads]

    @property
    def objects(self) -> list[Object]:
        """The named objects; `calls["object"]` indexes them, [0] is the unnamed one."""
        return [Object(*o) for o in self._core.objects]

    @property
    def node_sets(self) -> list[list[int]]:
        """Sets of nodes (targets of broadcasts, fences, barriers); `calls["node_set"]` indexes them, [0] is empty."""
        return self._core.node_sets

    @property
    def calls(self) -> np.ndarray[Any, Any]:
        """The calls of library methods: a structured array of shape (n,), read-only, no copy.

        Call i has the id i + 1. Fields: parent (call id, 0: the program's own), thread, library, method, returned,
        object, node_set, work_id, argument, result, begin, end (order stamps), begin_ps, end_ps (picoseconds by the
        clock of the calling thread).
        """
        if self._calls is None:
            import numpy

            self._calls = numpy.frombuffer(self._core.call_bytes(), dtype=call_dtype())  # type: ignore[call-overload]
        return self._calls

    @property
    def subevents(self) -> np.ndarray[Any, Any]:
        """The accesses to memory and the fences: a structured array of shape (n,), read-only, no copy.

        Subevent i has the id i + 1. Fields: call (call id), stamp, peer, node, address (bytes), value, value_read,
        source and overwrote (subevent ids, 0: the initial value), start and finish (order stamps, 2**64 - 1: never;
        what never started had been posted when the run ended), start_ps and finish_ps (picoseconds since the run began).
        """
        if self._subevents is None:
            import numpy

            self._subevents = numpy.frombuffer(self._core.subevent_bytes(),  # type: ignore[call-overload]
                                               dtype=subevent_dtype())
        return self._subevents

    @property
    def activities(self) -> np.ndarray[Any, Any]:
        """Packets, TLPs, doorbells and completions, if the scenario says ``trace: {level: packets}``: a structured array
        of shape (n,), read-only, no copy.

        Fields: kind (index of `ACTIVITIES`), opcode (of packets), node, peer, qp, number (a packet's sequence number),
        bytes, start_ps, finish_ps (-1: a packet that never arrived). Replaced traces have none.
        """
        import numpy

        dtype = _dtype(_core.ACTIVITY_FIELDS, _core.ACTIVITY_SIZE)
        return numpy.frombuffer(self._core.activity_bytes(), dtype=dtype)  # type: ignore[call-overload, no-any-return]

    def to_perfetto(self) -> str:
        """The run as a timeline for https://ui.perfetto.dev or chrome://tracing (JSON): what ``loco-sim trace export
        --to perfetto`` writes.

        Raises:
            ValueError: a trace file of an older version, which has no times of calls; indices that lead nowhere.
        """
        return self._core.timeline()

    def to_dot(self, limit: int = 200) -> str:
        """The first `limit` accesses as an execution graph for Graphviz.

        Raises:
            ValueError: indices that lead nowhere.
        """
        return self._core.graph(at_least("limit", limit, 0, most=WORD_MAX))

    def __len__(self) -> int:
        """Number of subevents."""
        return self._core.subevent_count

    def __repr__(self) -> str:
        return (f"Trace({self.scenario!r}, seed={self.seed}, nodes={self.nodes}, threads={len(self._core.threads)}, "
                f"calls={self._core.call_count}, subevents={len(self)})")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_decode, (self._core.encode(),))

    def to_pandas(self, what: str = "subevents") -> pd.DataFrame:
        """The subevents (or the calls, with ``what="calls"``) as a table with names in place of numbers.

        The index is the id. Threads are named NODE:NAME; subevents get the thread of their call.

        Raises:
            ValueError: indices that lead nowhere, as arrays of one's own may have.
        """
        pandas = need("pandas", "Trace.to_pandas()")
        import numpy

        if what not in ("subevents", "calls"):
            raise ValueError(f'what: expected "subevents" or "calls", found {what!r}')
        self._core.require_places()
        calls = self.calls
        names = [f"{t.node}:{t.name}" for t in self.threads]
        if what == "calls":
            table = pandas.DataFrame({name: calls[name] for name in calls.dtype.names or ()})
            table["library"] = pandas.Categorical.from_codes(calls["library"], _core.LIBRARIES)
            table["method"] = pandas.Categorical.from_codes(calls["method"], _core.METHODS)
            table["object"] = pandas.Categorical.from_codes(calls["object"], _unique([o.name for o in self.objects]))
            thread = calls["thread"]
        else:
            events = self.subevents
            table = pandas.DataFrame({name: events[name] for name in events.dtype.names or ()})
            table["stamp"] = pandas.Categorical.from_codes(events["stamp"], _core.STAMPS)
            thread = calls["thread"][events["call"].astype(numpy.int64) - 1]
        table["thread"] = pandas.Categorical.from_codes(thread, _unique(names))
        table.index = pandas.RangeIndex(1, len(table) + 1, name="id")
        return table

    def check(self, *models: str | Iterable[str]) -> Verdict:
        """Is what the trace shows allowed by these models ("rdmawait", "sv", "bal", ... or a list)? See `loco_sim.check`."""
        return check(self, models[0] if len(models) == 1 else models)  # type: ignore[arg-type]

    def encode(self) -> bytes:
        """The bytes of a trace file."""
        return self._core.encode()

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes a trace file (docs/trace-format.md). Raises OSError."""
        self._core.write(file_name(path, "path"))

    def to_text(self) -> str:
        """The text form: one record a line."""
        return self._core.to_text()


def _thread(thread: Any) -> Thread:
    if isinstance(thread, str) or not isinstance(thread, Sequence) or len(thread) != 2 or not isinstance(thread[1], str):
        raise TypeError(f"threads: expected (node, name), found {thread!r}")
    return Thread(at_least("threads: node", thread[0], 0, most=2**32 - 1), thread[1])


def _records(name: str, array: npt.ArrayLike, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The array as records in a row, its fields taken by name."""
    import numpy

    given = numpy.asarray(array)
    if given.dtype.names is None or set(given.dtype.names) != set(dtype.names or ()):
        raise TypeError(f"{name}: expected an array with the fields of loco_sim.{name[:-1]}_dtype(), found {given.dtype}")
    if given.ndim != 1:
        raise ValueError(f"{name}: expected an array of one dimension, found one of {given.ndim}")
    if given.dtype == dtype:
        return numpy.ascontiguousarray(given)
    out = numpy.zeros(len(given), dtype)
    for field in dtype.names or ():
        out[field] = given[field]
    return out


def _unique(names: Iterable[str]) -> list[str]:
    """Names made distinct, as categories must be: the second "x" becomes "x#2"."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return out


def _decode(data: bytes) -> Trace:
    return Trace(_core.decode_trace(data))


def read_trace(path: str | os.PathLike[str]) -> Trace:
    """Reads a trace file.

    Raises:
        OSError: the file cannot be read.
        TraceError: it is damaged or cut short; the error has the byte offset.
    """
    return Trace(_core.read_trace(file_name(path, "path")))


def check(trace: Trace | str | os.PathLike[str], models: str | Iterable[str] = (), *, max_violations: int = 8,
          tower: bool = False) -> Verdict:
    """Checks a trace, or a trace file, against declarative models.

    Args:
        trace: a Trace or the path of a trace file.
        models: "rdmawait", "sv", "bal", "rbl", "msw", "lock", "kvstore": one or several; none means every library
            that the trace uses. rdmawait is always checked, since the others stand on it.
        max_violations: at most that many broken predicates are listed for each library.
        tower: also check each library's promises against the level below.

    Returns:
        A Verdict; ``verdict.ok`` is the answer.

    Raises:
        ValueError: no such model.
        TraceError, OSError: the file cannot be read.
    """
    from .verdict import names_of, verdict_from

    if not isinstance(trace, Trace):
        require_path("trace", trace, "a Trace or the path of a trace file")
        trace = read_trace(trace)
    most = at_least("max_violations", max_violations, 0, most=WORD_MAX)
    if trace._core.of_verbs:
        if list([models] if isinstance(models, str) else models) not in ([], ["rdmatso"]):
            raise ValueError(f'models: expected "rdmatso" for the trace of a verbs program, found {models!r}')
        return verdict_from(_core.check_verbs(trace._core))
    return verdict_from(_core.check(trace._core, names_of(models), most, yes_or_no("tower", tower)))


def _run_error(text: str, trace: _core.Trace | None) -> RunError:
    error = RunError(text)
    if trace is not None:
        error.trace = Trace(trace)
    return error
