"""Flows of a run as a table: who sent what to whom, when, and how much slower than alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy
import pandas

from . import _core

if TYPE_CHECKING:
    from .scenario import Scenario

__all__ = ["Flows", "flows_of"]

TIMES = ("start_ps", "received_ps", "completed_ps", "ideal_ps")


class Flows(pandas.DataFrame):  # type: ignore[misc]
    """A row a flow: workload, id, source, destination, class, bytes, start_ps, received_ps, completed_ps, ideal_ps,
    slowdown, retransmitted_packets, marked_packets. Times are picoseconds; what has not happened is <NA>, and such a
    flow's slowdown NaN."""

    @property
    def _constructor(self) -> type[Flows]:
        return Flows

    def by_size(self, bins: int = 20, *, at: int | None = None) -> pandas.DataFrame:
        """Slowdowns of flows of about one size.

        Args:
            bins: so many rows of about equal numbers of flows, by size, all flows of one size in one of them.
            at: two rows instead: flows below so many bytes, and from so many on (a bandwidth-delay product).

        Returns:
            A row a bin: largest (bytes), flows, mean, p50, p95, p99, p999: percentiles at index floor(n p) of the
            slowdowns in order, as the HPCC paper's authors compute them.

        Raises:
            ValueError: fewer than one bin.
        """
        if bins < 1:
            raise ValueError(f"bins: expected at least 1, found {bins!r}")
        ended = self[self["slowdown"].notna()]
        rows = _core.slowdown_bins(ended["bytes"].to_numpy("uint64"), ended["slowdown"].to_numpy("float64"), bins, at)
        return pandas.DataFrame(rows, columns=["largest", "flows", "mean", "p50", "p95", "p99", "p999"])


def flows_of(records: numpy.ndarray[Any, Any], scenario: Scenario | None,
             parts: Sequence[tuple[Any, ...]] = ()) -> Flows:
    """The table of a run's records; the scenario says which end a slowdown counts to. `parts`: of several workloads, each
    one's name, kind and number of flows."""
    settings: dict[str, Any] = {} if scenario is None else scenario.effective()
    if not parts:
        return _of_one(records, settings.get("workload.kind", "flows"), settings.get("workload.flows_end"),
                       settings.get("workload.ideal"))
    said = settings.get("workloads") or [{}] * len(parts)
    tables, first = [], 0
    for (name, _, count, *_), keys in zip(parts, said):
        tables.append(_of_one(records[first:first + count], name, keys.get("flows_end"), keys.get("ideal")))
        first += count
    return Flows(pandas.concat(tables, ignore_index=True))


def _of_one(records: numpy.ndarray[Any, Any], workload: str, flows_end: str | None, ideal: str | None) -> Flows:
    table = Flows({name: records[name] for name in records.dtype.names or ()})
    table.insert(0, "workload", workload)
    end = "completed_ps" if flows_end == "completed" else "received_ps"
    took = (table[end] - table["start_ps"]).where((table[end] >= 0) & (table["ideal_ps"] > 0))
    slowdown = took / table["ideal_ps"]
    table.insert(10, "slowdown", slowdown.clip(lower=1) if ideal == "base_rtt" else slowdown)
    for name in TIMES:
        table[name] = table[name].astype("Int64").mask(table[name] < 0)
    return table
