"""Hosts with hardware of their own, several NICs, GPUs: scenarios, ls.verbs, what a mistake says."""

import os
import subprocess

import pytest

import loco_sim as ls
from loco_sim import verbs

SWITCHES = [{"kind": "nic", "count": 2, "switch": 0}, {"kind": "gpu", "switch": 0}]


def message(seed, *, data_on=None, data_in_nic=None, nics=(0, 0), flush_by=None):
    """Host 0 writes data and then a flag to host 1; what host 1 finds of the data once it has seen the flag."""
    m = verbs.Machine(nodes=2, hosts=[{"nodes": [0], "nics": 2}, {"nodes": [1], "devices": SWITCHES}], schedule="adversarial",
                      seed=seed, trace="none")
    one, into = m.register(0, 8), m.register(0, 8)
    on_nic = {} if data_in_nic is None else {"device": True, "nic": data_in_nic}
    data, flag = m.register(1, 8, gpu=data_on, **on_nic), m.register(1, 8)
    cq = m.create_cq(0)

    def connected(nic):
        a, b = m.create_qp(0, cq, nic=nic), m.create_qp(1, m.create_cq(1), nic=nic)
        m.connect(a, b)
        return a

    first, second = connected(nics[0]), connected(nics[1])
    flush = None if flush_by is None else connected(flush_by)
    m.write(one, (1).to_bytes(8, "little"))

    def writer(t):
        yield t.post_send(first, local=one, remote=data)
        yield t.wait_cq(cq)
        if flush is not None:
            yield t.post_send(flush, "rdma_read", local=into, remote=data)
            yield t.wait_cq(cq)
        yield t.post_send(second, local=one, remote=flag)
        yield t.wait_cq(cq)

    found = []

    def reader(t):
        yield t.wait_for_change(flag, 0)
        found.append((yield t.load(data)))

    m.spawn(0, writer)
    m.spawn(1, reader)
    m.run()
    return found[0]


@pytest.mark.parametrize(("options", "stale"), [
    ({}, False),
    ({"nics": (0, 1)}, True),
    ({"nics": (0, 1), "flush_by": 0}, False),
    ({"nics": (0, 1), "flush_by": 1}, True),
    ({"data_on": 0}, True),
    ({"data_on": 0, "flush_by": 0}, False),
    ({"data_on": 0, "flush_by": 1}, True),
    ({"data_in_nic": 0}, False),
    ({"data_in_nic": 1}, True),
    ({"data_in_nic": 1, "flush_by": 0}, False),
])
def test_what_is_flushed_by_what(options, stale):
    assert {message(seed, **options) for seed in range(1, 121)} == ({0, 1} if stale else {1})


TREE = {"pcie": {"sockets": 2, "memory_order": "one",
                 "switches": [{"name": "top"}, {"name": "left", "switch": "top"}, {"name": "right", "switch": "top"}]},
        "devices": [{"kind": "nic", "switch": "left"}, {"kind": "gpu", "switch": "right"}]}


def two_memories(seed, order="one", **data_in):
    """Host 0 writes data and, behind it, a flag at host 1 by one NIC below a tree; what is found of the data with the flag."""
    host = {**TREE, "nodes": [1], "pcie": {**TREE["pcie"], "memory_order": order}}
    m = verbs.Machine(nodes=2, hosts=[host], schedule="adversarial", seed=seed, trace="none")
    one, data, flag = m.register(0, 8), m.register(1, 8, **data_in), m.register(1, 8)
    cq = m.create_cq(0)
    qp, peer = m.create_qp(0, cq), m.create_qp(1, m.create_cq(1))
    m.connect(qp, peer)
    m.write(one, (1).to_bytes(8, "little"))

    def writer(t):
        for target in (data, flag):
            yield t.post_send(qp, local=one, remote=target)
            yield t.wait_cq(cq)

    found = []

    def reader(t):
        yield t.wait_for_change(flag, 0)
        found.append((yield t.load(data)))

    m.spawn(0, writer)
    m.spawn(1, reader)
    m.run()
    return found[0]


