"""LOCO's objects in a `Program`: what ``Program(objects={"name": ...})`` declares, for calls of a `Context`."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import ClassVar

from . import _core
from .units import WORD_MAX, at_least

__all__ = ["AtomicVar", "KeyValueStore", "Mutex", "OwnedVar", "RingBuffer", "SharedQueue", "StateTable", "Var"]


@dataclass(frozen=True)
class _Object:
    kind: ClassVar[str]
    calls: ClassVar[frozenset[str]]

    def __post_init__(self) -> None:
        for each in fields(self):
            least, most = each.metadata.get("least", 0), each.metadata.get("most", 2**32 - 1)
            object.__setattr__(self, each.name, at_least(each.name, getattr(self, each.name), least, most=most))

    def _declared(self, name: str) -> tuple[int, str, list[int]]:
        return _core.OBJECTS[self.kind], name, [getattr(self, each.name) for each in fields(self)]


_OF_COPIES = frozenset({"load", "write", "push", "broadcast", "pull"})


@dataclass(frozen=True)
class Var(_Object):
    """A shared variable (`sv`): a word with a copy on every node, which each node may write and push to the others."""

    kind = "var"
    calls = _OF_COPIES


@dataclass(frozen=True)
class OwnedVar(_Object):
    """A shared variable that one node writes.

    Attributes:
        owner: that node.
    """

    owner: int = 0
    kind = "owned_var"
    calls = _OF_COPIES


@dataclass(frozen=True)
class AtomicVar(_Object):
    """A word on one node that all change with remote atomics.

    Attributes:
        home: that node.
        initial: its value at first.
    """

    home: int = 0
    initial: int = field(default=0, metadata={"most": WORD_MAX})
    kind = "atomic_var"
    calls = frozenset({"load", "write", "add", "exchange", "compare_exchange"})


@dataclass(frozen=True)
class StateTable(_Object):
    """A shared state table (SST): a word a node, which that node writes, with a copy of all of them on every node."""

    kind = "sst"
    calls = _OF_COPIES


@dataclass(frozen=True)
class RingBuffer(_Object):
    """A ring buffer: one node sends words, each reading thread of the others gets all of them, in order.

    Attributes:
        writer: the node whose thread sends; the other nodes of the program receive.
        bytes: of cells: a multiple of 8, at least 16. A message takes 16.
        threads_per_node: reading threads on each of them.
    """

    writer: int = 0
    bytes: int = field(default=4096, metadata={"least": 16})
    threads_per_node: int = field(default=1, metadata={"least": 1})
    kind = "ring"
    calls = frozenset({"send", "try_send", "receive", "try_receive"})


@dataclass(frozen=True)
class SharedQueue(_Object):
    """A queue of words on one node, from which each element goes to one thread.

    Attributes:
        capacity: elements at most.
        home: that node.
    """

    capacity: int = field(default=64, metadata={"least": 1})
    home: int = 0
    kind = "queue"
    calls = frozenset({"enqueue", "try_enqueue", "dequeue", "try_dequeue", "close"})


@dataclass(frozen=True)
class Mutex(_Object):
    """A fair lock.

    Attributes:
        home: the node with its words.
        hand_overs_max: in a row, between threads of one node while others wait.
    """

    home: int = 0
    hand_overs_max: int = 16
    kind = "mutex"
    calls = frozenset({"lock", "try_lock", "try_lock_for", "unlock"})


@dataclass(frozen=True)
class KeyValueStore(_Object):
    """A key-value store of words; a value is not 0.

    Attributes:
        slots_per_node: entries that each node has room for.
    """

    slots_per_node: int = field(default=1024, metadata={"least": 1})
    kind = "store"
    calls = frozenset({"lookup", "insert", "update", "erase"})
