"""Runs the gallery and writes docs/gallery.md with a picture a question: ./dev gallery [NAME...].

An answer is a sentence with numbers from the rows of the scenario's sweep, so that it changes when the simulator does.
"""

from __future__ import annotations

import argparse
import itertools
import math
import pathlib
import sys
from dataclasses import dataclass
from typing import Any, Callable, Sequence

import loco_sim as ls
from loco_sim.units import parse_quantity

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # for the other file of this folder, whoever loads this one

from answers import (  # noqa: E402
    Row, Rows, barrier_per_us, beside_bulk, bit_rate, buffer_needed,
    congestion_controls, congestion_rows, corerma_rows, counted, dcqcn_effect, fastest_all_reduce, fence_cost,
    goodput, gpu_distance, loss_effect, median_of, million_a_second, mixed_rows,
    picoseconds, ports_speed, queue_pair_rows, rails_speed, rate_effect,
    ring_breaks, routing_difference, rules_broken, selective_repeat_saves, size, size_for_half, slow_receiver,
    slowest, storm_ends, switching_cost, thrashing, tree_paths, trimming_saves, victim_waits, window_depth,
)

PAGE = HERE.parents[1] / "docs" / "gallery.md"
PICTURES = PAGE.parent / "gallery"


@dataclass(frozen=True)
class Entry:
    """A scenario of this folder, or measurements of verbs, and how to look at their rows."""

    name: str
    x: str
    """The swept key that goes along the x axis and down the table."""
    group: str | None
    """The swept key that has a line and a column for each value."""
    y: str
    """What is looked at: a name for the axis."""
    value: Callable[[Row], float]
    """It, from a row; the median is taken over seeds."""
    text: Callable[[float], str]
    answer: Callable[[Callable[..., float], Rows], str]
    """The sentence; the first argument gives the value at (x, group)."""
    log_y: bool = False
    may_break: bool = False
    """Is an inconsistent run an answer?"""
    measure: Callable[[], Rows] | None = None
    """In place of a scenario's sweep."""
    question: str = ""
    """Of measurements; a scenario has it as its description."""
    command: str = ""
    """Of measurements: what shows one of the rows."""


ENTRIES = [
    Entry("cable_delay", "fabric.link.delay", None, "barrier, median", median_of(), picoseconds, barrier_per_us),
    Entry("barrier_fence", "topology.nodes", "workload.fence", "barrier, median", median_of(), picoseconds, fence_cost),
    Entry("send_window", "workload.outstanding", None, "payload", goodput, bit_rate, window_depth),
    Entry("message_size", "workload.size", "workload.outstanding", "payload", goodput, bit_rate, size_for_half),
    Entry("link_rate", "fabric.link.rate", None, "barrier, median", median_of(), picoseconds, rate_effect),
    Entry("switching", "workload.size", "fabric.switching", "message, median", median_of(), picoseconds, switching_cost,
          log_y=True),
    Entry("permutation_routing", "fabric.routing", "hardware.nic.placement", "payload of all hosts", goodput, bit_rate, routing_difference),
    Entry("head_of_line", "fabric.flow_control", None, "the victim's message, median", median_of("victim"), picoseconds,
          victim_waits),
    Entry("incast_dcqcn", "fabric.dcqcn.enabled", None, "pauses", counted("fabric_pauses"), lambda v: f"{v:.0f}",
          dcqcn_effect),
    Entry("slow_receiver", "hardware.pcie.lanes", "fabric.flow_control", "payload", goodput, bit_rate, slow_receiver),
    Entry("switch_buffer", "fabric.buffer.size", None, "pauses", counted("fabric_pauses"), lambda v: f"{v:.0f}",
          buffer_needed),
    Entry("ring_routing", "fabric.routing", "hardware.nic.placement", "wrong messages",
          lambda row: float(row.get("workload_counters.wrong_messages", 0)), lambda v: f"{v:.0f}", ring_breaks, may_break=True),
    Entry("mixed_traffic", "messages of 1 MiB", "small write", "time of 8 bytes", lambda row: float(row["ps"]), picoseconds,
          beside_bulk, log_y=True, measure=mixed_rows,
          question="What does a small write wait for on a NIC that sends bulk?", command="./dev gallery mixed_traffic"),
    Entry("queue_pairs", "queue pairs", "verb", "rate", lambda row: float(row["msg_rate_mpps"]), million_a_second, thrashing,
          measure=queue_pair_rows, question="How many queue pairs until the NIC's cache thrashes?",
          command="loco-sim perf read_bw --size 8 --hardware cx6-ib-hdr --topology star -q 512 --threads 32 -t 32 -n 128"),
    Entry("corerma_errors", "rule", "network", "tests that fail", lambda row: float(row["errors"]), lambda v: f"{v:.0f}", rules_broken,
          measure=corerma_rows, question="Which rules of coreRMA do networks break?",
          command="loco-sim corerma --tests 40 --jobs 2"),
    Entry("packet_loss", "fabric.loss", None, "payload", goodput, bit_rate, loss_effect),
    Entry("rails", "topology.rails", None, "all-reduce of 16 MiB", median_of(), picoseconds, rails_speed),
    Entry("gpu_memory", "workload.memory", "workload.size", "payload of both hosts", goodput, bit_rate, gpu_distance, log_y=True),
    Entry("pcie_tree", "workload.memory", "workload.size", "payload of both hosts", goodput, bit_rate, tree_paths, log_y=True),
    Entry("ports", "workload.channels", "hardware.pcie.generation", "all-reduce of 16 MiB", median_of(), picoseconds, ports_speed),
    Entry("congestion_control", "load, flows", "algorithm", "slowdown of 99 %", lambda row: float(row["slowdown"]),
          lambda v: f"{v:.1f}", congestion_controls, measure=congestion_rows,
          question="Which congestion control keeps small flows quick beside large ones and incasts?",
          command="loco-sim run scenarios/gallery/congestion_control.yaml --set workloads.background.load=800"),
    Entry("trimming", "workload.size", "fabric.trim.enabled", "last flow", slowest("flow"), picoseconds, trimming_saves),
    Entry("pause_storm", "fabric.pfc.watchdog.enabled", None, "slowest flow beside the storm",
          slowest("beside it: flow"), picoseconds, storm_ends),
    Entry("all_reduce", "workload.size", "workload.algorithm", "all-reduce", median_of(), picoseconds, fastest_all_reduce,
          log_y=True),
    Entry("selective_repeat", "fabric.loss", "hardware.nic.placement", "payload", goodput, bit_rate, selective_repeat_saves),
]


