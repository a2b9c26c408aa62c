"""`Result.why`: stages that add up to the latency, and what they are for one write, by docs/barrier-latency.md."""

import pytest

import loco_sim as ls

PACKETS = {"trace.level": "packets"}


def measured(operation, hardware="cx5-roce-25g", **options):
    """Three times the same, one after the other: the median is past the NICs' first misses."""
    def node(ctx):
        for _ in range(3):
            start = yield ctx.now()
            yield operation(ctx)
            ctx.sample("op", start, (yield ctx.now()))
            yield ctx.compute("20us")

    return ls.Program(nodes={0: node}, **options).run(hardware=hardware, overrides=PACKETS)


def require_whole(why):
    """They lie end to end."""
    assert isinstance(why, ls.Why) and all(isinstance(s, ls.Stage) for s in why.stages)
    assert sum(s.took_ps for s in why.stages) == why.took_ps
    assert all(s.took_ps > 0 for s in why.stages)
    for before, after in zip(why.stages, why.stages[1:]):
        assert before.start_ps + before.took_ps == after.start_ps


def test_a_write_of_8_bytes_is_the_sum_of_its_stages():
    r = measured(lambda ctx: ctx.put("x", node=1, value=7, wait=True))
    why = r.why()
    require_whole(why)
    assert why.took_ps == int(sorted(r.operations["op"].samples_ps)[1])
    names = [s.stage for s in why.stages]
    # A NIC acknowledges what it has taken: the write's way to memory is not waited for, so there is no receiver.
    assert names == ["CPU", "doorbell", "WQE fetch", "payload read", "wire", "wire", "CQE", "poll"]
    took = why.by_stage()
    # The table of docs/barrier-latency.md, in ns: each figure there is rounded to 0.1, hence 0.3 for sums of up to five.
    expected = {
        "doorbell": 4.4 + 60,                        # on PCIe, downstream; the store buffer's 5 are the CPU's
        "WQE fetch": 143.3 + 71.6,                   # read, data of 64 B
        "payload read": 96 + 143.3 + 63.9,           # start of the work request, read, data of 8 B
        # the WRITE, and an ACK: a READ response without its 8 bytes; before it is sent, the payload goes through the
        # NIC's buffer, at nic.buffer_rate: 100 Gb/s, which the page leaves out
        "wire": 790.4 + (786.6 - 8 * 8 / 25) + 8 * 8 / 100,
        "CQE": 10 + 292.2,
    }
    for stage, ns in expected.items():
        assert took[stage] == pytest.approx(ns * 1000, abs=300), stage


@pytest.mark.parametrize("operation", [
    lambda ctx: ctx.get("x", node=1), lambda ctx: ctx.fetch_add("x", node=1, add=1),
    lambda ctx: ctx.compare_swap("x", node=1, expected=0, desired=1), lambda ctx: ctx.put("x", node=1, wait=True)])
def test_operations_that_answer_have_a_receiver(operation):
    why = measured(operation, arrays={"x": 8}).why()
    require_whole(why)
    names = [s.stage for s in why.stages]
    assert names.count("wire") == 2 and "CQE" in names and "doorbell" in names
    assert {s.node for s in why.stages} == {0, 1}


@pytest.mark.parametrize("scenario", ["scenarios/barrier.yaml", "scenarios/quickstart.yaml", "scenarios/loco/lock.yaml"])
def test_stages_of_what_is_made_of_others_add_up(scenario):
    r = ls.run(scenario, overrides=PACKETS)
    for name in r.operations:
        why = r.why(name)
        require_whole(why)
        assert why.took_ps == r.operations[name].summary()["median_ps"]
        # A lock goes from thread to thread of a host; all else goes over the network.
        assert "wire" in why.by_stage() or (name == "acquire" and set(why.by_stage()) == {"another thread"})
        assert str(why).splitlines()[-1].split()[0] == "together"


def incast(senders, size, **fabric):
    return ls.run({"name": "incast", "hardware": {"base": "cx5-roce-25g", "nic": {"ack_timeout": "100us"}}, "fabric": fabric,
                   "topology": {"kind": "star", "nodes": senders + 1}, "trace": {"level": "packets"}, "check": [],
                   "workload": {"kind": "traffic", "pattern": "incast", "size": size}})


def test_a_long_message_alone_waits_for_nobody():
    took = incast(1, "256KiB").why().by_stage()
    # 255 packets of 1024 B and 78 B of headers and framing pass at 25 Gb/s before the last one goes its way, which takes
    # 1016 B on a cable longer than that of 8 B above; then the ACK. The NIC's and the switch's buffers: within 500 ns.
    expected = 255 * (1024 + 78) * 8 / 25 + (790.4 + 1016 * 8 / 25) + (786.6 - 8 * 8 / 25)
    assert took["wire"] == pytest.approx(expected * 1000, abs=500_000)
    assert took.get("queues", 0) < 0.02 * took["wire"]


@pytest.mark.parametrize("senders", [3, 7])
@pytest.mark.parametrize("fabric", [{}, {"flow_control": "pfc", "buffer": {"size": "200kB"}}], ids=["unlimited", "pfc"])
def test_who_shares_a_link_waits_in_queues(senders, fabric):
    """Each has the wire for one part in `senders` of the time."""
    r = incast(senders, "256KiB", **fabric)
    why = r.why()
    require_whole(why)
    alone = 256 * (1024 + 78) * 8 / 25e9 * 1e12
    assert why.by_stage()["wire"] == pytest.approx(alone, rel=0.05)
    assert why.by_stage()["queues"] == pytest.approx((senders - 1) * alone, rel=0.1)


@pytest.mark.parametrize("fabric", [{"loss": 10000}, {"loss": 1000}, {}], ids=str)
def test_an_operation_is_told_from_those_of_others_at_the_same_time(fabric):
    """All senders begin at once: what is told of an operation is of the thread whose it was."""
    r = incast(6, "64KiB", **fabric)
    ends = {int(e) for e in r.operations["message"].ends_ps}
    assert len(ends) == 6
    why = r.why()
    require_whole(why)
    assert why.stages[0].stage == "CPU" and why.stages[0].took_ps < 1_000_000 < why.took_ps
    assert why.stages[-1].stage == "poll" and why.by_stage()["poll"] < 3_000_000, "until it looked"


def test_why_says_what_it_needs():
    r = ls.run("scenarios/quickstart.yaml")
    with pytest.raises(KeyError, match="expected one of"):
        r.why()
    with pytest.raises(ValueError, match="trace.level"):
        r.why(next(iter(r.operations)))
