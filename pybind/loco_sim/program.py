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

import os
from numbers import Integral
from typing import Any, Generator, Iterable, Mapping, Sequence, Union

from . import _core
from .context import Context, Memory, Node, abandon
from .errors import _input_error
from .forgotten import warn_of_forgotten
from .measured import Latency
from .objects import _Object
from .result import Result, require_flag
from .scenario import Scenario
from .units import at_least

__all__ = ["Program", "ProgramResult"]

_SIZED = ("star", "ring")
"""Kinds of topology that have as many nodes as one asks for."""


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


def _objects(objects: Any) -> dict[str, _Object]:
    if objects is not None and not isinstance(objects, Mapping):
        raise TypeError(f"objects: expected a mapping from names to objects such as Mutex(), found {objects!r}")
    for name, made in (objects or {}).items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"objects: expected the name of an object, found {name!r}")
        if not isinstance(made, _Object):
            raise TypeError(f"objects: {name}: expected an object such as Mutex(), found {made!r}")
    return dict(objects or {})


class Program:
    """Simulated threads written as generator functions.

    Args:
        nodes: for each node, by number, a generator function that takes a `Context`, or a list of them: one thread
            each.
        arrays: names and sizes in bytes of variables with more than one word.
        barriers: name or names of barriers; all threads of the program take part in each, the same number on each node.
        objects: LOCO's objects by name, e.g. ``{"m": Mutex(home=1), "q": SharedQueue(capacity=8)}``; every node has them.
        variables: how many other variables there may be; they come into being when they are first named.
    """

    def __init__(self, nodes: Mapping[int, Union[Node, Sequence[Node]]], *, arrays: Mapping[str, int] | None = None,
                 barriers: str | Sequence[str] = (), objects: Mapping[str, _Object] | None = None,
                 variables: int = 1024) -> None:
        if not isinstance(nodes, Mapping):
            raise TypeError(f"nodes: expected a mapping from numbers of nodes to generator functions, found {nodes!r}")
        for number in nodes:
            if not isinstance(number, Integral) or number < 0:
                raise ValueError(f"nodes: expected a number of a node, found {number!r}")
        self._nodes: dict[int, list[Node]] = {int(number): _threads(number, nodes[number]) for number in sorted(nodes)}
        if not self._nodes or not all(self._nodes.values()):
            raise ValueError("nodes: expected at least one thread on each node that is named")
        for threads in self._nodes.values():
            for thread in threads:
                warn_of_forgotten(thread)
        if arrays is not None and not isinstance(arrays, Mapping):
            raise TypeError(f"arrays: expected a mapping from names to sizes in bytes, found {arrays!r}")
        self._arrays = dict(arrays or {})
        self._barriers = [barriers] if isinstance(barriers, str) else _names(barriers)
        self._objects = _objects(objects)
        for name in self._objects:
            if name in self._arrays or name in self._barriers:
                raise ValueError(f"objects: {name}: an array or a barrier has that name")
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
        memory = Memory(self._arrays, self._variables)
        barriers = {name: i for i, name in enumerate(self._barriers)}
        objects = {name: (i, made) for i, (name, made) in enumerate(self._objects.items())}
        samples: dict[str, list[tuple[int, int]]] = {}
        generators = []
        for number, functions in self._nodes.items():
            for thread, function in enumerate(functions):
                generator = function(Context(number, scenario.nodes, thread, memory, barriers, samples, objects))
                if not isinstance(generator, Generator):
                    raise TypeError(f"nodes: {number}: expected a generator function, which yields its operations; "
                                    f"{getattr(function, '__name__', function)!r} returned {generator!r}")
                generators.append((number, generator))
        try:
            finished, returned = _core.run_program(
                scenario._core, memory.bytes, memory.name_of,
                [(name, list(self._nodes), len(next(iter(self._nodes.values())))) for name in self._barriers],
                [made._declared(name) for name, made in self._objects.items()], generators, stop)
        finally:
            for _, generator in generators:
                abandon(generator)
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
