"""What ls.verbs says of a run: consistent or not, and where the program has a race, whatever the run happened to see.

The questions are those that people ask of verbs (rdma-core's manual pages, trackers of libfabric and rpma): each a small
program, with the races that any run of it shows in which the reading thread got there.
"""

import re

import pytest

import loco_sim as ls
from loco_sim import verbs

SEEDS = 25

# name: words by node; queue pairs (node, peer, CQ of what is received); threads (node, statements); races; words that
# are flags; registers that the run must have ended with.
ONE = "q: 1 p, p: 2 q"
TWO = ONE + ", q2: 1 p2, p2: 2 q2"
QUESTIONS = {
    "flag and data in one WRITE": ("2: x f", ONE, ["1: put([x, f], [1, 1]) on q", "2: a = f; b = x"],
                                   {("words of a message", "x")}, "f", {"a": 1}),
    "the same with immediate data": ("2: x f", ONE, ["1: putimm([x, f], [1, 2], 7) on q",
                                                     "2: recv(p, _); poll(p); b = x; c = f"], set(), "f", {}),
    "flag in a separate WRITE": ("2: x f", ONE, ["1: put(x, 1) on q; put(f, 1) on q", "2: a = f; b = x"], set(), "f",
                                 {"a": 1}),
    "flag on another queue pair": ("2: x f", TWO, ["1: put(x, 1) on q; put(f, 1) on q2", "2: a = f; b = x"],
                                   {("unordered", "x")}, "f", {"a": 1}),
    "and after polling the CQE of the data": ("2: x f", TWO, ["1: put(x, 1) on q; poll(q); put(f, 1) on q2",
                                                              "2: a = f; b = x"], {("unordered", "x")}, "f", {"a": 1}),
    "and with a READ behind the data": ("1: l, 2: x f", TWO,
                                        ["1: put(x, 1) on q unsignaled; get(l, x) on q; poll(q); put(f, 1) on q2",
                                         "2: a = f; b = x"], set(), "f", {"a": 1}),
    "WRITE, then WRITE with immediate": ("2: x y", ONE, ["1: put(x, 1) on q; putimm(y, 2, 7) on q",
                                                         "2: recv(p, _); poll(p); b = x; c = y"], set(), "", {}),
    "WRITE, then SEND": ("2: x y", ONE, ["1: put(x, 1) on q; send(q, 2)", "2: recv(p, y); poll(p); b = x; c = y"],
                         set(), "", {}),
    "READ behind a WRITE": ("1: z, 2: x", ONE, ["1: put(x, 1) on q; get(z, x) on q; poll(q); poll(q)"], set(), "", {}),
    "WRITE behind a READ": ("1: z, 2: x", ONE, ["1: get(z, x) on q; put(x, 1) on q; poll(q); poll(q)"],
                            {("in flight twice", "x")}, "", {}),
    "with the fence flag": ("1: z, 2: x", ONE, ["1: get(z, x) on q; put(x, 1) on q fence; poll(q); poll(q)"], set(), "",
                            {}),
    "inline source reused": ("1: s, 2: x", ONE, ["1: put(x, s) on q inline; s = 1"], set(), "", {}),
    "source reused": ("1: s, 2: x", ONE, ["1: put(x, s) on q; s = 1; poll(q)"], {("source changed", "s")}, "", {}),
    "unsignaled source reused after a later CQE": ("1: s, 2: x y", ONE,
                                                   ["1: put(x, s) on q unsignaled; put(y, 2) on q; poll(q); s = 1"],
                                                   set(), "", {}),
    "after an earlier one": ("1: s, 2: x y", ONE, ["1: put(y, 2) on q; put(x, s) on q; poll(q); s = 1; poll(q)"],
                             {("source changed", "s")}, "", {}),
    "unsignaled READ covered by a later WRITE": ("1: z, 2: x y", ONE,
                                                 ["1: get(z, x) on q unsignaled; put(y, 2) on q; poll(q); a = z"], set(),
                                                 "", {}),
    "receive buffer touched": ("2: y", ONE, ["1: send(q, 5)", "2: recv(p, y); y = 1; poll(p); a = y"],
                               {("receive buffer in use", "y")}, "", {}),
    "reused after its CQE": ("2: y", ONE, ["1: send(q, 5)", "2: recv(p, y); poll(p); y = 1; a = y"], set(), "", {}),
    "the oldest receive takes the first message": ("2: y z", ONE,
                                                   ["1: send(q, 5); send(q, 6)",
                                                    "2: recv(p, y); recv(p, z); poll(p); poll(p); c = y; d = z"], set(),
                                                   "", {"c": 5, "d": 6}),
    "two receives of one buffer": ("2: y", ONE, ["1: send(q, 5); send(q, 6)",
                                                 "2: recv(p, y); recv(p, y); poll(p); poll(p); c = y"],
                                   {("two receives, one buffer", "y")}, "", {}),
    "data by one queue pair, immediate by another": ("2: x", TWO, ["1: put(x, 1) on q; poll(q); sendimm(q2, _, 7)",
                                                                   "2: recv(p2, _); poll(p2); b = x"],
                                                     {("unordered", "x")}, "", {}),
    "another thread polls": ("2: x y", ONE, ["1: put(x, 1) on q; send(q, 5)", "2: recv(p, y)", "2: poll(p); a = x; b = y"],
                             set(), "", {}),
    "loopback SEND": ("1: x y", "q: 1 p, p: 1 q", ["1: recv(p, y); x = 3; send(q, x); x = 4; poll(p); a = y; poll(q)"],
                      {("source changed", "x")}, "", {}),
    "result read before its CQE": ("1: z, 2: x", ONE, ["1: get(z, x) on q; a = z; poll(q)"],
                                   {("result before completion", "z")}, "", {}),
    "after its CQE": ("1: z, 2: x", ONE, ["1: get(z, x) on q; poll(q); a = z"], set(), "", {}),
    "relaxed data, strict flag": ("2: x*, 2: f", ONE, ["1: put(x, 1) on q; put(f, 1) on q", "2: a = f; b = x"], set(),
                                  "f", {"a": 1}),
    "a word twice in a relaxed region": ("2: x*", ONE, ["1: put(x, 1) on q; put(x, 2) on q; poll(q); poll(q)"],
                                         {("in flight twice", "x")}, "", {}),
    "a relaxed flag passes its data": ("2: x, 2: f*", ONE, ["1: put(x, 1) on q; put(f, 1) on q", "2: a = f; b = x"],
                                       {("unordered", "x")}, "f", {"a": 1}),
    "two atomics": ("1: z w, 2: x", ONE, ["1: rfaa(z, x, 1) on q; rfaa(w, x, 1) on q; poll(q); poll(q); a = z; b = w"],
                    set(), "", {"a": 0, "b": 1}),
}

