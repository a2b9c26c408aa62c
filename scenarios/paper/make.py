"""Runs the LOCO paper's figures on simulated hardware, and writes their tables into docs/evaluation.md: ./dev paper.

The text of the page is written by hand; each table stands between two comments that name it. With matplotlib, also plots.
"""

from __future__ import annotations

import pathlib
import re
import sys
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence

import loco_sim as ls

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "evaluation.md"
PICTURES = PAGE.parent / "pictures"

Row = Mapping[str, Any]


def microseconds(row: Row) -> float:
    return float(row["latency_median_ps"]) / 1e6


def millions(row: Row) -> float:
    return float(row["operations_per_second"]) / 1e6


def broadcasts(row: Row) -> float:
    """Millions of broadcasts a second that every node has confirmed: half of the operations, which are their beginnings too."""
    return millions(row) / 2


def swing(row: Row) -> float:
    counters = row["workload_counters"]
    return (counters["output_max_mv"] - counters["output_min_mv"]) / 1000


@dataclass(frozen=True)
class Figure:
    name: str
    x: str
    """The swept key down the table."""
    series: tuple[str, ...]
    """The swept keys that have a column for each of their combinations."""
    y: str
    value: Callable[[Row], float]
    wanted: Callable[[Row], bool] = lambda row: True


FIGURES = [
    Figure("fig16_barrier", "topology.nodes", ("workload.algorithm", "workload.fence", "workload.threads_per_node"),
           "median, us", microseconds,
           lambda row: row["workload.algorithm"] == "loco" or row["workload.fence"] == "none"),
    Figure("fig16_broadcast", "workload.outstanding", ("workload.over", "topology.nodes"), "million broadcasts/s", broadcasts),
    Figure("fig17_kvstore", "topology.nodes",
           ("workload.mix", "workload.keys", "workload.window", "workload.threads_per_node"), "million operations/s", millions,
           lambda row: row["workload.fence"] == "true"),
    Figure("fig19_lock", "topology.nodes", (), "million critical sections/s", lambda row: millions(row) / 2),
    Figure("fig19_transactions", "topology.nodes", ("workload.threads_per_node",), "million transfers/s", millions),
    Figure("fig21_dcdc", "workload.period_us", (), "swing of the output, V", swing),
]


def column(row: Row, figure: Figure) -> str:
    return " ".join(str(row[key]) for key in figure.series) or figure.y


def cells(figure: Figure, rows: Sequence[Row]) -> tuple[list[str], list[str], dict[tuple[str, str], float]]:
    xs = list(dict.fromkeys(row[figure.x] for row in rows))
    names = list(dict.fromkeys(column(row, figure) for row in rows))
    return xs, names, {(row[figure.x], column(row, figure)): figure.value(row) for row in rows}


def table(figure: Figure, rows: Sequence[Row]) -> str:
    """Markdown. What has many series has them down the table, and x across."""
    xs, names, at = cells(figure, rows)
    if len(names) > len(xs):
        head = [f"{figure.y}; {', '.join(k.split('.')[1] for k in figure.series)}", *(f"{figure.x} = {x}" for x in xs)]
        lines = [[n, *(f"{at[x, n]:.3g}" for x in xs)] for n in names]
    else:
        head = [figure.x, *names]
        lines = [[x, *(f"{at[x, n]:.3g}" for n in names)] for x in xs]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *lines])


def fence_table(rows: Sequence[Row]) -> str:
    """What the fence takes of the throughput of writes."""
    at = {tuple(r[k] for k in ("workload.keys", "workload.window", "workload.threads_per_node", "topology.nodes",
                               "workload.fence")): millions(r) for r in rows if r["workload.mix"] == "write"}
    nodes = list(dict.fromkeys(key[3] for key in at))
    kinds = list(dict.fromkeys(key[:3] for key in at))
    lines = [["fence's share, %; keys, window, threads", *(f"nodes = {n}" for n in nodes)], ["---"] * (len(nodes) + 1)]
    lines += [[" ".join(kind), *(f"{100 * (1 - at[(*kind, n, 'true')] / at[(*kind, n, 'false')]):.0f}" for n in nodes)]
              for kind in kinds]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def picture(figure: Figure, rows: Sequence[Row]) -> None:
    try:
        import matplotlib
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        return
    xs, names, at = cells(figure, rows)
    canvas = Canvas(figsize=(7, 4), layout="constrained")
    ax = canvas.add_subplot()
    for name in names:
        ax.plot([float(x) for x in xs], [at[x, name] for x in xs], marker="o", label=name)
    ax.set_xlabel(figure.x)
    ax.set_ylabel(figure.y)
    ax.set_ylim(bottom=0)
    if len(names) > 1:
        ax.legend(fontsize="xx-small", ncols=2)
    ax.grid(True, alpha=0.3)
    with matplotlib.rc_context({"svg.hashsalt": figure.name, "svg.fonttype": "none"}):
        PICTURES.mkdir(exist_ok=True)
        canvas.savefig(PICTURES / f"{figure.name}.svg", format="svg", metadata={"Date": None})


def replaced(page: str, name: str, text: str) -> str:
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    if begin not in page:
        raise SystemExit(f"{PAGE}: expected {begin}, found none")
    return re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: f"{begin}\n{text}\n{end}", page, flags=re.DOTALL)


def main() -> int:
    page = PAGE.read_text(encoding="utf-8")
    for figure in FIGURES:
        print(figure.name, file=sys.stderr)
        rows = sorted(ls.sweep_rows(ls.Scenario(HERE / f"{figure.name}.yaml"), progress=False), key=lambda r: int(r["point"]))
        failed = [row for row in rows if row["error"]]
        if failed:
            raise SystemExit(f"{figure.name}: {failed[0]['error']}")
        shown = [row for row in rows if figure.wanted(row)]
        page = replaced(page, figure.name, table(figure, shown))
        if figure.name == "fig17_kvstore":
            page = replaced(page, "fig17_fence", fence_table(rows))
        picture(figure, shown)
    PAGE.write_text(page, encoding="utf-8")
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
