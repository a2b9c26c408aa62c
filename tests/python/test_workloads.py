"""Several workloads in one run: `workloads` in place of `workload`, each with its hosts, its start and its results."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

import loco_sim as ls

pytest.importorskip("pandas")

STAR = {"hardware": {"base": "cx5-roce-100g", "link": {"mtu": "4096B"}}, "topology": {"kind": "star", "nodes": 16}}


def both(*workloads, **more):
    return {**STAR, **more, "workloads": list(workloads)}


def test_jobs_that_share_nothing_take_what_they_take_alone():
    job = {"kind": "all_reduce", "algorithm": "ring", "size": "1MiB", "iterations": 3}
    result = ls.run(both({**job, "name": "a", "nodes": ["0-7"]}, {**job, "name": "b", "nodes": ["8-14", 15]}))
    assert [w["name"] for w in result.workloads] == ["a", "b"]
    for row in result.workloads:
        assert row["times_alone"] == pytest.approx(1, rel=0.005)  # nothing is shared
        assert row["busbw_gb_per_s"] == pytest.approx(row["algbw_gb_per_s"] * 14 / 8)
    assert {name: len(t) for name, t in result.operations.items()} == {"a: all_reduce": 3, "b: all_reduce": 3}
    assert result.workload_counters["wrong"] == 0


def test_jobs_on_the_same_hosts_share_their_ports():
    job = {"kind": "all_to_all", "algorithm": "pairwise", "size": "16MiB", "iterations": 2}
    rows = ls.run(both({**job, "name": "a"}, {**job, "name": "b"})).workloads
    assert [row["times_alone"] for row in rows] == pytest.approx([2, 2], rel=0.04)  # half a port each


def test_an_incast_on_top_of_background(tmp_path):
    background = {"name": "background", "kind": "flows", "pattern": "random", "size": "64KiB", "arrivals": "poisson",
                  "load": 200, "count": 200}
    burst = {"name": "burst", "kind": "flows", "pattern": "incast", "receiver": 3, "size": "1MiB", "start": "40us",
             "nodes": ["4-11"]}
    alone, together = ls.run(both(background)).flows, ls.run(both(background, burst)).flows
    of = {name: rows for name, rows in together.groupby("workload")}
    # The other workload changes nobody's draws.
    assert of["background"][["source", "destination", "bytes", "start_ps"]].equals(
        alone[["source", "destination", "bytes", "start_ps"]])
    assert set(of["burst"]["source"]) == {4, 5, 6, 8, 9, 10, 11} and set(of["burst"]["destination"]) == {7}
    assert (of["burst"]["start_ps"] == 40_000_000).all() and (of["burst"]["received_ps"] > 40_000_000).all()
    assert of["burst"]["slowdown"].median() > 5 > of["background"]["slowdown"].median() >= 1
    path = tmp_path / "flows.csv"
    scenario = tmp_path / "s.json"
    scenario.write_text(json.dumps(both(background, burst)))
    subprocess.run([os.environ["LOCO_SIM"], "run", str(scenario), "--flows", str(path), "--quiet"], check=True)
    lines = path.read_text().splitlines()
    assert len(lines) == 1 + len(together) and [line.split(",")[0] for line in lines[1:]] == list(together["workload"])


def test_completions_find_their_workload():
    """A collective, flows by READ and load of several sizes on the same hosts: each has its own."""
    result = ls.run(both({"kind": "all_reduce", "algorithm": "halving_doubling", "size": "256KiB", "iterations": 4,
                          "channels": 2, "start": "10us"},
                         {"kind": "flows", "pattern": "permutation", "size": "100kB", "operation": "read"},
                         {"kind": "traffic", "pattern": "incast", "size": 4096, "count": 20, "nodes": [2, 9, 5]}))
    assert {name: len(t) for name, t in result.operations.items()} == {
        "all_reduce: all_reduce": 4, "flows: flow": 16, "traffic: message": 40}
    assert all(result.workload_counters[name] == 0 for name in ("wrong", "failed_messages", "failed_flows"))
    assert not result.broken


def test_sizes_of_a_collective_are_a_table():
    rows = ls.run({**STAR, "workload": {"kind": "all_reduce", "algorithm": "halving_doubling", "iterations": 2,
                                        "sizes": ["1KiB", "64KiB", "1MiB"]}}).sizes
    assert [(row["size"], row["count"], row["wrong"]) for row in rows] == [(1024, 128, 0), (65536, 8192, 0), (1 << 20, 131072, 0)]
    times = [row["time_ps"] for row in rows]
    assert times == sorted(times)
    for row in rows:
        assert row["algbw_gb_per_s"] == pytest.approx(row["size"] / row["time_ps"] * 1e3)
        assert row["busbw_gb_per_s"] == pytest.approx(row["algbw_gb_per_s"] * 2 * 15 / 16)
    alone = ls.run({**STAR, "workload": {"kind": "all_reduce", "algorithm": "halving_doubling", "iterations": 2, "size": "64KiB"}})
    assert alone.operations["all_reduce"].median == times[1]


TWO_LEAVES = {"hardware": {"base": "cx5-roce-100g", "link": {"mtu": "4096B"}},
              "topology": {"kind": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 4}}
CROSSING = [0, 4, 1, 5, 2, 6, 3, 7]  # each rank's next one is behind the other leaf


def reduced(**workload):
    """Microseconds of the median iteration of a ring of 1 MiB."""
    result = ls.run({**TWO_LEAVES, "workload": {"kind": "all_reduce", "size": "1MiB", "iterations": 3, **workload}})
    assert result.workload_counters["wrong"] == 0 and not result.broken
    return result.operations["all_reduce"].median / 1e6


@pytest.mark.parametrize("warmup", [0, 1])
def test_a_ring_goes_round_by_ranks(warmup):
    """In 14 steps of 128 KiB and 82 B of headers a packet, of which one in a leaf's order, or four at once, cross a cable."""
    step = 32 * (4096 + 82) * 8 / 100e3
    aligned, crossing = reduced(warmup=warmup, ranks=["0-7"]), reduced(warmup=warmup, ranks=CROSSING)
    assert 14 * step < aligned < 14 * (step + 5)  # 5 us: a round trip over three switches, and its hosts
    assert 14 * 4 * step < crossing < 14 * (4 * step + 5)
    assert reduced(warmup=warmup, ranks=CROSSING[::-1]) == pytest.approx(crossing, rel=0.02)


