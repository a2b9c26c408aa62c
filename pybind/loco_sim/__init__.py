"""loco-sim: simulated RDMA NICs run LOCO code, timed and checked against declarative memory models.

    import loco_sim as ls
    r = ls.run("scenarios/quickstart.yaml", seed=3, overrides={"topology.nodes": 8})
    print(r)                            # latency table, throughput, verdict
    r.latency.percentile(99)            # picoseconds
    r.trace.subevents                   # NumPy structured array, no copy

Times are picoseconds of simulated time. What goes wrong is a `loco_sim.Error` with the command line's text.
"""

from __future__ import annotations

import importlib
from typing import Any


def _require_main_interpreter() -> None:
    """A module in C++ would wait for the first interpreter's lock for ever."""
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            interpreters = importlib.import_module(name)
        except ImportError:
            continue
        if interpreters.get_current() != interpreters.get_main():
            raise ImportError("loco_sim works in the main interpreter of a process only, this is another one")
        return


_require_main_interpreter()

from ._core import __version__  # noqa: E402

# Where each public name lives: modules are loaded at first use, so that importing the package stays cheap.
_HOME = {
    "Error": "errors", "InputError": "errors", "MissingPackageError": "errors", "RunError": "errors",
    "TraceError": "errors",
    "Scenario": "scenario", "list_hardware": "scenario", "list_topologies": "scenario", "list_workloads": "scenario",
    "hardware": "scenario", "scenarios": "scenario",
    "Latency": "measured", "Series": "measured", "Result": "result", "Stage": "outcome", "Why": "outcome", "run": "result", "stop_flag": "result", "validate": "result",
    "Choice": "points", "Range": "points", "Uniform": "points", "sweep_points": "points", "sweep": "sweeps",
    "sweep_rows": "sweeps",
    "AtomicVar": "objects", "KeyValueStore": "objects", "Mutex": "objects", "OwnedVar": "objects",
    "RingBuffer": "objects", "SharedQueue": "objects", "StateTable": "objects", "Var": "objects",
    "Context": "context", "Program": "program", "ProgramResult": "program",
    "LitmusResult": "litmus_tests", "LitmusResults": "litmus_tests", "litmus": "litmus_tests",
    "GeneratedTest": "generated", "GeneratedTests": "generated", "generate": "generated",
    "Campaign": "networks", "Fit": "networks", "RuleSetFit": "networks", "corerma": "networks", "fit": "networks",
    "perf": "perftest",
    "Exec": "programs", "ExecProgram": "programs", "exec": "programs",
    "custom_topology": "topologies", "report": "reports",
    "Trace": "trace", "read_trace": "trace", "call_dtype": "trace", "subevent_dtype": "trace",
    "Verdict": "verdict", "check": "trace",
    "Robustness": "robustness", "robust": "robustness",
    "Liveness": "verification", "OnHardware": "verification", "Verification": "verification", "verify": "verification",
}
_MODULES = {"errors", "plot", "verbs"}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    elif name in _MODULES:
        value = importlib.import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*_HOME, *_MODULES, *(name for name in globals() if name.startswith("__"))})
