"""Programs in Python: generator functions as simulated threads.

    import loco_sim as ls

    def sender(ctx):
        yield ctx.put("z", node=2, value=1)
        v = yield ctx.get("z", node=2)
        return v

    r = ls.Program(nodes={1: sender}).run(hardware="cx5-roce-25g")
    r.returned[1]

Each ``yield`` is one operation of the thread; what it evaluates to is the operation's result. Everything between two
yields takes no simulated time. Helpers are called with ``yield from``.
"""

from __future__ import annotations

import functools
import operator
import os
import sys
import warnings
from contextlib import suppress
from numbers import Integral
from typing import Any, Callable, Generator, Iterable, Mapping, ParamSpec, Sequence, Union

from . import _core
from .errors import _input_error
from .measured import Latency
from .result import Result, require_flag
from .scenario import Scenario
from .units import at_least, parse_quantity

__all__ = ["Context", "Program", "ProgramResult"]

WORD = 8
LINE = 64
_MASK = 2**64 - 1

(_NOW, _COMPUTE, _LOAD, _STORE, _CAS, _FENCE, _PUT_VALUE, _PUT, _GET_VALUE, _GET, _FETCH_ADD, _COMPARE_SWAP, _WAIT,
 _REMOTE_FENCE, _WAIT_UNTIL, _BARRIER) = (_core.OPERATIONS[name] for name in (
     "now", "compute", "load", "store", "cas", "fence", "put_value", "put", "get_value", "get", "fetch_add", "compare_swap",
     "wait", "remote_fence", "wait_until", "barrier"))

_SIZED = ("star", "ring")
"""Kinds of topology that have as many nodes as one asks for."""

_COMPARISONS = _core.COMPARISONS


class Operation(tuple[int, ...]):
    """What a thread is to do next: made by a `Context`, done when it is yielded. One that never is warns, and names the
    line that made it."""

    made: tuple[str, int] | None = None
    """File and line; None once it has been yielded."""

    def __del__(self) -> None:
        if self.made is not None:
            file, line = self.made
            warnings.warn_explicit("an operation was made here and never yielded, so it was not done: put `yield` in "
                                   "front of it", RuntimeWarning, file, line)


_Given = ParamSpec("_Given")
_Numbers = tuple[int, ...]


def _operation(method: Callable[_Given, _Numbers]) -> Callable[_Given, Operation]:
    """Of a method whose numbers say what to do: an operation, which knows the line that made it."""
    @functools.wraps(method)
    def made(*args: _Given.args, **named: _Given.kwargs) -> Operation:
        operation = Operation(method(*args, **named))
        caller = sys._getframe(1)
        operation.made = (caller.f_code.co_filename, caller.f_lineno)
        return operation
    return made


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
    return number & _MASK


Node = Callable[["Context"], Generator[Operation, Any, Any]]


