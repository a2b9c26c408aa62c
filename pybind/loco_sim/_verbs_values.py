"""What verbs programs in Python hold: memory, queues, requests, completions, what a run was, and the checks of arguments.

Its public names are those of `loco_sim.verbs`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Callable, Generator, Iterable, Mapping, Sequence, TypeVar, Union

from . import _core
from .context import Operation
from .errors import Error
from .units import WORD_MAX, at_least

if TYPE_CHECKING:
    from .trace import Trace
    from .verdict import Verdict

_ACCESS = {"local_write": 1, "remote_write": 2, "remote_read": 4, "remote_atomic": 8}
_ALL_ACCESS = 15
_STATES = ("reset", "init", "rtr", "rts", "sqd", "sqe", "error")
_ATTRIBUTES = ("dest_qp", "rq_psn", "sq_psn", "max_rd_atomic", "max_dest_rd_atomic", "timeout", "retry_count",
               "rnr_retry", "path_mtu", "min_rnr_timer", "qkey")
_NUMBER_MAX = 2**32 - 1
_TIME_MAX = 2**62
_MASK = WORD_MAX

class VerbsError(Error, RuntimeError):
    """What verbs refuse: a full queue, or a request that the queue pair does not take."""


@dataclass(frozen=True)
class MemoryRegion:
    """Registered memory of a host, or a part of it: ``region[8:16]`` are bytes 8 to 15."""

    node: int
    address: int
    length: int  #: bytes
    lkey: int
    rkey: int

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, part: slice) -> MemoryRegion:
        ends = [end for end in (part.start, part.stop) if end is not None] if isinstance(part, slice) else [None]
        if not all(isinstance(end, Integral) for end in ends) or part.step not in (None, 1):
            raise TypeError(f"expected bytes such as region[8:16], found {part!r}")
        start, stop = part.start or 0, self.length if part.stop is None else part.stop
        if not 0 <= start <= stop <= self.length:
            raise IndexError(f"expected a part of {self.length} bytes, found [{start}:{stop}]")
        return replace(self, address=self.address + start, length=stop - start)


@dataclass(frozen=True)
class CompletionQueue:
    """Where completions are polled."""

    number: int
    node: int


@dataclass(frozen=True)
class QueuePair:
    """A send queue and a receive queue of a host."""

    number: int
    node: int


@dataclass(frozen=True)
class SharedReceiveQueue:
    """Receives that queue pairs of a host share (``ibv_srq``)."""

    number: int
    node: int


@dataclass(frozen=True)
class Request:
    """One of a list of requests: the arguments of `Thread.post_send` behind the queue pair."""

    opcode: str = "rdma_write"
    local: MemoryRegion | None = None
    remote: MemoryRegion | None = None
    imm: int | None = None
    wr_id: int = 0
    signaled: bool = True
    fence: bool = False
    inline: bool = False
    compare_add: int = 0
    swap: int = 0
    remote_qp: QueuePair | None = None
    remote_qkey: int = 0

    def _values(self) -> _Values:
        where, length, key = _scatter("local", self.local)
        there, rkey = (0, 0) if self.remote is None else (_a(MemoryRegion, "remote", self.remote).address,
                                                          self.remote.rkey)
        to = None if self.remote_qp is None else _a(QueuePair, "remote_qp", self.remote_qp).number
        if not isinstance(self.opcode, str):
            raise TypeError(f"opcode: expected a name, found {self.opcode!r}")
        imm = None if self.imm is None else at_least("imm", self.imm, 0, most=_NUMBER_MAX)
        return (self.opcode, at_least("wr_id", self.wr_id, 0, most=WORD_MAX), where, key, length, there, rkey, imm,
                self.signaled, self.fence, self.inline, _whole("compare_add", self.compare_add) & _MASK,
                _whole("swap", self.swap) & _MASK, to, at_least("remote_qkey", self.remote_qkey, 0, most=_NUMBER_MAX))


@dataclass(frozen=True)
class Access:
    """One side of a race."""

    text: str  #: "load of 1:0x1ff8", "WRITE on queue pair 0, which writes 1:0x1ff8", ...
    thread: str  #: whose call it is
    place: str  #: "ring.py:17"; "" where it is not known
    call: int  #: its number in the trace

    def __str__(self) -> str:
        return ", ".join(part for part in (f"{self.text} by {self.thread}" if self.thread else self.text, self.place) if part)


@dataclass(frozen=True)
class Race:
    """Two accesses to a word that nothing orders, or a queue that may be too small: told once for a pair of lines."""

    kind: str
    """"source changed", "result before completion", "receive buffer in use", "two receives, one buffer", "in flight
    twice", "unordered", "words of a message", "CQ overrun", "no receive" or "unreliable" """
    error: bool  #: False: a warning
    node: int
    address: int  #: of the word; 0: it is of none
    count: int  #: pairs of accesses between these lines
    first: Access
    second: Access
    advice: str  #: what would order them
    text: str

    def __str__(self) -> str:
        return self.text


class Races(tuple[Race, ...]):
    """What `Run.why` has found; `str()` tells it."""

    @property
    def errors(self) -> Races:
        """Without the warnings."""
        return Races(race for race in self if race.error)

    def __str__(self) -> str:
        return "\n".join(race.text for race in self) if self else "no races"

    __repr__ = __str__


