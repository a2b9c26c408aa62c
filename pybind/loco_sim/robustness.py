"""Robustness: does a program do anything under a weak model that it does not where accesses take effect one by one?"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any, Iterable

from . import _core
from ._keys import file_name
from .errors import InputError
from .litmus_tests import Outcome, Tests, _programs

__all__ = ["Robustness", "robust"]


@dataclass(frozen=True)
class Robustness:
    """One program: an element of ``loco-sim robust --json`` as an object (docs/robustness.md).

    Attributes:
        name: of the test, or of the file of an RMA program.
        model: the model, or the network of an RMA program.
        robust: is every trace SC? None: unknown, and `unknown` says why.
        robust_outcomes: is every outcome one of ``sc``?
        outcome: of the execution with the cycle.
        cycle: its accesses, in order: thread, statement, access, and the edge to the next.
        repair: the smallest repairs, with their size and all sets; None when none was asked for, or there is none.
        reason: why there is no repair: "none", "limit", "model", "unknown".
        schedule: of an RMA program that is not robust: a run with the cycle.
        unknown: what stopped the search.
        seconds: wall-clock time.
        text: as ``loco-sim robust`` prints it.
    """

    name: str
    model: str
    robust: bool | None
    robust_outcomes: bool | None
    outcome: Outcome | None
    cycle: tuple[dict[str, Any], ...]
    repair: dict[str, Any] | None
    reason: str | None
    schedule: tuple[dict[str, Any], ...]
    unknown: str | None
    seconds: float = field(compare=False)
    text: str = field(repr=False)

    def __bool__(self) -> bool:
        return self.robust is True

    def __str__(self) -> str:
        return self.text


def _robustness(found: str, text: str) -> Robustness:
    j = json.loads(found)
    return Robustness(j["name"], j["model"], j["robust"], j["robust_outcomes"], j["outcome"], tuple(j["cycle"]), j["repair"],
                      j.get("reason"), tuple(j.get("schedule", ())), j.get("unknown"), j["seconds"], text)


def _is_rma(entry: object) -> bool:
    return isinstance(entry, (str, os.PathLike)) and "\n" not in os.fspath(entry) and os.fspath(entry).endswith(".rma")


def robust(tests: Tests, model: str | None = None, *, network: str = "unordered", repair: bool = False,
           max_repair: int = 3, max_seconds: float = 0) -> list[Robustness]:
    """Says whether programs need weak memory to be understood.

    Args:
        tests: litmus tests as `litmus` takes them, or files of RMA programs (``*.rma``).
        model: in place of the tests' own: "rdmawait", "rdmatso" or "loco".
        network: of RMA programs: "unordered", "in-order", "verbs" or "sc".
        repair: find all smallest sets of fences, waits and flushes that make a test robust.
        max_repair: insertions of a repair, at most.
        max_seconds: limit for each program, which is then unknown; 0 is none.

    Raises:
        InputError: a mistake in a test, with its place; no such file.
        ValueError: no such model or network; a test of another model; limits below 0.
        TypeError: arguments of other types.

    >>> found = robust('''
    ... name: store-buffering
    ... model: rdmawait
    ... locations: {x: {node: 1}, y: {node: 1}}
    ... threads:
    ...   - {node: 1, code: "x = 1; a = y"}
    ...   - {node: 1, code: "y = 1; b = x"}
    ... ''', repair=True)[0]
    >>> found.robust, found.outcome, found.repair["size"]
    (False, {'a': 0, 'b': 0}, 2)
    """
    given = {"model": model, "network": network, "repair": repair, "max_repair": max_repair, "max_seconds": max_seconds}
    _core.check_robust(given)
    entries: list[Any] = [tests] if isinstance(tests, (str, os.PathLike)) or not isinstance(tests, Iterable) else list(tests)
    if not entries:  # all of nothing would be robust
        raise ValueError("tests: expected one or more, found none")
    found = []
    litmus = [e for e in entries if not _is_rma(e)]
    if litmus:
        programs, left_out = _programs(litmus[0] if len(litmus) == 1 else litmus, model or "")
        if left_out and not programs:
            raise InputError(left_out[0])
        found += [_robustness(*_core.robust_litmus(p.core, given)) for p in programs]
    for entry in entries:
        if not _is_rma(entry):
            continue
        name = file_name(entry, "tests")
        try:
            with open(name, encoding="utf-8") as text:
                found.append(_robustness(*_core.robust_rma(text.read(), name, given)))
        except OSError as error:
            raise InputError(f"{name}: expected a file that can be read, found: {error.strerror}") from error
    return found
