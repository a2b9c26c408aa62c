"""Generator functions as simulated threads."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import loco_sim as ls
from loco_sim.trace import ACTIVITIES


def run(program, **kwargs):
    options = {k: kwargs.pop(k) for k in ("arrays", "barriers", "variables") if k in kwargs}
    return ls.Program(program, **options).run(**{"hardware": "model-weak", **kwargs})


def test_put_and_get():
    def node(ctx):
        yield ctx.put("z", node=2, value=1)
        v = yield ctx.get("z", node=2)
        return v

    # one queue pair, in order, and a read pushes earlier writes of its queue pair (docs/machine.md, PCIe)
    r = ls.Program(nodes={1: node}).run(hardware="cx5-roce-25g")
    assert r.returned == {1: 1}
    assert r.verdict.ok and r.simulated_ps > 0 and r.counters["work_requests"] >= 2
    assert r.scenario.workload == "program"


def test_local_memory():
    def node(ctx):
        values = [(yield ctx.load("x"))]
        yield ctx.store("x", 7)
        values.append((yield ctx.load("x")))
        values.append((yield ctx.cas("x", 7, 8)))
        values.append((yield ctx.cas("x", 7, 9)))
        yield ctx.fence()
        yield ctx.store("x", -1)
        values.append((yield ctx.load("x")))
        return values

    assert run({0: node}).returned[0] == [0, 7, 7, 8, 2**64 - 1]


def test_atomics():
    def node(ctx):
        a = yield ctx.fetch_add("n", 1, 5)
        b = yield ctx.fetch_add("n", 1, -2)
        c = yield ctx.compare_swap("n", 1, 3, 10)
        d = yield ctx.compare_swap("n", 1, 3, 11)
        e = yield ctx.get("n", 1)
        h = yield ctx.fetch_add("n", 1, 1, wait=False)
        f = yield ctx.wait(h)
        return [a, b, c, d, e, f]

    assert run({0: node}).returned[0] == [0, 5, 3, 10, 10, 10]


def test_arrays_move_whole():
    def sender(ctx):
        for i in range(8):
            yield ctx.store("out", i * i, i)
        yield ctx.fence()
        yield ctx.put("in", 1, source="out")
        yield ctx.put("flag", 1, value=1)

    def receiver(ctx):
        yield ctx.wait_until("flag", "==", 1)
        values = []
        for i in range(8):
            values.append((yield ctx.load("in", i)))
        h = yield ctx.get("out", 0, into="copy")
        last = yield ctx.load("copy", 7)
        return values, h, last

    r = run({0: sender, 1: receiver}, arrays={"in": 64, "out": 64, "copy": 64})
    assert r.returned[1] == ([i * i for i in range(8)], 0, 49)


def test_barrier_and_several_threads():
    def thread(ctx):
        yield ctx.store(f"seen{ctx.thread}", 1)
        yield ctx.fence()
        yield ctx.put(f"seen{ctx.thread}", (ctx.node + 1) % ctx.nodes)
        yield ctx.barrier()
        return (yield ctx.load("seen0")) + (yield ctx.load("seen1"))

    r = run({0: [thread, thread], 1: [thread, thread]}, barriers=["barrier"], schedule="random")
    assert r.returned == {0: [2, 2], 1: [2, 2]}
    assert r.verdict.ok


def test_samples_have_ends():
    def node(ctx):
        for _ in range(3):
            start = yield ctx.now()
            yield ctx.compute("1us")
            middle = yield ctx.now()
            yield ctx.compute("1us")
            end = yield ctx.now()
            ctx.sample("both", start, end)
            ctx.sample("half", start, middle)  # ended before what was told first

    r = run({0: node, 1: node})
    for times in (*r.operations.values(), r.latency):
        assert (times.ends_ps[1:] >= times.ends_ps[:-1]).all() and len(times.ends_ps) == len(times)
    assert r.latency.samples_ps[0] < r.latency.samples_ps[-1]
    _, rates = r.throughput_series("1us")
    assert rates.sum() * 1e-6 == pytest.approx(12)


def test_report_of_a_program_with_samples():
    pytest.importorskip("matplotlib")

    def node(ctx):
        start = yield ctx.now()
        yield ctx.compute("1us")
        ctx.sample("work", start, (yield ctx.now()))

    assert "Throughput over time" in run({0: node}).report()


def test_the_scenario_of_a_program_stays_one():
    """Copies of it are no scenario of the workload that holds its place."""
    def node(ctx):
        yield ctx.put("x", 0, 1)

    r = run({1: node}, seed=5)
    scenario = r.scenario
    for again in (pickle.loads(pickle.dumps(scenario)), copy.copy(scenario), copy.deepcopy(scenario),
                  pickle.loads(pickle.dumps(r)).scenario):
        assert again == scenario and again.workload == "program" and again.config_hash() == scenario.config_hash()
    other = scenario.override({"topology.nodes": 4}, seed=6)
    assert (other.workload, other.nodes, other.seed) == ("program", 4, 6)
    assert pickle.loads(pickle.dumps(r)).to_dict(everything=True)["command"].startswith("a Python program")
    for use in (ls.run, ls.validate, ls.Scenario, lambda s: ls.run(s, seed=2), lambda s: list(ls.sweep_rows(s, {"seed": [1]}))):
        with pytest.raises(ValueError, match="surroundings of a Python program"):
            use(scenario)


def test_samples_are_the_results_operations():
    def node(ctx):
        for _ in range(10):
            start = yield ctx.now()
            yield ctx.compute("2us")
            end = yield ctx.now()
            ctx.sample("work", start, end)

    r = ls.Program({0: node}).run()
    assert r.operations["work"].min >= 2_000_000
    assert r.operations_done == 10 and r.throughput > 0


def test_compute_takes_its_time():
    def node(ctx):
        a = yield ctx.now()
        yield ctx.compute(1234)
        return (yield ctx.now()) - a

    assert run({0: node}).returned[0] == 1234


def test_yield_from():
    def add(ctx, amount):
        old = yield ctx.fetch_add("n", 1, amount)
        return old + amount

    def node(ctx):
        total = 0
        for amount in (1, 2, 3):
            total = yield from add(ctx, amount)
        return total

    assert run({0: node}).returned[0] == 6


def test_many_operations_in_flight():
    def node(ctx):
        for i in range(300):
            yield ctx.put("x", 1, value=i)
        return (yield ctx.get("x", 1))

    assert run({0: node}).returned[0] == 299


def test_numpy_numbers_are_numbers():
    def node(ctx):
        yield ctx.store("b", 3, index=np.int64(7))
        return (yield ctx.load("b", np.int32(7)))

    assert run({np.int64(0): node}, arrays={"b": np.int64(64)}, variables=np.int64(1), nodes=np.int64(2)).returned == {0: 3}


def test_one_barrier_needs_no_list():
    def node(ctx):
        yield ctx.barrier("bar")

    assert run({0: node, 1: node}, barriers="bar").verdict.ok


def test_a_program_runs_on_packets():
    def thread(ctx):
        yield ctx.now()

    with pytest.raises(ls.InputError, match='fabric.model: expected packet for a program, .* found "flow"') as caught:
        ls.Program({0: thread}).run(overrides={"fabric.model": "flow"})
    assert caught.value.key == "fabric.model"


def test_nodes_are_just_enough_where_the_topology_leaves_it_open():
    def nodes(*running, **kwargs):
        program = {n: lambda ctx: (yield ctx.now()) for n in running or [1]}
        return run(program, hardware="cx5-roce-25g", **kwargs).scenario.nodes

    assert nodes(0, 1) == nodes(0, 1, topology="ring") == 2 and nodes(0, 4) == 5
    assert nodes(0) == 2 and nodes(1) == nodes(1, topology="ring") == 3  # one with nobody to talk to gets a neighbour
    assert nodes(topology="star", nodes=5) == 5
    assert nodes(topology="leaf_spine") == 16
    assert nodes(topology={"kind": "leaf_spine", "leaves": 2, "hosts_per_leaf": 2}) == 4
    with pytest.raises(ls.InputError, match="topology.nodes: expected 16 for leaf_spine"):
        nodes(topology="leaf_spine", nodes=3)


def racing():
    def node(ctx):
        yield ctx.store("x", ctx.node + 1)
        yield ctx.put("x", 1 - ctx.node)
        yield ctx.compute(10)
        return (yield ctx.load("x"))

    return {0: node, 1: node}


def test_same_seed_same_run_also_in_threads():
    def trace(seed):
        return run(racing(), seed=seed, schedule="random").trace.encode()

    alone = [trace(s) for s in range(1, 9)]
    assert len(set(alone)) > 1
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(trace, range(1, 9))) == alone


def test_store_buffering_shows_in_some_run_and_is_allowed():
    """The paper's Fig. 4 (top) with waits left out: both reads may see 0, under rdmawait."""
    def node(ctx):
        yield ctx.put("x", 1 - ctx.node, value=1)
        return (yield ctx.load("x"))

    seen = set()
    for seed in range(1, 60):
        r = run({0: node, 1: node}, seed=seed, schedule="random")
        assert r.verdict.ok
        seen.add((r.returned[0], r.returned[1]))
    assert (0, 0) in seen and len(seen) > 1


