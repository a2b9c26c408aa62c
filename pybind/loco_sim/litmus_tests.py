"""Litmus tests: which outcomes a program may have, under the declarative models and on the simulated hardware."""

from __future__ import annotations

import glob as globbing
import html
import json
import os
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, Union

from . import _core
from ._keys import file_name, require_utf8
from .errors import InputError, _input_error, _wrong_type
from .scenario import yaml_text

__all__ = ["Explanation", "LitmusResult", "LitmusResults", "litmus"]

Outcome = dict[str, Any]
_ENGINES = ("declarative", "explore", "sample")  # the command's "all" is three results a test
_DESCRIBED_MAX = 12  # tests of a table that tells each of them in words


@dataclass(frozen=True)
class Explanation:
    """An execution, told: of a possible outcome, or one that an impossible outcome would need and that is forbidden.

    Attributes:
        title: what it shows.
        nodes: the subevents: (thread, label, statement).
        edges: (from, to, relation, why, on the cycle); positions in `nodes`.
        thread_nodes: the node that each thread runs on.
        text: the same in words.
        dot: the same for Graphviz.
    """

    title: str
    nodes: tuple[tuple[int, str, str], ...]
    edges: tuple[tuple[int, int, str, str, bool], ...]
    thread_nodes: tuple[int, ...]
    text: str = field(repr=False)
    dot: str = field(repr=False)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def _explanation(core: tuple[Any, ...]) -> Explanation:
    title, nodes, edges, thread_nodes, text, dot = core
    return Explanation(title, tuple(nodes), tuple(edges), tuple(thread_nodes), text, dot)


class _Program:
    """A test, and the document that it is read from again when a result is unpickled."""

    def __init__(self, core: _core.LitmusProgram, document: tuple[str, str, str], position: int) -> None:
        self.core = core
        self._document, self._position = document, position

    def __reduce__(self) -> tuple[Any, ...]:
        return (_program_of, (self._document, self._position))


def _program_of(document: tuple[str, str, str], position: int) -> _Program:
    programs, _ = _core.parse_litmus_text(*document)
    return _Program(programs[position], document, position)


@dataclass(frozen=True)
class LitmusResult:
    """One test under one engine. Pickles.

    Attributes:
        name, model, engine: which.
        outcomes: the outcomes seen, each once: registers and final locations by name.
        verdict: "ok", "fail", "incomplete" (a limit left out what might change it) or "not run" (the engine cannot).
        ok: has it run to its end, and does that agree with what the test expects?
        missing: expected outcomes that were not seen.
        unexpected: outcomes that should not have been.
        notes: limits that were reached, outcomes that the hardware cannot show and why.
        executions: how many were found.
        complete: False when a limit was reached, so that there may be more outcomes.
        text: herd7's layout.
    """

    name: str
    model: str
    engine: str
    outcomes: tuple[Outcome, ...]
    verdict: str
    ok: bool
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    notes: tuple[str, ...]
    executions: int
    complete: bool
    text: str = field(repr=False)
    _program: _Program = field(repr=False, compare=False)

    def __bool__(self) -> bool:
        return self.ok

    def witness(self, outcome: Mapping[str, Any] | str) -> Explanation | None:
        """A consistent execution with this (partial) outcome, e.g. ``{"a": 0, "b": 0}``; None when there is none."""
        found = _core.litmus_witness(self._program.core, _outcome_text(outcome), self.model)
        return None if found is None else _explanation(found)

    def explain(self, outcome: Mapping[str, Any] | str) -> list[Explanation]:
        """Why the model forbids this (partial) outcome: the cycles that its executions run into. None of them when it is
        possible, or when no execution would have it (`witness` tells which)."""
        return [_explanation(e) for e in _core.litmus_explain(self._program.core, _outcome_text(outcome), self.model)]

    def describe(self) -> str:
        """The test told: who does what; then, of each outcome that the document allows or forbids, whether the model
        does, and what decides that."""
        return _core.litmus_describe(self._program.core, self.model)

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.describe())}</p><pre>{html.escape(self.text)}</pre>"


