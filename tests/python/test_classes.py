"""Traffic classes, congestion control by workload, pause storms and their watchdog, as scenarios say them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

import loco_sim as ls

pytest.importorskip("pandas")


def hosts_without_costs() -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("fabric_figures", Path(__file__).with_name("test_fabric_figures.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fabric_figures"] = module
    spec.loader.exec_module(module)
    return module.WIRE


WIRE = hosts_without_costs()

PFC = {"flow_control": "pfc", "pfc": {"xoff": "62670B", "xon_gap": "12534B"}}
PACKET = 4178 * 80  # picoseconds at 100 Gb/s


def star(nodes: int) -> dict[str, Any]:
    return {"kind": "star", "nodes": nodes}


def bulk(sender: int, size: str, **more: Any) -> dict[str, Any]:
    """From one host to host 0, which is the first of the workload's nodes."""
    return {"name": f"from {sender}", "kind": "flows", "pattern": "incast", "nodes": [0, sender], "size": size, **more}


def test_weights_share_a_port():
    """Both waiting all the time, and done together: 3 and 1 of 100 Gb/s * 4096 / 4178."""
    result = ls.run({"hardware": WIRE, "topology": star(3),
                     "fabric": {**PFC, "classes": [{"id": 1, "schedule": {"weight": 3}}, {"id": 4, "schedule": {"weight": 1}}]},
                     "workloads": [bulk(1, "30MB", **{"class": 1}), bulk(2, "10MB", **{"class": 4})]})
    flows = result.flows
    assert list(flows["class"]) == [1, 4]
    goodput = flows["bytes"] * 8e3 / (flows["received_ps"] - flows["start_ps"])
    assert goodput.to_list() == pytest.approx([73.53, 24.51], rel=0.01)


def small_beside_bulk(tmp_path: Path, own: int) -> Any:
    lines = ["source,destination,bytes,start,class", "1,0,8000000,0,0", "3,0,8000000,0,0"]
    lines += [f"2,0,64,{100_000_000 + 7_123_457 * i},{own}" for i in range(100)]
    path = tmp_path / f"class{own}.csv"
    path.write_text("\n".join(lines) + "\n")
    flows = ls.run({"hardware": WIRE, "topology": star(4),
                    "fabric": {**PFC, "switching": "store_and_forward", "classes": [{"id": 6, "schedule": "strict"}]},
                    "workload": {"kind": "flows", "flows": str(path)}}).flows
    small = flows[flows["bytes"] == 64]
    assert (small["class"] == own).all()
    return small["received_ps"] - small["start_ps"] - small["ideal_ps"]


def test_a_strict_class_waits_for_the_packet_that_has_begun(tmp_path):
    """A hop that others fill. What PCIe of 10 Tb/s takes for one of their packets at the receiver comes on top."""
    late = small_beside_bulk(tmp_path, 6)
    at_pcie = 5_000
    assert 0.7 * PACKET < late.max() <= PACKET + at_pcie
    assert small_beside_bulk(tmp_path, 0).max() > 10 * PACKET


def test_a_class_that_drops_takes_nothing_from_one_that_does_not():
    """Eight senders fill a switch in a class that drops, one sends in a lossless class: its packets are not lost."""
    classes = [{"id": 3, "flow_control": "pfc", "pfc": {"xoff": "40kB"}}]
    result = ls.run({"hardware": {**WIRE, "nic": {**WIRE["nic"], "lossy_timeout": "0ns", "ack_timeout": "1ms"}}, "topology": star(11),
                     "fabric": {"flow_control": "drop_tail", "buffer": {"size": "1500kB", "alpha": 500}, "classes": classes},
                     "workloads": [{"name": "lossy", "kind": "flows", "pattern": "incast", "nodes": ["0-8"], "size": "256KiB"},
                                   {"name": "lossless", "kind": "flows", "pattern": "incast", "nodes": [0, 9, 10], "size": "1MiB", "class": 3}]})
    flows = result.flows
    lossless = flows[flows["workload"] == "lossless"]
    assert result.workload_counters["fabric_packets_lost"] > 0
    assert (lossless["retransmitted_packets"] == 0).all() and lossless["received_ps"].notna().all()
    assert flows[flows["workload"] == "lossy"]["retransmitted_packets"].sum() > 0


def test_answers_have_a_class_of_their_own():
    """ACKs of a WRITE in class 1 go in class 6: they pass what waits in class 1 in the other direction."""
    def completes(ack_class: dict[str, int]) -> float:
        result = ls.run({"hardware": WIRE, "topology": star(3),
                         "fabric": {**PFC, "classes": [{"id": 1}, {"id": 6, "schedule": "strict"}]},
                         "workloads": [{"name": "there", "kind": "flows", "pattern": "incast", "nodes": [0, 1], "size": "1MiB", "class": 1, **ack_class},
                                       {"name": "back", "kind": "flows", "pattern": "incast", "nodes": [1, 0, 2], "size": "4MiB", "class": 1}]})
        there = result.flows[result.flows["workload"] == "there"]
        return float((there["completed_ps"] - there["received_ps"]).iloc[0])
    assert completes({"ack_class": 6}) < completes({}) - PACKET


