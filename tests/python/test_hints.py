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
