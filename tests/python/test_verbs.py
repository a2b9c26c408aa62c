"""ls.verbs: generators that post and poll; the same program in C++ takes the same time."""

import os
import pathlib
import runpy
import subprocess

import pytest

import loco_sim as ls
from loco_sim import verbs

ROOT = pathlib.Path(__file__).parents[2]


def pair(hardware="cx5-roce-25g", **queues):
    """Two hosts, connected, with 64 bytes of memory each and a completion queue each."""
    machine = verbs.Machine(nodes=2, hardware=hardware)
    memory = [machine.register(n, 64) for n in range(2)]
    cqs = [machine.create_cq(n) for n in range(2)]
    qps = [machine.create_qp(n, cqs[n], **queues) for n in range(2)]
    assert isinstance(cqs[0], verbs.CompletionQueue) and isinstance(qps[1], verbs.QueuePair) and qps[1].node == 1
    machine.connect(*qps)
    return machine, memory, cqs, qps


def test_write_read_and_atomics():
    machine, (here, there), (cq, _), (qp, _) = pair()
    machine.write(there, (7).to_bytes(8, "little") + bytes(8) + (40).to_bytes(8, "little"))

    def program(thread):
        yield thread.store(here, -1)
        yield thread.post_send(qp, "rdma_write", local=here[:8], remote=there[8:16], wr_id=1)
        yield thread.post_send(qp, "rdma_read", local=here[16:24], remote=there[:8], wr_id=2)
        yield thread.post_send(qp, "fetch_add", local=here[24:32], remote=there[16:24], compare_add=2, wr_id=3)
        yield thread.post_send(qp, "compare_swap", local=here[32:40], remote=there[16:24], compare_add=42, swap=5,
                               wr_id=4)
        done = []
        while len(done) < 4:
            completion = yield thread.poll_cq(cq)
            if completion is not None:
                done.append(completion)
        words = []
        for start in (16, 24, 32):
            words.append((yield thread.load(here[start:])))
        return done, words

    thread = machine.spawn(0, program)
    assert machine.run() > 0
    done, words = thread.returned
    assert all(isinstance(one, verbs.Completion) and one.ok and one.qp == qp.number for one in done)
    assert [(one.wr_id, one.opcode, one.imm, one.source_qp) for one in done] == [
        (1, "rdma_write", None, None), (2, "rdma_read", None, None), (3, "fetch_add", None, None),
        (4, "compare_swap", None, None)]
    assert words == [7, 40, 42]
    assert machine.word(there[8:16]) == 2**64 - 1 and machine.word(there[16:24]) == 5


def test_send_and_receive_with_immediate_data():
    machine, (here, there), (_, cq), (qp, peer) = pair()
    machine.write(here, b"hello")
    machine.post_recv(peer, there[8:32], wr_id=9)

    def sender(thread):
        yield thread.compute(1_000_000)
        yield thread.post_send(qp, "send", local=here[:5], imm=77, inline=True, signaled=False)

    def receiver(thread):
        seen = yield thread.wait_for_change(there[8:16], 0)
        return seen, (yield thread.wait_cq(cq))

    machine.spawn(0, sender)
    thread = machine.spawn(1, receiver)
    assert machine.run() >= 1_000_000
    seen, completion = thread.returned
    assert seen == int.from_bytes(b"hello", "little") and machine.read(there[8:13]) == b"hello"
    assert (completion.opcode, completion.length, completion.imm, completion.wr_id) == ("recv", 5, 77, 9)


def test_datagrams():
    machine = verbs.Machine(nodes=2)
    memory = [machine.register(n, 128) for n in range(2)]
    cqs = [machine.create_cq(n) for n in range(2)]
    qps = [machine.create_qp(n, cqs[n], type="UD") for n in range(2)]
    for qp in qps:
        machine.activate(qp, qkey=17)
    machine.post_recv(qps[1], memory[1])

    def sender(thread):
        yield thread.post_send(qps[0], "send", local=memory[0][:8], remote_qp=qps[1], remote_qkey=17)

    def receiver(thread):
        return (yield thread.wait_cq(cqs[1]))

    machine.spawn(0, sender)
    thread = machine.spawn(1, receiver)
    machine.run()
    assert thread.returned.source_qp == qps[0].number and thread.returned.length == 48  # with the 40 bytes of the GRH


def test_what_goes_wrong_is_a_status():
    machine, (here, there), (cq, _), (qp, _) = pair()
    beyond = verbs.MemoryRegion(1, there.address + 4096, 8, there.lkey, there.rkey)

    def program(thread):
        yield thread.post_send(qp, "rdma_write", local=here[:8], remote=beyond)
        yield thread.fence()
        return (yield thread.wait_cq(cq))

    thread = machine.spawn(0, program)
    machine.run()
    assert not thread.returned.ok and thread.returned.status == "rem_access_err"


