"""Runs the LOCO paper's figures on simulated hardware, and writes their tables into docs/evaluation.md: ./dev paper [FIGURE...].

The text of the page is written by hand; each table stands between two comments that name it. With matplotlib, also plots.
With --quick it runs the corners of each figure only, a few operations each, and prints their tables.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Sequence

import loco_sim as ls

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import smpi  # noqa: E402: beside this file, which may be run from anywhere

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "evaluation.md"
PICTURES = PAGE.parent / "pictures"

Row = Mapping[str, Any]


def mean_round(row: Row) -> float:
    """Microseconds from one barrier to the next: a round counts once. (A median of its samples, one a thread, says little of
    two ranks of which one always comes late.)"""
    return float(row["measured_ps"]) / 1e6 / float(row["operations"])


def millions(row: Row) -> float:
    return float(row["operations_per_second"]) / 1e6


def swing(row: Row) -> float:
    return float(row["workload_counters.output_max_mv"] - row["workload_counters.output_min_mv"]) / 1000


def over_messages(row: Row) -> bool:
    return row["workload.algorithm"] != "loco"


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
    x_label: str = "nodes"
    panels: tuple[str, ...] = ()
    """Of the series: the swept keys that have a plot of their own for each of their combinations."""
    log_x: bool = False
    quick: Mapping[str, Any] = field(default_factory=dict)


KV_SERIES = ("workload.mix", "workload.keys", "workload.window", "workload.threads_per_node")
LIBRARY = ("workload.threads_per_node", "workload.library_ns")
FEW = {"workload.iterations": 20}
FEW_KEYS = {**FEW, "workload.key_space": "16KiB"}

FIGURES = [
    Figure("fig16_barrier", "topology.nodes", ("workload.algorithm", "workload.fence", "workload.threads_per_node"),
           "mean round, us", mean_round, lambda row: not over_messages(row) or row["workload.fence"] == "none",
           panels=("workload.threads_per_node",), quick=FEW),
    Figure("fig16_library", "topology.nodes", LIBRARY, "mean round, us", mean_round, quick=FEW),
    Figure("fig16_broadcast", "workload.outstanding", ("workload.over", "workload.heads", "workload.wait", "topology.nodes"),
           "million broadcasts/s", millions,
           lambda row: row["workload.wait"] == "waitany" if row["workload.over"] == "ring_buffer" else int(row["workload.heads"]) == 1,
           x_label="outstanding broadcasts", panels=("topology.nodes",), log_x=True, quick=FEW),
    Figure("fig17_kvstore", "topology.nodes", KV_SERIES, "million operations/s", millions,
           panels=("workload.mix", "workload.keys"), quick=FEW_KEYS),
    Figure("fig17_rpc", "topology.nodes", KV_SERIES[1:], "million operations/s", millions, panels=("workload.keys",),
           quick=FEW_KEYS),
    Figure("fig17_fence", "topology.nodes", KV_SERIES[1:], "million operations/s", millions, panels=("workload.keys",),
           quick=FEW_KEYS),
    Figure("fig17_tree", "topology.nodes", KV_SERIES[:2] + KV_SERIES[3:], "million operations/s", millions,
           panels=("workload.mix", "workload.keys"), quick=FEW_KEYS),
    Figure("fig17_tree_fence", "topology.nodes", KV_SERIES[1:], "million operations/s", millions, quick=FEW_KEYS),
    Figure("fig17_inserts", "topology.nodes", ("workload.mix", "workload.store", "workload.threads_per_node"),
           "million operations/s", millions, panels=("workload.mix",),
           quick={"workload.iterations": 5, "workload.key_space": "64KiB"}),
    Figure("fig17_redis", "topology.nodes", ("workload.keys", "workload.threads_per_node"), "million operations/s", millions,
           quick=FEW_KEYS),
    Figure("fig19_lock", "topology.nodes", ("workload.algorithm", "workload.counter"), "million critical sections/s", millions,
           quick=FEW),
    Figure("fig19_transactions", "topology.nodes", ("workload.algorithm", "workload.threads_per_node"),
           "million transfers/s", millions, quick=FEW),
    Figure("fig19_windows", "topology.nodes",
           ("workload.registrations", "hardware.nic.translation_page", "hardware.nic.translation_entries"),
           "million transfers/s", millions, quick={**FEW, "workload.accounts": 100000}),
    Figure("fig21_dcdc", "workload.period_us", (), "swing of the output, V", swing, x_label="loop period, us",
           quick={"workload.duration_us": 3000}),
]


NAMES = {"workload.over": {"ring_buffer": "ring buffer", "tree": "MPI_Ibcast"},
         "workload.algorithm": {"recursive_doubling": "recursive doubling", "mpi_window": "MPI window", "loco": "LOCO", "open_mpi": "Open MPI"},
         "workload.store": {"loco": "LOCO", "rpc": "procedure calls", "tree": "tree"},
         "workload.counter": {"other": "(counter elsewhere)", "home": "(beside the lock)"},
         "workload.registrations": {"false": "one registration", "true": "341 registrations"},
         "hardware.nic.translation_page": {"2MiB": "pages of 2 MiB", "4KiB": "pages of 4 KiB"},
         "hardware.nic.translation_entries": {"16384": "16,384 translations", "256": "256 translations"},
         "workload.wait": {"waitany": "MPI_Waitany", "testsome": "MPI_Testsome"},
         "workload.heads": {"1": "one head", "8": "eight heads"},
         "workload.fence": {"all_nodes": "fence", "none": "no fence"}}
"""What the page calls values of the swept keys."""

MEANINGLESS = {"ring_buffer": "workload.wait", "tree": "workload.heads"}
"""By carrier of a broadcast: the swept key that it does not know."""


def column(row: Row, figure: Figure, keys: Sequence[str]) -> str:
    known = [key for key in keys if key != MEANINGLESS.get(row.get("workload.over", ""))]
    return " ".join(NAMES.get(key, {}).get(str(row[key]), str(row[key])) for key in known) or figure.y


def cells(figure: Figure, rows: Sequence[Row], keys: Sequence[str]) -> tuple[list[str], list[str], dict[tuple[str, str], float]]:
    xs = list(dict.fromkeys(row[figure.x] for row in rows))
    names = list(dict.fromkeys(column(row, figure, keys) for row in rows))
    return xs, names, {(row[figure.x], column(row, figure, keys)): figure.value(row) for row in rows}


def table(figure: Figure, rows: Sequence[Row]) -> str:
    """Markdown. What has many series has them down the table, and x across."""
    xs, names, at = cells(figure, rows, figure.series)
    if len(names) > len(xs):
        head = [f"{figure.y}; {', '.join(k.split('.')[-1] for k in figure.series)}", *(f"{figure.x} = {x}" for x in xs)]
        lines = [[n, *(f"{at[x, n]:.3g}" for x in xs)] for n in names]
    else:
        head = [figure.x, *names]
        lines = [[x, *(f"{at[x, n]:.3g}" for n in names)] for x in xs]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *lines])


KV_POINT = ("workload.keys", "workload.window", "workload.threads_per_node", "topology.nodes")
"""What a point of Fig. 17 is, the mix apart."""


def fence_table(stores: Mapping[str, tuple[Sequence[Row], Sequence[Row]]]) -> str:
    """What the fence takes of the throughput of writes, by store: its rows with the fence and without."""
    lines = []
    for store, (fenced, unfenced) in stores.items():
        at = {tuple(row[k] for k in KV_POINT): millions(row) for row in fenced if row["workload.mix"] == "write"}
        without = {tuple(row[k] for k in KV_POINT): millions(row) for row in unfenced}
        nodes = list(dict.fromkeys(key[3] for key in at))
        lines += [[" ".join(map(str, (store, *kind))), *(f"{100 * (1 - at[(*kind, n)] / without[(*kind, n)]):.0f}" for n in nodes)]
                  for kind in dict.fromkeys(key[:3] for key in at)]
    head = ["fence's share, %; keys, window, threads_per_node", *(f"nodes = {n}" for n in nodes)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *lines])


def order_table(loco: Sequence[Row], tree: Sequence[Row]) -> str:
    """Who is ahead with a window of 3: the tree's throughput in LOCO's."""
    key = ("workload.mix", "workload.keys", "workload.threads_per_node", "topology.nodes")
    ours = {tuple(row[k] for k in key): millions(row) for row in loco if int(row["workload.window"]) == 3}
    theirs = {tuple(row[k] for k in key): millions(row) for row in tree}
    nodes = list(dict.fromkeys(k[3] for k in theirs))
    lines = [[" ".join(map(str, kind)), *(f"{theirs[(*kind, n)] / ours[(*kind, n)]:.2f}" for n in nodes)]
             for kind in dict.fromkeys(k[:3] for k in theirs)]
    head = ["tree, LOCO = 1; mix, keys, threads_per_node", *(f"nodes = {n}" for n in nodes)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *lines])


def library_table(loco: Sequence[Row], open_mpi: Sequence[Row]) -> str:
    """Open MPI's round in LOCO's without its fence, by what its library computes."""
    ours = {(row["workload.threads_per_node"], row["topology.nodes"]): mean_round(row) for row in loco
            if not over_messages(row) and row["workload.fence"] == "none"}
    theirs = {tuple(row[k] for k in (*LIBRARY, "topology.nodes")): mean_round(row) for row in open_mpi}
    nodes = list(dict.fromkeys(key[-1] for key in theirs))
    lines = [[" ".join(map(str, kind)), *(f"{theirs[(*kind, n)] / ours[kind[0], n]:.2f}" for n in nodes)]
             for kind in dict.fromkeys(key[:-1] for key in theirs)]
    head = ["Open MPI, LOCO without its fence = 1; threads_per_node, library_ns", *(f"nodes = {n}" for n in nodes)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *lines])


def smpi_table(rows: Sequence[Row]) -> str:
    """Barriers over messages here and under SMPI, both in barriers of two nodes."""
    ours = {(row["workload.algorithm"], int(row["topology.nodes"])): mean_round(row) for row in rows
            if over_messages(row) and int(row["workload.threads_per_node"]) == 1 and row["workload.fence"] == "none"}
    nodes = sorted({n for _, n in ours})
    lines = [["barriers of two nodes", *(f"nodes = {n}" for n in nodes)], ["---"] * (len(nodes) + 1)]
    for algorithm in smpi.ALGORITHMS:
        theirs = smpi.barriers_us(algorithm, nodes, ours[algorithm, 2])
        lines.append([f"{algorithm}, here", *(f"{ours[algorithm, n] / ours[algorithm, 2]:.2f}" for n in nodes)])
        lines.append([f"{algorithm}, SMPI", *(f"{theirs[n] / theirs[2]:.2f}" for n in nodes)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def picture(figure: Figure, rows: Sequence[Row]) -> None:
    try:
        import matplotlib
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        return
    panels: dict[str, list[Row]] = {}
    for row in rows:
        panels.setdefault(", ".join(f"{k.split('.')[1]} {row[k]}" for k in figure.panels), []).append(row)
    across = min(len(panels), 3 if len(panels) % 3 == 0 else 2)
    down = -(-len(panels) // across)
    canvas = Canvas(figsize=(max(4 * across, 7), 3.2 * down + 0.8), layout="constrained")
    axes = canvas.subplots(down, across, squeeze=False).flat
    lines = tuple(k for k in figure.series if k not in figure.panels)
    for ax, (title, members) in zip(axes, panels.items()):
        xs, names, at = cells(figure, members, lines)
        for name in names:
            ax.plot([float(x) for x in xs], [at[x, name] for x in xs], marker="o", markersize=3, label=name)
        ax.set_title(title, fontsize="small")
        ax.set_xlabel(figure.x_label)
        ax.set_ylabel(figure.y)
        if figure.log_x:
            ax.set_xscale("log", base=2)
        ax.set_xticks([float(x) for x in xs], [str(x) for x in xs])
        ax.set_ylim(bottom=0)
        ax.grid(True, alpha=0.3)
        if len(names) > 1:
            ax.legend(fontsize="xx-small", title=", ".join(k.split(".")[1] for k in lines), title_fontsize="xx-small")
    with matplotlib.rc_context({"svg.hashsalt": figure.name, "svg.fonttype": "none"}):
        PICTURES.mkdir(exist_ok=True)
        canvas.savefig(PICTURES / f"{figure.name}.svg", format="svg", metadata={"Date": None})


def replaced(page: str, name: str, text: str) -> str:
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    if begin not in page:
        raise SystemExit(f"{PAGE}: expected {begin}, found none")
    return re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: f"{begin}\n{text}\n{end}", page, flags=re.DOTALL)


def rows_of(figure: Figure, quick: bool) -> list[Row]:
    scenario = ls.Scenario(HERE / f"{figure.name}.yaml")
    axes = {key: sorted({0: values[0], -1: values[-1]}.values(), key=values.index) for key, values in scenario.sweep_axes.items()
            if key not in figure.quick}
    found = ls.sweep_rows(scenario, axes, overrides=figure.quick, progress=False) if quick else ls.sweep_rows(scenario)
    rows = sorted(found, key=lambda r: int(r["point"]))
    failed = [row for row in rows if row["error"]]
    if failed:
        raise SystemExit(f"{figure.name}: {failed[0]['error']}")
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev paper", description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help="their names: fig16_barrier, ...; all of them when none is given")
    parser.add_argument("--quick", action="store_true", help="the corners of the sweeps, few operations; prints, writes nothing")
    arguments = parser.parse_args()
    known = [figure.name for figure in FIGURES]
    for name in arguments.figures:
        if name not in known:
            parser.error(f"expected one of {', '.join(known)}, found {name}")
    page = PAGE.read_text(encoding="utf-8")
    rows: dict[str, list[Row]] = {}
    for figure in FIGURES:
        if arguments.figures and figure.name not in arguments.figures:
            continue
        begin, worked = time.monotonic(), time.process_time()
        rows[figure.name] = rows_of(figure, arguments.quick)
        print(f"{figure.name}: {time.monotonic() - begin:.0f} s, {time.process_time() - worked:.0f} s of CPU time", file=sys.stderr)
        shown = [row for row in rows[figure.name] if figure.wanted(row)]
        if arguments.quick:
            print(f"{figure.name}\n{table(figure, shown)}\n")
        elif figure.name not in ("fig16_library", "fig17_fence", "fig17_tree_fence"):
            page = replaced(page, figure.name, table(figure, shown))
            picture(figure, shown)
    if not arguments.quick:
        if {"fig17_kvstore", "fig17_fence", "fig17_tree", "fig17_tree_fence"} <= rows.keys():
            page = replaced(page, "fig17_fence", fence_table({"LOCO": (rows["fig17_kvstore"], rows["fig17_fence"]),
                                                              "tree": (rows["fig17_tree"], rows["fig17_tree_fence"])}))
            page = replaced(page, "fig17_order", order_table(rows["fig17_kvstore"], rows["fig17_tree"]))
        if {"fig16_barrier", "fig16_library"} <= rows.keys():
            page = replaced(page, "fig16_library", library_table(rows["fig16_barrier"], rows["fig16_library"]))
        if "fig16_barrier" in rows and smpi.available():
            page = replaced(page, "fig16_smpi", smpi_table(rows["fig16_barrier"]))
        PAGE.write_text(page, encoding="utf-8")
        print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
