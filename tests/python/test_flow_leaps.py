"""sim.fast_forward of flows: leaving out their middle changes no time (docs/fast-forward.md, "The middle of flows").

What is expected is the same run with every packet simulated.
"""

import pathlib
import random

import loco_sim as ls
import pytest

STAR = {"kind": "star", "nodes": 4}
#: Whose NICs hold all translations: segments are short.
NO_MISSES = {"base": "cx5-roce-100g", "nic": {"translation_entries": 0}}
PERMUTATION = {"kind": "flows", "pattern": "permutation", "size": "8MB"}


def run(mode: str, workload: dict, topology: dict = STAR, hardware: str | dict = NO_MISSES, **more) -> ls.Result:
    return ls.run({"hardware": hardware, "topology": topology, "workload": workload, "check": [], "sim": {"fast_forward": mode}, **more})


def left_out(result: ls.Result) -> int:
    return result.workload_counters.get("packets_left_out", 0)


def told(result: ls.Result) -> tuple:
    return result.flows.to_csv(), result.measured_ps, result.simulated_ps, result.workload_counters["payload_bytes"]


def off_and_exact(*how, **more) -> tuple[ls.Result, ls.Result]:
    off, exact = (run(mode, *how, **more) for mode in ("off", "exact"))
    assert left_out(off) == 0
    assert told(exact) == told(off)
    return off, exact


LEAPS = {
    "a star": {},
    "2 MiB pages, whose translations are read when a flow comes to them": {
        "workload": {**PERMUTATION, "size": "28MB"}, "hardware": "cx5-roce-100g"},
    "a fat tree, one flow a path": {"topology": {"kind": "fat_tree", "k": 4}, "workload": {**PERMUTATION, "pattern": "shift", "shift": 2},
                                    "fabric": {"routing": "deterministic"}},
    "SENDs": {"workload": {**PERMUTATION, "operation": "send"}},
    "a queue pair a flow": {"workload": {**PERMUTATION, "queue_pairs": "flow"}},
    "placed as they come": {"hardware": {**NO_MISSES, "nic": {"translation_entries": 0, "placement": "out_of_order"}}},
    "ACKs within a message": {"hardware": {**NO_MISSES, "nic": {"translation_entries": 0, "ack_coalescing": 4}}},
    "two packets a window": {"hardware": {**NO_MISSES, "nic": {"translation_entries": 0, "tx_window": "64KiB"}}},
    "PFC that has nothing to do": {"fabric": {"flow_control": "pfc"}},
    "packets of 1000 bytes": {"workload": {**PERMUTATION, "size": "12MB"},
                              "hardware": {**NO_MISSES, "link": {"mtu": "1000B"}}},
}


@pytest.mark.parametrize("case", LEAPS)
def test_no_time_changes(case: str):
    how = {"workload": PERMUTATION, **LEAPS[case]}
    off, exact = off_and_exact(**how)
    assert left_out(exact) > 0.2 * off.flows["bytes"].sum() / 4096  # else this says nothing
    assert exact.counters["events"] < off.counters["events"]


def flows_of(path: pathlib.Path, *lines: str) -> dict:
    path.write_text("source,destination,bytes,start,id,after,delay\n" + "\n".join(lines) + "\n")
    return {"kind": "flows", "flows": str(path)}


def test_flows_of_a_list_begin_when_they_would(tmp_path: pathlib.Path):
    """One ends while another is under way, one starts by itself."""
    workload = flows_of(tmp_path / "f.csv", "0,1,20000000,0,1,,", "2,3,9000000,100us,2,,", "1,0,6000000,1800us,3,,")
    _, exact = off_and_exact(workload)
    assert left_out(exact) > 3000


def test_flows_behind_others_begin_when_they_would(tmp_path: pathlib.Path):
    """As well one behind another, and one that waits in a queue pair, whose payload is read meanwhile: hardly a leap."""
    workload = flows_of(tmp_path / "f.csv", "0,1,20000000,0,1,,", "2,3,9000000,100us,2,,", "0,1,9000000,10us,3,,",
                        "3,2,9000000,,4,2,50us", "1,0,6000000,1800us,5,,")
    off_and_exact(workload)


@pytest.mark.parametrize("first", [4_000_000, 24_000_000])
def test_a_flow_comes_to_pages_that_another_one_has_touched(tmp_path: pathlib.Path, first: int):
    """The second flow to a host finds translations of as much of its memory as the first one has used."""
    workload = flows_of(tmp_path / "f.csv", f"0,1,{first},0,1,,", "2,1,36000000,,2,1,")
    _, exact = off_and_exact(workload, hardware="cx5-roce-100g")
    assert left_out(exact) > 0


def test_flows_that_share_a_port_are_not_alike(tmp_path: pathlib.Path):
    """Without flow control a queue grows for as long as they last, though both leave and arrive at equal distances."""
    workload = flows_of(tmp_path / "f.csv", "0,1,9000000,0,1,,", "2,1,9000000,0,2,,")
    _, exact = off_and_exact(workload)
    assert left_out(exact) == 0


@pytest.mark.parametrize("asks", [{"fabric": {"loss": 100}}, {"fabric": {"routing": "spray"}}, {"fabric": {"congestion": {"algorithm": "hpcc"}}},
                                  {"series": {"interval": "10us"}}, {"workload": {**PERMUTATION, "operation": "read"}}])
def test_what_equal_times_do_not_tell_is_simulated_whole(asks: dict):
    topology = {"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 2}
    assert left_out(run("exact", **{"workload": PERMUTATION, "topology": topology, **asks})) == 0


def drawn(draw: random.Random, tmp_path: pathlib.Path) -> tuple[dict, dict]:
    """A network and long flows in it; whether they contend is as it comes."""
    topology = draw.choice([{"kind": "star", "nodes": draw.randrange(3, 17)}, {"kind": "fat_tree", "k": 4},
                            {"kind": "leaf_spine", "leaves": 4, "spines": 2, "hosts_per_leaf": draw.randrange(2, 5)}])
    nodes = {"star": topology.get("nodes"), "fat_tree": 16, "leaf_spine": 4 * topology.get("hosts_per_leaf", 0)}[topology["kind"]]
    lines = []
    for i in range(draw.randrange(1, nodes + 1)):
        source, destination = draw.sample(range(nodes), 2)
        lines.append(f"{source},{destination},{draw.randrange(8, 40)}000000,{draw.choice([0, 0, draw.randrange(1000)])}us,{i + 1},,")
    return topology, flows_of(tmp_path / f"{draw.random()}.csv", *lines)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(50))
def test_other_networks(tmp_path: pathlib.Path, seed: int):
    draw = random.Random(seed)
    topology, workload = drawn(draw, tmp_path)
    fabric = {"routing": draw.choice(["ecmp", "deterministic"]), "flow_control": draw.choice(["unlimited", "pfc"])}
    hardware = draw.choice(["cx5-roce-100g", NO_MISSES, {**NO_MISSES, "nic": {"translation_entries": 0, "tx_window": "256KiB"}}])
    off, _ = off_and_exact(workload, topology, hardware, fabric=fabric, seed=seed + 1)
    near = run("approximate", workload, topology, hardware, fabric=fabric, seed=seed + 1)
    took = [(r.flows["received_ps"] - r.flows["start_ps"]) for r in (off, near)]
    assert (took[1] / took[0] - 1).abs().max() < 0.01
