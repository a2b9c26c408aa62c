"""Workloads of one run, each with a transport of its own (docs/transports.md)."""

from __future__ import annotations

from typing import Any

import pytest

import loco_sim as ls

pytest.importorskip("pandas")

PACKETS = 256  # of 1,024 bytes, as the profile has them
SIZE = f"{PACKETS * 1024}B"
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
    def took(own: str | None, of_run: str) -> int:
        job = {"name": "job", "kind": "all_reduce", "size": "256KiB", "nodes": [0, 1, 2, 3]}
        result = run([{**job, "transport": own} if own else job], transport=of_run)
        assert not result.broken
        return result.operations["job: all_reduce"].median

    assert took("uet", "rc") > took(None, "rc")
    assert took("uet", "rc") == took(None, "uet")
    assert took("rc", "uet") == took(None, "rc")


def test_an_override_reaches_a_transport_in_its_short_form():
    scenario = {"hardware": "cx5-roce-100g", "topology": {"kind": "star", "nodes": 4},
                "workloads": [flow("a", 1, 0, transport="uet"), flow("b", 3, 2)]}
    said = run([flow("a", 1, 0, transport={"kind": "uet", "mode": "rod"}), flow("b", 3, 2)])
    assert ls.run(scenario, overrides={"workloads.a.transport.mode": "rod"}).flows.equals(said.flows)


TWO_PORTS = {"kind": "custom", "hosts": 4, "switches": 2,
             "edges": [[f"h{host}", f"s{switch}"] for host in range(4) for switch in range(2)]}


@pytest.mark.parametrize("entry, more, key, expected", [
    ({"transport": "tcp"}, {}, "workloads[0].transport.kind", "rc"),
    ({"transport": {"kind": "rc", "mode": "rod"}}, {}, "workloads[0].transport", "fields that fit together"),
    ({"transport": {"kind": "uet", "lanes": 3}}, {}, "workloads[0].transport", "a known key"),
    ({"transport": {"kind": "uet", "mode": "rudi"}, "operation": "send"}, {}, "workloads[0].operation", "write, read"),
    ({"transport": "uet"}, {"fabric": {"model": "flow"}}, "workloads[0].transport", "fabric.model: packet"),
    ({"transport": "uet"}, {"topology": TWO_PORTS}, "workloads[0].transport", "as the run's does"),
])
def test_what_does_not_fit_is_refused_with_its_place(entry, more, key, expected):
    with pytest.raises(ls.InputError) as error:
        run([flow("a", 1, 0, **entry), flow("b", 3, 2)], **more)
    assert error.value.key == key
    assert expected in error.value.expected
