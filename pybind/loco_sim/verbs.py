"""Verbs in Python: generator functions as threads of simulated hosts, which post work requests and poll completions.

    import loco_sim as ls

    machine = ls.verbs.Machine(nodes=2, hardware="cx5-roce-25g")
    here, there = machine.register(0, 64), machine.register(1, 64)
    cq = machine.create_cq(0)
    qp, peer = machine.create_qp(0, cq), machine.create_qp(1, machine.create_cq(1))
    machine.connect(qp, peer)

    def writer(thread):
        yield thread.store(here, 42)
        yield thread.post_send(qp, "rdma_write", local=here[:8], remote=there[8:16])
        done = yield thread.wait_cq(cq)
        return done.status

    thread = machine.spawn(0, writer)
    machine.run()
    thread.returned, machine.word(there[8:16])          # ("success", 42)

Each ``yield`` is one call of the thread, which takes simulated time; what it evaluates to is the call's result.
Everything between two yields takes none. Helpers are called with ``yield from``. What goes wrong with an operation is
the status of its completion, as on a NIC; `VerbsError` is raised where ``ibv_post_send`` would return an error.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Callable, Generator, Mapping, TypeVar, Union

from . import _core
from .context import Operation, operation
from .errors import Error
from .forgotten import warn_of_forgotten
from .scenario import yaml_text
from .units import WORD_MAX, at_least

__all__ = ["Completion", "CompletionQueue", "Machine", "MemoryRegion", "QueuePair", "Thread", "VerbsError"]

(_NOW, _COMPUTE, _LOAD, _STORE, _FENCE, _POST_SEND, _POST_RECV, _POLL_CQ, _WAIT_CQ, _WAIT_FOR_CHANGE) = (
    _core.VERBS_CALLS[name] for name in ("now", "compute", "load", "store", "fence", "post_send", "post_recv", "poll_cq",
                                         "wait_cq", "wait_for_change"))
_WORD = 8
_NODES_MAX = 65_536
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


Call = Operation
"""What a thread is to do next: made by a `Thread`, done when it is yielded. One that never is warns."""

Program = Callable[..., Generator[Call, Any, Any]]
Place = Union[MemoryRegion, int]
_Values = tuple[Any, ...]


_Kind = TypeVar("_Kind", MemoryRegion, CompletionQueue, QueuePair)


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


class Thread:
    """A core of a simulated host, for the generator that runs on it: its methods make calls, which are to be
    yielded."""

    def __init__(self, node: int) -> None:
        self.node = node
        self.returned: Any = None  #: what the generator has returned, once the machine has run

    @operation
    def post_send(self, qp: QueuePair, opcode: str = "rdma_write", *, local: MemoryRegion | None = None,
                  remote: MemoryRegion | None = None, imm: int | None = None, wr_id: int = 0, signaled: bool = True,
                  fence: bool = False, inline: bool = False, compare_add: int = 0, swap: int = 0,
                  remote_qp: QueuePair | None = None, remote_qkey: int = 0) -> _Values:
        """``ibv_post_send`` with one request: builds it and rings the doorbell. Gives None; raises `VerbsError`.

        Args:
            qp: whose send queue.
            opcode: "rdma_write", "rdma_read", "send", "fetch_add" or "compare_swap".
            local: what is sent, or where the answer goes; its length is that of the message. None: no bytes.
            remote: what is written, read or changed.
            imm: immediate data of a write or send, 32 bits.
            wr_id: given back by the completion.
            signaled: whether there is a completion when all went well.
            fence: wait for the queue pair's earlier reads and atomics.
            inline: the CPU copies the bytes when it posts.
            compare_add: what is added, or what is expected.
            swap: what compare-and-swap writes.
            remote_qp: of UD: to whom.
            remote_qkey: of UD: what the receiver must hold.
        """
        where, length, key = _scatter("local", local)
        there, rkey = (0, 0) if remote is None else (_a(MemoryRegion, "remote", remote).address, remote.rkey)
        to = None if remote_qp is None else _a(QueuePair, "remote_qp", remote_qp).number
        if not isinstance(opcode, str):
            raise TypeError(f"opcode: expected a name, found {opcode!r}")
        imm = None if imm is None else at_least("imm", imm, 0, most=_NUMBER_MAX)
        wr_id = at_least("wr_id", wr_id, 0, most=WORD_MAX)
        remote_qkey = at_least("remote_qkey", remote_qkey, 0, most=_NUMBER_MAX)
        request = (opcode, wr_id, where, key, length, there, rkey, imm, signaled, fence, inline,
                   _whole("compare_add", compare_add) & _MASK, _whole("swap", swap) & _MASK, to, remote_qkey)
        return (_POST_SEND, _a(QueuePair, "qp", qp).number, request)

    @operation
    def post_recv(self, qp: QueuePair, buffer: MemoryRegion | None = None, *, wr_id: int = 0) -> _Values:
        """``ibv_post_recv`` with one request; without a buffer, for writes with immediate data. Gives None; raises
        `VerbsError`."""
        return (_POST_RECV, _a(QueuePair, "qp", qp).number, at_least("wr_id", wr_id, 0, most=WORD_MAX),
                *_scatter("buffer", buffer))

    @operation
    def poll_cq(self, cq: CompletionQueue) -> _Values:
        """``ibv_poll_cq`` for one completion. Gives a `Completion`, or None."""
        return (_POLL_CQ, _a(CompletionQueue, "cq", cq).number)

    @operation
    def wait_cq(self, cq: CompletionQueue) -> _Values:
        """Polls until there is a completion. Gives a `Completion`."""
        return (_WAIT_CQ, _a(CompletionQueue, "cq", cq).number)

    @operation
    def load(self, place: Place) -> _Values:
        """Reads the aligned word (8 bytes) at a place of the host's memory. Gives an integer."""
        return (_LOAD, self._address(place))

    @operation
    def store(self, place: Place, value: int) -> _Values:
        """Writes such a word, modulo 2^64. Gives None."""
        return (_STORE, self._address(place), _whole("value", value) & _MASK)

    @operation
    def fence(self) -> _Values:
        """Waits until stores are in memory (mfence). Gives None."""
        return (_FENCE,)

    @operation
    def wait_for_change(self, place: Place, old: int) -> _Values:
        """Loads until the word is another than `old`. Gives it."""
        return (_WAIT_FOR_CHANGE, self._address(place), _whole("old", old) & _MASK)

    @operation
    def compute(self, picoseconds: int) -> _Values:
        """The core is busy with something of its own. Gives None."""
        return (_COMPUTE, at_least("picoseconds", picoseconds, 0, most=_TIME_MAX))

    @operation
    def now(self) -> _Values:
        """The simulated time. Gives picoseconds."""
        return (_NOW,)

    def _address(self, place: Place) -> int:
        if not isinstance(place, MemoryRegion):
            return at_least("place", place, 0, most=WORD_MAX)
        if place.node != self.node:
            raise ValueError(f"place: expected memory of host {self.node}, the thread's own, found that of host {place.node}")
        return place.address


