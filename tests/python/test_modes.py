"""Every scenario that is shipped, under other modes than its own: what must stay as it is, and what may differ, is a row
of MODES. `./dev test --long` runs them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, NamedTuple

import pytest

import loco_sim as ls

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "scenarios").rglob("*.yaml")
                   if "exec" not in path.parts)  # programs of others: not in this process

Edges = list[list[Any]]


class Mode(NamedTuple):
    """Another way to run a scenario. `compare` asserts what both runs must have in common."""

    name: str  # a word, which ./dev finds
    overrides: Callable[[ls.Scenario], dict[str, Any] | None]  # None: the mode has nothing to say of this scenario
    compare: Callable[[ls.Result, ls.Result, Path], None]
    may_differ: str
    excused: dict[str, str] = {}  # scenarios that give up what the mode asks for, and why


# ---- what both runs say ---------------------------------------------------------------------------------------------

def same_answers(usual: ls.Result, other: ls.Result, _: Path) -> None:
    """The verdict of each model, each promise of the workload, and how much was done."""
    assert other.consistent is usual.consistent
    assert other.broken == usual.broken
    assert other.operations_done == usual.operations_done
    assert (other.verdict is None) == (usual.verdict is None)
    if usual.verdict is not None:
        assert [(r.library, r.consistent) for r in other.verdict.results] == [
            (r.library, r.consistent) for r in usual.verdict.results]


def same_trace_from_file(usual: ls.Result, other: ls.Result, folder: Path) -> None:
    """A run is a function of its scenario, and a file says all of its trace that checkers look at."""
    same_answers(usual, other, folder)
    if usual.verdict is None:
        return
    file = folder / "run.trace"
    other.trace.write(file)
    assert file.read_bytes() == usual.trace.encode()
    read = ls.read_trace(file)
    assert read.encode() == usual.trace.encode()
    assert str(ls.check(file, usual.scenario.checks)) == str(usual.check(*usual.scenario.checks))


# ---- hosts in another order -----------------------------------------------------------------------------------------

def star(t: dict[str, Any]) -> Edges:
    return [[f"h{i}", "s0"] for i in range(t["nodes"])]


def back_to_back(_: dict[str, Any]) -> Edges:
    return [["h0", "h1"]]


def leaf_spine(t: dict[str, Any]) -> Edges:
    leaves, spines, hosts = t["leaves"], t["spines"], t["hosts_per_leaf"]
    return [[f"h{i}", f"s{i // hosts}"] for i in range(leaves * hosts)] + [
        [f"s{leaf}", f"s{leaves + spine}"] for leaf in range(leaves) for spine in range(spines)]


def fat_tree(t: dict[str, Any]) -> Edges:
    half = t["k"] // 2
    pods = range(t["k"])
    edge, up, core = 0, t["k"] * half, 2 * t["k"] * half  # numbers of the first switch of each layer
    return [[f"h{h}", f"s{edge + h // half}"] for h in range(t["k"] * half * half)] + [
        [f"s{edge + p * half + e}", f"s{up + p * half + a}"] for p in pods for e in range(half) for a in range(half)] + [
        [f"s{up + p * half + a}", f"s{core + a * half + c}"] for p in pods for a in range(half) for c in range(half)]


SHAPES = {"star": star, "back_to_back": back_to_back, "leaf_spine": leaf_spine, "fat_tree": fat_tree}


def backwards(edges: Edges) -> dict[str, Any]:
    """The same cables, with the hosts numbered from the last one."""
    hosts = sorted({end for edge in edges for end in edge[:2] if end[0] == "h"}, key=lambda name: int(name[1:]))
    switches = {end for edge in edges for end in edge[:2] if end[0] == "s"}
    names = dict(zip(hosts, reversed(hosts)))
    return {"kind": "custom", "hosts": len(hosts), "switches": len(switches),
            "edges": [[names.get(a, a), names.get(b, b), *rest] for a, b, *rest in edges]}


def other_order_of_hosts(scenario: ls.Scenario) -> dict[str, Any] | None:
    settings = scenario.effective()
    if settings["hardware.link.ideal"]:
        return None
    topology = {key.removeprefix("topology."): value for key, value in settings.items() if key.startswith("topology.")}
    shape = SHAPES.get(topology["kind"])  # rails give hosts several NICs, and custom graphs are drawn as they are meant
    # without the sweep: its points may be other shapes, and only the first one is run
    return None if shape is None else {"topology": backwards(shape(topology)), "sweep": {}}


MODES = [
    Mode("any_word_order",
         lambda s: {"hardware.nic.word_order": "any", "hardware.nic.word_unit": "8B"}, same_answers,
         "times: who polls sees a word at another moment; values of what a workload counts beside its promises"),
    Mode("trace_from_file", lambda s: {}, same_trace_from_file, "nothing"),
    Mode("hosts_backwards", other_order_of_hosts, same_answers,
         "times where paths are of different lengths, or where packets that come at one instant take turns by port"),
]


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("path", SCENARIOS)
def test_scenario_under_another_mode(path: str, mode: Mode, tmp_path: Path) -> None:
    if path in mode.excused:
        pytest.skip(mode.excused[path])
    scenario = ls.Scenario(ROOT / path)
    overrides = mode.overrides(scenario)
    if overrides is None:
        pytest.skip("the mode has nothing to say of it")
    mode.compare(ls.run(scenario), ls.run(scenario, overrides=overrides), tmp_path)


def test_each_kind_of_shape_is_the_one_that_it_stands_for() -> None:
    """As docs/topologies.md numbers them: cables and degrees of a fat tree of k = 4, and of leaves and spines."""
    tree = fat_tree({"k": 4})
    assert len(tree) == 3 * 16  # 16 hosts, 16 cables between edge and aggregation, 16 to the cores
    degree = {end: sum(end in edge for edge in tree) for edge in tree for end in edge}
    assert {n for end, n in degree.items() if end[0] == "s"} == {4}
    assert len(leaf_spine({"leaves": 2, "spines": 3, "hosts_per_leaf": 4})) == 8 + 6


def test_a_renamed_host_is_where_the_last_one_was() -> None:
    assert backwards([["h0", "s0"], ["h1", "s0"], ["h2", "s1"], ["s0", "s1"]]) == {
        "kind": "custom", "hosts": 3, "switches": 2, "edges": [["h2", "s0"], ["h1", "s0"], ["h0", "s1"], ["s0", "s1"]]}


def test_a_mode_that_changes_an_answer_is_noticed(tmp_path: Path) -> None:
    faulty = ROOT / "scenarios/faults/fence_ignored.yaml"
    with pytest.raises(AssertionError):
        same_answers(ls.run(faulty, overrides={"faults": []}), ls.run(faulty), tmp_path)
    with pytest.raises(AssertionError):
        same_trace_from_file(ls.run("quickstart"), ls.run("quickstart", seed=7), tmp_path)
