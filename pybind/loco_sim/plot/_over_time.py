"""Throughput, links and queues over simulated time."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, Sequence

from ..measured import Series
from ..outcome import Outcome
from ..trace import Trace
from ..units import at_least, duration_ps
from ._canvas import COLOURS, axes_for, colours_on, from_zero, plain, unit_on, wrong
from ._transfers import trace_of, transfers_of

if TYPE_CHECKING:
    from ..result import Result
    import numpy as np
    from matplotlib.axes import Axes


def _binned(starts: np.ndarray[Any, Any], ends: np.ndarray[Any, Any], weights: np.ndarray[Any, Any],
            edges: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Each weight spread evenly over its interval: how much of all falls into each bin."""
    import numpy

    ends = numpy.maximum(ends, starts + 1)
    total = numpy.zeros(len(edges) - 1)
    for start, end, weight in zip(starts, ends, weights):
        overlap = numpy.minimum(edges[1:], end) - numpy.maximum(edges[:-1], start)
        total += numpy.maximum(overlap, 0) * (weight / (end - start))
    return total


def _chosen(series: Series, links: str | Sequence[str] | None, weight: np.ndarray[Any, Any]) -> list[int]:
    """Indices of the links named, else of the eight that weigh most."""
    if links is not None:
        links = [links] if isinstance(links, str) else links
        unknown = [name for name in links if name not in series.links]
        if unknown:
            raise KeyError(f"{unknown[0]}: expected one of {', '.join(series.links)}")
        return [series.links.index(name) for name in links]
    heavy = sorted(range(len(series.links)), key=lambda i: (-weight[i], i))[:8]
    return sorted(i for i in heavy if weight[i] > 0)


def _series_of(subject: Trace | Result | Series) -> Series | None:
    return subject if isinstance(subject, Series) else subject.series if isinstance(subject, Outcome) else None


def _trace_of(subject: Trace | Result | Series) -> Trace:
    return trace_of(subject, "a Series, a Result or a Trace")


def _refuse_links(links: str | Sequence[str] | None) -> None:
    if links is not None:
        raise ValueError("links: expected a Series, or a Result with one (series: {interval: 1us}), to choose from, found a trace")


def _stairs(ax: Axes, times: np.ndarray[Any, Any], values: np.ndarray[Any, Any], **style: Any) -> None:
    """A line that has each value from its time on. With one time more than values, the last of them holds until then."""
    import numpy

    ax.step(times, numpy.append(values, values[-1:])[:len(times)], where="post", **style)


def _lines(series: Series, ax: Axes, links: str | Sequence[str] | None, values: np.ndarray[Any, Any],
           weight: np.ndarray[Any, Any]) -> None:
    """A line for each chosen link: `values` has a row for each look, or for each interval between two, and a column for
    each link."""
    unit = _over_time(ax, max(1, float(series.times_ps[-1])) if len(series.times_ps) else 1)
    times = series.times_ps if len(values) else series.times_ps[:0]
    for i in _chosen(series, links, weight):
        _stairs(ax, times / unit, values[:, i], label=series.links[i])
    if ax.get_lines():
        ax.legend()