def test_refusals_can_be_caught():
    machine, (here, there), (cq, _), (qp, _) = pair(send=2)

    def program(thread):
        for _ in range(2):
            yield thread.post_send(qp, local=here[:8], remote=there[:8], signaled=False)
        try:
            yield thread.post_send(qp, local=here[:8], remote=there[:8])
        except verbs.VerbsError as error:
            return str(error)

    thread = machine.spawn(0, program)
    machine.run()
    assert "send queue of queue pair" in thread.returned
    with pytest.raises(verbs.VerbsError, match="takes no more receives"):
        for _ in range(17):
            machine.post_recv(qp)


def test_mistakes():
    machine, (here, _), (cq, _), (qp, _) = pair()

    def waits(thread):
        yield thread.wait_cq(cq)

    machine.spawn(0, waits)
    with pytest.raises(ls.RunError, match="thread 0 of host 0 waits for a completion"):
        machine.run()
    with pytest.raises(RuntimeError, match="not run yet"):
        machine.run()

    for wrong, expected in ((lambda t: iter([5]), TypeError), (lambda t: (yield 5), ValueError),
                            (lambda t: (yield t.post_send(qp, "rdma_wrote")), ValueError),
                            (lambda t: (yield 1 // 0), ZeroDivisionError)):
        fresh, *_ = pair()
        with pytest.raises(expected):
            fresh.spawn(0, wrong)
            fresh.run()
    with pytest.raises(ls.InputError):
        verbs.Machine(hardware="cx9")
    with pytest.raises(ValueError, match="expected 0 to 1"):
        machine.register(2, 64)
    with pytest.raises(IndexError):
        here[8:100]
    with pytest.raises(TypeError):
        here[3]
    assert len(here[8:]) == 56


def test_a_call_that_is_never_yielded_warns_and_names_the_line():
    machine, (here, _), _, _ = pair()

    def program(thread):
        thread.store(here, 1)
        yield thread.store(here[8:16], 2)
        return (yield thread.load(here))

    thread = machine.spawn(0, program)
    with pytest.warns(RuntimeWarning, match="never yielded") as told:
        machine.run()
    assert [(w.filename, w.lineno) for w in told] == [(__file__, program.__code__.co_firstlineno + 1)]
    assert thread.returned == 0, "it was not done"


def test_calls_that_are_yielded_do_not_warn(recwarn):
    machine, (here, there), (cq, _), (qp, _) = pair()

    def program(thread):
        yield thread.post_send(qp, "rdma_write", local=here[:8], remote=there[:8])
        yield thread.wait_cq(cq)
        return (yield thread.now())

    machine.spawn(0, program)
    assert machine.run() > 0
    assert not [w for w in recwarn if "never yielded" in str(w.message)]


@pytest.mark.parametrize("call", [lambda t, there: t.load(there), lambda t, there: t.store(there, 1),
                                  lambda t, there: t.wait_for_change(there, 0)], ids=["load", "store", "wait_for_change"])
def test_a_thread_loads_and_stores_on_its_own_host_only(call):
    machine, (_, there), _, _ = pair()

    def program(thread):
        yield call(thread, there)

    machine.spawn(0, program)
    with pytest.raises(ValueError, match="place: expected memory of host 0, the thread's own, found that of host 1"):
        machine.run()


@pytest.mark.parametrize("make, error, message", [
    (lambda: verbs.Machine(nodes=0), ValueError, "nodes: expected 1 or more, found 0"),
    (lambda: verbs.Machine(nodes=-1), ValueError, "nodes: expected 1 or more, found -1"),
    (lambda: verbs.Machine(nodes=10**9), ValueError, "nodes: expected 65536 or less, found 1000000000"),
    (lambda: verbs.Machine(nodes=2.5), TypeError, "nodes: expected a whole number, found 2.5"),
    (lambda: verbs.Machine().register(0, -8), ValueError, "length: expected 1 or more, found -8"),
    (lambda: verbs.Machine().register(0, "64KiB"), TypeError, "length: expected a whole number, found '64KiB'"),
    (lambda: verbs.Machine().create_cq(0, -1), ValueError, "entries: expected 1 or more, found -1"),
    (lambda: verbs.Thread(0).compute(-1), ValueError, "picoseconds: expected 0 or more, found -1"),
    (lambda: verbs.Thread(0).compute("1us"), TypeError, "picoseconds: expected a whole number, found '1us'"),
])
def test_numbers_that_do_not_fit_are_named(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_the_ring_is_that_of_the_example_in_cpp(capsys):
    """Same hardware, same calls: the time of a hop is the same."""
    runpy.run_path(str(ROOT / "examples" / "verbs_ring.py"))
    ours = capsys.readouterr().out
    assert ours.startswith("400 hops of ")
    program = pathlib.Path(os.environ.get("LOCO_SIM", "")).parents[1] / "examples" / "example_verbs_ring"
    if not program.exists():
        pytest.skip("the example in C++ is not built")
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == ours
