"""Workload flows from Python: the table of what became of each, slowdowns by size, and their picture."""

from __future__ import annotations

import pathlib
import re

import pytest

import loco_sim as ls

pytest.importorskip("pandas")

TWO_INTO_ONE = {
    "hardware": {"base": "cx5-roce-100g", "link": {"mtu": "4096B"}},
    "topology": {"kind": "star", "nodes": 3},
    "workload": {"kind": "flows", "pattern": "incast", "size": "4MiB"},
}


def test_two_flows_into_one_port_take_twice_as_long():
    flows = ls.run(TWO_INTO_ONE).flows
    assert list(flows["source"]) == [1, 2] and list(flows["destination"]) == [0, 0]
    assert list(flows["bytes"]) == [4 << 20] * 2
    assert flows["slowdown"].to_list() == pytest.approx([2, 2], rel=0.02)  # fair shares
    assert (flows["completed_ps"] > flows["received_ps"]).all()


def test_a_flow_alone_has_slowdown_one():
    for size in ("1B", "3KiB", "1MiB"):
        flows = ls.run(TWO_INTO_ONE, overrides={"workload.senders": 1, "workload.size": size}).flows
        assert flows["slowdown"].to_list() == [1.0]


def test_slowdowns_by_size_and_their_picture(tmp_path):
    sizes = tmp_path / "sizes.csv"
    sizes.write_text("bytes,percent\n1000,0\n1000,50\n100000,50\n100000,100\n")
    scenario = {**TWO_INTO_ONE, "workload": {"kind": "flows", "pattern": "random", "sizes": str(sizes),
                                             "arrivals": "poisson", "load": 600, "count": 200}}
    result = ls.run(scenario)
    by_size = result.flows.by_size(4)
    assert list(by_size["largest"]) == [1000, 100000] and by_size["flows"].sum() == 200
    assert (by_size["p50"] <= by_size["p95"]).all() and (by_size["p95"] <= by_size["p99"]).all()
    below, above = result.flows.by_size(at=2000)["flows"]
    assert below + above == 200
    pytest.importorskip("matplotlib")
    assert ls.plot.slowdown(result).get_xscale() == "log"
    both = ls.plot.slowdown({"a": result, "b": result}, bins=2)
    assert both.get_legend() is not None
    first, second = both.get_lines()  # the same values: the first one's marks are seen around the second one's
    assert list(first.get_ydata()) == list(second.get_ydata()) and first.get_markersize() > second.get_markersize()
    with pytest.raises(ValueError):
        result.flows.by_size(0)


def test_a_list_that_is_wrong_is_told_with_its_place(tmp_path):
    path = tmp_path / "list.csv"
    path.write_text("source,destination,bytes,start\n0,7,8,0\n")
    scenario = {**TWO_INTO_ONE, "workload": {"kind": "flows", "flows": str(path)}}
    with pytest.raises(ls.InputError, match=r"list\.csv:2:3: destination: expected a host from 0 to 2, found \"7\""):
        ls.run(scenario)


def test_the_list_counts_as_read(tmp_path):
    path = tmp_path / "list.csv"
    path.write_text("source,destination,bytes,start\n0,1,8,0\n")
    scenario = ls.Scenario({**TWO_INTO_ONE, "workload": {"kind": "flows", "flows": str(path)}})
    assert ("flows", str(path)) in scenario.inputs  # what no command writes over


def test_small_flows_behind_others_find_warm_caches():
    """The table in docs/flows.md: how far below 1 slowdown is, and that caches alone make it so."""
    page = (pathlib.Path(__file__).parents[2] / "docs/flows.md").read_text()
    [cold] = re.findall(r"^\| smallest slowdown \| (.*) \|$", page, re.MULTILINE)
    no_caches = {"base": "cx6-ib-hdr", "nic": {"context_entries": 0, "translation_entries": 0}}
    for size, expected in zip(("256B", "1KiB", "64KiB", "1MiB"), map(float, cold.split(" | "))):
        for hardware, least in (("cx6-ib-hdr", expected), (no_caches, 1)):
            flows = ls.run({"hardware": hardware, "topology": {"kind": "star", "nodes": 8}, "check": [], "workload": {
                "kind": "flows", "pattern": "random", "arrivals": "poisson", "load": 50, "count": 400, "size": size}}).flows
            assert flows["slowdown"].min() == pytest.approx(least, abs=0.0006), (size, hardware)
