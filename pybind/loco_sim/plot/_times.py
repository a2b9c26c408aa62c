"""How long operations took, and how many a second there were."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence, Union

from ..measured import Latency
from ..outcome import Outcome
from ._canvas import COLOURS, axes_for, colour_scale, colours_on, from_zero, legend_above, logarithmic, plain, unit_on, wrong

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Times = Union[Outcome, Latency, Mapping[str, Union[Outcome, Latency]]]


def _named(times: Times) -> dict[str, Latency]:
    if isinstance(times, Outcome):
        return dict(times.operations)
    if isinstance(times, Latency):
        return {"": times}
    if not isinstance(times, Mapping):
        raise wrong("times", "a Result, a Latency, or several by name", times)
    for name, t in times.items():
        if not isinstance(t, (Outcome, Latency)):
            raise wrong(f"times: {name}", "a Result or a Latency", t)
    return {str(name): t.latency if isinstance(t, Outcome) else t for name, t in times.items()}


def latency_cdf(times: Times, ax: Axes | None = None, *, log: bool | None = None) -> Axes:
    """Share of the operations that took at most a time.

    Args:
        times: a Result (one line a kind of operation), a Latency, or several of either by name.
        log: logarithmic time axis; by default when the times differ by more than a factor of ten.
    """
    import numpy

    ax = axes_for(ax, "latency_cdf")
    named = {name: t for name, t in _named(times).items() if len(t)}
    unit, unit_name = unit_on(ax, max((t.median for t in named.values()), default=1))
    for (name, t), colour in zip(named.items(), colours_on(ax, len(named))):
        values, share = t.cdf()
        # from the axis up: one sample is a line, too
        ax.step(numpy.append(values[:1], values) / unit, numpy.append(0, share), where="post", label=plain(name) or None,
                color=colour)
    if log is None:
        log = any(t.max > 10 * max(t.min, 1) for t in named.values())
    if log and all(t.min > 0 for t in named.values()):
        logarithmic(ax.xaxis)
    ax.set_xlabel(f"latency ({unit_name})")
    ax.set_ylabel("share of operations")
    ax.set_ylim(0, 1.02)
    ax.grid(True, alpha=0.3)
    legend_above(ax)
    return ax


def latency_percentiles(times: Times, ax: Axes | None = None, *,
                        percentiles: Sequence[float] = (50, 90, 99, 99.9, 100)) -> Axes:
    """Latency at some percentiles, a line for each kind of operation or name; on a logarithmic axis where they differ by
    more than a factor of ten."""
    ax = axes_for(ax, "latency_percentiles")
    named = {name: t for name, t in _named(times).items() if len(t)}
    unit, unit_name = unit_on(ax, max((t.median for t in named.values()), default=1))
    places = range(len(percentiles))
    for (name, t), colour in zip(named.items(), colours_on(ax, len(named))):
        ax.plot(places, [t.percentile(q) / unit for q in percentiles], marker="o", label=plain(name) or None,
                color=colour)
    ax.set_xticks(list(places), [f"p{q:g}" if q < 100 else "max" for q in percentiles])
    ax.set_ylabel(f"latency ({unit_name})")
    drawn = [float(y) for line in ax.get_lines() for y in line.get_ydata()]
    if drawn and min(drawn) > 0 and max(drawn) > 10 * min(drawn):
        ax.set_ylim(min(drawn) / 1.3, max(drawn) * 1.3)
        logarithmic(ax.yaxis)
    else:
        from_zero(ax)
    ax.grid(True, alpha=0.3)
    legend_above(ax)
    return ax


def throughput(rows: pd.DataFrame | Iterable[Mapping[str, Any]], x: str, *, y: str = "operations_per_second",
               group: str | None = None, ax: Axes | None = None) -> Axes:
    """A sweep's figure of merit against one of its parameters: the median over the other rows (seeds) as a line, their
    range as a band.

    Args:
        rows: what `sweep` returned, rows of `sweep_rows`, or those of its file as `csv.DictReader` gives them.
        x: the swept parameter, e.g. "topology.nodes". Quantities with units ("50ns") are placed to scale.
        y: any column of numbers, e.g. "latency_p99_ps".
        group: another swept parameter: a line for each of its values; of more than eight, colours along a scale.

    Rows of points that failed, and those without a value in one of these columns, are left out.
    """
    table = _table(rows, [column for column in (x, y, group) if column is not None])
    ax = axes_for(ax, "throughput")
    groups: dict[Any, dict[Any, list[float]]] = {}
    unit, y_name = 1.0, y.replace("_", " ")
    if y.endswith("_ps"):
        unit, unit_name = unit_on(ax, statistics.median([_number(y, row[y]) for row in table]) if table else 1)
        y_name = f"{y_name[:-3]} ({unit_name})"
    for row in table:
        groups.setdefault(row[group] if group else "", {}).setdefault(row[x], []).append(_number(y, row[y]) / unit)
    labels = {value: _place(value) for of_group in groups.values() for value in of_group}
    numbers = all(place is not None for place in labels.values())
    places: dict[Any, float] = {v: float(p) if numbers and p is not None else i
                                for i, (v, p) in enumerate(labels.items())}
    if group and len(groups) > len(COLOURS):
        groups = dict(sorted(groups.items(), key=lambda item: (_place(item[0]) is None, _place(item[0]) or 0)))
        colours = colour_scale(ax, [str(name) for name in groups], group)
    else:
        colours = colours_on(ax, len(groups))
    for (name, of_group), colour in zip(groups.items(), colours):
        values = sorted(of_group, key=places.__getitem__)
        xs = [places[v] for v in values]
        ax.plot(xs, [statistics.median(of_group[v]) for v in values], marker="o", color=colour,
                label=plain(f"{group} = {name}") if group else None)
        if any(len(of_group[v]) > 1 for v in values):
            ax.fill_between(xs, [min(of_group[v]) for v in values], [max(of_group[v]) for v in values], color=colour,
                            alpha=0.2, linewidth=0)
    spread = sorted(places.values())
    if len(spread) > 2 and spread[0] > 0 and spread[-1] / spread[0] >= 20:
        ax.set_xscale("log")
    ticks = _with_room(places, log=ax.get_xscale() == "log")
    ax.set_xticks([places[v] for v in ticks], [plain(str(v)) for v in ticks])
    ax.minorticks_off()
    ax.set_xlabel(x)
    ax.set_ylabel(y_name)
    from_zero(ax)
    ax.grid(True, alpha=0.3)
    if group and len(groups) <= len(COLOURS):
        legend_above(ax)
    return ax


def _table(rows: Any, columns: list[str]) -> list[Mapping[str, Any]]:
    """The rows of runs that ended and have a value in each of these columns."""
    if hasattr(rows, "columns"):
        rows = rows.to_dict("records")
    if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise wrong("rows", "a table, or its rows", rows)
    table = list(rows)
    for row in table:
        if not isinstance(row, Mapping):
            raise wrong("rows", "mappings from columns to values", row)
    table = [row for row in table if _absent(row.get("error"))]
    known = dict.fromkeys(name for row in table for name in row)
    for column in columns:
        if table and column not in known:
            raise KeyError(f"{column}: expected one of {', '.join(known)}")
    return [row for row in table if not any(_absent(row.get(column)) for column in columns)]


def _absent(value: Any) -> bool:
    """None; an empty cell, as `csv` reads it; NaN, as pandas has it."""
    return value is None or value == "" or value != value


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected numbers, found {value!r}") from None


def _with_room(places: Mapping[Any, float], *, log: bool) -> list[Any]:
    """The values whose names fit side by side under an axis of the usual width."""
    characters = 45
    at = {v: math.log(p) if log else p for v, p in sorted(places.items(), key=lambda item: item[1])}
    span = max(at.values(), default=0) - min(at.values(), default=0) or 1
    shown: list[Any] = []
    for value in at:
        if not shown or (at[value] - at[shown[-1]]) / span * characters > (len(str(value)) + len(str(shown[-1]))) / 2 + 1:
            shown.append(value)
    return shown


def _place(value: Any) -> float | None:
    from ..units import parse_quantity

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