class Machine:
    """Hosts with NICs in a star, and the threads on them. Objects are made before `run`, in no simulated time.

    Args:
        nodes: how many hosts, numbered from 0.
        hardware: a profile's name or file, or a mapping that starts from one.

    Raises:
        InputError: there is no such hardware.
        ValueError: (all methods) a number that names nothing, or a size that does not fit.
    """

    def __init__(self, *, nodes: int = 2,
                 hardware: str | os.PathLike[str] | Mapping[str, Any] = "cx5-roce-25g") -> None:
        self._machine = _core.VerbsMachine(yaml_text(hardware), at_least("nodes", nodes, 1, most=_NODES_MAX))
        self._threads: list[tuple[Thread, Generator[Call, Any, Any]]] = []
        self._nodes = nodes
        self._ran = False

    def _node(self, node: int) -> int:
        if not 0 <= _whole("node", node) < self._nodes:
            raise ValueError(f"node: expected 0 to {self._nodes - 1}, found {node}")
        return node

    def register(self, node: int, length: int, *, device: bool = False, relaxed_ordering: bool = False) -> MemoryRegion:
        """New memory of a host, zeroed and registered with all rights (``ibv_reg_mr``; `device`: ``ibv_alloc_dm``)."""
        length = at_least("length", length, 1, most=WORD_MAX)
        base, lkey, rkey = self._machine.register_memory(self._node(node), length, device, relaxed_ordering)
        return MemoryRegion(node, base, length, lkey, rkey)

    def create_cq(self, node: int, entries: int = 64) -> CompletionQueue:
        """``ibv_create_cq``."""
        return CompletionQueue(self._machine.create_cq(self._node(node), at_least("entries", entries, 1, most=_NUMBER_MAX)), node)

    def create_qp(self, node: int, send_cq: CompletionQueue, recv_cq: CompletionQueue | None = None, *,
                  type: str = "RC", send: int = 16, recv: int = 16) -> QueuePair:
        """``ibv_create_qp``: of type "RC", "UC" or "UD", with so many entries; receives complete in `send_cq` unless
        `recv_cq` is given."""
        sends = _a(CompletionQueue, "send_cq", send_cq)
        receives = sends if recv_cq is None else _a(CompletionQueue, "recv_cq", recv_cq)
        if not isinstance(type, str):
            raise TypeError(f"type: expected RC, UC or UD, found {type!r}")
        number = self._machine.create_qp(self._node(node), type, sends.number, receives.number,
                                         at_least("send", send, 0, most=_NUMBER_MAX),
                                         at_least("recv", recv, 0, most=_NUMBER_MAX))
        return QueuePair(number, node)

    def connect(self, a: QueuePair, b: QueuePair) -> None:
        """Brings both to RTS, as peers (``ibv_modify_qp``)."""
        self._machine.connect(_a(QueuePair, "a", a).number, _a(QueuePair, "b", b).number)

    def activate(self, qp: QueuePair, qkey: int = 0) -> None:
        """Brings a UD queue pair to RTS."""
        self._machine.activate(_a(QueuePair, "qp", qp).number, at_least("qkey", qkey, 0, most=_NUMBER_MAX))

    def post_recv(self, qp: QueuePair, buffer: MemoryRegion | None = None, *, wr_id: int = 0) -> None:
        """A receive that is there from the start."""
        if not self._machine.post_recv(_a(QueuePair, "qp", qp).number, at_least("wr_id", wr_id, 0, most=WORD_MAX),
                                       *_scatter("buffer", buffer)):
            raise VerbsError(f"post_recv: queue pair {qp.number} takes no more receives")

    def read(self, region: MemoryRegion) -> bytes:
        """What memory holds."""
        _a(MemoryRegion, "region", region)
        return self._machine.read(region.node, region.address, region.length)

    def write(self, region: MemoryRegion, data: bytes) -> None:
        """Sets memory from the region's start on."""
        _a(MemoryRegion, "region", region)
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"data: expected bytes, found {data!r}")
        data = bytes(data)
        if len(data) > region.length:
            raise ValueError(f"data: expected at most {region.length} bytes, found {len(data)}")
        self._machine.write(region.node, region.address, data)

    def word(self, region: MemoryRegion) -> int:
        """The first 8 bytes of a region as a number."""
        return int.from_bytes(self.read(_a(MemoryRegion, "region", region)[:_WORD]), "little")

    def spawn(self, node: int, program: Program, *arguments: Any) -> Thread:
        """A thread of a host, which starts at time 0: ``program(thread, *arguments)`` is its generator."""
        thread = Thread(self._node(node))
        if not callable(program):
            raise TypeError(f"program: expected a generator function, which yields calls, found {program!r}")
        generator = program(thread, *arguments)
        if not isinstance(generator, Generator):
            raise TypeError(f"program: expected a generator function, which yields calls, found {program!r}")
        warn_of_forgotten(program)
        self._threads.append((thread, generator))
        return thread

    def run(self, *, max_events: int = 1_000_000_000) -> int:
        """Until every thread has ended and nothing is under way; once. What a generator raises comes out.

        Returns:
            the simulated time at the end, in picoseconds.

        Raises:
            RunError: nothing is left to happen and threads still wait, or there are too many events.
        """
        max_events = at_least("max_events", max_events, 0, most=WORD_MAX)
        if self._ran:
            raise RuntimeError("expected a machine that has not run yet")
        self._ran = True
        generators = [(thread.node, generator) for thread, generator in self._threads]
        returned, now = self._machine.run(generators, Completion, VerbsError, max_events)
        for (thread, _), value in zip(self._threads, returned):
            thread.returned = value
        return int(now)
