"""Running scenarios, and what a run gives back."""

from __future__ import annotations

import os
from typing import Any, Mapping, cast

from . import _core
from ._keys import seed_number
from ._optional import need
from .outcome import Outcome
from .programs import ProgramsScenario
from .scenario import Scenario
from .units import yes_or_no

__all__ = ["Result", "run", "stop_flag", "validate"]


class Result(Outcome):
    """What a run did: times, counters, trace, verdict. Pickles.

    Attributes:
        scenario: the scenario that was run.
        operations: the times of each kind of operation, by the workload's name for it.
        counters: what the simulated hardware counted (events, packets, bytes, doorbells, ...).
        workload_counters: what the workload itself noticed.
        broken: what the workload itself found wrong, e.g. ``["lost_updates: 3"]``, or ``["failed_messages: 6"]`` of traffic.
        limited_by: what was busiest while it ran, e.g. ``"PCIe downstream of node 0 (97 %)"``, or ``"latency (the busiest:
            ...)"`` where nothing was busy for more than 80 % of the run; "" of a run without times.
        busiest: the five busiest resources and the share of the whole run, set-up included, in which they were busy.
        hints: counters that explain a surprise, a line each with the key that would change it; at most three.
        operations_done: number of operations measured.
        operations_per_second: operations a simulated second; 0 when none was measured.
        measured_ps: simulated picoseconds from the first operation's start to the last one's end.
        simulated_ps: simulated picoseconds of the whole run, set-up included.
        verdict: what the checkers said, or None when the scenario asks for no check.
        series: the links over time, or None when the scenario has no ``series.interval``.
    """

    def report(self, path: str | os.PathLike[str] | None = None) -> str:
        """One self-contained HTML page about this run; written to `path` if given. Needs matplotlib."""
        from .reports import report

        return report(self, path)


def run(scenario: str | os.PathLike[str] | Mapping[str, Any] | Scenario, *, seed: int | None = None,
        overrides: Mapping[str, Any] | None = None, keep_trace: bool = True,
        stop: _core.StopFlag | None = None) -> Result:
    """Runs a scenario. The same scenario and seed give the same result, in any thread.

    Other Python threads go on meanwhile; Ctrl-C stops the run. Writes no file: ``result.trace.write(path)`` does
    what ``trace.path`` does on the command line.

    Args:
        scenario: a YAML file, the same content as a mapping, or a Scenario.
        seed: in place of the scenario's.
        overrides: dotted keys and values, e.g. ``{"topology.nodes": 16, "fabric.link.delay": "1us"}``.
        keep_trace: False forgets the trace (it is still recorded if the scenario checks it), to save memory.
        stop: a `stop_flag()`; setting it, from another thread, ends the run.

    Returns:
        A `Result`; of a scenario whose workload is programs an `Exec`, which has no trace and heeds no `stop`.

    Raises:
        InputError: a mistake in the scenario or the overrides, with file, line and column.
        TypeError: a seed that is no integer, keys of `overrides` that are no text, a `stop` that is no flag.
        RunError: the run could not go on (deadlock, failed operation, too many events), or was stopped.
    """
    need("numpy", "run()")
    yes_or_no("keep_trace", keep_trace)
    require_flag(stop)
    programs = ProgramsScenario.of(scenario)
    if programs is not None:
        keys = {**(overrides or {}), **({} if seed is None else {"seed": seed_number(seed)})}
        return cast("Result", programs(**keys))  # an Exec: said in the types, every caller would have to ask which
    if isinstance(scenario, Scenario):
        scenario._require_alone()
    if not isinstance(scenario, Scenario) or overrides or seed is not None:
        scenario = Scenario(scenario, overrides=overrides, seed=seed)
    return Result(scenario, _core.run(scenario._core, keep_trace, stop))


def require_flag(stop: object) -> None:
    """TypeError unless it is what `stop=` takes."""
    if stop is not None and not isinstance(stop, _core.StopFlag):
        raise TypeError(f"stop: expected a stop_flag(), found {stop!r}")


def stop_flag() -> _core.StopFlag:
    """Something to give to `run(..., stop=flag)`; ``flag.set()`` from another thread ends the runs that have it."""
    return _core.StopFlag()


def validate(scenario: str | os.PathLike[str] | Mapping[str, Any] | Scenario, *,
             overrides: Mapping[str, Any] | None = None) -> Scenario:
    """Reads a scenario and says what is wrong with it, without running it.

    Returns:
        The scenario: ``.effective()`` shows what would be run.

    Raises:
        InputError: with file, line and column of the mistake.
    """
    return Scenario(scenario, overrides=overrides)