class LitmusResults(list[LitmusResult]):
    """The results of several tests, in order. A list; `ok` says whether all are.

    Attributes:
        left_out: why other tests are none of the model that was asked for.
    """

    left_out: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Are all verdicts ok?"""
        return all(r.ok for r in self)

    def __getitem__(self, key: Any) -> Any:
        """By position, or by the name of a test."""
        if isinstance(key, str):
            for result in self:
                if result.name == key:
                    return result
            raise KeyError(key)
        return super().__getitem__(key)

    def __str__(self) -> str:
        return "\n".join(r.text for r in self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(r.name)}</td><td>{html.escape(r.model)}</td><td>{len(r.outcomes)}</td>"
            f"<td>{html.escape('; '.join([*r.missing, *r.unexpected]) or r.verdict)}</td></tr>"
            + (f"<tr><td colspan=4>{html.escape(r.describe())}</td></tr>" if len(self) <= _DESCRIBED_MAX else "")
            for r in self)
        return f"<table><tr><th>test</th><th>model</th><th>outcomes</th><th>verdict</th></tr>{rows}</table>"


def _outcome_text(outcome: Mapping[str, Any] | str) -> str:
    if isinstance(outcome, str):
        return outcome
    if not isinstance(outcome, Mapping):
        raise TypeError(f"outcome: expected values by name, or text such as \"a: 0, b: 0\", found {outcome!r}")
    return ", ".join(f"{name}: {value if isinstance(value, str) else yaml_text(value, f'outcome.{name}')}" for name, value in outcome.items())


Tests = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]


def litmus(tests: Tests, model: str | None = None, engine: str = "declarative", *, hardware: str = "model-weak",
           runs: int = 2000, seed: int = 1, max_executions: int = 0, max_seconds: float = 0,
           loop_bound: int = 4, flip: str | None = None, variants: Iterable[str] = ()) -> LitmusResults:
    """Runs litmus tests.

    Args:
        tests: a file, a folder (of which all ``*.yaml`` are read), a pattern such as "tests/litmus/*.yaml", several of
            them, or the text of a document (which has a line break).
        model: in place of the tests' own: "rdmawait", "rdmatso", "loco", "corerma", ... Tests that are none of it are left
            out, and listed in `left_out`.
        engine: "declarative" (the model's exact outcomes), "explore" (every schedule of the hardware model) or
            "sample" (random schedules).
        hardware: profile for explore and sample.
        runs, seed: for sample.
        max_executions: limit for declarative and explore, new outcomes first; 0 is none.
        max_seconds: limit for each test, which is then not ok but incomplete (sample makes one run at least); 0 is none.
        loop_bound: times that control may go back to the head of a loop (declarative).
        flip: a cell of the stamp order (Fig. 10 of the LOCO paper), such as "E8", to turn round: what is ordered is so
            no more, what is not becomes so (declarative). Which tests notice?
        variants: "transitive-barriers" (all barriers fence every node, Section 4.3), "weak-ring-buffers" (Section 5.2);
            declarative.

    Raises:
        InputError: a mistake in a test, with its place; no such file; no test that is one of the model.
        ValueError: no such engine or model; less than one run; limits and seeds below 0.
        TypeError: arguments of other types.

    >>> results = litmus('''
    ... name: message-passing
    ... model: rdmawait
    ... locations: {x: {node: 1}, y: {node: 1}}
    ... threads:
    ...   - {node: 1, code: "x = 1; y = 1"}
    ...   - {node: 1, code: "a = y; b = x"}
    ... outcomes: {allowed: [{a: 1, b: 1}], forbidden: [{a: 1, b: 0}]}
    ... ''')
    >>> results.ok, len(results[0].outcomes)
    (True, 3)
    """
    if isinstance(variants, Iterable) and not isinstance(variants, str):
        variants = list(variants)  # looked through for each test
    given = {"model": model, "engine": engine, "hardware": hardware, "runs": runs, "seed": seed,
             "max_executions": max_executions, "max_seconds": max_seconds, "loop_bound": loop_bound, "flip": flip,
             "variants": variants}
    if engine not in _ENGINES:
        expected = f"one of {', '.join(_ENGINES)}"
        if not isinstance(engine, str):
            raise _wrong_type("litmus: engine", expected, repr(engine))
        raise _input_error(f"litmus: engine: expected {expected}, found {engine!r}", key="engine", expected=expected,
                           found=repr(engine))
    _core.check_litmus(given)
    if (flip or variants) and engine != "declarative":
        raise ValueError(f"{'flip' if flip else 'variants'}: expected engine=\"declarative\", found {engine!r}")
    programs, left_out = _programs(tests, model or "")
    if left_out and not programs:
        raise InputError(left_out[0])
    results = LitmusResults()
    results.left_out = tuple(left_out)
    for program in programs:
        ran = _core.run_litmus(program.core, given)
        found = json.loads(ran.json)[0]
        results.append(LitmusResult(
            found["name"], found["model"], found["engine"], tuple(found["outcomes"]), found["verdict"], ran.ok,
            tuple(found["missing"]), tuple(found["unexpected"]), tuple(found.get("notes", ())), found["executions"],
            ran.complete, ran.text, program))
    return results


def _with_document(programs: list[_core.LitmusProgram], text: str, file: str, model: str) -> list[_Program]:
    return [_Program(program, (text, file, model), i) for i, program in enumerate(programs)]


_TESTS = "a file, a pattern, several of them or the text of tests"


def _programs(tests: Tests, model: str) -> tuple[list[_Program], list[str]]:
    """The tests; why others are none of the model."""
    if isinstance(tests, str) and "\n" in tests:
        require_utf8("tests", tests)
        parsed, none_of_it = _core.parse_litmus_text(tests, "(text)", model)
        return _with_document(parsed, tests, "(text)", model), none_of_it
    if isinstance(tests, bytes) or not isinstance(tests, (str, os.PathLike, Iterable)):
        raise TypeError(f"tests: expected {_TESTS}, found {tests!r}")
    programs: list[_Program] = []
    left_out: list[str] = []
    for entry in [tests] if isinstance(tests, (str, os.PathLike)) else tests:
        pattern = file_name(entry, "tests", _TESTS)
        if os.path.isdir(pattern):
            files = sorted(os.path.join(pattern, f) for f in os.listdir(pattern) if f.endswith((".yaml", ".yml")))
        else:
            files = sorted(globbing.glob(pattern)) if globbing.has_magic(pattern) else [pattern]
        if not files:
            raise InputError(f"{pattern}: expected the name or pattern of litmus files, found nothing of that name")
        for file in files:
            parsed, none_of_it = _core.parse_litmus_file(file, model)
            left_out += none_of_it
            with open(file, encoding="utf-8") as text:  # so that copies do not depend on the file any more
                programs += _with_document(parsed, text.read(), file, model)
    if not programs and not left_out:  # all of nothing would be ok
        raise ValueError("tests: expected one or more, found none")
    return programs, left_out