STATEMENT = re.compile(r"(?:(\w+) = )?(\w+)?(?:\((.*)\))?(?: on (\w+))?((?: inline| fence| unsignaled)*)$")


class World:
    def __init__(self, words, queues, threads, flags, seed, hardware):
        self.machine = ls.verbs.Machine(nodes=2, hardware=hardware, seed=seed, schedule="random")
        self.registers = {}
        self.places = {}
        for part in words.split(", "):
            node, names = part.split(": ")
            region = self.machine.register(int(node) - 1, 8 * len(names.split()), relaxed_ordering="*" in names)
            names = names.replace("*", "")
            for i, name in enumerate(names.split()):
                self.places[name] = region[8 * i:8 * i + 8]
        self.flags = flags.split()
        self.constants = [self.machine.register(n, 512) for n in (0, 1)]
        self.used = [0, 0]
        self.qps, self.cqs = {}, {}
        peers = {}
        for part in queues.split(", "):
            name, rest = part.split(": ")
            node, peer = rest.split()
            self.cqs[name] = self.machine.create_cq(int(node) - 1)
            self.qps[name] = self.machine.create_qp(int(node) - 1, self.cqs[name])
            peers[name] = peer
        for name, peer in peers.items():
            if name < peer:
                self.machine.connect(self.qps[name], self.qps[peer])
        for thread in threads:
            node, code = thread.split(": ", 1)
            self.machine.spawn(int(node) - 1, self.program, int(node) - 1, code.split("; "))

    def region(self, node, names, source=False):
        """Of words that lie side by side; a constant: a private word that holds it."""
        names = [n.strip() for n in names.strip("[] ").split(",")]
        if names == ["_"]:
            return None
        if source and any(n.isdigit() for n in names):
            start = self.used[node]
            self.used[node] += 8 * len(names)
            whole = self.constants[node][start:start + 8 * len(names)]
            self.machine.write(whole, b"".join(int(n).to_bytes(8, "little") for n in names))
            return whole
        first = self.places[names[0]]
        return verbs.MemoryRegion(first.node, first.address, 8 * len(names), first.lkey, first.rkey)

    def program(self, t, node, statements):
        for statement in statements:
            into, what, arguments, queue, options = STATEMENT.match(statement).groups()
            signs = {"inline": "inline" in options, "fence": "fence" in options, "signaled": "unsignaled" not in options}
            parts = [p.strip() for p in re.findall(r"\s*(\[[^]]*\]|[^,]+)", arguments or "")]
            if what in ("put", "putimm"):
                yield t.post_send(self.qps[queue], "rdma_write", local=self.region(node, parts[1], source=True),
                                  remote=self.region(node, parts[0]), imm=7 if what == "putimm" else None, **signs)
            elif what == "get":
                yield t.post_send(self.qps[queue], "rdma_read", local=self.region(node, parts[0]),
                                  remote=self.region(node, parts[1]), **signs)
            elif what == "rfaa":
                yield t.post_send(self.qps[queue], "fetch_add", local=self.region(node, parts[0]),
                                  remote=self.region(node, parts[1]), compare_add=int(parts[2]), **signs)
            elif what in ("send", "sendimm"):
                yield t.post_send(self.qps[parts[0]], "send", local=self.region(node, parts[1], source=True),
                                  imm=7 if what == "sendimm" else None, **signs)
            elif what == "recv":
                yield t.post_recv(self.qps[parts[0]], self.region(node, parts[1]))
            elif what == "poll":
                done = yield t.wait_cq(self.cqs[parts[0]])
                assert done.ok
            elif into in self.places:
                yield t.store(self.places[into], int(what))
            elif what in self.flags:
                self.registers[into] = yield t.wait_for_change(self.places[what], 0)
            else:
                self.registers[into] = yield t.load(self.places[what])

    def races(self, run):
        names = {(p.node, p.address): name for name, p in self.places.items()}
        return {(r.kind, names.get((r.node, r.address), "?")) for r in run.why() if r.address}