def test_comparisons_hold_where_they_begin():
    def node(ctx):
        seen = []
        for comparison, value in (("==", 0), ("!=", 5), (">=", 0), ("<=", 0)):
            seen.append((yield ctx.wait_until("x", comparison, value)))
        return seen

    assert run({0: node}).returned[0] == [0, 0, 0, 0]


def test_a_65th_operation_waits_for_the_first():
    """64 KiB take 64 * 1024 * 8 / 25 Gb/s = 21 us on the link; to post a put takes far less than a 64th of that."""
    on_the_link = 64 * 1024 * 8 * 10**12 // (25 * 10**9)

    def node(ctx):
        times = [(yield ctx.now())]
        for _ in range(64):
            yield ctx.put("a", 1)
        times.append((yield ctx.now()))
        newest = yield ctx.put("a", 1)
        times.append((yield ctx.now()))
        with pytest.raises(ls.RunError, match="last 64"):
            yield ctx.wait(newest - 64)
        yield ctx.wait(newest)
        times.append((yield ctx.now()))
        yield ctx.put("a", 1, wait=True)
        times.append((yield ctx.now()))
        return np.diff(times).tolist()

    posted, one_more, _, waited = run({0: node}, arrays={"a": 64 * 1024}, hardware="cx5-roce-25g", check=[],
                                      overrides={"trace.level": "none"}).returned[0]
    assert posted < on_the_link <= posted + one_more and waited > on_the_link


