"""Workloads of one run, each with a transport of its own (docs/transports.md)."""

from __future__ import annotations

from typing import Any

import pytest

import loco_sim as ls

pytest.importorskip("pandas")

PACKETS = 64
SIZE = f"{PACKETS * 4096}B"
SPRAYED = {"routing": "spray"}
LEAF_SPINE = {"kind": "leaf_spine", "leaves": 2, "spines": 4, "hosts_per_leaf": 4}


def flow(name: str, sender: int, receiver: int, **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": "flows", "pattern": "incast", "nodes": [receiver, sender], "size": SIZE, **more}


def run(workloads: list[dict[str, Any]], **more: Any) -> Any:
    return ls.run({"hardware": "cx5-roce-100g", "topology": {"kind": "star", "nodes": 4}, "workloads": workloads, **more})


def packets(result: Any) -> int:
    return result.counters["packets_sent"]


def test_each_workload_has_the_packets_and_times_of_its_transport_alone():
    """They share nothing. uet answers each packet, rc a message: so many answers more tell which one it was."""
    both = run([flow("a", 1, 0, transport="uet"), flow("b", 3, 2)])
    uet = run([flow("a", 1, 0)], transport="uet")
    rc = run([flow("b", 3, 2)])
    assert packets(uet) == 2 * PACKETS
    assert packets(rc) < 2 * PACKETS
    assert packets(both) == packets(uet) + packets(rc)
    times = ["received_ps", "completed_ps"]
    assert both.flows[times].values.tolist() == uet.flows[times].values.tolist() + rc.flows[times].values.tolist()


def test_only_the_transport_that_needs_order_goes_back_where_paths_differ():
    """Sprayed over four spines, packets overtake each other, which go-back-N takes for loss and uet does not."""
    pairs = [flow("old", 0, 4), flow("old too", 1, 5), flow("new", 2, 6, transport="uet"),
             flow("new too", 3, 7, transport={"kind": "uet", "mode": "rudi"})]
    result = run(pairs, topology=LEAF_SPINE, fabric=SPRAYED)
    again = dict(zip(result.flows["workload"], result.flows["retransmitted_packets"]))
    assert again["old"] + again["old too"] > 0
    assert again["new"] == again["new too"] == 0


def test_a_collective_waits_for_its_data_where_its_transport_does_not_order_it():
    """On rud nothing orders a word behind its data: each put is awaited, which takes longer, and sums stay right."""
    job = {"kind": "all_reduce", "size": "256KiB", "nodes": [0, 1, 2, 3]}
    result = run([{**job, "name": "rc"}])
    other = run([{**job, "name": "rud", "transport": "uet"}])
    top = run([{**job, "name": "rud"}], transport="uet")
    took = [r.operations[0].median_ps for r in (result, other, top)]
    assert took[1] > took[0]
    assert took[1] == took[2]
    assert not other.broken


def test_an_override_reaches_a_transport_in_its_short_form():
    workloads = [flow("a", 1, 0, transport="uet"), flow("b", 3, 2)]
    rod = run(workloads, sim={"threads": 1}) if False else ls.run(
        {"hardware": "cx5-roce-100g", "topology": {"kind": "star", "nodes": 4}, "workloads": workloads},
        overrides={"workloads.a.transport.mode": "rod"})
    assert packets(rod) == packets(run([flow("a", 1, 0, transport={"kind": "uet", "mode": "rod"}), flow("b", 3, 2)]))


@pytest.mark.parametrize("own, more, expected", [
    ("tcp", {}, "transport.kind"),
    ({"kind": "rc", "mode": "rod"}, {}, "transport.mode"),
    ({"kind": "uet", "paths": {"lanes": 3}}, {}, "transport.paths"),
    ("uet", {"fabric": {"model": "flow"}}, "fabric.model: packet"),
    ("uet", {"hardware": "model-weak", "transport": "rc", "faults": ["responder_reorders"]}, "of connections"),
])
def test_what_does_not_fit_is_refused_with_its_place(own, more, expected):
    with pytest.raises(ls.ScenarioError, match=r"workloads\[0\]\.transport" if "fabric" not in more else "transport"):
        run([flow("a", 1, 0, transport=own)], **more)