@pytest.mark.parametrize("name", QUESTIONS)
def test_each_question_has_its_race_or_none_in_every_run(name):
    words, queues, threads, races, flags, ended = QUESTIONS[name]
    met = 0
    for seed in range(SEEDS):
        world = World(words, queues, threads, flags, seed, {"base": "model-weak", "nic": {"inline_max": 64}})
        run = world.machine.run()
        verdict = run.check("rdmatso")
        assert verdict.ok, verdict
        if any(world.registers[r] != value for r, value in ended.items()):
            continue
        met += 1
        assert world.races(run) == races, run.why()
    assert met > 0


def flag_on_another_queue_pair(hardware, seed, qps=2, rounds=1):
    m = ls.verbs.Machine(nodes=2, hardware=hardware, seed=seed)
    src, dst = m.register(0, 8192), m.register(1, 8192)
    cq, other = m.create_cq(0), m.create_cq(1)
    ends = [(m.create_qp(0, cq), m.create_qp(1, other)) for _ in range(qps)]
    for a, b in ends:
        m.connect(a, b)

    def writer(t):
        for i in range(1, rounds + 1):
            yield t.store(src[4088:4096], i)
            yield t.store(src[0:8], i)
            yield t.post_send(ends[0][0], "rdma_write", local=src[0:4096], remote=dst[0:4096])
            yield t.post_send(ends[-1][0], "rdma_write", local=src[0:8], remote=dst[4096:4104])
            for _ in range(2):
                yield t.wait_cq(cq)

    def reader(t):
        last = 0
        while last < rounds:
            last = yield t.wait_for_change(dst[4096:4104], last)
            yield t.load(dst[4088:4096])

    m.spawn(0, writer)
    m.spawn(1, reader)
    return m, m.run()


