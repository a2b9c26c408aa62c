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
    r = machine.run()
    thread.returned, machine.word(there[8:16])          # ("success", 42)
    r.check("rdmatso"), r.why()                         # consistent; no races

Each ``yield`` is one call of the thread, which takes simulated time; what it evaluates to is the call's result.
Everything between two yields takes none. Helpers are called with ``yield from``. What goes wrong with an operation is
the status of its completion, as on a NIC; `VerbsError` is raised where ``ibv_post_send`` would return an error.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generator, Iterable, Mapping, Sequence

from . import _core
from ._verbs_values import (Access, AsyncEvent, Call, Completion, CompletionQueue, MemoryRegion, Place, Program,
                            QueuePair, Race, Races, Request, Run, SharedReceiveQueue, VerbsError, _MASK, _NUMBER_MAX,
                            _TIME_MAX, _Values, _a, _modification, _receive, _receives, _rights, _scatter, _whole, races)
from .context import operation
from .forgotten import warn_of_forgotten
from .scenario import Scenario
from .units import WORD_MAX, at_least

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["Access", "AsyncEvent", "Completion", "CompletionQueue", "Machine", "MemoryRegion", "QueuePair", "Race", "Races", "Request",
           "Run", "SharedReceiveQueue", "Thread", "VerbsError", "races"]


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


(_NOW, _COMPUTE, _LOAD, _STORE, _FENCE, _POST_SEND, _POST_RECV, _POST_SRQ_RECV, _POLL_CQ, _WAIT_CQ, _WAIT_FOR_CHANGE,
 _LOAD_FLAG, _COMPARE_SWAP, _SRQ_LIMIT, _MODIFY_QP, _ASYNC_EVENT) = (
    _core.VERBS_CALLS[name] for name in ("now", "compute", "load", "store", "fence", "post_send", "post_recv",
                                         "post_srq_recv", "poll_cq", "wait_cq", "wait_for_change", "load_flag",
                                         "compare_swap", "srq_limit", "modify_qp", "async_event"))
_SIZED = ("star", "ring")
_SCENARIO_NODES_MAX = 1024
_WORD = 8
_NODES_MAX = 65_536
_GPUS_MAX = 63
_SOCKETS_MAX = 255
_NICS_MAX = 255
_PORTS_MAX = 255


