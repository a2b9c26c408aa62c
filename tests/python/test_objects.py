"""LOCO's objects as calls of a program's context."""

import pytest

import loco_sim as ls

CHECKED = ("rdmawait", "sv", "bal", "rbl", "lock", "kvstore")


def run(nodes, objects, **named):
    return ls.Program(nodes, objects=objects, barriers="b").run(**{"hardware": "model-weak", "check": CHECKED, **named})


@pytest.mark.parametrize("seed", range(1, 9))
def test_variables(seed):
    def owner(ctx):
        yield ctx.write("mine", 7)
        yield ctx.broadcast("mine")
        yield ctx.write("table", 10)
        yield ctx.push("table", node=1)
        yield ctx.write("any", 3)
        yield ctx.barrier("b")
        yield ctx.barrier("b")
        return (yield ctx.load("any"))

    def other(ctx):
        yield ctx.write("table", 11)
        yield ctx.barrier("b")
        seen = [(yield ctx.load("mine")), (yield ctx.load("table", 0)), (yield ctx.load("table", 1)),
                (yield ctx.pull("mine")), (yield ctx.pull("any", node=0))]
        yield ctx.write("any", 4)
        yield ctx.push("any", node=0)
        yield ctx.barrier("b")
        return seen

    r = run({0: owner, 1: other}, {"mine": ls.OwnedVar(owner=0), "table": ls.StateTable(), "any": ls.Var()},
            schedule="random", seed=seed)
    assert r.returned == {0: 4, 1: [7, 10, 11, 7, 3]} and r.verdict.ok


def test_atomic_variables():
    def node(ctx):
        yield ctx.add("a", 1)
        yield ctx.barrier("b")
        total = yield ctx.load("a")
        yield ctx.barrier("b")
        if ctx.node == 0:
            old = [(yield ctx.exchange("a", 100)), (yield ctx.compare_exchange("a", 5, 6)),
                   (yield ctx.compare_exchange("a", 100, 7))]
            yield ctx.write("a", 9)
            return [total, *old, (yield ctx.load("a"))]
        return total

    r = run({n: node for n in range(3)}, {"a": ls.AtomicVar(home=1, initial=20)}, hardware="cx5-roce-25g")
    assert r.returned == {0: [23, 23, 100, 100, 9], 1: 23, 2: 23}


@pytest.mark.parametrize("seed", range(1, 5))
def test_ring(seed):
    def writer(ctx):
        for i in range(20):
            yield ctx.send("r", i)
        while (yield ctx.try_send("r", 99)) == 0:
            yield ctx.compute("1us")

    def reader(ctx):
        seen = []
        while len(seen) < 20:
            seen.append((yield ctx.receive("r")))
        while (last := (yield ctx.try_receive("r"))) is None:
            yield ctx.compute("1us")
        return [*seen, last]

    r = run({0: reader, 1: writer, 2: reader}, {"r": ls.RingBuffer(writer=1, bytes=64, threads_per_node=1)}, schedule="random", seed=seed)
    assert r.returned == {0: [*range(20), 99], 1: None, 2: [*range(20), 99]} and r.verdict.ok


def test_queue():
    def maker(ctx):
        for i in range(10):
            yield ctx.enqueue("q", 100 * ctx.node + i)
        yield ctx.barrier("b")

    def taker(ctx):
        seen = []
        for _ in range(20):
            seen.append((yield ctx.dequeue("q")))
        yield ctx.barrier("b")
        seen.append((yield ctx.try_dequeue("q")))
        return [*seen, (yield ctx.try_enqueue("q", 1)), (yield ctx.try_dequeue("q"))]

    r = run({0: maker, 1: maker, 2: taker}, {"q": ls.SharedQueue(capacity=4, home=2)}, hardware="cx6-ib-hdr")
    assert sorted(r.returned[2][:20]) == [*range(10), *range(100, 110)]
    assert [v for v in r.returned[2][:20] if v < 100] == [*range(10)]
    assert r.returned[2][20:] == [None, 1, 1]


@pytest.mark.parametrize("seed", range(1, 9))
def test_mutex(seed):
    def node(ctx):
        for _ in range(3):
            yield ctx.lock("m")
            n = yield ctx.get("count", node=0)
            yield ctx.put("count", node=0, value=n + 1, wait=True)
            yield ctx.unlock("m")
        yield ctx.barrier("b")
        tried = yield ctx.try_lock("m")
        if tried:
            n = yield ctx.get("count", node=0)
            yield ctx.unlock("m")
            return n
        return None

    r = run({n: node for n in range(3)}, {"m": ls.Mutex(home=1, hand_overs_max=2)}, schedule=["random", "adversarial"][seed % 2], seed=seed)
    assert r.verdict.ok
    assert {v for v in r.returned.values() if v is not None} <= {9}


