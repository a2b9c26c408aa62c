"""Scenarios as values: overrides, the effective configuration, its hash, topologies of one's own."""

import os
import pathlib
import pickle

import pytest

import loco_sim as ls
from loco_sim.scenario import yaml_text


@pytest.mark.parametrize("name", ["\U0001f600", "caf\u00e9", "a\u2028b\x85c\x7f", '"\\ud83d\\ude00"', "\u7f51\u7edc \U00020000"])
def test_any_text_is_a_name(name, barrier):
    scenario = ls.Scenario({**barrier, "name": name, "description": name})
    assert scenario.name == scenario.description == name
    assert ls.Scenario.from_yaml(scenario.dump()) == scenario


def test_attributes(barrier):
    s = ls.Scenario(barrier, seed=5)
    assert (s.name, s.seed, s.nodes, s.workload) == ("barrier", 5, 3, "barrier")
    assert s.checks == ["rdmawait", "sv", "bal"] and s.hardware == "cx5-roce-25g (changed)" and s.description == ""
    assert s.sweep_axes == {} and "barrier" in repr(s) and "<pre>" in s._repr_html_()


def test_effective_configuration_has_every_default(barrier):
    config = ls.Scenario(barrier).effective()
    assert config["topology.nodes"] == 3 and config["schedule"] == "timed"
    assert config["hardware.link.rate"] == "25Gbps" and config["hardware.link.ideal"] is False
    assert config["hardware.pcie.mps"].endswith("B")
    assert config["workload.iterations"] == 20 and config["check"] == ["rdmawait", "sv", "bal"]


def test_dump_reads_back_as_the_same(barrier):
    for overrides in ({}, {"schedule": "random", "faults": "[read_does_not_flush]"}, {"fabric.link.delay": "1us"},
                      {"topology": {"kind": "ring", "nodes": 4}}):
        s = ls.Scenario({**barrier, "name": "a: 'b' # c"}, overrides=overrides)
        again = ls.Scenario.from_yaml(s.dump())
        assert again.effective() == s.effective() and again.config_hash() == s.config_hash() and again == s


def test_hash_tells_runs_apart_and_nothing_else(barrier):
    s = ls.Scenario(barrier)
    same = [{"name": "x"}, {"description": "y"}, {"trace.path": "z"}, {"topology.nodes": 3}]
    assert {s.override(o).config_hash() for o in same} == {s.config_hash()}
    other = [{"seed": 2}, {"topology.nodes": 4}, {"fabric.link.delay": "1us"}, {"hardware.nic.max_rd_atomic": 1},
             {"schedule": "random"}, {"workload.iterations": 21}, {"check": []}, {"faults": ["fence_ignored"]}]
    assert len({s.override(o).config_hash() for o in other} | {s.config_hash()}) == len(other) + 1
    assert len({s, s.override({"name": "x", "topology.nodes": 3})}) <= 2


def test_override_leaves_the_original(barrier):
    s = ls.Scenario(barrier)
    t = s.override({"topology.nodes": 5}).override(seed=7)
    assert (s.nodes, s.seed, t.nodes, t.seed) == (3, 1, 5, 7)
    assert ls.Scenario(t).nodes == 5


def test_later_overrides_win(barrier):
    s = ls.Scenario(barrier, overrides={"topology.nodes": 5})
    assert s.override({"topology": {"kind": "star", "nodes": 6}}).nodes == 6
    assert s.override({"topology": {"kind": "star", "nodes": 6}}).override({"topology.nodes": 2}).nodes == 2


