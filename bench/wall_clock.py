"""What people wait for, in milliseconds of wall time: the first run, an import, a program's yields, Ctrl-C.

    ./dev python bench/wall_clock.py [--repeat 5]

Prints the best of some repetitions of each. Tests check what these calls do; how long they take is asserted nowhere,
since that depends on the machine.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import numpy as np

import loco_sim as ls

ROOT = pathlib.Path(__file__).parents[1]
QUICKSTART = ROOT / "scenarios/quickstart.yaml"
ENDLESS = {"hardware": "cx5-roce-25g", "topology": {"kind": "star", "nodes": 4}, "check": [],
           "workload": {"kind": "barrier", "iterations": 1_000_000}}


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def command() -> float:
    """The command line's first run."""
    program = os.environ.get("LOCO_SIM", str(ROOT / "build/release/bin/loco-sim"))
    return seconds(lambda: subprocess.run([program, "run", QUICKSTART], check=True, stdout=subprocess.DEVNULL))


def importing() -> float:
    """import loco_sim in an interpreter of its own."""
    code = "import time; t = time.perf_counter(); import loco_sim; print(time.perf_counter() - t)"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=env).stdout)


def ten_thousand_yields() -> float:
    """Ten thousand loads of a Python program."""
    def node(ctx):
        for _ in range(10_000):
            yield ctx.load("x")

    program = ls.Program({0: node})
    return seconds(lambda: program.run(hardware="model-weak", check=[], overrides={"trace.level": "none"}))


def to_numpy() -> float:
    """A million subevents as an array."""
    trace = ls.run(str(QUICKSTART)).trace
    copies = 1_000_000 // len(trace) + 1
    big = ls.Trace.from_arrays(threads=trace.threads, objects=trace.objects, node_sets=trace.node_sets,
                               calls=trace.calls, subevents=np.tile(trace.subevents, copies))
    return seconds(lambda: big.subevents)


def interrupted() -> float:
    """From Ctrl-C until KeyboardInterrupt comes out of run()."""
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.1, interrupt)
    timer.start()
    try:
        ls.run(ENDLESS)
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]
    finally:
        timer.join()
    raise RuntimeError("the run ended before it was interrupted")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    for measure in (command, importing, ten_thousand_yields, to_numpy, interrupted):
        best = min(measure() for _ in range(repeat))
        print(f"{1e3 * best:10.2f} ms  {measure.__doc__}")


if __name__ == "__main__":
    main()
