"""ls.verbs: shared receive queues, access rights, lists of requests, states, options of the network, counters."""

import os
import pickle
import subprocess

import pytest

import loco_sim as ls
from loco_sim import verbs

SLOTS, CLIENTS, CALLS = 4, 3, 8


def rpc(hardware="cx5-roce-25g", **options):
    """Remote procedure calls over SEND and RECV, clients on hosts 1 to 3, a server on host 0 that shares its receives."""
    m = verbs.Machine(nodes=CLIENTS + 1, hardware=hardware, **options)
    pool, out = m.register(0, SLOTS * 64), m.register(0, 64)
    rcq, scq = m.create_cq(0), m.create_cq(0)
    srq = m.create_srq(0, SLOTS, limit=1)
    assert isinstance(srq, verbs.SharedReceiveQueue) and srq.node == 0
    servers, clients, memory, cqs = [], [], [], []
    for c in range(1, CLIENTS + 1):
        servers.append(m.create_qp(0, scq, rcq, send=8, srq=srq))
        memory.append(m.register(c, 128))
        cqs.append(m.create_cq(c, 16))
        clients.append(m.create_qp(c, cqs[-1], send=4, recv=4))
        m.connect(servers[-1], clients[-1])
    for i in range(SLOTS - 1):
        m.post_srq_recv(srq, pool[64 * i:64 * i + 64], wr_id=i)
    by_number = {qp.number: qp for qp in servers}
    limits = []

    def server(t):
        yield t.post_srq_recvs(srq, [pool[64 * (SLOTS - 1):]], wr_ids=[SLOTS - 1])
        for _ in range(CLIENTS * CALLS):
            request = yield t.wait_cq(rcq)
            slot = pool[64 * request.wr_id:64 * request.wr_id + 64]
            x = yield t.load(slot)
            yield t.post_srq_recv(srq, slot, wr_id=request.wr_id)
            limits.append((yield t.srq_limit_reached(srq)))
            yield t.store(out, 2 * x)
            yield t.fence()
            yield t.post_send(by_number[request.qp], "send", local=out[:8], inline=True)
            assert (yield t.wait_cq(scq)).ok

    def client(t, c):
        for i in range(1, CALLS + 1):
            yield t.post_recv(clients[c], memory[c][64:])
            yield t.store(memory[c], i)
            yield t.post_send(clients[c], "send", local=memory[c][:8])
            for _ in range(2):
                assert (yield t.wait_cq(cqs[c])).ok
            assert (yield t.load(memory[c][64:])) == 2 * i

    m.spawn(0, server)
    for c in range(CLIENTS):
        m.spawn(c + 1, client, c)
    run = m.run()
    assert set(limits) <= {0, 1}
    return m, run


def test_a_shared_receive_queue_serves_all_and_the_program_has_no_race():
    machine, run = rpc()
    assert isinstance(run, verbs.Run) and run.simulated_ps == int(run) > 0 and run.schedule == "timed"
    assert run.check("rdmatso").ok and list(run.why().errors) == [] and isinstance(run.why(), verbs.Races)
    assert run.counters["completions"] == 4 * CLIENTS * CALLS == machine.counters["completions"]
    for seed in range(5):
        _, run = rpc(schedule="random", seed=seed)
        assert run.check("rdmatso").ok and list(run.why().errors) == [], run.why()


def test_posting_a_receive_costs_time_shared_or_not():
    m = verbs.Machine(nodes=1)
    buffer, cq, srq = m.register(0, 64), m.create_cq(0), m.create_srq(0)
    qp, peer = m.create_qp(0, cq), m.create_qp(0, cq)
    m.connect(qp, peer)

    def program(t):
        times = [(yield t.now())]
        yield t.post_recv(qp, buffer)
        times.append((yield t.now()))
        yield t.post_srq_recv(srq, buffer)
        times.append((yield t.now()))
        yield t.post_recvs(qp, [buffer, None])
        times.append((yield t.now()))
        return [b - a for a, b in zip(times, times[1:])]

    thread = m.spawn(0, program)
    m.run()
    one, shared, two = thread.returned
    assert one == shared > 0 and two == 2 * one
    with pytest.raises(verbs.VerbsError, match="takes no more receives"):
        for _ in range(65):
            m.post_srq_recv(srq)


