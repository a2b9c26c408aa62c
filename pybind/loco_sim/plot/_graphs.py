"""Message-sequence charts, and execution graphs of the memory models."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Sequence

from .._optional import need
from ..litmus_tests import Explanation
from ..outcome import Outcome
from ..trace import Trace
from ..units import at_least
from ..verdict import Verdict, Violation
from ._canvas import COLOURS, axes_for, plain, unit_for, wrong
from ._transfers import Transfer, trace_of, transfers_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_RELATIONS = {"rf": "#009e73", "rb": "#d55e00", "mo": "#0072b2", "nfo": "#e69f00", "ppo": "#555555", "so": "#cc79a7",
              "po": "#b0b0b0", "ippo": "#000000", "iso": "#56b4e9", "pf": "#8e44ec", "pfg": "#8e44ec", "pfp": "#8e44ec",
              "fb": "#8b5a2b", "hb": "#1b3a93"}
_OTHER_RELATION = "#c2185b"


_NODES_MAX = 8  # of a sequence chart that can be read


def _first_nodes(transfers: list[Transfer]) -> list[int]:
    """The nodes that take part first, as many as can be told apart."""
    found: dict[int, None] = {}
    for t in transfers:
        if len(found.keys() | {t.local, t.peer}) <= _NODES_MAX:
            found.update({t.local: None, t.peer: None})
    return sorted(found)


def _columns(nodes: Sequence[int], count: int, *, ends: bool) -> tuple[dict[int, int], list[int]]:
    """The column of each node, and columns that stand for nodes left out: between two that are shown, and with `ends`
    before the first and behind the last."""
    place: dict[int, int] = {}
    gaps: list[int] = []
    before = -1 if ends else None
    for node in [*nodes, *([count] if ends else [])]:
        if before is not None and any(i not in nodes for i in range(min(before, node) + 1, max(before, node))):
            gaps.append(len(place) + len(gaps))
        before = node
        if node < count:
            place[node] = len(place) + len(gaps)
    return place, gaps


def sequence_chart(trace: Trace | Outcome, ax: Axes | None = None, *, start_ps: int = 0, limit: int = 60,
                   nodes: Sequence[int] | None = None) -> Axes:
    """Message-sequence chart: a line for each node, time going down, an arrow for each remote operation from where the
    data was read to where it was written.

    Args:
        start_ps: leave out what began earlier.
        limit: draw at most that many operations.
        nodes: draw only these, and what is between them; by default all, of more than eight those that take part first.
            Where nodes are left out an ellipsis stands for them.
    """
    limit = at_least("limit", limit, 1)
    if not isinstance(start_ps, Real):
        raise wrong("start_ps", "picoseconds", start_ps)
    trace = trace_of(trace)
    transfers = sorted((t for t in transfers_of(trace) if t.start >= start_ps), key=lambda t: t.start)
    ends = nodes is None
    if nodes is None:
        nodes = range(trace.nodes) if trace.nodes <= _NODES_MAX else _first_nodes(transfers)
    nodes = list(dict.fromkeys(at_least("nodes", node, 0, most=trace.nodes - 1) for node in nodes))
    place, gaps = _columns(nodes, trace.nodes, ends=ends)
    columns = len(place) + len(gaps)
    transfers = [t for t in transfers if t.local in place and t.peer in place][:limit]
    ax = axes_for(ax, "sequence_chart", figsize=(min(5.2, 1.6 + 1.2 * columns), 2 + 0.09 * len(transfers)))
    span = max((t.end for t in transfers), default=1) - (transfers[0].start if transfers else 0)
    unit, unit_name = unit_for(span or 1)
    for node in place.values():
        ax.axvline(node, color="#bbbbbb", linewidth=1, zorder=0)
    for t in transfers:
        local, peer = place[t.local], place[t.peer]
        source, target = (local, peer) if t.kind == "put" else (peer, local)
        colour = COLOURS[0] if t.kind == "put" else COLOURS[1]
        bend = 0.25 if source == target else 0
        ax.annotate("", xy=(target, t.end / unit), xytext=(source, t.start / unit),
                    arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1, "shrinkA": 0, "shrinkB": 0,
                                "connectionstyle": f"arc3,rad={bend}"})
        ax.plot([source, target], [t.start / unit, t.end / unit], ".", color=colour, markersize=4)
    for kind, colour in (("put", COLOURS[0]), ("get", COLOURS[1])):
        if any(t.kind == kind for t in transfers):
            ax.plot([], [], color=colour, label=kind)
    for gap in gaps:
        ax.axvline(gap, color="#bbbbbb", linewidth=1, linestyle=(0, (1, 6)), zorder=0)
    ax.set_xlim(-0.5, columns - 0.5)
    few = len(place) <= 5
    names = {**{column: f"node {n}" if few else str(n) for n, column in place.items()}, **dict.fromkeys(gaps, "...")}
    ax.set_xticks(sorted(names), [names[column] for column in sorted(names)])
    if not few:
        ax.set_xlabel("node")
        ax.xaxis.set_label_position("top")
    ax.xaxis.tick_top()
    if transfers:
        margin = 0.03 * max(span, 1) / unit
        ax.set_ylim(max(t.end for t in transfers) / unit + margin, transfers[0].start / unit - margin)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2, frameon=False)
    ax.set_ylabel(f"simulated time ({unit_name})")
    return ax


def _placing(boxes: Sequence[Any]) -> Any:
    """What is drawn before all else and gives the boxes of texts their size, which arrows end at: by itself a text does that
    when it is drawn, and the arrows lie below."""
    artist = need("matplotlib.artist", "plot.execution_graph()")

    class Placing(artist.Artist):  # type: ignore[name-defined, misc]
        def draw(self, renderer: Any) -> None:
            for box in boxes:
                box.update_bbox_position_size(renderer)

    placing = Placing()
    placing.set_zorder(0)
    placing.set_in_layout(False)
    return placing


def _graph_of(subject: Explanation | Verdict | Violation) -> tuple[str, list[tuple[int, str]], list[tuple[int, int, str, bool]]]:
    """Title; nodes (column, label); edges (from, to, relation, bold)."""
    if isinstance(subject, Explanation):
        return (subject.title, [(thread, f"{label}\n{statement}" if statement else label)
                                for thread, label, statement in subject.nodes],
                [(a, b, relation, bold) for a, b, relation, _, bold in subject.edges])
    if isinstance(subject, Verdict):
        with_cycle = [v for v in subject.violations if v.cycle]
        if not with_cycle:
            raise ValueError("this verdict has no cycle to draw")
        subject = with_cycle[0]
    if not isinstance(subject, Violation):
        raise wrong("subject", "an Explanation, a Verdict or a Violation", subject)
    if not subject.cycle:
        raise ValueError("this violation has no cycle to draw")
    steps = subject.cycle
    return (subject.message, [(s.thread, f"{s.call_text}\n{s.subevent_text}") for s in steps],
            [(i, (i + 1) % len(steps), s.rule, True) for i, s in enumerate(steps)])


def _colour_of(relation: str) -> str:
    """By the last word, without its index: "bal so" is drawn as so, "rb_i" as rb."""
    return _RELATIONS.get(relation.split()[-1].split("_")[0], _OTHER_RELATION)


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
    ax = axes_for(ax, "execution_graph", figsize=(2.6 * max(2, len(columns)), 1.2 + 0.75 * max(depth.values(), default=1)))
    boxes = []
    for (x, y), (_, label) in zip(places, nodes):
        boxes.append(ax.text(x, y, plain(label), ha="center", va="center", fontsize=7, family="monospace", wrap=True,
                             bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": "#999999"}))
        boxes[-1].set_zorder(4)  # above the arrows, which are drawn first
    ax.add_artist(_placing(boxes))
    seen: set[str] = set()
    pairs: dict[tuple[int, int], int] = {}
    for a, b, relation, bold in edges:
        colour = _colour_of(relation)
        repeated = pairs.get((a, b), 0)
        pairs[a, b] = repeated + 1
        same_column = places[a][0] == places[b][0]
        adjacent = same_column and places[a][1] - places[b][1] == 1
        bend = (0.0 if adjacent else 0.35 if same_column else 0.12) + 0.15 * repeated
        ax.annotate("", xy=places[b], xytext=places[a],
                    arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2 if bold else 1,
                                "alpha": 1 if bold else 0.6, "shrinkA": 1, "shrinkB": 2,
                                "patchA": boxes[a].get_bbox_patch(), "patchB": boxes[b].get_bbox_patch(),
                                "connectionstyle": f"arc3,rad={bend}"})
        if relation not in seen:
            seen.add(relation)
            ax.plot([], [], color=colour, label=relation)
    ax.set_xlim(-0.6, len(columns) - 0.4)
    ax.set_ylim(-max(depth.values(), default=1) + 0.4, 0.6)
    ax.set_xticks(range(len(columns)), [f"thread {t}" for t in columns])
    ax.xaxis.tick_top()
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_xlabel(plain(title), fontsize=8)
    if seen:
        ax.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    return ax