def test_ranks_are_those_that_take_part():
    """Six steps of 256 KiB within one leaf, whatever is on the other."""
    step = 64 * (4096 + 82) * 8 / 100e3
    for warmup in (0, 1):
        assert 6 * step < reduced(warmup=warmup, ranks=[2, 0, "3", 1]) < 6 * (step + 4)


def test_other_collectives_go_by_ranks():
    """A chain of 8 over the cable seven times, where by leaves it is once: four chunks at once one way, three back."""
    times = [ls.run({**TWO_LEAVES, "workload": {"kind": "broadcast", "algorithm": "chain", "size": "1MiB", "iterations": 2,
                                                "ranks": ranks}}).operations["broadcast"].median
             for ranks in (["0-7"], CROSSING)]
    assert 2.5 < times[1] / times[0] < 4


def test_one_of_several_can_be_overridden_and_swept():
    scenario = both({"name": "a", "kind": "all_gather", "size": "64KiB"}, {"name": "b", "kind": "traffic", "size": 64, "count": 5})
    few = ls.run(scenario, overrides={"workloads.b.count": 2})
    assert len(few.operations["b: message"]) == 2 * 15
    rows = ls.sweep(scenario, {"workloads.a.size": ["64KiB", "1MiB"]}, jobs=1)
    assert len(rows) == 2 and rows["error"].isna().all()


@pytest.mark.parametrize("scenario, message", [
    ({**both({"kind": "traffic"}), "workload": {"kind": "traffic"}}, "workloads: expected workload or workloads, one of both"),
    (both(), r"workloads: expected 1 to 64 workloads"),
    (both({"kind": "barrier"}), r'workloads\[0\].kind: expected one that shares a run: .*traffic.*, found "barrier"'),
    (both({"kind": "broadcast"}), "this one with another algorithm"),
    (both({"kind": "traffic", "nodes": ["3-16"]}), r"workloads\[0\].nodes\[0\]: expected a host from 0 to 15"),
    (both({"kind": "traffic", "nodes": [1, "0-2"]}), r"expected each host once \(1\)"),
    (both({"kind": "traffic", "nodes": [1]}), "2 to 16384 nodes"),
    (both({"kind": "traffic", "name": "x"}, {"kind": "flows", "name": "x"}), "another name for each"),
    (both({"kind": "all_reduce", "size": 16}), r"workloads\[0\].size: expected at least"),
    ({**STAR, "workload": {"kind": "all_reduce", "sizes": []}}, "workload.sizes: expected 1 to 64 sizes"),
    ({**STAR, "workload": {"kind": "all_reduce", "sizes": [16]}}, r"workload.sizes\[0\]: expected at least"),
    ({**STAR, "workload": {"kind": "broadcast", "sizes": [1024]}}, "an algorithm beside it"),
    ({**STAR, "workload": {"kind": "traffic", "sizes": [1024]}}, "sizes"),
    ({**STAR, "workload": {"kind": "all_reduce", "ranks": [3]}}, "workload.ranks: expected 2 nodes or more"),
    ({**STAR, "workload": {"kind": "all_reduce", "ranks": [0, 0]}}, r"workload.ranks\[1\]: expected each host once \(0\)"),
    ({**STAR, "workload": {"kind": "all_reduce", "ranks": ["3-16"]}}, r"workload.ranks\[0\]: expected a host from 0 to 15"),
    ({**STAR, "workload": {"kind": "broadcast", "ranks": [1, 0]}}, "workload.ranks: expected an algorithm beside it"),
    ({**STAR, "workload": {"kind": "all_reduce", "algorithm": "recursive_doubling", "ranks": ["0-2"]}}, "3 nodes, which are no power"),
    ({**STAR, "workload": {"kind": "traffic", "ranks": [0, 1]}}, "ranks"),
    (both({"kind": "traffic", "sise": 3}), r'workloads\[0\]: expected one of .*, found "sise"|size'),
])
def test_what_is_wrong_has_its_place(scenario, message):
    with pytest.raises(ls.InputError, match=message):
        ls.Scenario(scenario)