class _Memory:
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
            raise TypeError(f"expected the name of a variable, found {name!r}")
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
            raise IndexError(f"{name}: expected an index from 0 to {size // WORD - 1}, found {number}")
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

    __slots__ = ("_barriers", "_memory", "_samples", "node", "nodes", "thread")

    def __init__(self, node: int, nodes: int, thread: int, memory: _Memory, barriers: Mapping[str, int],
                 samples: dict[str, list[tuple[int, int]]]) -> None:
        self.node, self.nodes, self.thread = node, nodes, thread
        self._memory, self._barriers, self._samples = memory, barriers, samples

    @_operation
    def now(self) -> _Numbers:
        """Result: picoseconds since the run began. Takes no time itself."""
        return (_NOW,)

    @_operation
    def compute(self, time: int | str) -> _Numbers:
        """Work that takes this long: picoseconds, or text such as "2us"."""
        if isinstance(time, str):
            amount, kind = parse_quantity(time)
            if kind != "duration":
                raise ValueError(f"time: expected a time such as 50ns, found {time!r}")
            time = amount
        picoseconds = _integer("time", time)
        if not 0 <= picoseconds < 2**63:
            raise ValueError(f"time: expected 0 to 2^63 - 1 picoseconds, found {picoseconds}")
        return (_COMPUTE, picoseconds)

    @_operation
    def load(self, name: str, index: int = 0) -> _Numbers:
        """Reads a word of this node's copy. Result: its value."""
        return (_LOAD, self._memory.word(name, index))

    @_operation
    def store(self, name: str, value: int, index: int = 0) -> _Numbers:
        """Writes a word of this node's copy, through the store buffer."""
        return (_STORE, self._memory.word(name, index), _word("value", value))

    @_operation
    def cas(self, name: str, expected: int, desired: int, index: int = 0) -> _Numbers:
        """Locked compare-and-swap on this node's copy. Result: the old value."""
        return (_CAS, self._memory.word(name, index), _word("expected", expected), _word("desired", desired))

    @_operation
    def fence(self) -> _Numbers:
        """mfence: until this thread's stores are in memory."""
        return (_FENCE,)

    @_operation
    def wait_until(self, name: str, comparison: str, value: int, index: int = 0) -> _Numbers:
        """Polls a word of this node's copy until it compares so (==, !=, >=, <=). Result: the value seen."""
        if not isinstance(comparison, str) or comparison not in _COMPARISONS:
            raise ValueError(f"comparison: expected one of {', '.join(_COMPARISONS)}, found {comparison!r}")
        return (_WAIT_UNTIL, self._memory.word(name, index), _COMPARISONS[comparison], _word("value", value))

    @_operation
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

    @_operation
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

    @_operation
    def fetch_add(self, name: str, node: int, add: int, *, index: int = 0, wait: bool = True) -> _Numbers:
        """Remote atomic fetch-and-add. Result: the old value, or a handle with ``wait=False``."""
        return (_FETCH_ADD, _word("node", node), self._memory.word(name, index), _word("add", add), bool(wait))

    @_operation
    def compare_swap(self, name: str, node: int, expected: int, desired: int, *, index: int = 0,
                     wait: bool = True) -> _Numbers:
        """Remote atomic compare-and-swap. Result: the old value, or a handle with ``wait=False``."""
        return (_COMPARE_SWAP, _word("node", node), self._memory.word(name, index), _word("expected", expected),
                _word("desired", desired), bool(wait))

    @_operation
    def wait(self, handle: int) -> _Numbers:
        """Until one of the thread's last 64 remote operations is complete. Result: its value, if it has one."""
        return (_WAIT, at_least("handle", handle, 0, most=_MASK))

    @_operation
    def rfence(self, node: int) -> _Numbers:
        """Remote fence: later operations towards `node` begin after the earlier ones towards it. Does not wait."""
        return (_REMOTE_FENCE, _word("node", node))

    @_operation
    def barrier(self, name: str = "barrier") -> _Numbers:
        """LOCO's barrier: until every participant is there, with everything done that they did before."""
        if not isinstance(name, str) or name not in self._barriers:
            raise ValueError(f"barrier: expected one that Program(barriers=...) names, found {name!r}")
        return (_BARRIER, self._barriers[name])

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


def _end(generator: Generator[Operation, Any, Any]) -> None:
    """Runs the `finally` of what a failed run has left under way, as far as its first operation, which nobody can do any
    more. `close()` takes that for an error, in place of the run's."""
    with suppress(GeneratorExit, StopIteration):
        left = generator.throw(GeneratorExit)
        if isinstance(left, Operation):
            left.made = None  # yielded, after all


class ProgramResult(Result):
    """A `Result`, and what the threads returned.

    Attributes:
        returned: by node, what its thread returned; a list for a node with several threads.
    """

    returned: dict[int, Any]


class _ProgramScenario(Scenario):
    """The surroundings of a program: a scenario whose workload is the program."""

    _stands_alone = False

    def effective(self) -> dict[str, Any]:
        kept = {k: v for k, v in super().effective().items() if not k.startswith("workload.")}
        return {**kept, "workload.kind": "program"}

    @property
    def workload(self) -> str:
        return "program"


def _latency(spans: list[tuple[int, int]]) -> Latency:
    """What `Context.sample` was told, in order of completion."""
    ordered = sorted(spans, key=lambda span: span[1])
    return Latency([until - since for since, until in ordered], [until for _, until in ordered])


def _threads(node: int, functions: Union[Node, Sequence[Node]]) -> list[Node]:
    """Those of a node. A generator is none: each run has its own."""
    if callable(functions):
        return [functions]
    is_list = isinstance(functions, Iterable) and not isinstance(functions, Generator)
    found: list[Any] = list(functions) if is_list else [functions]
    if not all(map(callable, found)):
        raise TypeError(f"nodes: {node}: expected a generator function, or a list of them, found {functions!r}")
    return found


def _names(barriers: Sequence[str]) -> list[str]:
    found: list[Any] = list(barriers) if isinstance(barriers, Iterable) else [barriers]
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"barriers: expected names, found {name!r}")
    return found


