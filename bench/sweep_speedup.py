"""How much faster is a sweep of 200 points with two jobs than with one, and does it give the same bytes?

    ./dev python bench/sweep_speedup.py [--points 200] [--repeat 3]

Wants two idle cores: prints the load, the best of some repetitions for each number of jobs, and their ratio. Exits with 1 when
the results differ.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import tempfile
import time

import loco_sim as ls

SCENARIO = {
    "name": "speedup",
    "hardware": "cx5-roce-25g",
    "topology": {"kind": "star", "nodes": 8},
    "workload": {"kind": "barrier", "iterations": 100},
    "check": ["rdmawait", "sv", "bal"],
}


def timed(points: int, jobs: int, path: pathlib.Path) -> float:
    """Seconds of wall time of the whole sweep, starting of processes included."""
    start = time.perf_counter()
    for _ in ls.sweep_rows(SCENARIO, {"seed": list(range(1, points + 1))}, jobs=jobs, out=path, resume=False, progress=False):
        pass
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    best: dict[int, float] = {}
    content: dict[int, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(arguments.repeat):
            for jobs in (1, 2):
                path = pathlib.Path(folder) / f"{jobs}.jsonl"
                best[jobs] = min(best.get(jobs, float("inf")), timed(arguments.points, jobs, path))
                content[jobs] = path.read_bytes()
    same = content[1] == content[2]
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {arguments.points} points: {best[1]:.2f} s with 1 job, "
          f"{best[2]:.2f} s with 2: {best[1] / best[2]:.2f} times as fast; results {'identical' if same else 'DIFFER'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