@pytest.mark.parametrize("hardware", ["cx5-roce-25g", "model-weak", "efa-srd-like"])
def test_where_is_my_ordering_bug(hardware):
    """Data on one queue pair, the flag on another: told once, with both lines, in a run that saw nothing wrong."""
    _, run = flag_on_another_queue_pair(hardware, seed=1)
    found = [r for r in run.why() if r.kind == "unordered"]
    assert len(found) == 1 and found[0].error, run.why()
    places = {found[0].first.place, found[0].second.place}
    assert all(re.fullmatch(r"test_verbs_races\.py:\d+", p) for p in places) and len(places) == 2
    assert "receive completion" in found[0].advice


def test_on_one_queue_pair_it_is_right_but_where_the_network_reorders():
    for seed in range(20):
        _, run = flag_on_another_queue_pair("model-weak", seed, qps=1)
        assert run.check("rdmatso").ok and not [r for r in run.why() if r.kind == "unordered"]
    _, run = flag_on_another_queue_pair("efa-srd-like", 1, qps=1)
    assert [r.kind for r in run.why().errors] == ["unordered"], "SRD gives no order between WRITEs"


def test_hardware_without_times_is_sampled_and_never_timed():
    assert ls.verbs.Machine(nodes=2, hardware="model-weak").schedule == "random"
    assert ls.verbs.Machine(nodes=2).schedule == "timed"
    with pytest.raises(ValueError, match="schedule: expected random or adversarial for hardware without times"):
        ls.verbs.Machine(nodes=2, hardware="model-weak", schedule="timed")


def test_a_run_is_a_function_of_its_seed():
    times = {int(flag_on_another_queue_pair("model-weak", seed)[1]) for seed in (3, 3, 3)}
    assert len(times) == 1


def test_a_queue_that_may_overrun_and_one_that_does():
    def run(polls):
        m = ls.verbs.Machine(nodes=2)
        here, there = m.register(0, 64), m.register(1, 64)
        cq = m.create_cq(0, entries=2)
        qp, peer = m.create_qp(0, cq), m.create_qp(1, m.create_cq(1))
        m.connect(qp, peer)

        def program(t):
            for _ in range(3):
                yield t.post_send(qp, local=here[:8], remote=there[:8])
            yield t.compute(polls)
            for _ in range(2):
                yield t.wait_cq(cq)

        m.spawn(0, program)
        return m.run()

    may = [r for r in run(0).why() if r.kind == "CQ overrun"]
    assert len(may) == 1 and not may[0].error and "2 entries" in may[0].advice
    sure = [r for r in run(100_000_000).why() if r.kind == "CQ overrun"]
    assert len(sure) == 1 and sure[0].error and "IBV_EVENT_CQ_ERR" in sure[0].advice


def test_a_message_without_a_receive():
    m = ls.verbs.Machine(nodes=2)
    here, there = m.register(0, 64), m.register(1, 64)
    cq, other = m.create_cq(0), m.create_cq(1)
    qp, peer = m.create_qp(0, cq), m.create_qp(1, other)
    m.connect(qp, peer)

    def sender(t):
        yield t.post_send(qp, "send", local=here[:8])
        yield t.wait_cq(cq)

    def receiver(t):
        yield t.compute(50_000_000)
        yield t.post_recv(peer, there)
        yield t.wait_cq(other)

    m.spawn(0, sender)
    m.spawn(1, receiver)
    run = m.run()
    told = [r for r in run.why() if r.kind == "no receive"]
    assert len(told) == 1 and not told[0].error and run.counters["rnr_naks"] >= 1


def test_a_message_that_is_given_up_is_an_error():
    m = ls.verbs.Machine(nodes=2, hardware={"base": "cx5-roce-25g", "nic": {"rnr_retry": 1}})
    here = m.register(0, 64)
    cq = m.create_cq(0)
    qp, peer = m.create_qp(0, cq), m.create_qp(1, m.create_cq(1))
    m.connect(qp, peer)

    def sender(t):
        yield t.post_send(qp, "send", local=here[:8])
        return (yield t.wait_cq(cq)).status

    thread = m.spawn(0, sender)
    run = m.run()
    told = [r for r in run.why() if r.kind == "no receive"]
    assert thread.returned == "rnr_retry_exc_err" and len(told) == 1 and told[0].error
