"""Ctrl-C comes out of every long call within 100 ms, and daemon threads end with the process."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import loco_sim as ls

ROOT = pathlib.Path(__file__).parents[2]
LONG = 10**9


def program():
    def writer(ctx):
        for i in range(10**7):
            yield ctx.put("x", node=1, value=i)

    def reader(ctx):
        yield ctx.load("x")

    return ls.Program(nodes={0: writer, 1: reader}).run("model-weak", check=[])


def verbs():
    machine = ls.verbs.Machine(nodes=2)

    def thread(t):
        while True:
            yield t.compute(10**6)

    machine.spawn(0, thread)
    return machine.run()


@pytest.fixture(scope="module")
def trace():
    """A million accesses: what is done with them takes longer than the test."""
    count = 1_000_000
    calls, events = np.zeros(count, ls.call_dtype()), np.zeros(count, ls.subevent_dtype())
    calls["returned"], calls["begin_ps"] = True, np.arange(count)
    calls["end_ps"] = calls["begin_ps"] + 1
    events["call"], events["start"], events["finish"] = np.arange(1, count + 1), np.arange(count), np.arange(count)
    events["start_ps"] = events["finish_ps"] = np.arange(count)
    return ls.Trace.from_arrays(threads=[(0, "main"), (1, "other")], calls=calls, subevents=events)



CALLS = {
    "run": lambda t: ls.run("barrier", overrides={"workload.iterations": 10**7, "check": [], "trace.level": "none"}),
    "program": lambda t: program(),
    "verbs": lambda t: verbs(),
    "perf": lambda t: ls.perf("write_bw", size=65536, iterations=10**8),
    "litmus sample": lambda t: ls.litmus(ROOT / "tests/litmus/loco-paper.yaml", engine="sample", runs=10**8),
    "litmus explore": lambda t: [ls.litmus(ROOT / "tests/litmus/loco-paper.yaml", engine="explore") for _ in range(LONG)],
    "litmus": lambda t: [ls.litmus(ROOT / "tests/litmus/loco-paper.yaml") for _ in range(LONG)],
    "verify": lambda t: ls.verify(ROOT / "scenarios/verify/bakery.rma", engine="explicit", pending=8, max_seconds=0),
    "fit": lambda t: ls.fit("cx5-roce-25g", tests=10**4),
    "corerma": lambda t: ls.corerma(),
    "generate": lambda t: ls.generate("R1", processes=2, size=12, anyway=True).counts(),
    "sweep": lambda t: list(ls.sweep_rows("barrier", {"seed": range(1000)}, overrides={"workload.iterations": 10**6})),
    "check": lambda t: [t.check() for _ in range(LONG)],
    "to_perfetto": lambda t: [t.to_perfetto() for _ in range(LONG)],
    "to_dot": lambda t: [t.to_dot(10**9) for _ in range(LONG)],
    "to_text": lambda t: [t.to_text() for _ in range(LONG)],
    "encode": lambda t: [t.encode() for _ in range(LONG)],
}
ALWAYS = {"run", "fit", "to_perfetto", "verify"}


@pytest.mark.parametrize("name", [name if name in ALWAYS else pytest.param(name, marks=pytest.mark.long) for name in CALLS])
def test_ctrl_c(name, trace):
    sent = []

    def send():
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            CALLS[name](trace)
        took = time.process_time() - sent[0]  # of a processor: others may be using it
    finally:
        timer.cancel()
    threads = 2  # of an engine, at most, here
    assert took < 0.1 * threads


def test_ctrl_c_while_a_trace_is_read(trace, tmp_path):
    path = tmp_path / "long.trace"
    trace.write(path)
    CALLS["read_trace"] = lambda t: [ls.read_trace(path) for _ in range(LONG)]
    test_ctrl_c("read_trace", trace)


DAEMON = """
import sys, threading, time
import loco_sim as ls
sys.path.insert(0, {folder!r})
from test_interrupt import CALLS
threading.Thread(target=CALLS[{name!r}], args=(None,), daemon=True).start()
time.sleep(0.3)
sys.exit(3)
"""


@pytest.mark.parametrize("name", ["run", "program", "verify", pytest.param("litmus sample", marks=pytest.mark.long),
                                  pytest.param("perf", marks=pytest.mark.long), pytest.param("verbs", marks=pytest.mark.long),
                                  pytest.param("fit", marks=pytest.mark.long), pytest.param("sweep", marks=pytest.mark.long),
                                  pytest.param("generate", marks=pytest.mark.long)])
def test_a_daemon_thread_ends_with_the_process(name):
    """Whatever it is in when the interpreter ends: 3, and nothing on stderr."""
    code = DAEMON.format(folder=str(pathlib.Path(__file__).parent), name=name)
    for _ in range(3):
        ended = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                               capture_output=True, text=True, timeout=60)
        assert (ended.returncode, ended.stderr) == (3, "")


def test_another_interpreter_of_the_process_is_refused():
    """It would wait for the first one's lock for ever."""
    code = ("import sys\ntry:\n    import _xxsubinterpreters as other\nexcept ImportError:\n    sys.exit(77)\n"
            "try:\n    other.run_string(other.create(), 'import loco_sim')\nexcept other.RunFailedError as e:\n    print(e)\n")
    ended = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                           capture_output=True, text=True, timeout=60)
    if ended.returncode == 77:
        pytest.skip("this Python has no module of its interpreters")
    assert "ImportError" in ended.stdout and "main interpreter" in ended.stdout
