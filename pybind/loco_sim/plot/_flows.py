"""How much slower flows were than alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Mapping, Union

from ..outcome import Outcome
from ._canvas import axes_for, colours_on, legend_above, logarithmic, plain, wrong

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PERCENTILES = {"p50": "median", "p95": "95th percentile", "p99": "99th percentile"}


def slowdown(results: Union[Outcome, Mapping[str, Outcome]], ax: Axes | None = None, *, bins: int = 20) -> Axes:
    """Slowdown of flows by size, of workload `flows`.

    Args:
        results: a Result (a line for the median, the 95th and the 99th percentile), or several by name (a line each, of
            the 99th percentile).
        bins: flows are parted by size into so many bins of about equal numbers.
    """
    named = {"": results} if isinstance(results, Outcome) else results
    if not isinstance(named, Mapping) or not all(isinstance(r, Outcome) for r in named.values()):
        raise wrong("results", "a Result, or several by name", results)
    ax = axes_for(ax, "slowdown")
    if isinstance(results, Outcome):
        table = results.flows.by_size(bins)
        lines = {label: (table["largest"], table[name]) for name, label in PERCENTILES.items()}
    else:
        tables = {name: r.flows.by_size(bins) for name, r in named.items()}
        lines = {plain(name): (t["largest"], t["p99"]) for name, t in tables.items()}
    last = len(lines) - 1
    for i, ((label, (sizes, values)), colour) in enumerate(zip(lines.items(), colours_on(ax, len(lines)))):
        # A line lies over those before it: where values are the same, their larger marks are seen around its own.
        ax.plot(sizes, values, marker="o", markersize=min(3 + 2.5 * (last - i), 10), label=label, color=colour)
    logarithmic(ax.xaxis)
    logarithmic(ax.yaxis)
    ax.set_xlabel("size of flow (bytes)")
    ax.set_ylabel("slowdown" if isinstance(results, Outcome) else "slowdown, 99th percentile")
    ax.grid(True, which="both", alpha=0.3)
    legend_above(ax)
    return ax