@pytest.mark.parametrize("rights, opcode, status", [
    (["local_write", "remote_write"], "rdma_write", "success"), (["local_write", "remote_write"], "rdma_read", "rem_access_err"),
    (["remote_read"], "rdma_read", "success"), ("remote_read", "rdma_write", "rem_access_err"),
    (["local_write", "remote_atomic"], "fetch_add", "success"), ([], "fetch_add", "rem_access_err")])
def test_access_rights(rights, opcode, status):
    m = verbs.Machine(nodes=2)
    here, there = m.register(0, 64), m.register(1, 64, access=rights)
    cq = m.create_cq(0)
    qp, peer = m.create_qp(0, cq), m.create_qp(1, m.create_cq(1))
    m.connect(qp, peer)

    def program(t, remote):
        yield t.post_send(qp, opcode, local=here[:8], remote=remote[:8], compare_add=1)
        return (yield t.wait_cq(cq)).status

    thread = m.spawn(0, program, there)
    m.run()
    assert thread.returned == status
    with pytest.raises(ValueError, match="access: expected of local_write"):
        m.register(0, 64, access=["write"])


def test_the_same_bytes_by_other_keys():
    m = verbs.Machine(nodes=2)
    here, closed = m.register(0, 64), m.register(1, 64, access=[])
    open_ = m.register_again(closed)
    assert open_.address == closed.address and open_.rkey != closed.rkey
    cq = m.create_cq(0)
    qp, peer = m.create_qp(0, cq), m.create_qp(1, m.create_cq(1))
    m.connect(qp, peer)

    def program(t):
        yield t.store(here, 5)
        yield t.post_sends(qp, [verbs.Request("rdma_write", local=here[:8], remote=open_[8 * i:8 * i + 8], wr_id=i,
                                              signaled=i == 2) for i in range(3)])
        return (yield t.wait_cq(cq)).wr_id

    thread = m.spawn(0, program)
    run = m.run()
    assert thread.returned == 2 and run.counters["doorbells"] == 1
    assert [m.word(closed[8 * i:8 * i + 8]) for i in range(4)] == [5, 5, 5, 0]
    with pytest.raises(TypeError, match="requests: expected at least one Request"):
        verbs.Thread(0).post_sends(qp, [])


def test_a_completion_queue_that_overruns_is_an_asynchronous_event():
    """IBTA volume 1, 11.6.3: the queue pair whose completion is lost fails; the others have to do with it once theirs is."""
    m = verbs.Machine(nodes=2)
    here, there = m.register(0, 64), m.register(1, 64)
    cq, good = m.create_cq(0, entries=1), m.create_cq(0)
    first, second = m.create_qp(0, cq), m.create_qp(0, good)
    for qp in (first, second):
        m.connect(qp, m.create_qp(1, m.create_cq(1)))

    def program(t):
        assert (yield t.get_async_event()) is None
        for i in range(3):
            yield t.post_send(first, "rdma_write", local=here[:8], remote=there[:8], wr_id=i)
        yield t.post_send(second, "rdma_write", local=here[:8], remote=there[8:16])
        assert (yield t.wait_cq(good)).ok
        yield t.compute(10_000_000)
        events = []
        while (event := (yield t.get_async_event())) is not None:
            assert isinstance(event, verbs.AsyncEvent)
            events.append((event.type, event.element))
        return events, (yield t.poll_cq(cq)).wr_id, (yield t.poll_cq(cq))

    thread = m.spawn(0, program)
    m.run()
    assert thread.returned == ([("CQ_ERR", cq.number), ("QP_FATAL", first.number)], 0, None)
    assert m.state(first) == "error" and m.state(second) == "rts"


def test_who_waits_at_a_completion_queue_that_has_overrun_is_told_so():
    m = verbs.Machine(nodes=2)
    here, there = m.register(0, 64), m.register(1, 64)
    cq = m.create_cq(0, entries=1)
    qp = m.create_qp(0, cq)
    m.connect(qp, m.create_qp(1, m.create_cq(1)))

    def program(t):
        for _ in range(2):
            yield t.post_send(qp, "rdma_write", local=here[:8], remote=there[:8])
        yield t.compute(10_000_000)
        for _ in range(2):
            yield t.wait_cq(cq)

    m.spawn(0, program)
    with pytest.raises(ls.RunError, match=r"a completion in completion queue 0, which has overrun its 1 entries \(CQ_ERR\)"):
        m.run()


