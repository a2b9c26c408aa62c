"""Throughput, links and queues over simulated time."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, Callable, Sequence

from ..measured import Series
from ..outcome import Outcome
from ..trace import Trace
from ..units import at_least, duration_ps
from ._canvas import COLOURS, axes_for, colours_on, from_zero, heat, legend_above, nothing, plain, size_on, unit_on, wrong
from ._transfers import Transfer, trace_of, transfers_of

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes


_LINES_MAX = 3  # more than these lie over each other: a row each in colours
_LINKS_MAX = 24  # of a picture, the busiest
_COLUMNS_MAX = 200

_SHARE = ((1.0, "link busy (%)"),)
_WAITING = tuple((size, f"waiting for the port ({name})") for size, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")))
_RATE = ((1e6, "million operations/s"), (1e3, "thousand operations/s"), (1.0, "operations/s"))
_SENT = tuple((size, f"payload sent ({name}/s)") for size, name in ((1e9, "Gb"), (1e6, "Mb"), (1e3, "kb"), (1.0, "b")))
_SENT_SHARE = ((1.0, "payload sent (% of the link)"),)
Units = Sequence[tuple[float, str]]


def _binned(starts: np.ndarray[Any, Any], ends: np.ndarray[Any, Any], weights: np.ndarray[Any, Any],
            edges: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Each weight spread evenly over its interval: how much of all falls into each bin."""
    import numpy

    ends = numpy.maximum(ends, starts + 1)
    rates = weights / (ends - starts)

    def grown(since: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """What would have come by each edge, had nothing that began at these times ever ended."""
        order = numpy.argsort(since, kind="stable")
        sums = numpy.concatenate([[0.0], numpy.cumsum(rates[order])])
        moments = numpy.concatenate([[0.0], numpy.cumsum(rates[order] * since[order])])
        before = numpy.searchsorted(since[order], edges)
        return sums[before] * edges - moments[before]  # type: ignore[no-any-return]

    return numpy.maximum(numpy.diff(grown(starts) - grown(ends)), 0)


def _reduced(values: np.ndarray[Any, Any], *, most: bool) -> np.ndarray[Any, Any]:
    """At most so many columns as a picture shows: the mean of some, or the most."""
    import numpy

    step = -(-values.shape[1] // _COLUMNS_MAX)
    if step <= 1:
        return values
    starts = numpy.arange(0, values.shape[1], step)
    if most:
        return numpy.maximum.reduceat(values, starts, axis=1)  # type: ignore[no-any-return]
    return numpy.add.reduceat(values, starts, axis=1) / numpy.diff([*starts, values.shape[1]])  # type: ignore[no-any-return]


def _chosen(series: Series, links: str | Sequence[str] | None, weight: np.ndarray[Any, Any]) -> list[int]:
    """Indices of the links named, else of those that weigh most."""
    if links is not None:
        links = [links] if isinstance(links, str) else links
        unknown = [name for name in links if name not in series.links]
        if unknown:
            raise KeyError(f"{unknown[0]}: expected one of {', '.join(series.links)}")
        return [series.links.index(name) for name in links]
    heavy = sorted(range(len(series.links)), key=lambda i: (-weight[i], i))[:_LINKS_MAX]
    return sorted(i for i in heavy if weight[i] > 0)


def _series_of(subject: Trace | Outcome | Series) -> Series | None:
    return subject if isinstance(subject, Series) else subject.series if isinstance(subject, Outcome) else None


def _trace_of(subject: Trace | Outcome | Series) -> Trace:
    return trace_of(subject, "a Series, a Result or a Trace")


def _refuse_links(links: str | Sequence[str] | None) -> None:
    if links is not None:
        raise ValueError("links: expected a Series, or a Result with one (series: {interval: 1us}), to choose from, found a trace")


def _stairs(ax: Axes, times: np.ndarray[Any, Any], values: np.ndarray[Any, Any], **style: Any) -> None:
    """A line that has each value from its time on. With one time more than values, the last of them holds until then."""
    import numpy

    ax.step(times, numpy.append(values, values[-1:])[:len(times)], where="post", **style)


def _lines(series: Series, ax: Axes, links: str | Sequence[str] | None, values: np.ndarray[Any, Any],
           weight: np.ndarray[Any, Any], units: Units, idle: str, heaviest: str, *, most: bool = False) -> None:
    """A line for each chosen link, of many a row: `values` has a row for each look, or for each interval between two, and
    a column for each link. `idle` is said where there is nothing; `heaviest` are those that are shown of too many."""
    unit = _over_time(ax, max(1, float(series.times_ps[-1])) if len(series.times_ps) else 1)
    times = series.times_ps if len(values) else series.times_ps[:0]
    chosen = _chosen(series, links, weight)
    size, label = size_on(ax, float(values[:, chosen].max()) if len(values) and chosen else 0, units)
    values = values / size
    if links is None and (some := int((weight > 0).sum())) > len(chosen):
        ax.set_title(f"{heaviest.format(len(chosen))} of {some}, of {len(series.links)} links in all"
                     if some < len(series.links) else f"{heaviest.format(len(chosen))} of {some} links", fontsize="medium")
    if len(chosen) > _LINES_MAX and not ax.get_lines():
        end = times[0] + series.interval_ps * len(values)
        heat(ax, [series.links[i] for i in chosen], _reduced(values[:, chosen].T, most=most), times[0] / unit, end / unit, label)
        return
    if not chosen and not ax.get_lines():
        return nothing(ax, idle)
    for i in chosen:
        _stairs(ax, times / unit, values[:, i], label=series.links[i])
    ax.set_ylabel(label)
    legend_above(ax)
    from_zero(ax)


def _of_nodes(ax: Axes, edges: np.ndarray[Any, Any], found: dict[int, np.ndarray[Any, Any]], label: str) -> None:
    """A line for each node, of many a row."""
    import numpy

    if len(found) > _LINES_MAX and not ax.get_lines():
        heat(ax, [str(node) for node in found], numpy.stack(list(found.values())), edges[0], edges[-1], label)
        ax.set_ylabel("node")
        return
    for node, values in found.items():
        _stairs(ax, edges, values, label=f"node {node}", color=COLOURS[node % len(COLOURS)],
                linewidth=max(1.2, 4.4 - 1.6 * len(ax.get_lines())))  # those that do the same are seen beside each other
    ax.set_ylabel(label)
    legend_above(ax)
    from_zero(ax)


def _over_time(ax: Axes, end_ps: float) -> float:
    unit, unit_name = unit_on(ax, end_ps)
    ax.set_xlabel(f"simulated time ({unit_name})")
    ax.grid(True, alpha=0.3)
    return unit


def throughput_over_time(result: Outcome, ax: Axes | None = None, *, bucket: int | str | None = None) -> Axes:
    """Operations a second that ended in each bucket of time: a line, of several kinds of operation a row each in colours.

    Args:
        bucket: its length, in picoseconds or as text such as "10us"; by default a hundredth of the run.
    """
    import numpy

    if not isinstance(result, Outcome):
        raise wrong("result", "a Result", result)
    length = duration_ps(max(1, result.simulated_ps // 100) if bucket is None else bucket)
    ax = axes_for(ax, "throughput_over_time")
    unit = _over_time(ax, result.simulated_ps)
    kinds = [name for name, times in result.operations.items() if len(times)]
    if len(kinds) > 1 and not ax.get_lines():
        rows = [result.throughput_series(length, name)[1] for name in kinds]
        count = max(1, *map(len, rows))
        values = numpy.stack([numpy.pad(row, (0, count - len(row))) for row in rows])
        values = _reduced(values, most=False)
        size, label = size_on(ax, float(values.max()), _RATE)
        heat(ax, kinds, values / size, 0, count * length / unit, label)
        return ax
    found = {name: result.throughput_series(length, name)[1] for name in result.operations}
    size, label = size_on(ax, max((float(rates.max()) for rates in found.values() if len(rates)), default=0), _RATE)
    for (name, rates), colour in zip(found.items(), colours_on(ax, len(found))):
        edges = numpy.arange(len(rates) + 1 if len(rates) else 0) * length
        _stairs(ax, edges / unit, rates / size, label=plain(name), color=colour)
    from_zero(ax)
    ax.set_ylabel(label)
    legend_above(ax)
    return ax


def link_utilisation(subject: Trace | Outcome | Series, ax: Axes | None = None, *, links: str | Sequence[str] | None = None,
                     rate_bps: float | None = None, bins: int = 100) -> Axes:
    """How busy the links are over time: a line each, of more than three a row each in colours.

    With a `Series` (or a Result that has one: ``series: {interval: 1us}`` in the scenario): for which share of each
    interval a link was sending, headers, ACKs and all; of the busiest links unless `links` names some.

    Else from the trace: payload that each node sends to others, in bits a second, or with `rate_bps` as a share of that rate. The
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
        _lines(series, ax, links, 100 * shares, shares.sum(axis=0), _SHARE, "no link was busy", "the {} busiest")
    else:
        _refuse_links(links)
        _payload_sent(_trace_of(subject), ax, rate_bps, bins)
    return ax


def _payload_sent(trace: Trace, ax: Axes, rate_bps: float | None, bins: int) -> None:
    import numpy

    transfers = [t for t in transfers_of(trace) if t.local != t.peer]
    end = max((max(t.arrive, t.start + 1) for t in transfers), default=1)
    edges = numpy.linspace(0, end, bins + 1)
    unit = _over_time(ax, end)
    scale = 1e12 / (edges[1] - edges[0]) / (rate_bps if rate_bps else 1) * (100 if rate_bps else 1)
    found = {}
    for node, mine in _by_node(transfers, lambda t: t.local if t.kind == "put" else t.peer):
        bits = _binned(numpy.array([t.start for t in mine], float), numpy.array([t.arrive for t in mine], float),
                       numpy.array([64.0 * t.words for t in mine]), edges)
        found[node] = bits * scale
    size, label = size_on(ax, max((float(values.max()) for values in found.values()), default=0),
                          _SENT_SHARE if rate_bps else _SENT)
    _of_nodes(ax, edges / unit, {node: values / size for node, values in found.items()}, label)


def _by_node(transfers: list[Transfer], node_of: Callable[[Transfer], int]) -> list[tuple[int, list[Transfer]]]:
    found: dict[int, list[Transfer]] = {}
    for transfer in transfers:
        found.setdefault(node_of(transfer), []).append(transfer)
    return sorted(found.items())


def queue_occupancy(subject: Trace | Outcome | Series, ax: Axes | None = None, *, links: str | Sequence[str] | None = None
                    ) -> Axes:
    """What waits, over time: a line each, of more than three a row each in colours.

    With a `Series` (or a Result that has one): bytes that wait for the ports of links; of the longest queues unless
    `links` names some.

    Else from the trace: remote operations of each node that are under way, from the first read of their data to the
    last write. A work request that waits in its send queue before that is not counted.
    """
    import numpy

    ax = axes_for(ax, "queue_occupancy")
    if (series := _series_of(subject)) is not None:
        queued = series.queued_bytes * 1.0  # which may be negated
        _lines(series, ax, links, queued, queued.max(axis=0) if len(queued) else numpy.zeros(0),
               _WAITING, "nothing waited for a port", "the {} longest queues", most=True)
    else:
        _refuse_links(links)
        _under_way(_trace_of(subject), ax)
    return ax


def _under_way(trace: Trace, ax: Axes) -> None:
    import numpy

    transfers = transfers_of(trace)
    end = max((t.end for t in transfers), default=1)
    unit = _over_time(ax, end)
    label = "remote operations under way"
    each = _by_node(transfers, lambda t: t.local)
    if len(each) > _LINES_MAX and not ax.get_lines():
        edges = numpy.linspace(0, end, 101)
        _of_nodes(ax, edges / unit, {
            node: _binned(numpy.array([t.start for t in mine], float), numpy.array([t.end for t in mine], float),
                          numpy.array([float(max(t.end - t.start, 1)) for t in mine]), edges) / (edges[1] - edges[0])
            for node, mine in each}, label)
        return
    for node, mine in each:
        times = numpy.array([t.start for t in mine] + [t.end for t in mine])
        steps = numpy.array([1] * len(mine) + [-1] * len(mine))
        order = numpy.argsort(times, kind="stable")
        _of_nodes(ax, times[order] / unit, {node: numpy.cumsum(steps[order])}, label)
    if not each:
        ax.set_ylabel(label)
        from_zero(ax)
