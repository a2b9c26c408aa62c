"""sim.fast_forward: what is left out changes no time. Of flows: test_flow_leaps.py."""

import random

import loco_sim as ls
import pytest


def scenario(topology: dict, workload: dict, mode: str, hardware: str | dict = "cx5-roce-100g", **more) -> dict:
    return {"hardware": hardware, "topology": topology, "workload": workload, "check": [], "sim": {"fast_forward": mode}, **more}


def times(result: ls.Result) -> tuple:
    operations = {name: list(o.samples_ps) for name, o in result.operations.items()}
    return operations, result.measured_ps, result.simulated_ps, result.workload_counters["payload_bytes"]


def left_out(result: ls.Result) -> int:
    return result.workload_counters.get("rounds_left_out", 0)


#: Whose NICs hold all translations: steps of any size are alike.
NO_MISSES = {"base": "cx5-roce-100g", "nic": {"translation_entries": 0}}
STAR = {"kind": "star", "nodes": 12}
RINGS = [
    pytest.param("cx5-roce-100g", {"kind": "all_reduce", "size": "24MiB"}, marks=pytest.mark.long),
    (NO_MISSES, {"kind": "all_reduce", "size": "768KiB", "iterations": 3}),
    (NO_MISSES, {"kind": "all_reduce", "algorithm": "ring", "size": "768KiB", "warmup": 1}),
    (NO_MISSES, {"kind": "all_reduce", "size": "768KiB", "reduce_rate": "100Gbps"}),
    (NO_MISSES, {"kind": "all_gather", "algorithm": "ring", "size": "768KiB"}),
    (NO_MISSES, {"kind": "reduce_scatter", "algorithm": "ring", "size": "768KiB"}),
]


@pytest.mark.parametrize(("hardware", "workload"), RINGS)
def test_exact_is_exact(hardware: str | dict, workload: dict):
    off = ls.run(scenario(STAR, workload, "off", hardware))
    exact = ls.run(scenario(STAR, workload, "exact", hardware))
    assert left_out(off) == 0 and times(exact) == times(off)
    near = ls.run(scenario(STAR, workload, "approximate", hardware))
    assert near.measured_ps == pytest.approx(off.measured_ps, rel=0.01)
    assert max(left_out(exact), left_out(near)) > 0  # else this says nothing


#: Chunks of megabytes, whose middle is left out.
LONG_CHUNKS = {
    "2 MiB pages, whose translations are read when a chunk comes to them": (
        "cx5-roce-100g", {"kind": "all_reduce", "size": "16MiB", "iterations": 2}),
    "all translations are held": (NO_MISSES, {"kind": "all_reduce", "size": "8MiB"}),
    "a rank adds at a rate": (NO_MISSES, {"kind": "all_reduce", "size": "8MiB", "reduce_rate": "100Gbps"}),
    "a rank adds at a rate while it sends": (
        NO_MISSES, {"kind": "all_reduce", "algorithm": "ring", "size": "8MiB", "reduce_rate": "400Gbps"}),
    "a schedule": (NO_MISSES, {"kind": "all_gather", "algorithm": "ring", "size": "8MiB", "warmup": 1}),
    "pairs": (NO_MISSES, {"kind": "all_to_all", "algorithm": "pairwise", "size": "8MiB"}),
    "two channels": (NO_MISSES, {"kind": "all_reduce", "algorithm": "ring", "channels": 2, "size": "16MiB"}),
    "words placed as they come": (
        {"base": "cx5-roce-100g", "nic": {"translation_entries": 0, "placement": "out_of_order"}},
        {"kind": "all_reduce", "size": "8MiB"}),
}


@pytest.mark.parametrize("case", LONG_CHUNKS)
def test_the_middle_of_chunks_is_left_out(case: str):
    hardware, workload = LONG_CHUNKS[case]
    star = {"kind": "star", "nodes": 4}
    off = ls.run(scenario(star, workload, "off", hardware))
    exact = ls.run(scenario(star, workload, "exact", hardware))
    assert times(exact) == times(off)
    assert exact.workload_counters.get("packets_left_out", 0) > 1000  # else this says nothing
    assert exact.counters["events"] < off.counters["events"]


def test_a_lossy_ring_is_simulated_whole_unless_approximated():
    workload = {"kind": "all_reduce", "size": "4MiB"}
    lossy = {"fabric": {"loss": 200}}
    off, exact = (ls.run(scenario(STAR, workload, mode, NO_MISSES, **lossy)) for mode in ("off", "exact"))
    assert off.counters["packets_lost"] > 0
    assert left_out(exact) == 0 and times(exact) == times(off)


@pytest.mark.parametrize("asks", [{"check": ["rdmawait"]}, {"series": {"interval": "10us"}},
                                  {"fabric": {"failures": [{"link": ["h0", "s0"], "down": "1s"}]}}])
def test_who_looks_into_a_run_has_it_whole(asks: dict):
    whole = scenario({"kind": "star", "nodes": 16}, {"kind": "all_reduce", "size": "4KiB"}, "approximate", NO_MISSES)
    assert left_out(ls.run(whole)) > 0
    assert left_out(ls.run({**whole, **asks})) == 0


def test_other_algorithms_are_simulated_whole():
    for algorithm in ("halving_doubling", "double_tree"):
        assert left_out(ls.run(scenario(STAR, {"kind": "all_reduce", "algorithm": algorithm, "size": "2MiB"}, "approximate"))) == 0


def test_chunks_of_several_parts_are_simulated_whole():
    """Each part has a word that is summed, also those in the middle of a chunk."""
    workload = {"kind": "all_reduce", "algorithm": "halving_doubling", "size": "6MiB", "iterations": 1}
    result = ls.run(scenario({"kind": "star", "nodes": 4}, workload, "exact", NO_MISSES))
    assert result.workload_counters["wrong"] == 0 and "packets_left_out" not in result.workload_counters


def test_bad_words_are_refused():
    with pytest.raises(ls.InputError, match="sim.fast_forward: expected one of off, exact, approximate"):
        ls.run(scenario(STAR, RINGS[1][1], "quick"))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(50))
def test_below_one_per_cent_on_other_networks(seed: int):
    draw = random.Random(seed)
    topology = draw.choice([{"kind": "star", "nodes": draw.randrange(4, 33)}, {"kind": "fat_tree", "k": 4}, {"kind": "ring", "nodes": 8},
                            {"kind": "leaf_spine", "leaves": 4, "spines": 2, "hosts_per_leaf": draw.randrange(2, 6)}])
    fabric = {"routing": draw.choice(["ecmp", "adaptive"]), "flow_control": draw.choice(["unlimited", "pfc"]),
              "loss": draw.choice([0, 0, 5])}
    workload = {"kind": draw.choice(["all_reduce", "all_reduce", "all_gather", "reduce_scatter"]), "algorithm": "ring",
                "size": f"{draw.randrange(1, 40)}MiB", "channels": draw.choice([1, 1, 2]), "iterations": draw.randrange(1, 4)}
    hardware = draw.choice(["cx5-roce-100g", "cx5-roce-25g", "cx6-ib-hdr-metal"])
    off, exact, near = (ls.run(scenario(topology, workload, mode, hardware, fabric=fabric, seed=seed + 1))
                        for mode in ("off", "exact", "approximate"))
    assert times(exact) == times(off)
    assert near.measured_ps == pytest.approx(off.measured_ps, rel=0.01)
