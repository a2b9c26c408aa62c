"""What a simulated thread of a `Program` may do: the operations that it yields, and the variables that they are on."""

from __future__ import annotations

import functools
import operator
import sys
import warnings
from contextlib import suppress
from numbers import Integral
from typing import Any, Callable, Generator, Mapping, ParamSpec

from . import _core
from .errors import NoSuchIndex
from .objects import _Object
from .units import WORD_MAX, at_least, parse_quantity

__all__ = ["Context"]

WORD = 8
LINE = 64

(_NOW, _COMPUTE, _LOAD, _STORE, _CAS, _FENCE, _PUT_VALUE, _PUT, _GET_VALUE, _GET, _FETCH_ADD, _COMPARE_SWAP, _WAIT,
 _REMOTE_FENCE, _WAIT_UNTIL, _BARRIER, _OBJECT) = (_core.OPERATIONS[name] for name in (
     "now", "compute", "load", "store", "cas", "fence", "put_value", "put", "get_value", "get", "fetch_add", "compare_swap",
     "wait", "remote_fence", "wait_until", "barrier", "object"))
_CALLS = _core.CALLS

_COMPARISONS = _core.COMPARISONS


class Operation(tuple[Any, ...]):
    """What a thread is to do next: made by a `Context` or a `verbs.Thread`, done when it is yielded. One that never is
    warns, and names the line that made it."""

    made: tuple[str, int] | None = None
    """File and line; None once it has been yielded."""

    def __del__(self) -> None:
        if self.made is not None:
            file, line = self.made
            warnings.warn_explicit("an operation was made here and never yielded, so it was not done: put `yield` in "
                                   "front of it", RuntimeWarning, file, line)


_Given = ParamSpec("_Given")
_Numbers = tuple[int, ...]


def operation(method: Callable[_Given, tuple[Any, ...]]) -> Callable[_Given, Operation]:
    """Of a method whose values say what to do: an operation, which knows the line that made it."""
    @functools.wraps(method)
    def made(*args: _Given.args, **named: _Given.kwargs) -> Operation:
        numbers = Operation(method(*args, **named))
        caller = sys._getframe(1)
        numbers.made = (caller.f_code.co_filename, caller.f_lineno)
        return numbers
    return made


def _picoseconds(time: int | str) -> int:
    if isinstance(time, str):
        amount, kind = parse_quantity(time)
        if kind != "duration":
            raise ValueError(f"time: expected a time such as 50ns, found {time!r}")
        time = amount
    picoseconds = _integer("time", time)
    if not 0 <= picoseconds < 2**63:
        raise ValueError(f"time: expected 0 to 2^63 - 1 picoseconds, found {picoseconds}")
    return picoseconds


def _integer(name: str, value: int) -> int:
    """NumPy's integers as Python's, which do not overflow."""
    if not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected an integer, found {value!r}")
    return operator.index(value)


def _word(name: str, value: int) -> int:
    """A value as the 8 bytes of a word: negative ones in two's complement."""
    number = _integer(name, value)
    if not -2**63 <= number < 2**64:
        raise ValueError(f"{name}: expected an integer from -2^63 to 2^64 - 1, found {number}")
    return number & WORD_MAX


Node = Callable[["Context"], Generator[Operation, Any, Any]]