def test_pickle_does_not_need_the_file(barrier, tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text(ls.Scenario(barrier).dump())
    s = ls.Scenario(path, overrides={"topology.nodes": 4})
    data = pickle.dumps(s)
    path.unlink()
    copy = pickle.loads(data)
    assert copy == s and copy.file == str(path) and copy.override(seed=2).nodes == 4


def test_numpy_values_in_overrides(barrier):
    numpy = pytest.importorskip("numpy")
    s = ls.Scenario(barrier, overrides={"topology.nodes": numpy.int64(4), "workload.iterations": numpy.array(7)})
    assert s.nodes == 4 and s.effective()["workload.iterations"] == 7


def test_validate(barrier):
    assert ls.validate(barrier, overrides={"topology.nodes": 8}).nodes == 8
    with pytest.raises(ls.InputError):
        ls.validate({**barrier, "nosuch": 1})


def test_lists():
    assert {"cx5-roce-25g", "model-weak"} <= set(ls.list_hardware())
    assert {"star", "back_to_back"} <= set(ls.list_topologies())
    assert {"barrier", "quickstart"} <= set(ls.list_workloads())


CABLES = [("a", "left"), ("b", "left"), ("left", "right", {"delay": "10us"}), ("right", "c")]


def test_custom_topology_from_cables(barrier):
    barrier["topology"] = ls.custom_topology(CABLES)
    far = ls.run(barrier)
    assert far.scenario.nodes == 3 and far.verdict.ok
    near = ls.run({**barrier, "topology": ls.custom_topology([c[:2] for c in CABLES])})
    # a barrier's fence and its count cross the long cable there and back: at least 20 us more
    assert far.latency.min > near.latency.min + 20_000_000
    again = ls.Scenario.from_yaml(far.scenario.dump())
    assert again.config_hash() == far.scenario.config_hash() != near.scenario.config_hash()


def test_custom_topology_from_networkx(barrier):
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    for a, b, *options in CABLES:
        graph.add_edge(a, b, **(options[0] if options else {}), colour="red")
    assert ls.custom_topology(graph) == {**ls.custom_topology(CABLES),
                                         "edges": ls.custom_topology(graph)["edges"]}
    assert ls.run({**barrier, "topology": ls.custom_topology(graph)}).verdict.ok


def test_a_set_is_written_in_order():
    """Its own may be another in the next process, and with it the hash of a sweep's rows."""
    names = {f"model{i}" for i in range(9)}
    assert yaml_text(names) == yaml_text(frozenset(names)) == "[" + ", ".join(sorted(names)) + "]"


def test_hosts_of_a_graph_are_its_ends_in_its_order():
    """A vertex without cables is no host, since no cable says where it would be."""
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_nodes_from(["b", "alone", "a"])
    graph.add_edges_from([("a", "s"), ("s", "b")])
    assert ls.custom_topology(graph)["edges"] == [["h0", "s1"], ["h1", "s1"]] and list(graph.edges) == [("b", "s"), ("a", "s")]


def test_custom_topology_mistakes():
    with pytest.raises(ValueError, match="two or more, each once"):
        ls.custom_topology(CABLES, hosts=["a", "b", "a"])
    with pytest.raises(ValueError, match="nowhere"):
        ls.custom_topology(CABLES, hosts=["a", "nowhere"])
    with pytest.raises(ValueError, match="two or more"):
        ls.custom_topology(CABLES, hosts=["a"])
    for cable in (("a",), 5, "ab", ("a", "s", "1us")):
        with pytest.raises(ValueError, match="expected a cable such as"):
            ls.custom_topology([cable])
    for graph in (None, 5):
        with pytest.raises(TypeError, match="graph: expected a networkx graph, or cables, found"):
            ls.custom_topology(graph)
    with pytest.raises(ValueError, match="expected the keys rate and delay, found 'dealy'"):
        ls.custom_topology([("a", "s"), ("b", "s", {"dealy": "1us"})])


@pytest.mark.parametrize("seed", ["x", 1.5])
def test_a_seed_is_an_integer(barrier, seed):
    with pytest.raises(TypeError, match="seed: expected an integer from 0 to "):
        ls.run(barrier, seed=seed)
    with pytest.raises(TypeError, match="seed: expected an integer from 0 to "):
        ls.sweep_points({"topology.nodes": [2]}, seeds=[seed])
    with pytest.raises(ls.InputError, match="seed: expected an integer from 0 to "):
        ls.run(barrier, seed=-1)


def test_a_scenario_comes_through_a_pipe(barrier):
    """Whose content can be read once: copies do not ask for it again."""
    end, other = os.pipe()
    os.write(other, ls.Scenario(barrier).dump().encode())
    os.close(other)
    scenario = ls.Scenario(f"/dev/fd/{end}")
    os.close(end)
    assert scenario.nodes == 3 and scenario.override({"topology.nodes": 4}).nodes == 4
    assert pickle.loads(pickle.dumps(scenario)) == scenario


def test_scenarios_that_come_with_the_package_go_by_name(tmp_path, monkeypatch):
    root = pathlib.Path(__file__).parents[2]
    monkeypatch.chdir(tmp_path)
    names = ls.scenarios()
    assert names == sorted(str(path.relative_to(root / "scenarios"))[:-5] for path in (root / "scenarios").rglob("*.yaml"))
    by_name, by_path = ls.Scenario("quickstart"), ls.Scenario(root / "scenarios/quickstart.yaml")
    assert by_name == by_path and pathlib.Path(by_name.file) == root / "scenarios/quickstart.yaml"
    with pytest.raises(ls.InputError, match=r'^quikstart:1:1: .*the name of a scenario.*did you mean "quickstart"\?$'):
        ls.run("quikstart")
    with pytest.raises(ls.InputError, match=r"did you mean the scenario quickstart\?$"):
        ls.run("scenarios/quickstart.yaml")  # a path of the source tree, from elsewhere


def test_what_holds_itself_is_no_scenario():
    endless: dict = {"kind": "barrier"}
    endless["more"] = [endless]
    with pytest.raises(ValueError, match="expected at most 100 levels of lists and mappings, found more"):
        ls.Scenario({"workload": endless})


def test_hardware_is_called_what_it_started_from(barrier):
    """One key of the default profile makes it no profile of one's own; dump() writes the name with all keys."""
    plain = {"workload": {"kind": "barrier"}}
    assert ls.Scenario(plain).hardware == "cx5-roce-25g"
    changed = ls.Scenario(plain, overrides={"hardware.nic.max_rd_atomic": 4})
    assert changed.hardware == "cx5-roce-25g (changed)"
    assert ls.Scenario({**plain, "hardware": {"nic": {"max_rd_atomic": 4}}}).hardware == "cx5-roce-25g (changed)"
    assert ls.Scenario.from_yaml(changed.dump()).hardware == changed.hardware
    whole = ls.Scenario(plain).to_dict()
    assert ls.Scenario(whole).hardware == "cx5-roce-25g"
    assert ls.Scenario(whole, overrides={"hardware.nic.max_rd_atomic": 4}).hardware == "cx5-roce-25g (changed)"
    del whole["hardware"]["name"]
    assert ls.Scenario(whole).hardware == "custom"


@pytest.mark.parametrize("read", [ls.Scenario, ls.run, ls.validate, ls.read_trace, ls.litmus])
def test_names_of_files_are_utf_8(tmp_path, read):
    file = os.fsencode(tmp_path) + b"/caf\xe9.yaml"
    with open(file, "w") as opened:
        opened.write("workload: {kind: barrier, iterations: 1}\n")
    with pytest.raises(ls.InputError, match=r"/caf\\udce9.yaml: expected a file name in UTF-8, found other bytes$"):
        read(os.fsdecode(file))
