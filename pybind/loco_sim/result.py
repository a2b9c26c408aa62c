"""Running scenarios, and what a run gives back."""

from __future__ import annotations

import html
import json
import os
from typing import TYPE_CHECKING, Any, Mapping

from . import _core
from ._optional import need
from .scenario import Scenario

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from .trace import Trace
    from .verdict import Verdict

__all__ = ["Latency", "Result", "Series", "run", "stop_flag", "validate"]

COUNTERS = _core.COUNTERS
"""Names of `Result.counters`."""


class Latency:
    """The times that operations took: every sample, in picoseconds of simulated time.

    >>> import numpy
    >>> times = Latency(numpy.array([3000, 1000, 2000]))
    >>> times.percentile(50), times.min, times.max, len(times)
    (2000, 1000, 3000, 3)
    """

    def __init__(self, samples_ps: npt.ArrayLike, ends_ps: npt.ArrayLike | None = None) -> None:
        import numpy

        self._samples = numpy.asarray(samples_ps, dtype=numpy.int64)
        self._ends = None if ends_ps is None else numpy.asarray(ends_ps, dtype=numpy.int64)
        self._sorted: np.ndarray[Any, Any] | None = None

    @property
    def samples_ps(self) -> np.ndarray[Any, Any]:
        """Picoseconds, shape (n,), int64, in order of completion. Of a run: read-only, no copy."""
        return self._samples

    @property
    def ends_ps(self) -> np.ndarray[Any, Any]:
        """When each operation ended, in picoseconds since the run began: shape (n,), int64, the order of `samples_ps`.

        Raises:
            ValueError: not known: these samples are of no run.
        """
        if self._ends is None:
            raise ValueError("it is not known when these operations ended")
        return self._ends

    @property
    def sorted_ps(self) -> np.ndarray[Any, Any]:
        """The samples in ascending order."""
        if self._sorted is None:
            import numpy

            self._sorted = numpy.sort(self._samples)
        return self._sorted

    def percentile(self, q: float) -> int:
        """The smallest sample, in picoseconds, that is at least as large as q % of all (nearest rank).

        Raises:
            ValueError: q outside of 0..100, or no samples.
        """
        if not 0 <= q <= 100:
            raise ValueError(f"q: expected 0 to 100, found {q}")
        n = len(self._samples)
        if n == 0:
            raise ValueError("no operation has been measured")
        # Rounding guards against q * n / 100 lying a hair above the whole number that it means.
        rank = max(1, -int(-round(q * n / 100, 9) // 1))
        return int(self.sorted_ps[rank - 1])

    @property
    def min(self) -> int:
        """Picoseconds."""
        return self.percentile(0)

    @property
    def median(self) -> int:
        """Picoseconds."""
        return self.percentile(50)

    @property
    def p99(self) -> int:
        """Picoseconds."""
        return self.percentile(99)

    @property
    def max(self) -> int:
        """Picoseconds."""
        return self.percentile(100)

    @property
    def mean(self) -> float:
        """Picoseconds."""
        return float(self._samples.mean())

    def cdf(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """(picoseconds ascending, share of the samples that are at most as large)."""
        import numpy

        n = len(self._samples)
        return self.sorted_ps, numpy.arange(1, n + 1) / n

    def histogram(self, bins_per_octave: int = 8) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """(counts, edges in picoseconds) with edges that grow by the same factor: one longer than counts."""
        import numpy

        if len(self._samples) == 0:
            return numpy.zeros(0, int), numpy.zeros(1)
        low = numpy.log2(max(self.min, 1))
        high = numpy.log2(max(self.max, 1))
        bins = max(1, int(numpy.ceil((high - low) * bins_per_octave)))
        edges = numpy.exp2(low + numpy.arange(bins + 1) / bins_per_octave)
        edges[0] = min(edges[0], self.min)
        edges[-1] = max(edges[-1], self.max)
        counts, edges = numpy.histogram(self._samples, edges)
        return counts, edges

    def __len__(self) -> int:
        return len(self._samples)

    def summary(self) -> dict[str, int]:
        """count, min_ps, median_ps, p99_ps, max_ps, as the command line's --json prints them."""
        if len(self) == 0:
            return {"count": 0, "min_ps": 0, "median_ps": 0, "p99_ps": 0, "max_ps": 0}
        return {"count": len(self), "min_ps": self.min, "median_ps": self.median, "p99_ps": self.p99, "max_ps": self.max}

    def __repr__(self) -> str:
        if len(self) == 0:
            return "Latency(no samples)"
        return (f"Latency({len(self)} samples, min {time_text(self.min)}, median {time_text(self.median)}, "
                f"p99 {time_text(self.p99)}, max {time_text(self.max)})")


class Series:
    """The links of the network over time, looked at in regular intervals: ``series: {interval: 1us}`` in a scenario.

    Attributes:
        interval_ps: picoseconds from one look to the next. Long runs have every second look dropped, and the interval
            doubled, until there are at most 16,384.
        links: names, e.g. "h0-s0": from host 0 to switch 0.
    """

    def __init__(self, interval_ps: int, links: list[str], busy: Any, queued: Any, end_ps: int) -> None:
        import numpy

        self.interval_ps, self.links = interval_ps, links
        shape = (-1, len(links)) if links else (0, 0)
        looks = end_ps // interval_ps + 1  # timers may run on when the programs have ended
        self._busy = numpy.frombuffer(busy, dtype=numpy.int64).reshape(shape)[:looks]
        self._queued = numpy.frombuffer(queued, dtype=numpy.uint64).reshape(shape)[:looks]

    @property
    def times_ps(self) -> np.ndarray[Any, Any]:
        """When it was looked: shape (n,), picoseconds since the run began."""
        import numpy

        return numpy.arange(len(self._busy), dtype=numpy.int64) * self.interval_ps

    @property
    def queued_bytes(self) -> np.ndarray[Any, Any]:
        """What waited for each link's port at that moment: shape (n, links), bytes. Read-only, no copy."""
        return self._queued

    @property
    def busy_ps(self) -> np.ndarray[Any, Any]:
        """For how long each link had been sending by then: shape (n, links), picoseconds. Read-only, no copy."""
        return self._busy

    @property
    def utilisation(self) -> np.ndarray[Any, Any]:
        """The share of each interval for which a link was sending: shape (n - 1, links), 0 to 1."""
        import numpy

        return numpy.diff(self._busy, axis=0) / self.interval_ps

    def __repr__(self) -> str:
        return f"Series({len(self._busy)} looks, one every {time_text(self.interval_ps)}, {len(self.links)} links)"


class Result:
    """What a run did: times, counters, trace, verdict. Pickles.

    Attributes:
        scenario: the scenario that was run.
        operations: the times of each kind of operation, by the workload's name for it.
        counters: what the simulated hardware counted (events, packets, bytes, doorbells, ...).
        workload_counters: what the workload itself noticed.
        broken: what the workload itself found wrong, e.g. ``["lost_updates: 3"]``.
        operations_done: number of operations measured.
        operations_per_second: operations a simulated second; 0 when none was measured.
        measured_ps: simulated picoseconds from the first operation's start to the last one's end.
        simulated_ps: simulated picoseconds of the whole run, set-up included.
        verdict: what the checkers said, or None when the scenario asks for no check.
        series: the links over time, or None when the scenario has no ``series.interval``.
    """

    def __init__(self, scenario: Scenario | None, core: _core.Finished) -> None:
        import numpy

        self.scenario = scenario
        self.operations = {name: Latency(numpy.frombuffer(samples, dtype=numpy.int64),  # type: ignore[call-overload]
                                         numpy.frombuffer(ends, dtype=numpy.int64))  # type: ignore[call-overload]
                           for name, samples, ends in core.operations}
        self.series: Series | None = None if core.series is None else Series(*core.series, core.simulated_ps)
        self.counters: dict[str, int] = core.counters
        self.workload_counters: dict[str, int] = core.workload_counters
        self.broken: list[str] = core.broken
        self.operations_done: int = core.operations_done
        self.operations_per_second: float = core.operations_per_second
        self.measured_ps: int = core.measured_ps
        self.simulated_ps: int = core.simulated_ps
        self.verdict: Verdict | None = None
        self._trace: Trace | None = None
        self._latency: Latency | None = None
        if core.verdict is not None:
            from .verdict import verdict_from

            self.verdict = verdict_from(core.verdict)
        if core.trace is not None:
            from .trace import Trace

            self._trace = Trace(core.trace)

    @property
    def latency(self) -> Latency:
        """The times of all operations together, in picoseconds: ``result.latency.percentile(99)``."""
        if self._latency is None:
            import numpy

            parts = [o.samples_ps for o in self.operations.values()]
            self._latency = Latency(parts[0] if len(parts) == 1 else numpy.concatenate([numpy.empty(0, int), *parts]))
        return self._latency

    @property
    def throughput(self) -> float:
        """Operations a simulated second."""
        return self.operations_per_second

    def throughput_series(self, bucket: int | str, operation: str | None = None
                          ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """(start of each bucket in picoseconds, operations a second that ended in it), from the run's begin on.

        Args:
            bucket: its length: picoseconds, or a text such as "10us".
            operation: only this kind.
        """
        import numpy

        from .units import duration_ps

        length = duration_ps(bucket)  # a ValueError when it is none
        kinds = self.operations.values() if operation is None else [self.operations[operation]]
        ends = numpy.concatenate([numpy.empty(0, numpy.int64), *(o.ends_ps for o in kinds)])
        counts = numpy.bincount(ends // length) if len(ends) else numpy.zeros(0, int)
        return numpy.arange(len(counts), dtype=numpy.int64) * length, counts / (length * 1e-12)

    @property
    def consistent(self) -> bool | None:
        """Did every check pass, those of the workload itself included? None when the scenario asks for none."""
        if self.broken:
            return False
        return None if self.verdict is None else self.verdict.ok

    @property
    def trace(self) -> Trace:
        """What happened, subevent by subevent.

        Raises:
            ValueError: the scenario says ``trace: {level: none}``.
        """
        if self._trace is None:
            raise ValueError("this run has no trace: the scenario says trace.level: none")
        return self._trace

    def check(self, *models: str) -> Verdict:
        """Checks the trace against models; without arguments, those that the trace uses. See `loco_sim.check`."""
        return self.trace.check(*models)

    def to_pandas(self) -> pd.DataFrame:
        """One row for each measured operation: its kind, and the picoseconds that it took."""
        pandas = need("pandas", "Result.to_pandas()")
        import numpy

        names = list(self.operations)
        lengths = [len(o) for o in self.operations.values()]
        return pandas.DataFrame({
            "operation": pandas.Categorical.from_codes(numpy.repeat(numpy.arange(len(names)), lengths), names),
            "latency_ps": self.latency.samples_ps})

    def to_dict(self, *, everything: bool = False) -> dict[str, Any]:
        """Scalars and summaries, named as in the command line's --json.

        With `everything` also ``samples_ps`` (lists of int, by operation), ``config`` (the effective configuration),
        ``config_hash``, ``version`` and ``command`` (how to do the run again).
        """
        s = self.scenario
        head = {} if s is None else {"scenario": s.name, "seed": s.seed, "hardware": s.hardware, "nodes": s.nodes,
                                     "workload": s.workload}
        out: dict[str, Any] = {
            **head,
            "operations": [{"name": name, **times.summary()} for name, times in self.operations.items()],
            "operations_done": self.operations_done, "operations_per_second": self.operations_per_second,
            "measured_ps": self.measured_ps, "simulated_ps": self.simulated_ps, "counters": dict(self.counters)}
        if self.broken:
            out["broken"] = list(self.broken)
        if self.verdict is not None:
            out["check"] = self.verdict.to_dict()
        if everything:
            from . import __version__

            out["version"] = __version__
            out["samples_ps"] = {name: times.samples_ps.tolist() for name, times in self.operations.items()}
            if s is not None:
                from .reports import command_of

                out.update(config=s.effective(), config_hash=s.config_hash(), command=command_of(s))
        return out

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes ``to_dict(everything=True)`` as JSON: what `report` and others can read again. Not the trace."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.to_dict(everything=True), file)
            file.write("\n")

    def to_json(self) -> str:
        """`to_dict()` as text."""
        return json.dumps(self.to_dict(), indent=2)

    def report(self, path: str | os.PathLike[str] | None = None) -> str:
        """One self-contained HTML page about this run; written to `path` if given. Needs matplotlib."""
        from .reports import report

        return report(self, path)

    def __repr__(self) -> str:
        name = "" if self.scenario is None else f"{self.scenario.name!r}, seed={self.scenario.seed}, "
        verdict = {None: "not checked", True: "consistent", False: "INCONSISTENT"}[self.consistent]
        return f"Result({name}{self.operations_done} operations, {rate_text(self.throughput)}/s, {verdict})"

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("operation", "count", "min", "median", "p99", "max")]
        for name, times in self.operations.items():
            values = (times.min, times.median, times.p99, times.max) if len(times) else (0, 0, 0, 0)
            rows.append((name, str(len(times)), *(time_text(v) for v in values)))
        widths = [max(len(row[i]) for row in rows) for i in range(6)]
        lines = ["  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))])
                 for row in rows]
        lines.append(f"throughput: {rate_text(self.throughput)}operations/s ({self.operations_done} operations in "
                     f"{time_text(self.measured_ps)} of simulated time)")
        lines += [f"the workload found: {what}" for what in self.broken]
        if self.verdict is not None:
            lines.append(self.verdict.text.rstrip("\n"))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{h}</th>" for h in ("operation", "count", "min", "median", "p99", "max"))
        body = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{len(t)}</td>"
            + "".join(f"<td>{time_text(v)}</td>" for v in ((t.min, t.median, t.p99, t.max) if len(t) else (0, 0, 0, 0)))
            + "</tr>" for name, t in self.operations.items())
        title = "" if self.scenario is None else f"<b>{html.escape(self.scenario.name)}</b>, seed {self.scenario.seed}: "
        verdict = "" if self.verdict is None else self.verdict._repr_html_()
        return (f"<div>{title}{rate_text(self.throughput)}operations/s<table><tr>{head}</tr>{body}</table>"
                f"{verdict}</div>")

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)


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

    Raises:
        InputError: a mistake in the scenario or the overrides, with file, line and column.
        RunError: the run could not go on (deadlock, failed operation, too many events), or was stopped.
    """
    if not isinstance(scenario, Scenario) or overrides or seed is not None:
        scenario = Scenario(scenario, overrides=overrides, seed=seed)
    return Result(scenario, _core.run(scenario._core, keep_trace, stop))


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


def _scaled(value: float, units: tuple[str, ...]) -> str:
    unit = 0
    while value >= 1000 and unit + 1 < len(units):
        value /= 1000
        unit += 1
    return f"{value:.{1 if value >= 100 else 2 if value >= 10 else 3}f} {units[unit]}"


def time_text(ps: int) -> str:
    """Picoseconds as people read them.

    >>> time_text(1234567)
    '1.235 us'
    """
    return f"{ps} ps" if ps < 1000 else _scaled(ps * 1e-3, ("ns", "us", "ms", "s"))


def rate_text(per_second: float) -> str:
    """A rate as people read it, without its unit.

    >>> rate_text(1.5e6)
    '1.500 M'
    """
    return _scaled(per_second, ("", "k", "M", "G"))