class _Surroundings(Scenario):
    """Hardware, network, schedule and seed of a machine: a scenario whose workload is the programs."""

    _stands_alone = False

    @property
    def workload(self) -> str:
        return "verbs"


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
        request = Request(opcode, local, remote, imm, wr_id, signaled, fence, inline, compare_add, swap, remote_qp,
                          remote_qkey)
        return (_POST_SEND, _a(QueuePair, "qp", qp).number, (request._values(),))

    @operation
    def post_sends(self, qp: QueuePair, requests: Sequence[Request]) -> _Values:
        """``ibv_post_send`` with a list of requests and one doorbell: all are taken or none. Gives None; raises
        `VerbsError`."""
        listed = tuple(requests)
        if not listed or not all(isinstance(one, Request) for one in listed):
            raise TypeError(f"requests: expected at least one Request, found {requests!r}")
        return (_POST_SEND, _a(QueuePair, "qp", qp).number, tuple(one._values() for one in listed))

    @operation
    def post_recv(self, qp: QueuePair, buffer: MemoryRegion | None = None, *, wr_id: int = 0) -> _Values:
        """``ibv_post_recv`` with one request; without a buffer, for writes with immediate data. Gives None; raises
        `VerbsError`."""
        return (_POST_RECV, _a(QueuePair, "qp", qp).number, (_receive(buffer, wr_id),))

    @operation
    def post_recvs(self, qp: QueuePair, buffers: Sequence[MemoryRegion | None], *, wr_ids: Sequence[int] | None = None) -> _Values:
        """The same with a list; `wr_ids`: 0, 1, ... unless given."""
        return (_POST_RECV, _a(QueuePair, "qp", qp).number, _receives(buffers, wr_ids))

    @operation
    def post_srq_recv(self, srq: SharedReceiveQueue, buffer: MemoryRegion | None = None, *, wr_id: int = 0) -> _Values:
        """``ibv_post_srq_recv`` with one request. Gives None; raises `VerbsError`."""
        return (_POST_SRQ_RECV, _a(SharedReceiveQueue, "srq", srq).number, (_receive(buffer, wr_id),))

    @operation
    def post_srq_recvs(self, srq: SharedReceiveQueue, buffers: Sequence[MemoryRegion | None], *,
                       wr_ids: Sequence[int] | None = None) -> _Values:
        """The same with a list; `wr_ids`: 0, 1, ... unless given."""
        return (_POST_SRQ_RECV, _a(SharedReceiveQueue, "srq", srq).number, _receives(buffers, wr_ids))

    @operation
    def srq_limit_reached(self, srq: SharedReceiveQueue) -> _Values:
        """``IBV_EVENT_SRQ_LIMIT_REACHED``: takes the event. Gives 1 when it had come, else 0."""
        return (_SRQ_LIMIT, _a(SharedReceiveQueue, "srq", srq).number)

    @operation
    def get_async_event(self) -> _Values:
        """``ibv_get_async_event`` without waiting. Gives the next `AsyncEvent` of this host that none of its threads has
        taken, or None."""
        return (_ASYNC_EVENT,)

    @operation
    def modify_qp(self, qp: QueuePair, to: str, **attributes: Any) -> _Values:
        """``ibv_modify_qp``, in no simulated time: see `Machine.modify_qp`. Gives None; raises `VerbsError`."""
        return (_MODIFY_QP, _a(QueuePair, "qp", qp).number, _modification(to, attributes))

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
    def load_flag(self, place: Place) -> _Values:
        """The same of a word by which others tell something, as a volatile or atomic access does. Gives an integer."""
        return (_LOAD_FLAG, self._address(place))

    @operation
    def compare_swap(self, place: Place, expected: int, desired: int) -> _Values:
        """The CPU's locked compare-and-swap of such a word. Gives the old value."""
        return (_COMPARE_SWAP, self._address(place), _whole("expected", expected) & _MASK,
                _whole("desired", desired) & _MASK)

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
    """Hosts with NICs, and the threads on them. Objects are made before `run`, in no simulated time.

    Args:
        nodes: how many hosts, numbered from 0; 2, or what the topology has.
        hardware: a profile's name or file, or a mapping that starts from one.
        topology: a kind, or a mapping as in a scenario.
        hosts: what hosts have that the others have not, as in a scenario: ``[{"nodes": [0], "hardware": "cx7-ib-ndr",
            "nics": 2, "devices": [{"kind": "gpu", "count": 4, "switch": 0}]}]``.
        schedule: "timed": events in the order of time; "random", "adversarial": in other orders, drawn from `seed`, for
            programs that must be right in all. None: timed, or random on hardware without times ("model-weak"): such a
            run shows one of the things that may happen.
        seed: of the schedule, and of what the network draws.
        trace: what is recorded: "subevents"; "packets": also packets, TLPs, doorbells, completions; "none".
        overrides: dotted keys of a scenario, e.g. ``{"fabric.loss": 100, "fabric.link.delay": "1us"}``, faults
            (``{"faults": [...]}``) and failures included.

    Raises:
        InputError: there is no such hardware, topology, key.
        ValueError: (all methods) a number that names nothing, or a size that does not fit.
    """

    def __init__(self, *, nodes: int | None = None,
                 hardware: str | os.PathLike[str] | Mapping[str, Any] = "cx5-roce-25g",
                 topology: str | Mapping[str, Any] = "star", hosts: Sequence[Mapping[str, Any]] = (),
                 schedule: str | None = None, seed: int = 1, trace: str = "subevents",
                 overrides: Mapping[str, Any] | None = None) -> None:
        place = dict(topology) if isinstance(topology, Mapping) else {"kind": topology}
        sized = place.get("kind", "star") in _SIZED and "nodes" not in place
        count = None if nodes is None else at_least("nodes", nodes, 1, most=_NODES_MAX)
        if count is None and sized:
            count = 2
        if sized:  # a scenario has two hosts at least, for its workloads
            place["nodes"] = min(max(2, count or 2), _SCENARIO_NODES_MAX)
        said: dict[str, Any] = {} if schedule is None else {"schedule": schedule}
        if hosts:
            said["hosts"] = [dict(host) for host in hosts]
        scenario = _Surroundings({"name": "verbs", "hardware": hardware, "topology": place, "seed": seed, "check": [],
                                  "trace": {"level": trace}, "workload": {"kind": "barrier"}, **said}, overrides=overrides)
        if count is None:
            count = scenario.nodes
        if not sized and count > scenario.nodes:
            raise ValueError(f"nodes: expected at most the topology's {scenario.nodes}, found {count}")
        scheduled = schedule is not None or "schedule" in (overrides or {})
        self._machine = _core.VerbsMachine(scenario._core, count if sized else scenario.nodes, scheduled)
        self._threads: list[tuple[Thread, Generator[Call, Any, Any]]] = []
        self._nodes = count
        self._ran = False

    @property
    def schedule(self) -> str:
        """"timed", "random" or "adversarial"."""
        return self._machine.schedule

    @property
    def counters(self) -> dict[str, int]:
        """What the simulated hardware has counted until now."""
        return self._machine.counters()

    def _node(self, node: int) -> int:
        if not 0 <= _whole("node", node) < self._nodes:
            raise ValueError(f"node: expected 0 to {self._nodes - 1}, found {node}")
        return node

    def register(self, node: int, length: int, *, access: Iterable[str] | None = None, device: bool = False,
                 relaxed_ordering: bool = False, gpu: int | None = None, numa: int = 0, nic: int = 0) -> MemoryRegion:
        """New memory of a host, zeroed and registered (``ibv_reg_mr``; `device`: ``ibv_alloc_dm``).

        Args:
            gpu: in the memory of this GPU of the host, whose own threads' loads and stores cost what those of a CPU do.
            numa: in the host's memory, behind this socket (``hosts: [{"pcie": {"sockets": 2}}]``).
            nic: with `device`: on this NIC of the host, which the others reach as a peer.
            access: rights, of "local_write", "remote_write", "remote_read" and "remote_atomic"; None: all.
        """
        length = at_least("length", length, 1, most=WORD_MAX)
        base, lkey, rkey = self._machine.register_memory(
            self._node(node), length, _rights(access), device, relaxed_ordering,
            0 if gpu is None else at_least("gpu", gpu, 0, most=_GPUS_MAX) + 1, at_least("numa", numa, 0, most=_SOCKETS_MAX),
            at_least("nic", nic, 0, most=_NICS_MAX))
        return MemoryRegion(node, base, length, lkey, rkey)

    def register_again(self, region: MemoryRegion, *, access: Iterable[str] | None = None,
                       relaxed_ordering: bool = False) -> MemoryRegion:
        """Another registration of memory that has one: the same bytes by other keys, with other rights."""
        _a(MemoryRegion, "region", region)
        lkey, rkey = self._machine.register_again(region.node, region.address, region.length, _rights(access),
                                                  relaxed_ordering)
        return replace(region, lkey=lkey, rkey=rkey)

    def declare_flag(self, place: MemoryRegion) -> None:
        """By this word others tell something: accesses to it that nothing orders are no race. Words that a thread waits
        for (`Thread.wait_for_change`, `Thread.load_flag`) and those of atomics are flags without being declared."""
        _a(MemoryRegion, "place", place)
        self._machine.declare_flag(place.node, place.address - place.address % _WORD)

    def create_cq(self, node: int, entries: int = 64) -> CompletionQueue:
        """``ibv_create_cq``."""
        return CompletionQueue(self._machine.create_cq(self._node(node), at_least("entries", entries, 1, most=_NUMBER_MAX)), node)

    def create_qp(self, node: int, send_cq: CompletionQueue, recv_cq: CompletionQueue | None = None, *,
                  type: str = "RC", send: int = 16, recv: int = 16, srq: SharedReceiveQueue | None = None,
                  nic: int = 0, port: int = 0) -> QueuePair:
        """``ibv_create_qp`` on that NIC of the host, bound to that port of it (``port_num`` - 1): of type "RC", "UC" or "UD",
        with so many entries; receives complete in `send_cq` unless `recv_cq` is given, and are taken from `srq` if that
        is."""
        sends = _a(CompletionQueue, "send_cq", send_cq)
        receives = sends if recv_cq is None else _a(CompletionQueue, "recv_cq", recv_cq)
        if not isinstance(type, str):
            raise TypeError(f"type: expected RC, UC or UD, found {type!r}")
        number = self._machine.create_qp(self._node(node), type, sends.number, receives.number,
                                         at_least("send", send, 0, most=_NUMBER_MAX),
                                         at_least("recv", recv, 0, most=_NUMBER_MAX),
                                         None if srq is None else _a(SharedReceiveQueue, "srq", srq).number,
                                         at_least("nic", nic, 0, most=_NUMBER_MAX),
                                         at_least("port", port, 0, most=_PORTS_MAX))
        return QueuePair(number, node)

    def create_srq(self, node: int, entries: int = 64, *, limit: int = 0) -> SharedReceiveQueue:
        """``ibv_create_srq``; `limit`: `Thread.srq_limit_reached` says when fewer receives are left; 0: never."""
        number = self._machine.create_srq(self._node(node), at_least("entries", entries, 1, most=_NUMBER_MAX))
        if limit:
            self._machine.set_srq_limit(number, at_least("limit", limit, 0, most=entries))
        return SharedReceiveQueue(number, node)

    def modify_qp(self, qp: QueuePair, to: str, **attributes: Any) -> None:
        """``ibv_modify_qp``: to "reset", "init", "rtr", "rts", "sqd" or "error", with the refusals of the specification's
        state diagram; raises `VerbsError`.

        Args:
            attributes: dest_qp (a `QueuePair`), rq_psn, sq_psn, max_rd_atomic, max_dest_rd_atomic, retry_count, rnr_retry,
                path_mtu (bytes), qkey; timeout and min_rnr_timer in picoseconds.
        """
        refused = self._machine.modify_qp(_a(QueuePair, "qp", qp).number, _modification(to, attributes))
        if refused:
            raise VerbsError(f"modify_qp: queue pair {qp.number} to {to}: {refused}")

    def state(self, qp: QueuePair) -> str:
        """The state that a queue pair is in."""
        return self._machine.qp_state(_a(QueuePair, "qp", qp).number)

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

    def post_srq_recv(self, srq: SharedReceiveQueue, buffer: MemoryRegion | None = None, *, wr_id: int = 0) -> None:
        """The same for queue pairs that share their receives."""
        if not self._machine.post_srq_recv(_a(SharedReceiveQueue, "srq", srq).number, *_receive(buffer, wr_id)):
            raise VerbsError(f"post_srq_recv: shared receive queue {srq.number} takes no more receives")

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

    def run(self, *, max_events: int = 1_000_000_000) -> Run:
        """Until every thread has ended and nothing is under way; once. What a generator raises comes out.

        Returns:
            the simulated time at the end in picoseconds, with what was recorded: ``r.check("rdmatso")``, ``r.why()``.

        Raises:
            RunError: nothing is left to happen and threads still wait, or there are too many events; it has the trace.
        """
        from .trace import Trace

        max_events = at_least("max_events", max_events, 0, most=WORD_MAX)
        if self._ran:
            raise RuntimeError("expected a machine that has not run yet")
        self._ran = True
        generators = [(thread.node, generator) for thread, generator in self._threads]
        returned, now = self._machine.run(generators, Completion, AsyncEvent, VerbsError, max_events)
        for (thread, _), value in zip(self._threads, returned):
            thread.returned = value
        run = Run(now)
        run.trace = None if self._machine.trace is None else Trace(self._machine.trace)
        run.counters = self._machine.counters()
        run.schedule = self._machine.schedule
        return run