def values_of(entry: Entry, rows: Rows) -> Callable[..., float]:
    """at(x, group): the median over the rows of that point."""
    def at(x: str, group: str | None = None) -> float:
        found = sorted(entry.value(r) for r in rows
                       if r[entry.x] == x and (entry.group is None or r[entry.group] == group))
        return found[len(found) // 2]

    return at


def distinct(rows: Rows, key: str) -> list[str]:
    return list(dict.fromkeys(row[key] for row in rows))


def table(entry: Entry, rows: Rows, at: Callable[..., float]) -> str:
    groups: list[str | None] = [None] if entry.group is None else list(distinct(rows, entry.group))
    head = [f"`{entry.x}`", *([entry.y] if entry.group is None else [f"`{entry.group}: {g}`" for g in groups])]
    lines = [head, ["---"] * len(head)]
    lines += [[x, *(entry.text(at(x, g)) for g in groups)] for x in distinct(rows, entry.x)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def place(text: str) -> float | None:
    """Where a value of the x axis lies, if it is a number."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return float(parse_quantity(text)[0])
    except ValueError:
        return None


#: Of lines, in turn: those that coincide are still seen to be several.
MARKS = (("o", "-"), ("s", "--"), ("^", "-."), ("v", ":"), ("D", "-"))
#: More bars or names than these are drawn without their zeros, and smaller.
MANY = 8


def lines(ax: Any, places: Sequence[float], curves: dict[str | None, list[float]]) -> None:
    for (group, ys), (marker, style) in zip(curves.items(), itertools.cycle(MARKS)):
        ax.plot(places, ys, marker=marker, linestyle=style, label=group)


def bars(ax: Any, xs: Sequence[str], curves: dict[str | None, list[float]]) -> None:
    width = 0.7 / len(curves)
    for number, (group, ys) in enumerate(curves.items()):
        shift = (number - (len(curves) - 1) / 2) * width
        drawn = ax.bar([i + shift for i in range(len(xs))], ys, width=width, label=group)
        if len(xs) * len(curves) <= MANY:  # else nobody sees that there is one
            ax.bar_label(drawn, ["" if y else "0" for y in ys], color=drawn.patches[0].get_facecolor())
    ax.set_xticks(range(len(xs)), xs, fontsize="small" if len(xs) > MANY else None)


def x_scale(ax: Any, entry: Entry, places: Sequence[float], xs: Sequence[str]) -> None:
    """Linear or logarithmic, as names are further apart."""
    if entry.x == "fabric.loss":
        ax.set_xscale("symlog", linthresh=min(p for p in places if p > 0))
        ax.set_xlim(left=-0.08 * places[1])
    elif min(places) > 0:
        def nearest(marks: Sequence[float]) -> float:
            return min(b - a for a, b in zip(marks, marks[1:])) / (marks[-1] - marks[0])

        if nearest([math.log(p) for p in places]) > nearest(places):
            ax.set_xscale("log")
    ax.set_xticks(places, xs)
    ax.set_xticks([], minor=True)


def y_scale(ax: Any, entry: Entry, curves: dict[str | None, list[float]], numbers: bool) -> None:
    from matplotlib import ticker

    values = [y for ys in curves.values() for y in ys]
    if not entry.log_y:
        ax.set_ylim(0, 1.08 * max(values))
        return
    ax.set_yscale("log")
    if not numbers and entry.group:
        ax.set_ylim(top=ax.get_ylim()[1] * 8)  # room for the legend above the bars
    ax.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if max(values) < 50 * min(values) else (1,)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(ticker.NullFormatter())


def picture(entry: Entry, rows: Rows, at: Callable[..., float]) -> None:
    import matplotlib
    from matplotlib.figure import Figure

    xs = distinct(rows, entry.x)
    found = [place(x) for x in xs]
    places = [p for p in found if p is not None]
    figure = Figure(figsize=(5, 3), layout="constrained")
    ax = figure.add_subplot()
    numbers = len(places) == len(xs) > 2
    scale = 1e3 if entry.text is size else 1e9 if entry.text is bit_rate else 1e6 if entry.text is picoseconds else 1
    unit = "M/s" if entry.text is million_a_second else {1e3: "kB", 1e9: "Gb/s", 1e6: "us", 1: ""}[scale]
    groups: list[str | None] = [None] if entry.group is None else list(distinct(rows, entry.group))
    curves = {group: [at(x, group) / scale for x in xs] for group in groups}
    if numbers:
        lines(ax, places, curves)
        x_scale(ax, entry, places, xs)
    else:
        bars(ax, xs, curves)
    y_scale(ax, entry, curves, numbers)
    ax.set_xlabel(entry.x)
    ax.set_ylabel(f"{entry.y} ({unit})" if unit else entry.y)
    if entry.group:
        small = {"fontsize": "x-small", "title_fontsize": "x-small"} if len(groups) > 4 else {}
        ax.legend(title=entry.group, loc="lower left" if entry.x == "fabric.loss" else "best", **small)
    ax.grid(True, alpha=0.3)
    with matplotlib.rc_context({"svg.hashsalt": entry.name, "svg.fonttype": "none"}):
        PICTURES.mkdir(exist_ok=True)
        figure.savefig(PICTURES / f"{entry.name}.svg", format="svg", metadata={"Date": None})


def section(entry: Entry, *, draw: bool, jobs: int | None) -> str:
    """Runs one scenario's sweep, or measures; its part of the page."""
    if entry.measure:
        rows, question, command = entry.measure(), entry.question, entry.command
    else:
        scenario = ls.Scenario(HERE / f"{entry.name}.yaml")
        rows = sorted(ls.sweep_rows(scenario, jobs=jobs, progress=False), key=lambda row: int(row["point"]))
        question, command = scenario.description, f"loco-sim sweep scenarios/gallery/{entry.name}.yaml"
        failed = [row for row in rows if row["error"] or (row["consistent"] is False and not entry.may_break)]
        if failed:
            raise SystemExit(f"{entry.name}: {failed[0]['error'] or 'inconsistent'}")
    at = values_of(entry, rows)
    if draw:
        picture(entry, rows, at)
    return "\n".join([f"## {question}", "", entry.answer(at, rows), "",
                      f"![{entry.y} against {entry.x}](gallery/{entry.name}.svg)", "", table(entry, rows, at), "",
                      f"`{command}`", ""])


HEAD = """# Gallery

Questions that people ask, each with an answer from a scenario in `scenarios/gallery`. Written by `./dev gallery`: the sentences, too, are made
from the results, for the hardware profile of the scenario and for no other machine.

"""


def page(entries: Sequence[Entry] = ENTRIES, *, draw: bool = False, jobs: int | None = None) -> str:
    """The whole page."""
    return HEAD + "\n".join(section(entry, draw=draw, jobs=jobs) for entry in entries)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only print these, and write nothing")
    names = parser.parse_args().names
    known = {entry.name: entry for entry in ENTRIES}
    for name in names:
        if name not in known:
            parser.error(f"{name}: expected one of {', '.join(known)}")
    if names:
        print(page([known[name] for name in names]))
    else:
        PAGE.write_text(page(draw=True), encoding="utf-8")
        print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