@pytest.mark.parametrize(("options", "stale"), [
    ({}, False),
    ({"gpu": 0}, True),
    ({"numa": 1}, False),
    ({"numa": 1, "order": "each"}, True),
])
def test_memories_of_a_tree_have_orders_of_their_own(options, stale):
    assert {two_memories(seed, **options) for seed in range(1, 61)} == ({0, 1} if stale else {1})


def time_of_two(ports):
    """Two queue pairs on these ports write 256 KiB each: until both are complete, in picoseconds."""
    m = verbs.Machine(nodes=2, hardware={"base": "cx5-roce-100g", "pcie": {"generation": 4}}, hosts=[{"ports": 2}], trace="none")
    memory = [m.register(node, 1 << 18) for node in range(2)]
    done = []
    for port in ports:
        cq = m.create_cq(0)
        qp, peer = m.create_qp(0, cq, port=port), m.create_qp(1, m.create_cq(1), port=port)
        m.connect(qp, peer)

        def writer(t, qp=qp, cq=cq):
            yield t.post_send(qp, local=memory[0], remote=memory[1])
            yield t.wait_cq(cq)
            done.append((yield t.now()))

        m.spawn(0, writer)
    m.run()
    return max(done)


def test_two_ports_carry_twice_what_one_does():
    assert time_of_two((0, 0)) / time_of_two((0, 1)) == pytest.approx(2, rel=0.1)


def test_a_nic_or_gpu_that_is_not_there():
    m = verbs.Machine(nodes=2, hosts=[{"nodes": [1], "nics": 2}])
    with pytest.raises(ValueError, match="host 0 has no NIC 1: it has 1"):
        m.create_qp(0, m.create_cq(0), nic=1)
    with pytest.raises(ValueError, match="host 1 has no GPU 2: it has 0"):
        m.register(1, 8, gpu=2)
    with pytest.raises(ValueError, match="host 1 has no NUMA node 1: it has 1"):
        m.register(1, 8, numa=1)
    with pytest.raises(ValueError, match="NIC 1 of host 1 has no port 1: it has 1"):
        m.create_qp(1, m.create_cq(1), nic=1, port=1)


RAILS = {"hardware": {"base": "cx5-roce-100g", "link": {"mtu": 4096}}, "topology": {"kind": "rails", "hosts": 4, "rails": 1},
         "workload": {"kind": "all_reduce", "size": "4MiB", "channels": 4, "iterations": 1, "warmup": 1}}


def test_rails_carry_an_all_reduce_in_parts():
    times = {r: ls.run(RAILS, overrides={"topology.rails": r}).latency.percentile(50) for r in (1, 2, 4)}
    assert times[1] / times[2] == pytest.approx(2, rel=0.1)
    assert times[1] / times[4] == pytest.approx(4, rel=0.2)


@pytest.mark.parametrize(("hosts", "says"), [
    ("[{nodes: [0-1]}, {nodes: 1}]", "hosts[1].nodes: expected hosts that no other entry has, found host 1, which is in hosts[0]"),
    ("[{nodes: 0, hardware: cx6}]", "hardware: expected one of"),
    ("[{pcie: {switches: [{name: a}, {name: a}]}}]",
     'hosts[0].pcie.switches[1].name: expected a name that no other switch has, found "a"'),
    ("[{devices: [{kind: gpu, switch: a}], pcie: {switches: [{name: b}]}}]",
     'hosts[0].devices[0].switch: expected a switch of pcie.switches: b, found "a"'),
    ("[{nodes: 9}]", "hosts[0].nodes: expected hosts from 0 to 1"),
])
def test_mistakes_are_one_line(tmp_path, hosts, says):
    program = os.environ.get("LOCO_SIM")
    if not program:
        pytest.skip("LOCO_SIM does not name the command line")
    file = tmp_path / "s.yaml"
    file.write_text(f"workload: {{kind: barrier}}\nhosts: {hosts}\n")
    done = subprocess.run([program, "run", str(file)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1 and f"{file}:2:" in done.stderr
