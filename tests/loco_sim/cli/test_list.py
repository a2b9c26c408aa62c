"""loco-sim list."""

import json

import pytest


@pytest.mark.parametrize(
    ("what", "some"),
    [
        ("hardware", ["cx5-roce-25g", "model-weak"]),
        ("topologies", ["back_to_back", "star", "leaf_spine", "fat_tree", "dragonfly", "torus", "ring", "custom"]),
        ("workloads", ["barrier"]),
        ("models", ["rdmawait", "sv", "bal"]),
        ("faults", ["posted_passes_posted", "barrier_without_fence"]),
    ],
)
def test_lists_what_there_is_as_text_and_json(loco_sim, what, some):
    text = loco_sim("list", what)
    assert text.returncode == 0, text.stderr
    rows = json.loads(loco_sim("list", what, "--json").stdout)
    names = [next(iter(row.values())) for row in rows]
    assert set(some) <= set(names)
    assert all(row["description"] for row in rows)
    for name in names:
        assert name in text.stdout


def test_one_entry_in_full(loco_sim):
    rows = json.loads(loco_sim("list", "hardware", "cx5-roce-25g", "--json").stdout)
    values = {row["key"]: row["value"] for row in rows}
    assert values["link.rate"] == "25Gbps"
    assert "workload.iterations" in loco_sim("list", "workloads", "barrier").stdout
    torus = json.loads(loco_sim("list", "topologies", "torus", "--json").stdout)
    assert [row["key"] for row in torus] == ["topology.kind", "topology.dims", "topology.hosts_per_router"]
    assert torus[2]["default"] == "1" and torus[2]["expected"] == "an integer from 1 to 1024"
    assert [row["model"] for row in json.loads(loco_sim("list", "models", "sv", "--json").stdout)] == ["sv"]
    fault = loco_sim("list", "faults", "fence_ignored").stdout.splitlines()
    assert len(fault) == 2 and fault[1].startswith("fence_ignored  the fence flag")


def test_unknown_names_are_bad_input(loco_sim):
    assert loco_sim("list", "colours").returncode == 2
    done = loco_sim("list", "hardware", "cx6")
    assert done.returncode == 2
    assert "cx5-roce-25g" in done.stderr
    for what in ("hardware", "topologies", "workloads", "models", "faults"):
        done = loco_sim("list", what, "nosuch")
        assert done.returncode == 2 and done.stdout == "" and 'found "nosuch"' in done.stderr
