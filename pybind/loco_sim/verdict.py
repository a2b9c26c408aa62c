"""Checking a trace against the declarative models."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any, Iterable

from . import _core

__all__ = ["LibraryResult", "Step", "Verdict", "Violation"]


@dataclass(frozen=True)
class Step:
    """One subevent on a cycle, and the edge that leaves it for the next (the last leads back to the first)."""

    call: int
    """id of the call at the level that was checked"""
    subevent: int
    """id, or 0 for one that stands for a library call"""
    stamp: str
    peer: int
    thread: int
    thread_name: str
    owner: str
    """library of the call"""
    call_text: str
    subevent_text: str
    rule: str
    """of the edge"""
    edge_text: str


@dataclass(frozen=True)
class Violation:
    """A forbidden cycle, or a predicate that does not hold (then `cycle` is empty)."""

    rule: str
    message: str
    cycle: tuple[Step, ...] = ()


@dataclass(frozen=True)
class LibraryResult:
    """The result for one library and all below it."""

    library: str
    consistent: bool
    calls: int
    subevents: int
    violations: tuple[Violation, ...] = ()
    undecided: bool = False
    """not consistent because a question was too large to decide (rule "budget"), and for nothing else"""


@dataclass(frozen=True)
class Verdict:
    """What the checkers found. True in a condition when the trace is consistent."""

    results: tuple[LibraryResult, ...]
    subevents: int
    text: str
    """what the command line prints"""
    dot: str = field(repr=False)
    """Graphviz: the first cycle; an empty graph when there is none"""

    @property
    def ok(self) -> bool:
        """No violation."""
        return all(r.consistent for r in self.results)

    @property
    def undecided(self) -> bool:
        """Not ok, and no library is known to be violated."""
        return not self.ok and all(r.consistent or r.undecided for r in self.results)

    @property
    def violations(self) -> tuple[Violation, ...]:
        """Those of all libraries, in order."""
        return tuple(v for r in self.results for v in r.violations)

    @property
    def without_calls(self) -> tuple[str, ...]:
        """Libraries that were checked and of which the trace has no call, so that their being consistent says nothing."""
        return tuple(r.library for r in self.results if r.calls == 0 and r.library != "rdmawait")

    def to_dict(self) -> dict[str, Any]:
        """Named as in the command line's --json."""
        unused = {"without_calls": list(self.without_calls)} if self.without_calls else {}
        return {"consistent": self.ok, "subevents": self.subevents, "libraries": [
            {"library": r.library, "consistent": r.consistent, **({"undecided": True} if r.undecided else {}), "calls": r.calls, "subevents": r.subevents,
             "violations": [
                 {"rule": v.rule, "message": v.message, "cycle": [
                     {"thread": s.thread, "thread_name": s.thread_name, "library": s.owner, "call_id": s.call,
                      "call": s.call_text, "subevent_id": s.subevent, "subevent": s.subevent_text, "rule": s.rule,
                      "edge": s.edge_text} for s in v.cycle]} for v in r.violations]} for r in self.results], **unused}

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        colour = "#1a7f37" if self.ok else "#9a6700" if self.undecided else "#b42318"
        return f'<pre style="border-left:4px solid {colour};padding-left:8px">{html.escape(self.text)}</pre>'


def names_of(models: str | Iterable[str]) -> list[str]:
    names = [models] if isinstance(models, str) or not isinstance(models, Iterable) else list(models)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f'models: expected names such as "sv", found {name!r}')
        if name not in _core.LIBRARIES:
            raise ValueError(f"models: expected one of {', '.join(_core.LIBRARIES)}, found {name!r}")
    return names


def verdict_from(core: tuple[Any, ...]) -> Verdict:
    results, subevents, text, dot = core
    return Verdict(
        tuple(LibraryResult(library, consistent, calls, events,
                            tuple(Violation(rule, message, tuple(Step(*step) for step in cycle))
                                  for rule, message, cycle in violations), undecided)
              for library, consistent, calls, events, violations, undecided in results),
        subevents, text, dot)