def test_queue_that_is_closed():
    def producer(ctx):
        for n in range(3):
            yield ctx.enqueue("q", 10 + n)
        yield ctx.close("q")
        return (yield ctx.try_enqueue("q", 1))

    def consumer(ctx):
        got = []
        while (element := (yield ctx.dequeue("q"))) is not None:
            got.append(element)
        return got

    r = run({0: producer, 1: consumer, 2: consumer}, {"q": ls.SharedQueue(capacity=2, home=1)})
    assert r.verdict.ok and r.returned[0] == 0
    assert sorted(r.returned[1] + r.returned[2]) == [10, 11, 12]

    def too_late(ctx):
        yield ctx.close("q")
        yield ctx.enqueue("q", 1)

    with pytest.raises(ls.RunError, match="push: queue 'q' is closed"):
        run({0: too_late}, {"q": ls.SharedQueue()})


def test_mutex_for_a_while():
    def holder(ctx):
        yield ctx.lock("m")
        yield ctx.barrier("b")
        yield ctx.compute("1ms")
        yield ctx.unlock("m")

    def other(ctx):
        yield ctx.barrier("b")
        tried = [(yield ctx.try_lock_for("m", "100us")), (yield ctx.try_lock_for("m", "5ms"))]
        yield ctx.unlock("m")
        return tried

    assert run({0: holder, 1: other}, {"m": ls.Mutex(home=1)}, hardware="cx5-roce-25g").returned[1] == [0, 1]


def test_store():
    def node(ctx):
        done = [(yield ctx.insert("kv", 10 + ctx.node, 5)), (yield ctx.insert("kv", 10 + ctx.node, 6))]
        yield ctx.barrier("b")
        other = 10 + (ctx.node + 1) % ctx.nodes
        done += [(yield ctx.lookup("kv", other)), (yield ctx.lookup("kv", 99))]
        yield ctx.barrier("b")
        done += [(yield ctx.update("kv", other, 8)), (yield ctx.update("kv", 99, 8))]
        yield ctx.barrier("b")
        done += [(yield ctx.lookup("kv", 10 + ctx.node)), (yield ctx.erase("kv", 10 + ctx.node)),
                 (yield ctx.erase("kv", 10 + ctx.node))]
        return done

    r = run({n: node for n in range(3)}, {"kv": ls.KeyValueStore(slots_per_node=16)}, hardware="cx5-roce-25g")
    assert all(v == [1, 0, 5, None, 1, 0, 8, 1, 0] for v in r.returned.values()) and r.verdict.ok


def test_mistakes():
    def wrong(ctx):
        yield ctx.lock("q")

    with pytest.raises(ValueError, match="lock: expected an object .* that has it, 'm', found 'q'"):
        run({0: wrong, 1: wrong}, {"m": ls.Mutex(), "q": ls.SharedQueue()})
    with pytest.raises(TypeError, match="objects: m: expected an object such as Mutex"):
        ls.Program({0: wrong}, objects={"m": 3})
    with pytest.raises(ValueError, match="home"):
        ls.Mutex(home=-1)
    with pytest.raises(ls.RunError, match="lock 0 of 'm', held by thread"):
        def holds(ctx):
            yield ctx.lock("m")

        def waits(ctx):
            yield ctx.compute("100us")
            yield ctx.lock("m")

        ls.Program({0: holds, 1: waits}, objects={"m": ls.Mutex()}).run(hardware="cx5-roce-25g")


def test_any_packet_next():
    """fabric.order: any: on one path, too, a NIC that takes packets as they come takes them in any order."""
    def writer(ctx):
        yield ctx.put("data", node=1, value=1)
        yield ctx.put("flag", node=1, value=1)

    def reader(ctx):
        yield ctx.wait_until("flag", "==", 1)
        return (yield ctx.load("data"))

    seen = set()
    for seed in range(1, 60):
        r = ls.Program({0: writer, 1: reader}).run(hardware="efa-srd-like", seed=seed, overrides={"fabric.order": "any"})
        seen.add(r.returned[1])
    assert seen == {0, 1}
