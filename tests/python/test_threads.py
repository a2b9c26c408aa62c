"""Many runs in one process, in several threads, interrupted."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import loco_sim as ls


def test_a_hundred_runs_in_one_process_agree(barrier):
    barrier["workload"]["iterations"] = 3
    first = ls.run(barrier).to_json()
    assert {ls.run(barrier).to_json() for _ in range(100)} == {first}


def test_runs_in_several_threads_agree_with_runs_alone(broken):
    alone = [ls.run(broken, seed=s).trace.encode() for s in range(1, 9)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda s: ls.run(broken, seed=s).trace.encode(), list(range(1, 9)) * 2))
    assert together == alone * 2


def test_other_threads_go_on_during_a_run(endless):
    """The interpreter lock is free while a run works: another thread keeps counting."""
    stop = ls.stop_flag()
    started = threading.Event()
    outcome = []

    def work():
        started.set()
        try:
            ls.run(endless, stop=stop)
        except ls.RunError as error:
            outcome.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    count = 0
    until = time.monotonic() + 0.2
    while time.monotonic() < until:
        count += 1
    assert thread.is_alive()
    stop.set()
    thread.join(1)
    assert not thread.is_alive() and len(outcome) == 1
    assert count > 1000


def interrupt(endless, delay=0.1, call=ls.run):
    """KeyboardInterrupt comes out of run(), or of another call, though it would go on for ever."""
    thread = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call(endless)
    finally:
        thread.join()


def test_ctrl_c_stops_a_run(endless):
    interrupt(endless)


def test_ctrl_c_stops_a_random_run_too(endless):
    interrupt({**endless, "schedule": "random"})


def test_ctrl_c_stops_a_check(barrier):
    """A check that takes far longer than the wait: the same big trace again and again."""
    trace = ls.run(barrier, overrides={"workload.iterations": 500, "topology.nodes": 8, "check": []}).trace

    def check_for_long(_):
        while True:
            trace.check("rdmawait", "sv", "bal")

    interrupt(None, call=check_for_long)


@pytest.mark.parametrize("test", ["write_lat", "read_bw", "dma_read_bw"])
def test_ctrl_c_stops_a_measurement(test):
    def measure_for_long(_):
        ls.perf(test, size=64, iterations=100_000_000)

    interrupt(None, call=measure_for_long)


@pytest.mark.parametrize("engine", ["declarative", "explore", "sample"])
def test_ctrl_c_stops_litmus_engines(engine):
    """Three threads whose writes, atomics and reads all race: far more executions than there is time for."""
    code = "; ".join(f"a{{t}}{i} = cas(x, 0, 1); put(y, x) as d{{t}}{i}; b{{t}}{i} = x" for i in range(4))
    text = "name: big\nmodel: rdmawait\nlocations: {x: {node: 1}, y: {node: 2}}\nthreads:\n" + "".join(
        f'  - {{node: 1, code: "{code.format(t=t)}"}}\n' for t in range(3))

    def for_long(_):
        ls.litmus(text, engine=engine, runs=10**9)

    interrupt(None, call=for_long)


def test_runs_work_after_an_interrupt(endless, barrier):
    interrupt(endless, 0.05)
    assert ls.run(barrier).verdict.ok


def test_stop_flag_that_is_set_already(endless):
    stop = ls.stop_flag()
    stop.set()
    with pytest.raises(ls.RunError):
        ls.run(endless, stop=stop)