def test_a_program_records_what_a_scenario_does():
    def node(ctx):
        yield ctx.put("x", 1, value=1, wait=True)

    r = run({0: node}, hardware="cx5-roce-25g", seed=7,
            overrides={"trace.level": "packets", "series.interval": "100ns", "name": "mine"})
    assert np.count_nonzero(r.trace.activities["kind"] == ACTIVITIES.index("packet")) == r.counters["packets_sent"] > 0
    assert (r.trace.scenario, r.trace.seed) == ("mine", 7)
    assert r.scenario.override(seed=8).workload == "program", "a copy says no more than its source"
    assert r.series.interval_ps == 100_000 and len(r.series.links) == 4, "two cables, each in both directions"


def test_an_operation_that_is_never_yielded_warns_and_names_the_line():
    def node(ctx):
        ctx.put("z", node=2, value=1)
        yield ctx.load("z")
        for later in [ctx.load("a"), ctx.load("b")]:
            yield later

    with pytest.warns(RuntimeWarning, match="never yielded") as told:
        run({1: node})
    assert [(w.filename, w.lineno) for w in told] == [(__file__, node.__code__.co_firstlineno + 1)]


def test_operations_that_are_yielded_do_not_warn(recwarn):
    def node(ctx):
        try:
            yield ctx.wait_until("never", "==", 1)
        finally:
            yield ctx.fence()

    with pytest.raises(ls.RunError):
        run({1: node})
    assert not [w for w in recwarn if "never yielded" in str(w.message)]