class Program:
    """Simulated threads written as generator functions.

    Args:
        nodes: for each node, by number, a generator function that takes a `Context`, or a list of them: one thread
            each.
        arrays: names and sizes in bytes of variables with more than one word.
        barriers: name or names of barriers; all threads of the program take part in each, the same number on each node.
        variables: how many other variables there may be; they come into being when they are first named.
    """

    def __init__(self, nodes: Mapping[int, Union[Node, Sequence[Node]]], *, arrays: Mapping[str, int] | None = None,
                 barriers: str | Sequence[str] = (), variables: int = 1024) -> None:
        if not isinstance(nodes, Mapping):
            raise TypeError(f"nodes: expected a mapping from numbers of nodes to generator functions, found {nodes!r}")
        for number in nodes:
            if not isinstance(number, Integral) or number < 0:
                raise ValueError(f"nodes: expected a number of a node, found {number!r}")
        self._nodes: dict[int, list[Node]] = {int(number): _threads(number, nodes[number]) for number in sorted(nodes)}
        if not self._nodes or not all(self._nodes.values()):
            raise ValueError("nodes: expected at least one thread on each node that is named")
        if arrays is not None and not isinstance(arrays, Mapping):
            raise TypeError(f"arrays: expected a mapping from names to sizes in bytes, found {arrays!r}")
        self._arrays = dict(arrays or {})
        self._barriers = [barriers] if isinstance(barriers, str) else _names(barriers)
        self._variables = at_least("variables", variables, 0)
        if self._barriers and len({len(f) for f in self._nodes.values()}) > 1:
            raise ValueError("barriers: expected the same number of threads on each node that takes part")

    def run(self, hardware: str | os.PathLike[str] | Mapping[str, Any] = "cx5-roce-25g", *, nodes: int | None = None,
            topology: str | Mapping[str, Any] = "star", seed: int = 1, schedule: str = "timed",
            check: str | Sequence[str] = ("rdmawait", "sv", "bal"), overrides: Mapping[str, Any] | None = None,
            stop: _core.StopFlag | None = None) -> ProgramResult:
        """Runs the program.

        Args:
            hardware: a profile by name or path, or a mapping such as ``{"base": "cx5-roce-25g", "nic": {...}}``.
            nodes: number of nodes; by default just enough of a star or ring for those that run threads, and one more
                when that is a single one, which would have nobody to talk to. Other topologies say by their own keys how
                many there are: ``"leaf_spine"`` has 16, ``{"kind": "leaf_spine", "leaves": 2, "hosts_per_leaf": 2}`` 4.
            topology: a kind, or a mapping as in a scenario.
            seed, schedule, check: as in a scenario.
            overrides: dotted keys of the scenario, e.g. ``{"fabric.link.delay": "1us"}``.
            stop: see `run`.

        Raises:
            InputError: a mistake in these arguments.
            RunError: a deadlock, a failed operation that no thread caught, too many events.
            Exception: what a generator raised comes out unchanged.
        """
        require_flag(stop)
        place = dict(topology) if isinstance(topology, Mapping) else {"kind": topology}
        if nodes is not None:
            place["nodes"] = nodes
        elif place.get("kind", "star") in _SIZED:
            place.setdefault("nodes", max(self._nodes) + (2 if len(self._nodes) == 1 else 1))
        # The workload is a placeholder that the loader accepts anywhere; the program takes its place.
        scenario = _ProgramScenario(
            {"name": "program", "hardware": hardware, "topology": place, "seed": seed, "schedule": schedule,
             "check": list(check) if isinstance(check, Iterable) and not isinstance(check, str) else [check], "workload": {"kind": "barrier"}},
            overrides=overrides)
        if max(self._nodes) >= scenario.nodes:
            raise ValueError(f"nodes: expected more than {max(self._nodes)}, found {scenario.nodes}")
        if scenario.effective()["fabric.model"] == "flow":
            expected = "packet for a program, whose generators cannot go to the process that a run on flows has"
            raise _input_error(f'fabric.model: expected {expected}, found "flow"', key="fabric.model", expected=expected,
                               found='"flow"')
        memory = _Memory(self._arrays, self._variables)
        barriers = {name: i for i, name in enumerate(self._barriers)}
        samples: dict[str, list[tuple[int, int]]] = {}
        generators = []
        for number, functions in self._nodes.items():
            for thread, function in enumerate(functions):
                generator = function(Context(number, scenario.nodes, thread, memory, barriers, samples))
                if not isinstance(generator, Generator):
                    raise TypeError(f"nodes: {number}: expected a generator function, which yields its operations; "
                                    f"{getattr(function, '__name__', function)!r} returned {generator!r}")
                generators.append((number, generator))
        try:
            finished, returned = _core.run_program(
                scenario._core, memory.bytes, memory.name_of,
                [(name, list(self._nodes), len(next(iter(self._nodes.values())))) for name in self._barriers],
                generators, stop)
        finally:
            for _, generator in generators:
                _end(generator)
        return self._result(scenario, finished, returned, samples)

    def _result(self, scenario: Scenario, finished: _core.Finished, returned: list[Any],
                samples: dict[str, list[tuple[int, int]]]) -> ProgramResult:
        result = ProgramResult(scenario, finished)
        values = iter(returned)
        result.returned = {}
        for number, functions in self._nodes.items():
            each = [next(values) for _ in functions]
            result.returned[number] = each[0] if len(each) == 1 else each
        if samples:
            spans = [span for of_name in samples.values() for span in of_name]
            result.operations = {name: _latency(of_name) for name, of_name in samples.items()}
            result.operations_done = len(spans)
            result.measured_ps = max(b for _, b in spans) - min(a for a, _ in spans)
            if result.measured_ps > 0:
                result.operations_per_second = len(spans) / (result.measured_ps * 1e-12)
        return result