def races(trace: Trace) -> Races:
    """What `Run.why` finds, of a trace that was kept: ``races(ls.read_trace(path))``.

    Raises:
        ValueError: it is not the trace of a verbs program.
    """
    return Races(Race(kind, error, node, address, count, Access(*first), Access(*second), advice, text)
                 for kind, error, node, address, count, first, second, advice, text in _core.verbs_races(trace._core))


class Run(int):
    """What a run did: the simulated time at its end in picoseconds, as a number, and what it has recorded.

    Attributes:
        trace: the `Trace`; None when it was not recorded.
        counters: what the simulated hardware counted.
        schedule: "timed", "random" or "adversarial".
    """

    trace: Trace | None
    counters: dict[str, int]
    schedule: str

    @property
    def simulated_ps(self) -> int:
        """The simulated time at the end. Means nothing where events ran in another order than that of time."""
        return int(self)

    def _recorded(self) -> None:
        if self.trace is None:
            raise Error('expected a run with a trace: verbs.Machine(..., trace="subevents")')

    def check(self, model: str = "rdmatso") -> Verdict:
        """Is the run one that the memory model of verbs allows? Always, unless the NIC has a deliberate fault: what is
        wrong with a program is a race, see `why`.

        Args:
            model: "rdmatso": polls, queue pairs, receives and completion queues.
        """
        if model != "rdmatso":
            raise ValueError(f'model: expected "rdmatso", found {model!r}')
        self._recorded()
        assert self.trace is not None
        return self.trace.check(model)

    def why(self) -> Races:
        """The races of the program: accesses to one word that nothing orders, with both lines and what would order them.
        They are found in any run in which both accesses are made, whatever they saw."""
        self._recorded()
        assert self.trace is not None
        return races(self.trace)


@dataclass(frozen=True)
class Completion:
    """How a work request ended (``ibv_wc``)."""

    status: str  #: "success", or what went wrong: "rem_access_err", "retry_exc_err", ... (``ibv_wc_status``)
    wr_id: int
    opcode: str  #: "rdma_write", "rdma_read", "send", "fetch_add", "compare_swap", "recv", "recv_rdma_with_imm"
    length: int  #: of a receive: bytes received
    imm: int | None  #: immediate data, if there is some
    qp: int  #: number of the queue pair
    source_qp: int | None = None  #: of a receive on UD

    @property
    def ok(self) -> bool:
        """Whether the status is "success"."""
        return self.status == "success"


@dataclass(frozen=True)
class AsyncEvent:
    """What no completion can tell (``ibv_async_event``)."""

    type: str  #: "CQ_ERR": a completion queue has overrun; "QP_FATAL": a queue pair has failed, a completion of which is lost
    element: int  #: number of the completion queue, or of the queue pair


Call = Operation
"""What a thread is to do next: made by a `Thread`, done when it is yielded. One that never is warns."""

Program = Callable[..., Generator[Call, Any, Any]]
Place = Union[MemoryRegion, int]
_Values = tuple[Any, ...]


_Kind = TypeVar("_Kind", MemoryRegion, CompletionQueue, QueuePair, SharedReceiveQueue)


def _a(kind: type[_Kind], name: str, value: _Kind) -> _Kind:
    """TypeError unless it is one."""
    if not isinstance(value, kind):
        raise TypeError(f"{name}: expected a {kind.__name__}, found {value!r}")
    return value


def _whole(name: str, value: int) -> int:
    if not isinstance(value, Integral):
        raise TypeError(f"{name}: expected a whole number, found {value!r}")
    return int(value)


def _scatter(name: str, buffer: MemoryRegion | None) -> tuple[int, int, int]:
    """Of a work request: address, length and key."""
    if buffer is None:
        return (0, 0, 0)
    at_least(name, _a(MemoryRegion, name, buffer).length, 0, most=_NUMBER_MAX)
    return (buffer.address, buffer.length, buffer.lkey)


def _receive(buffer: MemoryRegion | None, wr_id: int) -> _Values:
    return (at_least("wr_id", wr_id, 0, most=WORD_MAX), *_scatter("buffer", buffer))


def _receives(buffers: Sequence[MemoryRegion | None], wr_ids: Sequence[int] | None) -> _Values:
    listed = tuple(buffers)
    names = tuple(range(len(listed))) if wr_ids is None else tuple(wr_ids)
    if not listed or len(names) != len(listed):
        raise ValueError(f"buffers: expected at least one, and as many wr_ids, found {len(listed)} and {len(names)}")
    return tuple(_receive(buffer, wr_id) for buffer, wr_id in zip(listed, names))


def _modification(to: str, attributes: Mapping[str, Any]) -> _Values:
    if to not in _STATES:
        raise ValueError(f"to: expected one of {', '.join(_STATES)}, found {to!r}")
    values: dict[str, int] = {}
    for name, value in attributes.items():
        if name not in _ATTRIBUTES:
            raise TypeError(f"modify_qp: expected attributes of {', '.join(_ATTRIBUTES)}, found {name!r}")
        if name == "dest_qp":
            value = _a(QueuePair, name, value).number
        most = _TIME_MAX if name in ("timeout", "min_rnr_timer") else _NUMBER_MAX
        values[name] = at_least(name, value, 0, most=most)
    return (to, values)


def _rights(access: Iterable[str] | None) -> int:
    if access is None:
        return _ALL_ACCESS
    rights = 0
    for name in [access] if isinstance(access, str) else access:
        if name not in _ACCESS:
            raise ValueError(f"access: expected of {', '.join(_ACCESS)}, found {name!r}")
        rights |= _ACCESS[name]
    return rights
