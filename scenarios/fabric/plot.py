"""Draws the answer of each scenario of this folder: ./dev python scenarios/fabric/plot.py [DIRECTORY] [--quick].

One SVG a scenario. With --quick messages are small: to see that everything works, not to learn anything.
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib

from matplotlib.figure import Figure

import loco_sim as ls

HERE = pathlib.Path(__file__).resolve().parent
QUICK = {"workload.size": "32KiB", "workload.count": 1}


def last_message(row: dict) -> float:
    return row["measured_ps"] * 1e-9


def victim(row: dict) -> float:
    return row["by_operation.victim.max_ps"] * 1e-9


def goodput(row: dict) -> float:
    return row["workload_counters.payload_bytes"] * 8e3 / row["measured_ps"]


def goodput_of_host(row: dict) -> float:
    return goodput(row) * row["operations"] / row["by_operation.all_reduce.count"]  # a sample for each host


@dataclasses.dataclass
class Plot:
    """A figure over the values of `key`, one series a value of `group`; the median over whatever else is swept."""

    key: str
    ylabel: str
    y: object = last_message
    group: str | None = None
    sweep: dict | list | None = None  # the scenario's own
    labels: tuple[str, ...] = ()  # of the points, where values say little
    quick: dict = dataclasses.field(default_factory=lambda: QUICK)  # other keys than those of traffic


LAST = "last message complete (ms)"
PLOTS = {
    "all_reduce": Plot("workload.size", "payload sent by each host (Gb/s)", goodput_of_host,
                       quick={"workload.iterations": 1}),
    "incast": Plot("topology.nodes", "payload received (Gb/s)", goodput),
    "incast_pfc": Plot("fabric.flow_control", LAST),
    "incast_dcqcn": Plot("fabric.dcqcn.enabled", "time that links are paused (ms, all links)",
                         lambda row: row["workload_counters.fabric_paused_ps"] * 1e-9),
    "permutation": Plot("fabric.routing", LAST),
    "reordering": Plot("fabric.routing", LAST, group="hardware.nic.placement"),
    "link_failure": Plot("hardware.nic.ack_timeout", LAST),
    "head_of_line": Plot("fabric.flow_control", "last message of the victim (ms)", victim),
    "flow": Plot("point", LAST, sweep=[{"fabric.model": "packet", "fabric.cross_traffic": []},
                                       {"fabric.model": "flow", "fabric.cross_traffic": []}, {"fabric.model": "flow"}],
                 labels=("packets", "flows", "flows,\n5 Gb/s of others")),
}


def points(name: str, plot: Plot, quick: bool) -> dict[str, dict[str, float]]:
    """Per series and value of the key, the median."""
    found: dict[str, dict[str, list[float]]] = {}
    rows = ls.sweep_rows(ls.Scenario(HERE / f"{name}.yaml"), plot.sweep, overrides=plot.quick if quick else None, progress=False)
    for row in sorted(rows, key=lambda r: int(r["point"])):
        if row["error"]:
            raise SystemExit(f"{name}: {row['error']}")
        value = plot.labels[row["point"]] if plot.labels else str(row[plot.key])
        found.setdefault(str(row[plot.group]) if plot.group else "", {}).setdefault(value, []).append(plot.y(row))
    return {series: {x: sorted(ys)[len(ys) // 2] for x, ys in values.items()} for series, values in found.items()}


def draw(name: str, into: pathlib.Path, quick: bool = False) -> dict[str, dict[str, float]]:
    """Bars, one group of them a value. Returns what is drawn."""
    plot = PLOTS[name]
    found = points(name, plot, quick)
    figure = Figure(figsize=(5, 3), layout="constrained")
    ax = figure.add_subplot()
    width = 0.8 / len(found)
    for i, (series, values) in enumerate(found.items()):
        places = [x + (i - (len(found) - 1) / 2) * width for x in range(len(values))]
        ax.bar(places, list(values.values()), width, label=series)
    ax.set_xticks(range(len(values)), list(values))
    ax.set_xlabel("" if plot.labels else plot.key)
    ax.set_ylabel(plot.ylabel)
    ax.set_title(name)
    if plot.group:
        ax.legend(title=plot.group, loc="upper left")
    figure.savefig(into / f"{name}.svg")
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("directory", nargs="?", default=".", type=pathlib.Path)
    arguments.add_argument("--quick", action="store_true")
    given = arguments.parse_args()
    for name in PLOTS:
        draw(name, given.directory, given.quick)
        print(given.directory / f"{name}.svg")


if __name__ == "__main__":
    main()
