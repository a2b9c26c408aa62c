"""Draws the answers of the scenarios of this folder that have a sweep with one question: ./dev python scenarios/fabric/plot.py [DIRECTORY].

One SVG a scenario: the time until the last message is complete, against what is swept.
"""

from __future__ import annotations

import pathlib
import sys

from matplotlib.figure import Figure

import loco_sim as ls

HERE = pathlib.Path(__file__).resolve().parent
SWEPT = {"incast_pfc": "fabric.flow_control", "link_failure": "hardware.nic.ack_timeout", "permutation": "fabric.routing",
         "head_of_line": "fabric.flow_control", "incast_dcqcn": "fabric.dcqcn.enabled"}


def draw(name: str, key: str, into: pathlib.Path) -> pathlib.Path:
    """Bars over the values of `key`: the median over seeds."""
    times: dict[str, list[float]] = {}
    for row in sorted(ls.sweep_rows(ls.Scenario(HERE / f"{name}.yaml"), progress=False), key=lambda r: int(r["point"])):
        if row["error"]:
            raise SystemExit(f"{name}: {row['error']}")
        times.setdefault(str(row[key]), []).append(float(row["measured_ps"]) / 1e9)
    figure = Figure(figsize=(5, 3), layout="constrained")
    ax = figure.add_subplot()
    ax.bar(list(times), [sorted(t)[len(t) // 2] for t in times.values()])
    ax.set_xlabel(key)
    ax.set_ylabel("last message complete (ms)")
    ax.set_title(name)
    path = into / f"{name}.svg"
    figure.savefig(path)
    return path


def main() -> None:
    into = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for name, key in SWEPT.items():
        print(draw(name, key, into))


if __name__ == "__main__":
    main()