def _node_line(ax: Axes, node: int, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> None:
    """Steps of nodes that do the same lie upon each other: later ones are thinner, so that those below are seen beside
    them."""
    _stairs(ax, x, y, label=f"node {node}", color=COLOURS[node % len(COLOURS)],
            linewidth=max(1.2, 6.0 - 1.6 * (node % len(COLOURS))))


def _legend_of_nodes(ax: Axes, trace: Trace) -> None:
    if ax.get_lines() and trace.nodes <= 16:
        ax.legend()


def _over_time(ax: Axes, end_ps: float) -> float:
    unit, unit_name = unit_on(ax, end_ps)
    ax.set_xlabel(f"simulated time ({unit_name})")
    ax.grid(True, alpha=0.3)
    return unit


def throughput_over_time(result: Result, ax: Axes | None = None, *, bucket: int | str | None = None) -> Axes:
    """Operations a second that ended in each bucket of time, a line for each kind of operation.

    Args:
        bucket: its length, in picoseconds or as text such as "10us"; by default a hundredth of the run.
    """
    import numpy

    if not isinstance(result, Outcome):
        raise wrong("result", "a Result", result)
    length = duration_ps(max(1, result.simulated_ps // 100) if bucket is None else bucket)
    ax = axes_for(ax, "throughput_over_time")
    unit = _over_time(ax, result.simulated_ps)
    for name, colour in zip(result.operations, colours_on(ax, len(result.operations))):
        _, rates = result.throughput_series(length, name)
        edges = numpy.arange(len(rates) + 1 if len(rates) else 0) * length
        _stairs(ax, edges / unit, rates / 1e6, label=plain(name), color=colour)
    from_zero(ax)
    ax.set_ylabel("million operations/s")
    if result.operations:
        ax.legend()
    return ax


def link_utilisation(subject: Trace | Result | Series, ax: Axes | None = None, *, links: str | Sequence[str] | None = None,
                     rate_bps: float | None = None, bins: int = 100) -> Axes:
    """How busy the links are over time.

    With a `Series` (or a Result that has one: ``series: {interval: 1us}`` in the scenario): for which share of each
    interval a link was sending, headers, ACKs and all; of the eight busiest links unless `links` names some.

    Else from the trace: payload that each node sends to others, in Gb/s, or with `rate_bps` as a share of that rate. The
    words of a remote operation count as sent, evenly, between the first read at one end and the last arrival at the other.
    Headers, ACKs and requests are not in it, so this is a lower bound of the load of the link.
    """
    bins = at_least("bins", bins, 1)
    if rate_bps is not None and not isinstance(rate_bps, Real):
        raise wrong("rate_bps", "bits a second", rate_bps)
    if rate_bps is not None and not 0 < rate_bps < math.inf:
        raise ValueError(f"rate_bps: expected more than 0 bits a second, found {rate_bps}")
    ax = axes_for(ax, "link_utilisation")
    if (series := _series_of(subject)) is not None:
        shares = series.utilisation
        _lines(series, ax, links, 100 * shares, shares.sum(axis=0))
        ax.set_ylabel("link busy (%)")
    else:
        _refuse_links(links)
        _payload_sent(_trace_of(subject), ax, rate_bps, bins)
        ax.set_ylabel("payload sent (% of the link)" if rate_bps else "payload sent (Gb/s)")
    from_zero(ax)
    return ax


def _payload_sent(trace: Trace, ax: Axes, rate_bps: float | None, bins: int) -> None:
    import numpy

    transfers = [t for t in transfers_of(trace) if t.local != t.peer]
    end = max((max(t.arrive, t.start + 1) for t in transfers), default=1)
    edges = numpy.linspace(0, end, bins + 1)
    unit = _over_time(ax, end)
    scale = 1e12 / (edges[1] - edges[0]) / (rate_bps if rate_bps else 1e9) * (100 if rate_bps else 1)
    for node in range(trace.nodes):
        mine = [t for t in transfers if (t.local if t.kind == "put" else t.peer) == node]
        if not mine:
            continue
        bits = _binned(numpy.array([t.start for t in mine]), numpy.array([t.arrive for t in mine]),
                       numpy.array([64.0 * t.words for t in mine]), edges)
        _node_line(ax, node, edges / unit, bits * scale)
    _legend_of_nodes(ax, trace)


def queue_occupancy(subject: Trace | Result | Series, ax: Axes | None = None, *, links: str | Sequence[str] | None = None
                    ) -> Axes:
    """What waits, over time.

    With a `Series` (or a Result that has one): bytes that wait for the ports of links; of the eight longest queues unless
    `links` names some.

    Else from the trace: remote operations of each node that are under way, from the first read of their data to the
    last write. A work request that waits in its send queue before that is not counted.
    """
    import numpy

    ax = axes_for(ax, "queue_occupancy")
    if (series := _series_of(subject)) is not None:
        queued = series.queued_bytes / 1e3
        _lines(series, ax, links, queued, queued.max(axis=0) if len(queued) else numpy.zeros(0))
        ax.set_ylabel("waiting for the port (kB)")
    else:
        _refuse_links(links)
        _under_way(_trace_of(subject), ax)
        ax.set_ylabel("remote operations under way")
    from_zero(ax)
    return ax


def _under_way(trace: Trace, ax: Axes) -> None:
    import numpy

    transfers = transfers_of(trace)
    unit = _over_time(ax, max((t.end for t in transfers), default=1))
    for node in range(trace.nodes):
        mine = [t for t in transfers if t.local == node]
        if not mine:
            continue
        times = numpy.array([t.start for t in mine] + [t.end for t in mine])
        steps = numpy.array([1] * len(mine) + [-1] * len(mine))
        order = numpy.argsort(times, kind="stable")
        _node_line(ax, node, times[order] / unit, numpy.cumsum(steps[order]))
    _legend_of_nodes(ax, trace)
