"""Axes, colours and units that all pictures share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from .._optional import need

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_ROWS_NAMED = 24  # of more, some

# Okabe and Ito's palette: told apart by colour-blind readers too.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f"]


def axes_for(ax: Axes | None, purpose: str, **size: Any) -> Axes:
    if ax is not None:
        return ax
    # Figures outside of pyplot: nothing global, safe in threads, no window; notebooks show them all the same.
    figure_module = need("matplotlib.figure", f"plot.{purpose}()")
    # small, so that text is large enough beside others and on a phone
    figure = figure_module.Figure(layout="constrained", **{"figsize": (5.2, 3.7), **size})
    need("matplotlib.backends.backend_agg", f"plot.{purpose}()").FigureCanvasAgg(figure)
    axes: Axes = figure.add_subplot()
    return axes


def colours_on(ax: Axes, count: int) -> list[str]:
    """Of the next lines on these axes: the cycle goes on where what is drawn there ended."""
    first = len(ax.get_lines())
    return [COLOURS[(first + i) % len(COLOURS)] for i in range(count)]


def unit_on(ax: Axes, ps: float) -> tuple[float, str]:
    """The unit of times on these axes: that of what was drawn there first, else the one that suits."""
    kept = ax.__dict__
    if not ax.get_lines() or "_loco_sim_unit" not in kept:
        kept["_loco_sim_unit"] = unit_for(ps)
    found: tuple[float, str] = kept["_loco_sim_unit"]
    return found


def size_on(ax: Axes, largest: float, units: Sequence[tuple[float, str]]) -> tuple[float, str]:
    """The unit of what these axes show the size of, chosen like that of times: of `units`, greatest first, the first that
    the largest value reaches, else the last."""
    kept = ax.__dict__
    if not ax.get_lines() or "_loco_sim_size" not in kept:
        kept["_loco_sim_size"] = next((unit for unit in units if largest >= unit[0]), units[-1])
    found: tuple[float, str] = kept["_loco_sim_size"]
    return found


def from_zero(ax: Axes) -> None:
    """The vertical axis begins at 0 and holds all that is drawn: called after drawing, since limits that are set stay. What
    is drawn on the same axes later moves the upper one again."""
    top = float(ax.dataLim.y1)  # not that of the axes: close values far from 0 would lie on it
    ax.set_ylim(0, 1.05 * top if 0 < top < float("inf") else None, auto=True)


def legend_above(ax: Axes) -> None:
    """The names of the lines, above the axes: nowhere do they hide what is drawn."""
    count = len(ax.get_legend_handles_labels()[1])
    if count:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1.01), ncols=min(count, 3), frameon=False, borderaxespad=0,
                  columnspacing=1.2, handlelength=1.4)


def colour_scale(ax: Axes, names: list[str], title: str) -> list[Any]:
    """A colour for each of many lines, along a scale beside the axes that names some of them."""
    cm = need("matplotlib.cm", "plot")
    colors = need("matplotlib.colors", "plot")
    scale = cm.ScalarMappable(colors.Normalize(0, max(1, len(names) - 1)), "viridis")
    step = max(1, -(-len(names) // 6))
    shown = list(range(0, len(names), step))
    ax.figure.colorbar(scale, ax=ax, label=plain(title)).set_ticks(shown, labels=[plain(names[i]) for i in shown])
    return list(scale.to_rgba(range(len(names))))


def heat(ax: Axes, names: Sequence[str], values: np.ndarray[Any, Any], start: float, end: float, label: str) -> None:
    """A row for each name, time to the right: told apart where lines would lie over each other. `values`: a row each."""
    image = ax.imshow(values, aspect="auto", interpolation="nearest", cmap="cividis", vmin=0,
                      extent=(start, end, len(names) - 0.5, -0.5))
    ax.figure.colorbar(image, ax=ax, label=label)
    step = 1 if len(names) <= _ROWS_NAMED else -(-len(names) // 12)
    if step == 1 and len(names) > 12:  # a name for each row takes room
        width, height = ax.figure.get_size_inches()
        ax.figure.set_size_inches(width, max(height, 1.2 + 0.165 * len(names)))
    ax.set_yticks(range(0, len(names), step), [plain(name) for name in names[::step]], fontsize=9 if len(names) > 12 else None)
    ax.grid(False)


def logarithmic(axis: Axis) -> None:
    """A logarithmic axis whose numbers are written out, and named between powers of ten where there are few of these."""
    ticker = need("matplotlib.ticker", "plot")
    (axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale)("log")
    low, high = axis.get_view_interval()
    few = high < 300 * low
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if high < 20 * low else (1, 3) if few else (1,), numticks=12))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,g}" if value < 1e6 else f"{value / 1e6:g} M"))
    axis.set_minor_formatter(ticker.NullFormatter())


def nothing(ax: Axes, why: str) -> None:
    """Where there is nothing to draw: said, rather than empty axes."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, why, ha="center", va="center", transform=ax.transAxes)


def plain(text: str) -> str:
    """Text as it is: what lies between two dollars matplotlib would set as a formula, or refuse as none."""
    return text.replace("$", r"\$")


def wrong(name: str, expected: str, found: object) -> TypeError:
    return TypeError(f"{name}: expected {expected}, found {'None' if found is None else type(found).__name__}")


def unit_for(ps: float) -> tuple[float, str]:
    for unit, name in ((1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns")):
        if ps >= unit:
            return unit, name
    return 1.0, "ps"
