"""Pictures. Every function takes an `ax` to draw on (a new figure's when it is None) and returns it. Needs matplotlib.

    import loco_sim as ls
    r = ls.run("scenarios/quickstart.yaml")
    ls.plot.latency_cdf(r).figure.savefig("latency.svg")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence, Union

from ._optional import need
from .litmus_tests import Explanation
from .result import Latency, Result, Series
from .trace import Trace
from .verdict import Verdict, Violation

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["execution_graph", "latency_cdf", "latency_percentiles", "link_utilisation", "queue_occupancy",
           "sequence_chart", "throughput", "throughput_over_time"]

Times = Union[Result, Latency, Mapping[str, Union[Result, Latency]]]

# Okabe and Ito's palette: told apart by colour-blind readers too.
_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f"]
_RELATIONS = {"rf": "#009e73", "rb": "#d55e00", "mo": "#0072b2", "nfo": "#e69f00", "ppo": "#555555", "so": "#cc79a7"}
_NEVER = 2**64 - 1


def _axes(ax: Axes | None, purpose: str, **size: Any) -> Axes:
    if ax is not None:
        return ax
    # Figures outside of pyplot: nothing global, safe in threads, no window; notebooks show them all the same.
    figure_module = need("matplotlib.figure", f"plot.{purpose}()")
    figure = figure_module.Figure(layout="constrained", **size)
    need("matplotlib.backends.backend_agg", f"plot.{purpose}()").FigureCanvasAgg(figure)
    return figure.add_subplot()


def _named(times: Times) -> dict[str, Latency]:
    if isinstance(times, Result):
        return dict(times.operations)
    if isinstance(times, Latency):
        return {"": times}
    return {name: t.latency if isinstance(t, Result) else t for name, t in times.items()}


def _unit(ps: float) -> tuple[float, str]:
    for unit, name in ((1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns")):
        if ps >= unit:
            return unit, name
    return 1.0, "ps"


def latency_cdf(times: Times, ax: Axes | None = None, *, log: bool | None = None) -> Axes:
    """Share of the operations that took at most a time.

    Args:
        times: a Result (one line a kind of operation), a Latency, or several of either by name.
        log: logarithmic time axis; by default when the times differ by more than a factor of ten.
    """
    ax = _axes(ax, "latency_cdf")
    named = {name: t for name, t in _named(times).items() if len(t)}
    unit, unit_name = _unit(max((t.median for t in named.values()), default=1))
    for i, (name, t) in enumerate(named.items()):
        values, share = t.cdf()
        ax.step(values / unit, share, where="post", label=name or None, color=_COLOURS[i % len(_COLOURS)])
    if log is None:
        log = any(t.max > 10 * max(t.min, 1) for t in named.values())
    if log and all(t.min > 0 for t in named.values()):
        ax.set_xscale("log")
    ax.set_xlabel(f"latency ({unit_name})")
    ax.set_ylabel("share of operations")
    ax.set_ylim(0, 1.02)
    ax.grid(True, alpha=0.3)
    if any(named):
        ax.legend()
    return ax


def latency_percentiles(times: Times, ax: Axes | None = None, *,
                        percentiles: Sequence[float] = (50, 90, 99, 99.9, 100)) -> Axes:
    """Latency at some percentiles, a line for each kind of operation or name."""
    ax = _axes(ax, "latency_percentiles")
    named = {name: t for name, t in _named(times).items() if len(t)}
    unit, unit_name = _unit(max((t.median for t in named.values()), default=1))
    places = range(len(percentiles))
    for i, (name, t) in enumerate(named.items()):
        ax.plot(places, [t.percentile(q) / unit for q in percentiles], marker="o", label=name or None,
                color=_COLOURS[i % len(_COLOURS)])
    ax.set_xticks(list(places), [f"p{q:g}" if q < 100 else "max" for q in percentiles])
    ax.set_ylabel(f"latency ({unit_name})")
    ax.set_ylim(bottom=0)
    ax.grid(True, alpha=0.3)
    if any(named):
        ax.legend()
    return ax


def throughput(rows: pd.DataFrame | Iterable[Mapping[str, Any]], x: str, *, y: str = "operations_per_second",
               group: str | None = None, ax: Axes | None = None) -> Axes:
    """A sweep's figure of merit against one of its parameters: the median over the other rows (seeds) as a line, their
    range as a band.

    Args:
        rows: what `sweep` returned, or rows of `sweep_rows`.
        x: the swept parameter, e.g. "topology.nodes". Quantities with units ("50ns") are placed to scale.
        y: any column of numbers, e.g. "latency_p99_ps".
        group: another swept parameter: a line for each of its values.
    """
    ax = _axes(ax, "throughput")
    table = list(rows.to_dict("records")) if hasattr(rows, "to_dict") else list(rows)
    table = [row for row in table if not isinstance(row.get("error"), str)]
    if table and x not in table[0]:
        raise KeyError(f"{x}: expected one of {', '.join(table[0])}")
    groups: dict[Any, dict[Any, list[float]]] = {}
    unit, y_name = 1.0, y.replace("_", " ")
    if y.endswith("_ps"):
        unit, unit_name = _unit(_median([row[y] for row in table]) if table else 1)
        y_name = f"{y_name[:-3]} ({unit_name})"
    for row in table:
        groups.setdefault(row[group] if group else "", {}).setdefault(row[x], []).append(row[y] / unit)
    labels = {value: _place(value) for of_group in groups.values() for value in of_group}
    numbers = all(place is not None for place in labels.values())
    places: dict[Any, float] = {v: float(p) if numbers and p is not None else i
                                for i, (v, p) in enumerate(labels.items())}
    for i, (name, of_group) in enumerate(groups.items()):
        values = sorted(of_group, key=places.__getitem__)
        colour = _COLOURS[i % len(_COLOURS)]
        xs = [places[v] for v in values]
        ax.plot(xs, [_median(of_group[v]) for v in values], marker="o", color=colour,
                label=f"{group} = {name}" if group else None)
        if any(len(of_group[v]) > 1 for v in values):
            ax.fill_between(xs, [min(of_group[v]) for v in values], [max(of_group[v]) for v in values], color=colour,
                            alpha=0.2, linewidth=0)
    spread = sorted(places.values())
    if len(spread) > 2 and spread[0] > 0 and spread[-1] / spread[0] >= 20:
        ax.set_xscale("log")
    ax.set_xticks(list(places.values()), [str(v) for v in places])
    ax.minorticks_off()
    ax.set_xlabel(x)
    ax.set_ylabel(y_name)
    ax.set_ylim(bottom=0)
    ax.grid(True, alpha=0.3)
    if group:
        ax.legend()
    return ax


def _place(value: Any) -> float | None:
    from .units import parse_quantity

    if isinstance(value, (int, float)):
        return value
    try:
        return float(value)
    except ValueError:
        pass
    try:
        return parse_quantity(value)[0]
    except ValueError:
        return None


def _median(values: list[float]) -> float:
    ordered = sorted(values)
    n = len(ordered)
    return ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2


class _Transfer:
    """A remote operation, from the subevents of its call: when and where it read, when and where it wrote."""

    def __init__(self, thread: int, local: int, peer: int, kind: str, words: int, start: int, arrive: int,
                 end: int) -> None:
        self.thread, self.local, self.peer, self.kind = thread, local, peer, kind
        self.words, self.start, self.arrive, self.end = words, start, arrive, end


def _transfers(trace: Trace) -> list[_Transfer]:
    """Puts: read at home (aNLR), written remotely (aNRW). Gets: read remotely (aNRR), written at home (aNLW)."""
    import numpy

    events, calls = trace.subevents, trace.calls
    nodes = [t.node for t in trace.threads]
    remote = numpy.flatnonzero((events["stamp"] >= 5) & (events["stamp"] <= 8))
    by_call: dict[int, list[int]] = {}
    for i in remote:
        by_call.setdefault(int(events["call"][i]), []).append(int(i))
    out = []
    for call, indices in by_call.items():
        part = events[indices]
        thread = int(calls["thread"][call - 1])
        reads, writes = part[(part["stamp"] == 5) | (part["stamp"] == 7)], part[(part["stamp"] == 6) | (part["stamp"] == 8)]
        if not len(reads) or not len(writes):
            continue
        done = writes[writes["finish"] != _NEVER]
        end = int((done if len(done) else writes)["finish_ps"].max()) or int(writes["start_ps"].max())
        # The part that crosses the network: from the read at one end to the write at the other.
        out.append(_Transfer(thread, nodes[thread], int(part["peer"][0]), "get" if (part["stamp"] == 7).any() else "put",
                             len(writes), int(reads["start_ps"].min()), int(writes["start_ps"].min()), end))
    return out


def sequence_chart(trace: Trace | Result, ax: Axes | None = None, *, start_ps: int = 0, limit: int = 60) -> Axes:
    """Message-sequence chart: a line for each node, time going down, an arrow for each remote operation from where the
    data was read to where it was written.

    Args:
        start_ps: leave out what began earlier.
        limit: draw at most that many operations.
    """
    trace = trace.trace if isinstance(trace, Result) else trace
    transfers = sorted((t for t in _transfers(trace) if t.start >= start_ps), key=lambda t: t.start)[:limit]
    ax = _axes(ax, "sequence_chart", figsize=(1.6 + 1.5 * trace.nodes, 2 + 0.12 * len(transfers)))
    span = max((t.end for t in transfers), default=1) - (transfers[0].start if transfers else 0)
    unit, unit_name = _unit(span or 1)
    for node in range(trace.nodes):
        ax.axvline(node, color="#bbbbbb", linewidth=1, zorder=0)
    for t in transfers:
        source, target = (t.local, t.peer) if t.kind == "put" else (t.peer, t.local)
        colour = _COLOURS[0] if t.kind == "put" else _COLOURS[1]
        bend = 0.25 if source == target else 0
        ax.annotate("", xy=(target, t.end / unit), xytext=(source, t.start / unit),
                    arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1, "shrinkA": 0, "shrinkB": 0,
                                "connectionstyle": f"arc3,rad={bend}"})
        ax.plot([source, target], [t.start / unit, t.end / unit], ".", color=colour, markersize=4)
    for kind, colour in (("put", _COLOURS[0]), ("get", _COLOURS[1])):
        if any(t.kind == kind for t in transfers):
            ax.plot([], [], color=colour, label=kind)
    ax.set_xlim(-0.5, trace.nodes - 0.5)
    ax.set_xticks(range(trace.nodes), [f"node {n}" for n in range(trace.nodes)])
    ax.xaxis.tick_top()
    if transfers:
        margin = 0.03 * max(span, 1) / unit
        ax.set_ylim(max(t.end for t in transfers) / unit + margin, transfers[0].start / unit - margin)
        ax.legend(loc="lower right")
    ax.set_ylabel(f"simulated time ({unit_name})")
    return ax


def _graph_of(subject: Explanation | Verdict | Violation) -> tuple[str, list[tuple[int, str]], list[tuple[int, int, str, bool]]]:
    """Title; nodes (column, label); edges (from, to, relation, bold)."""
    if isinstance(subject, Explanation):
        return (subject.title, [(thread, label) for thread, label, _ in subject.nodes],
                [(a, b, relation, bold) for a, b, relation, _, bold in subject.edges])
    if isinstance(subject, Verdict):
        with_cycle = [v for v in subject.violations if v.cycle]
        if not with_cycle:
            raise ValueError("this verdict has no cycle to draw")
        subject = with_cycle[0]
    steps = subject.cycle
    return (subject.message, [(s.thread, f"{s.call_text}\n{s.subevent_text}") for s in steps],
            [(i, (i + 1) % len(steps), s.rule, True) for i, s in enumerate(steps)])


def execution_graph(subject: Explanation | Verdict | Violation, ax: Axes | None = None) -> Axes:
    """An execution as a graph: a column for each thread, program order downwards, relations as coloured arrows.

    Args:
        subject: an `Explanation` of a litmus test (``result.witness(...)``), or the cycle of a `Verdict` or `Violation`.
    """
    title, nodes, edges = _graph_of(subject)
    columns = {thread: i for i, thread in enumerate(sorted({thread for thread, _ in nodes}))}
    depth = dict.fromkeys(columns, 0)
    places = []
    for thread, _ in nodes:
        places.append((columns[thread], -depth[thread]))
        depth[thread] += 1
    ax = _axes(ax, "execution_graph", figsize=(2.6 * max(2, len(columns)), 1.2 + 0.75 * max(depth.values(), default=1)))
    seen: set[str] = set()
    pairs: dict[tuple[int, int], int] = {}
    for a, b, relation, bold in edges:
        colour = _RELATIONS.get(relation.split()[0].split("_")[0], "#7a5195")
        repeated = pairs.get((a, b), 0)
        pairs[a, b] = repeated + 1
        same_column = places[a][0] == places[b][0]
        adjacent = same_column and places[a][1] - places[b][1] == 1
        bend = (0.0 if adjacent else 0.35 if same_column else 0.12) + 0.15 * repeated
        ax.annotate("", xy=places[b], xytext=places[a],
                    arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2 if bold else 1,
                                "alpha": 1 if bold else 0.6, "shrinkA": 16, "shrinkB": 16,
                                "connectionstyle": f"arc3,rad={bend}"})
        if relation not in seen:
            seen.add(relation)
            ax.plot([], [], color=colour, label=relation)
    for (x, y), (_, label) in zip(places, nodes):
        ax.text(x, y, label, ha="center", va="center", fontsize=7, family="monospace", wrap=True,
                bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": "#999999"})
    ax.set_xlim(-0.6, len(columns) - 0.4)
    ax.set_ylim(-max(depth.values(), default=1) + 0.4, 0.6)
    ax.set_xticks(range(len(columns)), [f"thread {t}" for t in columns])
    ax.xaxis.tick_top()
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_xlabel(title, fontsize=8)
    if seen:
        ax.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    return ax


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


def _chosen(series: Series, links: Sequence[str] | None, weight: np.ndarray[Any, Any]) -> list[int]:
    """Indices of the links named, else of the eight that weigh most."""
    if links is not None:
        unknown = [name for name in links if name not in series.links]
        if unknown:
            raise KeyError(f"{unknown[0]}: expected one of {', '.join(series.links)}")
        return [series.links.index(name) for name in links]
    heavy = sorted(range(len(series.links)), key=lambda i: (-weight[i], i))[:8]
    return sorted(i for i in heavy if weight[i] > 0)


def _series_of(subject: Trace | Result | Series) -> Series | None:
    return subject if isinstance(subject, Series) else subject.series if isinstance(subject, Result) else None


def _over_time(ax: Axes, end_ps: float) -> float:
    unit, unit_name = _unit(end_ps)
    ax.set_xlabel(f"simulated time ({unit_name})")
    ax.set_ylim(bottom=0)
    ax.grid(True, alpha=0.3)
    return unit


def throughput_over_time(result: Result, ax: Axes | None = None, *, bucket: int | str | None = None) -> Axes:
    """Operations a second that ended in each bucket of time, a line for each kind of operation.

    Args:
        bucket: its length, in picoseconds or as text such as "10us"; by default a hundredth of the run.
    """
    ax = _axes(ax, "throughput_over_time")
    bucket = bucket or max(1, result.simulated_ps // 100)
    unit = _over_time(ax, result.simulated_ps)
    for i, name in enumerate(result.operations):
        starts, rates = result.throughput_series(bucket, name)
        ax.step(starts / unit, rates / 1e6, where="post", label=name, color=_COLOURS[i % len(_COLOURS)])
    ax.set_ylabel("million operations/s")
    if result.operations:
        ax.legend()
    return ax


def link_utilisation(subject: Trace | Result | Series, ax: Axes | None = None, *, links: Sequence[str] | None = None,
                     rate_bps: float | None = None, bins: int = 100) -> Axes:
    """How busy the links are over time.

    With a `Series` (or a Result that has one: ``series: {interval: 1us}`` in the scenario): for which share of each
    interval a link was sending, headers, ACKs and all; of the eight busiest links unless `links` names some.

    Else from the trace: payload that each node sends to others, in Gb/s, or with `rate_bps` as a share of that rate. The
    words of a remote operation count as sent, evenly, between the read at one end and the arrival at the other.
    Headers, ACKs and requests are not in it, so this is a lower bound of the load of the link.
    """
    import numpy

    series = _series_of(subject)
    if series is not None:
        ax = _axes(ax, "link_utilisation")
        shares = series.utilisation
        times = series.times_ps[:-1]
        unit = _over_time(ax, max(1, float(series.times_ps[-1])) if len(series.times_ps) else 1)
        for i in _chosen(series, links, shares.sum(axis=0)):
            ax.step(times / unit, 100 * shares[:, i], where="post", label=series.links[i])
        ax.set_ylabel("link busy (%)")
        if ax.get_lines():
            ax.legend()
        return ax
    assert not isinstance(subject, Series)
    trace = subject
    trace = trace.trace if isinstance(trace, Result) else trace
    ax = _axes(ax, "link_utilisation")
    transfers = [t for t in _transfers(trace) if t.local != t.peer]
    end = max((max(t.arrive, t.start + 1) for t in transfers), default=1)
    edges = numpy.linspace(0, end, bins + 1)
    unit, unit_name = _unit(end)
    scale = 1e12 / (edges[1] - edges[0]) / (rate_bps if rate_bps else 1e9) * (100 if rate_bps else 1)
    for node in range(trace.nodes):
        mine = [t for t in transfers if (t.local if t.kind == "put" else t.peer) == node]
        if not mine:
            continue
        bits = _binned(numpy.array([t.start for t in mine]), numpy.array([t.arrive for t in mine]),
                       numpy.array([64.0 * t.words for t in mine]), edges)
        ax.step(edges[:-1] / unit, bits * scale, where="post", label=f"node {node}",
                color=_COLOURS[node % len(_COLOURS)])
    ax.set_xlabel(f"simulated time ({unit_name})")
    ax.set_ylabel("payload sent (% of the link)" if rate_bps else "payload sent (Gb/s)")
    ax.set_ylim(bottom=0)
    ax.grid(True, alpha=0.3)
    if transfers and trace.nodes <= 16:
        ax.legend()
    return ax


def queue_occupancy(subject: Trace | Result | Series, ax: Axes | None = None, *, links: Sequence[str] | None = None
                    ) -> Axes:
    """What waits, over time.

    With a `Series` (or a Result that has one): bytes that wait for the ports of links; of the eight longest queues unless
    `links` names some.

    Else from the trace: remote operations of each node that are under way, from the first read of their data to the
    last write. A work request that waits in its send queue before that is not counted.
    """
    import numpy

    series = _series_of(subject)
    if series is not None:
        ax = _axes(ax, "queue_occupancy")
        queued = series.queued_bytes / 1e3
        unit = _over_time(ax, max(1, float(series.times_ps[-1])) if len(series.times_ps) else 1)
        for i in _chosen(series, links, queued.max(axis=0) if len(queued) else numpy.zeros(0)):
            ax.step(series.times_ps / unit, queued[:, i], where="post", label=series.links[i])
        ax.set_ylabel("waiting for the port (kB)")
        if ax.get_lines():
            ax.legend()
        return ax
    assert not isinstance(subject, Series)
    trace = subject
    trace = trace.trace if isinstance(trace, Result) else trace
    ax = _axes(ax, "queue_occupancy")
    transfers = _transfers(trace)
    unit, unit_name = _unit(max((t.end for t in transfers), default=1))
    for node in range(trace.nodes):
        mine = [t for t in transfers if t.local == node]
        if not mine:
            continue
        times = numpy.array([t.start for t in mine] + [t.end for t in mine])
        steps = numpy.array([1] * len(mine) + [-1] * len(mine))
        order = numpy.argsort(times, kind="stable")
        ax.step(times[order] / unit, numpy.cumsum(steps[order]), where="post", label=f"node {node}",
                color=_COLOURS[node % len(_COLOURS)])
    ax.set_xlabel(f"simulated time ({unit_name})")
    ax.set_ylabel("remote operations under way")
    ax.set_ylim(bottom=0)
    ax.grid(True, alpha=0.3)
    if transfers and trace.nodes <= 16:
        ax.legend()
    return ax