def test_states_are_those_of_the_specification():
    m = verbs.Machine(nodes=2)
    here, there = m.register(0, 64), m.register(1, 64)
    cq = m.create_cq(0)
    qp, peer = m.create_qp(0, cq), m.create_qp(1, m.create_cq(1))
    with pytest.raises(verbs.VerbsError, match="no such step"):
        m.modify_qp(qp, "rts")
    for one, other in ((qp, peer), (peer, qp)):
        m.modify_qp(one, "init")
        m.modify_qp(one, "rtr", dest_qp=other, path_mtu=1024)
    for one in (qp, peer):
        m.modify_qp(one, "rts", timeout=10**9, retry_count=3, rnr_retry=2)
    assert m.state(qp) == "rts"

    def program(t):
        yield t.post_send(qp, local=here[:8], remote=there[:8])
        first = yield t.wait_cq(cq)
        yield t.modify_qp(qp, "error")
        yield t.post_send(qp, local=here[:8], remote=there[:8])
        second = yield t.wait_cq(cq)
        try:
            yield t.modify_qp(qp, "rts")
        except verbs.VerbsError as refused:
            return first.status, second.status, str(refused)

    thread = m.spawn(0, program)
    m.run()
    assert thread.returned[:2] == ("success", "wr_flush_err") and "cannot go to that state" in thread.returned[2]
    with pytest.raises(ValueError, match="to: expected one of reset"):
        m.modify_qp(qp, "ready")
    with pytest.raises(TypeError, match="expected attributes of dest_qp"):
        m.modify_qp(qp, "reset", mtu=4)


def test_a_queue_pair_that_is_reset_has_lost_what_it_held():
    """A receive and a completion that nobody polled are gone: what is received afterwards is of the third receive."""
    m = verbs.Machine(nodes=1)
    here, there = m.register(0, 8), m.register(0, 24)
    cq, rcq = m.create_cq(0), m.create_cq(0)
    qp, peer = m.create_qp(0, cq), m.create_qp(0, m.create_cq(0), rcq)

    def program(t):
        for value in (7, 8):
            for one, other in ((qp, peer), (peer, qp)):
                yield t.modify_qp(one, "reset")
                yield t.modify_qp(one, "init")
                yield t.modify_qp(one, "rtr", dest_qp=other)
                yield t.modify_qp(one, "rts")
            for number in (1, 2) if value == 7 else (3,):
                yield t.post_recv(peer, there[8 * number - 8:8 * number], wr_id=number)
            yield t.store(here, value)
            yield t.post_send(qp, "send", local=here)
            assert (yield t.wait_cq(cq)).ok
        received = yield t.wait_cq(rcq)
        return received.wr_id, (yield t.load(there[16:]))

    thread = m.spawn(0, program)
    run = m.run()
    assert thread.returned == (3, 8)
    assert run.check("rdmatso").ok and list(run.why().errors) == [], run.why()


def test_networks_and_faults_are_a_scenarios():
    def hop(**options):
        m = verbs.Machine(**options)
        last = 15 if "topology" in options else 1
        here, there = m.register(0, 64), m.register(last, 64)
        cq = m.create_cq(0)
        qp, peer = m.create_qp(0, cq), m.create_qp(last, m.create_cq(last))
        m.connect(qp, peer)

        def program(t):
            yield t.post_send(qp, "rdma_read", local=here[:8], remote=there[:8])
            return (yield t.wait_cq(cq)).ok

        thread = m.spawn(0, program)
        run = m.run()
        assert thread.returned
        return run

    near, far = hop(), hop(overrides={"fabric.link.delay": "10us"})
    assert far > near + 2 * 2 * 9_000_000, "two links there, two back"
    assert hop(topology="leaf_spine") > near
    assert hop(overrides={"faults": ["completion_before_data"]}, schedule="random").schedule == "random"
    with pytest.raises(ls.InputError):
        hop(overrides={"fabric.speed": 1})


def test_what_is_recorded_is_a_choice():
    def run(trace):
        m = verbs.Machine(nodes=2, trace=trace)
        here, there = m.register(0, 64), m.register(1, 64)
        cq = m.create_cq(0)
        qp, peer = m.create_qp(0, cq), m.create_qp(1, m.create_cq(1))
        m.connect(qp, peer)
        m.declare_flag(there[:8])

        def program(t):
            assert (yield t.compare_swap(here, 0, 3)) == 0 and (yield t.load_flag(here)) == 3
            yield t.post_send(qp, local=here[:8], remote=there[:8])
            yield t.wait_cq(cq)

        def looks(t):
            yield t.load(there[:8])  # declared, so no race

        m.spawn(0, program)
        m.spawn(1, looks)
        return m.run()

    nothing, accesses, packets = run("none"), run("subevents"), run("packets")
    assert nothing == accesses == packets, "recording changes nothing"
    assert nothing.trace is None and list(accesses.why()) == [] and str(accesses.why()) == "no races"
    assert len(packets.trace.activities) > 0 == len(accesses.trace.activities)
    with pytest.raises(ls.Error, match='expected a run with a trace'):
        nothing.why()
    with pytest.raises(ValueError, match='expected "rdmatso" for the trace of a verbs program'):
        accesses.trace.check("rdmawait")
    with pytest.raises(ValueError, match='model: expected "rdmatso"'):
        accesses.check("rdmawait")


