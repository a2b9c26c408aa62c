"""What a run gave: times, counters, trace and verdict, as values."""

from __future__ import annotations

import html
import json
import os
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple

from . import _core
from ._keys import require_path
from ._optional import need
from .measured import Latency, Series, rate_text, time_text, together
from .scenario import Scenario, command_of

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from .flows import Flows
    from .trace import Trace
    from .verdict import Verdict

__all__ = ["Outcome", "Stage", "Why"]

COUNTERS = _core.COUNTERS
"""Names of `Result.counters`."""


LIMITING_SHARE = 0.8  # nic_model/usage.hpp
UNTIMED = "events in random order: times mean nothing"


class Stage(NamedTuple):
    """A stretch of what an operation waited for.

    Attributes:
        stage: CPU, doorbell, WQE fetch, payload read, wire, queues, receiver, CQE, poll or another thread.
        node: where; of the wire: where it begins.
        start_ps: when it began.
        took_ps: how long it took. Each stage begins where the one before ends.
    """

    stage: str
    node: int
    start_ps: int
    took_ps: int


class Why(NamedTuple):
    """What an operation went into: `str()` is the table of ``loco-sim run --why``.

    Attributes:
        operation: its kind.
        took_ps: its latency, the sum of the stages.
        stages: in order of time.
    """

    operation: str
    took_ps: int
    stages: list[Stage]

    def by_stage(self) -> dict[str, int]:
        """Picoseconds by the name of the stage, all nodes together."""
        out: dict[str, int] = {}
        for s in self.stages:
            out[s.stage] = out.get(s.stage, 0) + s.took_ps
        return out

    def __str__(self) -> str:
        rows = [("stage", "node", "ns", "share")]
        rows += [(s.stage, str(s.node), f"{s.took_ps / 1000:.1f}", f"{100 * s.took_ps / self.took_ps:.1f} %")
                 for s in self.stages]
        rows.append(("together", "", f"{self.took_ps / 1000:.1f}", "100.0 %"))
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = ["  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]) for row in rows]
        return "\n".join([f"why {self.operation} takes {time_text(self.took_ps)} (the median one):", *lines])


def flow_dtype() -> np.dtype[Any]:
    """Of the records that `Result.flows` is made from."""
    import numpy

    return numpy.dtype({"names": [f[0] for f in _core.FLOW_FIELDS], "formats": [f[1] for f in _core.FLOW_FIELDS],
                        "offsets": [f[2] for f in _core.FLOW_FIELDS], "itemsize": _core.FLOW_SIZE})


class Outcome:
    """The values of a `Result`, where they are described: what reports and plots are made from. Pickles."""

    def __init__(self, scenario: Scenario | None, core: _core.Finished) -> None:
        import numpy

        self.scenario = scenario
        self.operations = {name: Latency(numpy.frombuffer(samples, dtype=numpy.int64),  # type: ignore[call-overload]
                                         numpy.frombuffer(ends, dtype=numpy.int64))  # type: ignore[call-overload]
                           for name, samples, ends in core.operations}
        self.series: Series | None = None if core.series is None else Series(*core.series, core.simulated_ps)
        self._flows = numpy.frombuffer(core.flows, dtype=flow_dtype())  # type: ignore[call-overload]
        self._parts: list[tuple[str, str, int, int, int, float, float]] = core.parts
        self.sizes: list[dict[str, Any]] = [
            dict(zip(("size", "count", "time_ps", "algbw_gb_per_s", "busbw_gb_per_s", "wrong"), row)) for row in core.sizes]
        self.counters: dict[str, int] = core.counters
        self.workload_counters: dict[str, int] = core.workload_counters
        self.broken: list[str] = core.broken
        self.limited_by: str = core.limited_by
        self.busiest: dict[str, float] = core.busiest
        self.hints: list[str] = core.hints
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
    def flows(self) -> Flows:
        """What became of each flow, of workload `flows`: a pandas DataFrame (docs/flows.md); empty for other workloads."""
        from .flows import flows_of

        return flows_of(self._flows, self.scenario, self._parts)

    @property
    def workloads(self) -> list[dict[str, Any]]:
        """Of several workloads in a run, each one's ``name``, ``kind`` and ``median_ps`` (of its operations); of a collective
        also ``alone_ps`` (its median by itself in the same network), ``times_alone``, ``algbw_gb_per_s`` and
        ``busbw_gb_per_s``. Empty for a run of one workload."""
        rows = []
        for name, kind, _, median, alone, algbw, busbw in self._parts:
            row: dict[str, Any] = {"name": name, "kind": kind, "median_ps": median}
            if algbw:
                if alone:
                    row.update(alone_ps=alone, times_alone=median / alone)
                row.update(algbw_gb_per_s=algbw, busbw_gb_per_s=busbw)
            rows.append(row)
        return rows

    @property
    def latency(self) -> Latency:
        """The times of all operations together, in picoseconds and in order of completion:
        ``result.latency.percentile(99)``."""
        if self._latency is None:
            parts = list(self.operations.values())
            self._latency = parts[0] if len(parts) == 1 else together(parts)
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

        from .errors import NoSuchName
        from .units import duration_ps

        length = duration_ps(bucket, "bucket")
        if operation is not None and operation not in self.operations:
            raise NoSuchName(f"operation: {operation}: expected one of {', '.join(self.operations)}")
        ends = (self.latency if operation is None else self.operations[operation]).ends_ps
        counts = numpy.bincount(ends // length) if len(ends) else numpy.zeros(0, int)
        return numpy.arange(len(counts), dtype=numpy.int64) * length, counts / (length * 1e-12)

    @property
    def consistent(self) -> bool | None:
        """Did every check pass, those of the workload itself included? None when the scenario asks for none."""
        if self.broken:
            return False
        return None if self.verdict is None else self.verdict.ok

    @property
    def timed(self) -> bool:
        """Do its times mean anything? Not those of ``schedule: random`` or ``adversarial``."""
        return self.scenario is None or self.scenario.effective()["schedule"] == "timed"

    @property
    def faults(self) -> list[str]:
        """The deliberate faults that it was run with."""
        return [] if self.scenario is None else list(self.scenario.effective()["faults"])

    @property
    def trace(self) -> Trace:
        """What happened, subevent by subevent.

        Raises:
            ValueError: there is none, by ``trace: {level: none}`` in the scenario or ``run(..., keep_trace=False)``.
        """
        if self._trace is None:
            recorded = self.scenario is None or self.scenario.effective()["trace.level"] != "none"
            raise ValueError("this run has no trace: " + ("it was run with keep_trace=False" if recorded
                                                          else "its scenario records none (trace.level: none)"))
        return self._trace

    def why(self, operation: str | None = None) -> Why:
        """What the median operation of a kind went into: stages that add up to its latency exactly.

        Args:
            operation: which kind; may be left out when only one was measured.

        Raises:
            ValueError: no such kind, or several and none named; nothing of it was measured, or the trace has no packets (``trace: {level: packets}``).
        """
        from .errors import NoSuchName

        if operation is None and len(self.operations) == 1:
            operation = next(iter(self.operations))
        if operation is None or operation not in self.operations:
            raise NoSuchName(f"operation: expected one of {', '.join(self.operations)}, found {operation!r}")
        trace, times = self.trace, self.operations[operation]
        if not len(times):
            raise ValueError(f"operation: expected one that was done, found {operation!r}, which was not")
        if not len(trace.activities):
            raise ValueError("expected a trace with packets, found one without: run it with "
                             'overrides={"trace.level": "packets"}')
        median = int(times.summary()["median_ps"])
        end = int(times.ends_ps[(times.samples_ps == median).argmax()])
        return Why(operation, median, [Stage(*stage) for stage in trace._core.why(end - median, end)])

    def check(self, *models: str | Iterable[str]) -> Verdict:
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
            "latency_ps": numpy.concatenate([numpy.empty(0, numpy.int64), *(o.samples_ps for o in self.operations.values())])})

    def to_dict(self, *, everything: bool = False) -> dict[str, Any]:
        """Scalars and summaries, named as in the command line's --json.

        With `everything` also ``samples_ps`` (lists of int, by operation), ``config`` (the effective configuration),
        ``config_hash``, ``version`` and ``command`` (how to do the run again).
        """
        s = self.scenario
        config = {} if s is None else s.effective()
        head = {} if s is None else {"scenario": s.name, "seed": s.seed, "hardware": s.hardware, "nodes": s.nodes,
                                     "workload": s.workload, "schedule": config["schedule"], "faults": config["faults"]}
        out: dict[str, Any] = {
            **head,
            "operations": [{"name": name, **times.summary()} for name, times in self.operations.items()],
            "operations_done": self.operations_done, "operations_per_second": self.operations_per_second,
            "measured_ps": self.measured_ps, "simulated_ps": self.simulated_ps, "counters": dict(self.counters),
            "workload_counters": dict(self.workload_counters)}
        some = {"sizes": [dict(row) for row in self.sizes], "workloads": self.workloads,
                "limited_by": self.limited_by if self.busiest else "",
                "busiest": [{"resource": resource, "share": share} for resource, share in self.busiest.items()],
                "hints": list(self.hints), "broken": list(self.broken),
                "check": None if self.verdict is None else self.verdict.to_dict()}
        out.update((name, value) for name, value in some.items() if value)
        if everything:
            from . import __version__

            out["version"] = __version__
            out["samples_ps"] = {name: times.samples_ps.tolist() for name, times in self.operations.items()}
            if s is not None:
                out.update(config=config, config_hash=s.config_hash(), command=command_of(s))
        return out

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes ``to_dict(everything=True)`` as JSON: what `report` and others can read again. Not the trace."""
        require_path("path", path)
        _core.write_whole_file(os.fsencode(path), json.dumps(self.to_dict(everything=True)) + "\n")

    def to_json(self) -> str:
        """`to_dict()` as text."""
        return json.dumps(self.to_dict(), indent=2)

    def __repr__(self) -> str:
        name = "" if self.scenario is None else f"{self.scenario.name!r}, seed={self.scenario.seed}, "
        verdict = {None: "not checked", True: "consistent", False: "INCONSISTENT"}[self.consistent]
        if not self.broken and self.verdict is not None and self.verdict.undecided:
            verdict = "undecided"
        return f"Result({name}{self.operations_done} operations, {rate_text(self.throughput)}/s, {verdict})"

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("operation", "count", "min", "median", "p99", "max")]
        for name, times in self.operations.items():
            values = (times.min, times.median, times.p99, times.max) if len(times) else (0, 0, 0, 0)
            rows.append((name, str(len(times)), *(time_text(v) for v in values)))
        widths = [max(len(row[i]) for row in rows) for i in range(6)]
        lines = ["  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))])
                 for row in rows]
        lines.append(f"throughput: {rate_text(self.throughput)} operations/s ({self.operations_done} operation{'s' * (self.operations_done != 1)} in "
                     f"{time_text(self.measured_ps)} of simulated time)")
        if not self.timed:
            lines.append(UNTIMED)
        if self.faults:
            lines.append(f"deliberate faults: {', '.join(self.faults)}")
        if max(self.busiest.values(), default=0) >= LIMITING_SHARE:
            lines.append(f"limited by: {self.limited_by}")
        lines += [f"hint: {what}" for what in self.hints]
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
        note = "" if self.timed else f"; {UNTIMED}"
        note += f"; deliberate faults: {', '.join(self.faults)}" if self.faults else ""
        limits = f"<div>limited by: {html.escape(self.limited_by)}</div>" if self.limited_by else ""
        hints = "".join(f"<div>hint: {html.escape(what)}</div>" for what in self.hints)
        return (f"<div>{title}{rate_text(self.throughput)} operations/s{note}<table><tr>{head}</tr>{body}</table>"
                f"{limits}{hints}{verdict}</div>")

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)