class Memory:
    """Where each variable lies: the same offset on every node, a cache line of its own."""

    def __init__(self, arrays: Mapping[str, int], variables: int) -> None:
        self.places: dict[str, tuple[int, int]] = {}
        self._next = 0
        for name, size in arrays.items():
            if not isinstance(name, str):
                raise TypeError(f"arrays: expected the name of a variable, found {name!r}")
            if not isinstance(size, Integral) or size < WORD or size % WORD:
                raise ValueError(f"arrays: {name}: expected a size in bytes, a multiple of {WORD}, found {size!r}")
            self.places[name] = (self._next, int(size))
            self._next += -(-int(size) // LINE) * LINE
        self.bytes = self._next + variables * LINE
        if self.bytes >= 2**63:
            raise ValueError(f"arrays, variables: expected less than 2^63 bytes of memory, found {self.bytes}")
        self._variables = variables

    def place(self, name: str) -> tuple[int, int]:
        if not isinstance(name, str):
            raise TypeError(f"name: expected the name of a variable, found {name!r}")
        found = self.places.get(name)
        if found is None:
            if self._next + LINE > self.bytes:
                raise ValueError(f"{name}: the program has more than {self._variables} variables: "
                                 f"Program(variables=...) makes room for more")
            found = self.places[name] = (self._next, WORD)
            self._next += LINE
        return found

    def word(self, name: str, index: int) -> int:
        offset, size = self.place(name)
        number = _integer("index", index)
        if not 0 <= number < size // WORD:
            raise NoSuchIndex(f"index: expected 0 to {size // WORD - 1} of {name}, found {number}")
        return offset + number * WORD

    def name_of(self, offset: int) -> str:
        """What the word there is called, e.g. ``x`` or ``a[3]``; "" when it has no name."""
        for name, (start, size) in self.places.items():
            if start <= offset < start + size:
                return name if size == WORD else f"{name}[{(offset - start) // WORD}]"
        return ""


class Context:
    """What a thread can do: each method makes an operation to ``yield``.

    Variables are named 8-byte words of network memory, unsigned, initially 0, with a copy on every node; arrays (see
    `Program`) have several words. Local operations touch this node's copy, remote ones the copy on `node`. A negative
    value is stored in two's complement; what does not fit into 8 bytes is a ValueError.

    Attributes:
        node: the node that this thread runs on.
        nodes: number of nodes.
        thread: number of the thread among those of its node, from 0.
    """

    __slots__ = ("_barriers", "_memory", "_objects", "_samples", "node", "nodes", "thread")

    def __init__(self, node: int, nodes: int, thread: int, memory: Memory, barriers: Mapping[str, int],
                 samples: dict[str, list[tuple[int, int]]], objects: Mapping[str, tuple[int, _Object]] | None = None) -> None:
        self.node, self.nodes, self.thread = node, nodes, thread
        self._memory, self._barriers, self._samples = memory, barriers, samples
        self._objects = objects or {}

    def _call(self, call: str, name: str, *arguments: int) -> _Numbers:
        found = self._objects.get(name) if isinstance(name, str) else None
        if found is None or call not in found[1].calls:
            able = [known for known, (_, kind) in self._objects.items() if call in kind.calls]
            raise ValueError(f"{call}: expected an object of Program(objects=...) that has it"
                             f"{', ' + ' or '.join(map(repr, able)) if able else ''}, found {name!r}")
        return (_OBJECT, found[0], _CALLS[call], *arguments)

    def _peer(self, node: int) -> int:
        number = _integer("node", node)
        if not 0 <= number < self.nodes:
            raise ValueError(f"node: expected 0 to {self.nodes - 1}, found {number}")
        return number

    @operation
    def now(self) -> _Numbers:
        """Result: picoseconds since the run began. Takes no time itself."""
        return (_NOW,)

    @operation
    def compute(self, time: int | str) -> _Numbers:
        """Work that takes this long: picoseconds, or text such as "2us"."""
        return (_COMPUTE, _picoseconds(time))

    @operation
    def load(self, name: str, index: int = 0) -> _Numbers:
        """Reads a word of this node's copy; of a state table that of node `index`, of an atomic variable the one on its
        home. Result: its value."""
        if isinstance(name, str) and name in self._objects:
            return self._call("load", name, self._peer(index))
        return (_LOAD, self._memory.word(name, index))

    @operation
    def store(self, name: str, value: int, index: int = 0) -> _Numbers:
        """Writes a word of this node's copy, through the store buffer."""
        return (_STORE, self._memory.word(name, index), _word("value", value))

    @operation
    def cas(self, name: str, expected: int, desired: int, index: int = 0) -> _Numbers:
        """Locked compare-and-swap on this node's copy. Result: the old value."""
        return (_CAS, self._memory.word(name, index), _word("expected", expected), _word("desired", desired))

    @operation
    def fence(self) -> _Numbers:
        """mfence: until this thread's stores are in memory."""
        return (_FENCE,)

    @operation
    def wait_until(self, name: str, comparison: str, value: int, index: int = 0) -> _Numbers:
        """Polls a word of this node's copy until it compares so (==, !=, >=, <=). Result: the value seen."""
        if not isinstance(comparison, str) or comparison not in _COMPARISONS:
            raise ValueError(f"comparison: expected one of {', '.join(_COMPARISONS)}, found {comparison!r}")
        return (_WAIT_UNTIL, self._memory.word(name, index), _COMPARISONS[comparison], _word("value", value))

    @operation
    def put(self, name: str, node: int, value: int | None = None, *, index: int = 0, source: str | None = None,
            wait: bool = False) -> _Numbers:
        """RDMA WRITE to the copy on `node`: of `value` to one word, or of this node's copy of `source` (by default of
        the same variable, all its words).

        Does not wait for completion unless told to. Result: a handle for `wait`. A put that is complete has read its
        source; whether the remote memory has the value is another matter.
        """
        offset, size = self._memory.place(name)
        if value is not None and source is not None:
            raise ValueError(f"put: expected a value or a source, found both: {value!r} and {source!r}")
        if value is not None:
            return (_PUT_VALUE, _word("node", node), self._memory.word(name, index), _word("value", value), bool(wait))
        if index != 0:
            raise ValueError(f"index: expected a value for that word, found index={index} and none: all words are written")
        start, length = self._memory.place(source) if source is not None else (offset, size)
        if length != size:
            raise ValueError(f"source: expected {size} bytes as {name} has, found {length}")
        return (_PUT, _word("node", node), offset, size, start, bool(wait))

    @operation
    def get(self, name: str, node: int, *, index: int = 0, into: str | None = None, wait: bool = True) -> _Numbers:
        """RDMA READ of a word of the copy on `node`. Result: its value; with ``wait=False`` a handle, and the value
        comes from `wait`. With `into`, all of the variable is read into this node's copy of `into`; result: a handle.
        """
        if into is None:
            return (_GET_VALUE, _word("node", node), self._memory.word(name, index), bool(wait))
        if index != 0:
            raise ValueError(f"index: expected it without into, found both: all words are read into {into!r}")
        (offset, size), (start, length) = self._memory.place(name), self._memory.place(into)
        if length != size:
            raise ValueError(f"into: expected {size} bytes as {name} has, found {length}")
        return (_GET, _word("node", node), offset, size, start, bool(wait))

    @operation
    def fetch_add(self, name: str, node: int, add: int, *, index: int = 0, wait: bool = True) -> _Numbers:
        """Remote atomic fetch-and-add. Result: the old value, or a handle with ``wait=False``."""
        return (_FETCH_ADD, _word("node", node), self._memory.word(name, index), _word("add", add), bool(wait))

    @operation
    def compare_swap(self, name: str, node: int, expected: int, desired: int, *, index: int = 0,
                     wait: bool = True) -> _Numbers:
        """Remote atomic compare-and-swap. Result: the old value, or a handle with ``wait=False``."""
        return (_COMPARE_SWAP, _word("node", node), self._memory.word(name, index), _word("expected", expected),
                _word("desired", desired), bool(wait))

    @operation
    def wait(self, handle: int) -> _Numbers:
        """Until one of the thread's last 64 remote operations is complete. Result: its value, if it has one."""
        return (_WAIT, at_least("handle", handle, 0, most=WORD_MAX))

    @operation
    def rfence(self, node: int) -> _Numbers:
        """Remote fence: later operations towards `node` begin after the earlier ones towards it. Does not wait."""
        return (_REMOTE_FENCE, _word("node", node))

    @operation
    def barrier(self, name: str = "barrier") -> _Numbers:
        """LOCO's barrier: until every participant is there, with everything done that they did before."""
        if not isinstance(name, str) or name not in self._barriers:
            raise ValueError(f"barrier: expected one that Program(barriers=...) names, found {name!r}")
        return (_BARRIER, self._barriers[name])

    # --- LOCO's objects: Program(objects=...) ---------------------------------------------------------------------------

    @operation
    def write(self, name: str, value: int) -> _Numbers:
        """`Var`, `OwnedVar` (its owner), `StateTable` (this node's word): writes this node's copy. `AtomicVar`: the word."""
        return self._call("write", name, _word("value", value))

    @operation
    def push(self, name: str, node: int) -> _Numbers:
        """`Var`, `OwnedVar`, `StateTable`: puts this node's value to the copy on `node`, until that is complete."""
        return self._call("push", name, self._peer(node))

    @operation
    def broadcast(self, name: str) -> _Numbers:
        """The same, to all other nodes."""
        return self._call("broadcast", name)

    @operation
    def pull(self, name: str, node: int = 0) -> _Numbers:
        """`Var`: gets the copy of `node`; `OwnedVar`: that of the owner; `StateTable`: the word of `node`, from it. Result:
        the value."""
        return self._call("pull", name, self._peer(node))

    @operation
    def add(self, name: str, value: int) -> _Numbers:
        """`AtomicVar`: remote fetch-and-add. Result: the old value."""
        return self._call("add", name, _word("value", value))

    @operation
    def exchange(self, name: str, value: int) -> _Numbers:
        """`AtomicVar`. Result: the old value."""
        return self._call("exchange", name, _word("value", value))

    @operation
    def compare_exchange(self, name: str, expected: int, desired: int) -> _Numbers:
        """`AtomicVar`. Result: the old value, which has been replaced if it is `expected`."""
        return self._call("compare_exchange", name, _word("expected", expected), _word("desired", desired))

    @operation
    def send(self, name: str, value: int) -> _Numbers:
        """`RingBuffer`, its writer: until there is room."""
        return self._call("send", name, _word("value", value))

    @operation
    def try_send(self, name: str, value: int) -> _Numbers:
        """`RingBuffer`, its writer. Result: 1, or 0 when there is no room now."""
        return self._call("try_send", name, _word("value", value))

    @operation
    def receive(self, name: str) -> _Numbers:
        """`RingBuffer`, its readers: until the thread's next message comes. Result: it."""
        return self._call("receive", name)

    @operation
    def try_receive(self, name: str) -> _Numbers:
        """`RingBuffer`, its readers. Result: the thread's next message, or None when it has not come."""
        return self._call("try_receive", name)

    @operation
    def enqueue(self, name: str, value: int) -> _Numbers:
        """`SharedQueue`: until there is room."""
        return self._call("enqueue", name, _word("value", value))

    @operation
    def try_enqueue(self, name: str, value: int) -> _Numbers:
        """`SharedQueue`. Result: 1, or 0 when it is full."""
        return self._call("try_enqueue", name, _word("value", value))

    @operation
    def dequeue(self, name: str) -> _Numbers:
        """`SharedQueue`: until there is an element. Result: it, or None once the queue is closed and empty."""
        return self._call("dequeue", name)

    @operation
    def try_dequeue(self, name: str) -> _Numbers:
        """`SharedQueue`. Result: an element, or None when it is empty."""
        return self._call("try_dequeue", name)

    @operation
    def close(self, name: str) -> _Numbers:
        """`SharedQueue`: no more is pushed, by any node: `enqueue` is a `RunError` from now on, `try_enqueue` gives 0."""
        return self._call("close", name)

    @operation
    def lock(self, name: str) -> _Numbers:
        """`Mutex`: until this thread holds it. Whoever holds it next sees what was written under it."""
        return self._call("lock", name)

    @operation
    def try_lock(self, name: str) -> _Numbers:
        """`Mutex`. Result: 1 if this thread holds it now, else 0."""
        return self._call("try_lock", name)

    @operation
    def try_lock_for(self, name: str, time: int | str) -> _Numbers:
        """`Mutex`: tries for so long, in picoseconds or text such as "2us". Result: 1 if this thread holds it now, else 0."""
        return self._call("try_lock_for", name, _picoseconds(time))

    @operation
    def unlock(self, name: str) -> _Numbers:
        """`Mutex`, by the thread that holds it."""
        return self._call("unlock", name)

    @operation
    def lookup(self, name: str, key: int) -> _Numbers:
        """`KeyValueStore`. Result: the key's value, or None."""
        return self._call("lookup", name, _word("key", key))

    @operation
    def insert(self, name: str, key: int, value: int) -> _Numbers:
        """`KeyValueStore`. Result: 1, or 0 when the key is there already."""
        return self._call("insert", name, _word("key", key), _word("value", value))

    @operation
    def update(self, name: str, key: int, value: int) -> _Numbers:
        """`KeyValueStore`. Result: 1, or 0 when there is no such key."""
        return self._call("update", name, _word("key", key), _word("value", value))

    @operation
    def erase(self, name: str, key: int) -> _Numbers:
        """`KeyValueStore`. Result: 1, or 0 when there is no such key."""
        return self._call("erase", name, _word("key", key))

    def sample(self, name: str, since: int, until: int) -> int:
        """Not an operation: adds a measured time, from `since` to `until` (picoseconds, from `now`), to the result's
        ``operations[name]``. Returns it."""
        if not isinstance(name, str):
            raise TypeError(f"sample: expected a name, found {name!r}")
        if not isinstance(since, Integral) or not isinstance(until, Integral):
            raise TypeError(f"sample: expected two times in picoseconds, as now() gives them, found {since!r} and {until!r}")
        if not 0 <= since <= until:
            raise ValueError(f"sample: expected a begin and a later end, found {since} and {until}")
        self._samples.setdefault(name, []).append((since, until))
        return until - since


def abandon(generator: Generator[Operation, Any, Any]) -> None:
    """Runs the `finally` of what a failed run has left under way, as far as its first operation, which nobody can do any
    more. `close()` takes that for an error, in place of the run's."""
    with suppress(GeneratorExit, StopIteration):
        left = generator.throw(GeneratorExit)
        if isinstance(left, Operation):
            left.made = None  # yielded, after all