def test_congestion_control_of_a_workload():
    """HPCC keeps the queue of its two flows short; a workload without it beside them is as it was by itself."""
    def pauses(**congestion: Any) -> int:
        one = {"kind": "flows", "pattern": "incast", "size": "4MB", "nodes": [0, 1, 2], **congestion}
        result = ls.run({"hardware": WIRE, "topology": star(6), "fabric": PFC,
                         "workloads": [{"name": "a", **one},
                                       {"name": "b", "kind": "flows", "pattern": "incast", "size": "64KiB", "nodes": [3, 4]}]})
        assert result.flows["received_ps"].notna().all()
        return int(result.workload_counters["fabric_pauses"])
    bare = pauses()
    # Only first windows meet: then there is next to no queue.
    assert pauses(congestion={"algorithm": "hpcc", "base_rtt": "12us", "hpcc": {"eta": 900}}) < bare / 20


def test_a_storm_and_its_watchdog():
    """Host 2 pauses its link from 1 ms to 20 ms. What host 0 sends to host 3 stands behind what it sends to host 2."""
    def run(**pfc: Any) -> ls.Result:
        return ls.run({"hardware": WIRE, "topology": star(4),
                       "fabric": {"flow_control": "pfc", "pfc": {"xoff": "62670B", **pfc},
                                  "failures": [{"host": "h2", "pauses": "1ms", "until": "20ms"}]},
                       "workloads": [{"name": "stuck", "kind": "flows", "pattern": "incast", "nodes": [2, 0], "size": "1MB", "arrivals": "every", "every": "200us", "until": "5ms"},
                                     {"name": "beside", "kind": "flows", "pattern": "incast", "nodes": [3, 0], "size": "64KiB", "arrivals": "every", "every": "200us", "until": "5ms"}]})
    bare = run().flows
    beside = bare[bare["workload"] == "beside"]
    assert beside["received_ps"].max() > 20e9
    watched = run(watchdog={"poll": "1ms", "detect": "2ms", "restore": "2ms"})
    beside = watched.flows[watched.flows["workload"] == "beside"]
    # Given up at 4 ms: 1 and 2, rounded up, as the pause comes a little behind 1 ms.
    assert beside["received_ps"].max() < 6e9
    assert watched.workload_counters["fabric_watchdog_actions"] == 1
    assert watched.workload_counters["fabric_watchdog_lost"] > 0
    assert watched.flows["received_ps"].notna().all()  # sent again behind the storm


def test_flows_by_send():
    """SENDs take as long as WRITEs but for what the receiver's NIC needs for a receive, and hosts post receives."""
    def took(operation: str) -> float:
        flows = ls.run({"hardware": {"base": "cx5-roce-100g", "link": {"mtu": "4096B"}}, "topology": star(3),
                        "workload": {"kind": "flows", "pattern": "incast", "size": "1MiB", "operation": operation}}).flows
        return float((flows["received_ps"] - flows["start_ps"]).max())
    assert took("send") == pytest.approx(took("write"), rel=0.02)
    many = ls.run({"topology": star(4), "workload": {"kind": "flows", "pattern": "all_to_all", "size": "64B", "operation": "send",
                                                     "arrivals": "poisson", "load": 100, "count": 5000}}).flows
    assert len(many) == 5000 and many["received_ps"].notna().all()


BAD = [
    ({"fabric": {"classes": [{"flow_control": "pfc"}]}}, "fabric.classes[0]", "a map with the key id"),
    ({"fabric": {"classes": [{"id": 8}]}}, "fabric.classes[0].id", "0 to 7"),
    ({"fabric": {"classes": [{"id": 3}, {"id": 3}]}}, "fabric.classes[1].id", "each class once"),
    ({"fabric": {"classes": [{"id": 3, "schedule": "fair"}]}}, "fabric.classes[0].schedule", "strict, or {weight: 3}"),
    ({"fabric": {"classes": [{"id": 3, "schedule": {"weight": 0}}]}}, "fabric.classes[0].schedule.weight", "1 to 1000"),
    ({"fabric": {"classes": [{"id": 3, "ecn": {"kmin": "2kB", "kmax": "1kB"}}]}}, "fabric.classes[0].ecn", "kmin of at most kmax"),
    ({"fabric": {"flow_control": "pfc", "buffer": {"size": "300kB"}, "classes": [{"id": c} for c in range(1, 8)]}}, "fabric", "buffer"),
    ({"workload": {"kind": "flows", "class": 3}}, "workload.class", "a class that fabric.classes has: 0"),
    ({"workload": {"kind": "flows", "congestion": {"hpcc": {"eta": 900}}}}, "workload.congestion", "the key algorithm"),
    ({"workload": {"kind": "flows", "congestion": {"algorithm": "dcqcn"}}}, "workload.congestion", "dcqcn needs ecn"),
    ({"fabric": {"pfc": {"watchdog": {"poll": "1ms"}}}}, "fabric", "pfc.watchdog needs flow_control: pfc"),
    ({"fabric": {"failures": [{"host": "h1", "pauses": "2ms", "until": "1ms"}]}}, "fabric.failures[0].until", "a time after pauses"),
    ({"fabric": {"failures": [{"host": "s0", "pauses": "2ms"}]}}, "fabric.failures[0].host", "a host"),
]


@pytest.mark.parametrize("change,path,expected", BAD)
def test_what_cannot_be_is_refused_with_its_place(change, path, expected):
    with pytest.raises(ls.InputError) as refused:
        ls.run({"topology": star(4), "workload": {"kind": "flows"}, **change})
    assert path in str(refused.value) and expected in str(refused.value)


def test_flows_of_a_class_that_is_not_there_are_refused(tmp_path):
    path = tmp_path / "flows.csv"
    path.write_text("source,destination,bytes,start,class\n0,1,64,0,5\n")
    with pytest.raises(ls.InputError, match="fabric.classes has: 0.*5"):
        ls.run({"topology": star(2), "workload": {"kind": "flows", "flows": str(path)}})