def test_a_race_is_a_value():
    m = verbs.Machine(nodes=2)
    here, there = m.register(0, 64), m.register(1, 64)
    cq = m.create_cq(0)
    qp, peer = m.create_qp(0, cq), m.create_qp(1, m.create_cq(1))
    m.connect(qp, peer)

    def program(t):
        yield t.post_send(qp, local=here[:8], remote=there[:8])
        yield t.store(here, 1)
        yield t.wait_cq(cq)

    m.spawn(0, program)
    (race,) = m.run().why()
    assert isinstance(race, verbs.Race) and isinstance(race.first, verbs.Access) and race.count == 1
    line = program.__code__.co_firstlineno
    assert {race.first.place, race.second.place} == {f"test_verbs_objects.py:{line + 1}", f"test_verbs_objects.py:{line + 2}"}
    assert race.node == 0 and race.address == here.address and race.kind == "source changed"
    assert str(race) == race.text and "inline payload" in race.advice and race.first.text in str(race.first)


def test_who_waits_for_ever_leaves_a_trace():
    m = verbs.Machine(nodes=2)
    cq, here = m.create_cq(0), m.register(0, 64)

    def program(t):
        yield t.store(here, 1)
        yield t.wait_cq(cq)

    m.spawn(0, program)
    with pytest.raises(ls.RunError, match="thread 0 of host 0 waits for a completion in completion queue 0") as told:
        m.run()
    assert told.value.trace is not None


def sends_to_a_peer_that_never_receives(*, spins: bool = False, **options):
    m = verbs.Machine(nodes=2, **options)
    here = m.register(0, 64)
    cq = m.create_cq(0)
    qp, peer = m.create_qp(0, cq), m.create_qp(1, m.create_cq(1))
    m.connect(qp, peer)

    def program(t):
        yield t.post_send(qp, "send", local=here[:8])
        while spins and not (yield t.poll_cq(cq)):
            pass
        yield t.wait_cq(cq)

    m.spawn(0, program)
    return m


@pytest.mark.parametrize("schedule", ("timed", "random"))
def test_a_peer_that_never_receives_is_named_as_the_cause(schedule):
    m = sends_to_a_peer_that_never_receives(schedule=schedule)
    named = r"nothing is left to happen: thread 0 of host 0 waits .*queue pair 0 \(host 0, to host 1\) sends a message again"
    with pytest.raises(ls.RunError, match=named) as told:
        m.run()
    assert told.value.trace is not None


def test_a_peer_that_never_receives_is_named_while_a_program_polls():
    m = sends_to_a_peer_that_never_receives(spins=True)
    with pytest.raises(ls.RunError, match="no end after 100000 events; queue pair 0 .* [0-9]+ RNR NAKs"):
        m.run(max_events=100_000)


@pytest.mark.skipif("LOCO_SIM" not in os.environ, reason="there is no loco-sim")
def test_a_trace_keeps_what_queues_did(tmp_path):
    program = os.environ["LOCO_SIM"]
    _, run = rpc()
    path = tmp_path / "rpc.trace"
    run.trace.write(path)
    for kept in (ls.read_trace(path), pickle.loads(pickle.dumps(run.trace))):
        assert kept.check() == run.check("rdmatso") and verbs.races(kept) == run.why()
    told = subprocess.run([program, "check", str(path)], capture_output=True, text=True)
    assert told.returncode == 0 and told.stdout.startswith("consistent: rdmatso")
    told = subprocess.run([program, "check", str(path), "--model", "sv"], capture_output=True, text=True)
    assert told.returncode == 2 and "trace of a verbs program" in told.stderr
    whole = path.read_bytes()
    for at in range(len(whole) - 200, len(whole)):  # a damaged file is refused, and not believed
        (tmp_path / "bad").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
        with pytest.raises((ls.Error, ValueError)):
            ls.read_trace(tmp_path / "bad")
