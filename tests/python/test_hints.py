"""What explains a surprise is told, with the key that would change it; nothing else is."""

import pytest

import loco_sim as ls


def all_to_all(routing, placement="in_order"):
    """Enough spines and senders for packets of one queue pair to pass each other."""
    return ls.run({"name": "all", "hardware": {"base": "cx5-roce-25g", "nic": {"placement": placement}},
                   "topology": {"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 2},
                   "fabric": {"routing": routing, "flow_control": "pfc"}, "check": [],
                   "workload": {"kind": "traffic", "pattern": "all_to_all", "size": "256KiB"}})


def test_an_in_order_nic_that_takes_reordering_for_loss():
    r = all_to_all("spray")
    assert r.counters["retransmissions"] > 0 and r.counters["packets_lost"] == 0
    told = [h for h in r.hints if h.startswith("retransmissions: ")]
    assert len(told) == 1
    assert "fabric.routing" in told[0] and "hardware.nic.placement: out_of_order" in told[0]
    assert r.to_dict()["hints"] == r.hints
    assert f"hint: {told[0]}" in str(r)


@pytest.mark.parametrize("routing, placement", [("deterministic", "in_order"), ("spray", "out_of_order")])
def test_no_word_of_retransmissions_where_none_are(routing, placement):
    r = all_to_all(routing, placement)
    assert r.counters["retransmissions"] == 0
    assert not [h for h in r.hints if "retransmissions" in h]


def test_a_cache_that_is_too_small():
    hardware = {"base": "cx5-roce-25g", "nic": {"context_entries": 1}}
    r = ls.run({"name": "misses", "hardware": hardware, "topology": {"nodes": 4},
                "workload": {"kind": "barrier", "iterations": 20}})
    assert [h for h in r.hints if h.startswith("cache_misses: ") and "hardware.nic.context_entries" in h]


def test_a_run_without_surprises_has_no_hints():
    r = ls.run({"name": "calm", "hardware": "cx5-roce-25g", "topology": {"nodes": 4},
                "workload": {"kind": "barrier", "iterations": 200}})
    assert r.hints == [] and "hints" not in r.to_dict() and "hint" not in str(r)


def test_what_limits_a_run(tmp_path):
    """The same words and numbers in Python, JSON and the report; none where times mean nothing."""
    r = ls.run("quickstart")
    assert r.limited_by.startswith("latency (the busiest: ") and "limited by" not in str(r)
    assert r.to_dict()["limited_by"] == r.limited_by
    assert [(one["resource"], one["share"]) for one in r.to_dict()["busiest"]] == list(r.busiest.items())
    assert all(0 < share < 0.8 for share in r.busiest.values()) and len(r.busiest) == 5
    assert r.limited_by in ls.report(r)
    untimed = ls.run("quickstart", overrides={"schedule": "random"})
    assert untimed.busiest == {} and untimed.limited_by == "" and "limited by" not in str(untimed)


def test_a_full_link_limits_a_run():
    """Two hosts that send to each other: links of 25 Gb/s fill long before PCIe 3.0 x8 does."""
    r = ls.run({"name": "full", "hardware": "cx5-roce-25g", "topology": {"kind": "star", "nodes": 2}, "check": [],
                "workload": {"kind": "traffic", "pattern": "permutation", "size": "1MiB", "count": 64}})
    assert r.limited_by.startswith("link ") and next(iter(r.busiest.values())) > 0.95
    assert f"limited by: {r.limited_by}" in str(r)


@pytest.mark.parametrize("flow_control, counter", [("pfc", "tx_pauses"), ("drop_tail", "rx_discards")])
def test_a_receiver_whose_pcie_takes_less_than_the_port_brings(flow_control, counter):
    hardware = {"base": "cx5-roce-100g", "pcie": {"lanes": 1}, "nic": {"ack_timeout": "1ms"}}
    r = ls.run({"name": "slow", "hardware": hardware, "topology": {"kind": "star", "nodes": 5},
                "fabric": {"flow_control": flow_control}, "check": [],
                "workload": {"kind": "traffic", "pattern": "incast", "size": "256KiB", "count": 4}})
    assert r.counters[counter] > 0
    assert [h for h in r.hints if counter in h and "hardware.pcie.lanes" in h]


def incast(hardware=None, **fabric):
    return ls.run({"name": "incast", "hardware": {"base": "cx5-roce-25g", **(hardware or {})}, "fabric": fabric, "check": [],
                   "topology": {"kind": "star", "nodes": 5},
                   "workload": {"kind": "traffic", "pattern": "incast", "size": "512KiB"}})


@pytest.mark.parametrize("fabric, named, others", [
    ({"loss": 20000}, "fabric.loss", ["fabric.failures", "fabric.buffer.size"]),
    ({"failures": [{"link": ["h1", "s0"], "down": "10us", "up": "200us"}]}, "fabric.failures", ["fabric.loss", "fabric.buffer.size"]),
    ({"failures": [{"link": ["h1", "s0"], "loss": 50000}]}, "fabric.failures", ["fabric.loss", "fabric.buffer.size"]),
    ({"flow_control": "drop_tail", "buffer": {"size": "40kB"}}, "fabric.buffer.size", ["fabric.loss", "fabric.failures"]),
], ids=["loss", "down", "lossy link", "drop_tail"])
def test_losses_name_what_loses(fabric, named, others):
    r = incast({"nic": {"ack_timeout": "100us"}}, **fabric)
    assert r.counters["packets_lost"] > 0
    [told] = [h for h in r.hints if h.startswith("packets_lost: ")]
    assert named in told and not [o for o in others if o in told]


def test_both_causes_of_losses_are_named():
    r = incast({"nic": {"ack_timeout": "100us"}}, flow_control="drop_tail", buffer={"size": "40kB"}, loss=20000)
    [told] = [h for h in r.hints if h.startswith("packets_lost: ")]
    assert "fabric.loss" in told and "fabric.flow_control" in told


def test_times_in_hints_are_for_people():
    """4.096 us * 2^14: the time-out of the profile."""
    r = incast(loss=20000)
    assert [h for h in r.hints if h.startswith("timeouts: ") and "each after 67.1 ms without an answer" in h], r.hints


def test_going_back_names_what_would_not():
    r = incast({"nic": {"ack_timeout": "100us"}}, loss=20000)
    assert [h for h in r.hints if h.startswith("retransmissions: ") and "hardware.nic.placement: out_of_order" in h]
    alone = incast({"nic": {"ack_timeout": "100us", "placement": "out_of_order"}}, loss=20000)
    assert not [h for h in alone.hints if "hardware.nic.placement" in h]


@pytest.mark.parametrize("page, told", [("2MiB", True), ("1GiB", False)])
def test_a_ring_that_cold_misses_have_put_out_of_step(page, told):
    """1,300 us a round where 126 exchanges take 1,105 (docs/fabrics.md, C10)."""
    r = ls.run({"hardware": {"base": "cx5-roce-100g", "link": {"mtu": "4096B"}, "nic": {"translation_page": page}},
                "topology": {"kind": "star", "nodes": 64}, "workload": {"kind": "all_reduce", "size": "4MiB", "iterations": 3}})
    lines = [h for h in r.hints if h.startswith("all_reduce: ")]
    assert bool(lines) == told
    assert not told or ("1.3 ms where nodes in step take 1.11 ms" in lines[0] and "workload.warmup" in lines[0])


def test_a_permutation_over_adaptive_routes_on_an_in_order_nic():
    r = ls.run({"topology": {"kind": "fat_tree", "k": 4}, "fabric": {"routing": "adaptive"},
                "workload": {"kind": "flows", "pattern": "permutation", "size": "256KiB"}})
    assert [h for h in r.hints if "hardware.nic.placement: out_of_order" in h]
