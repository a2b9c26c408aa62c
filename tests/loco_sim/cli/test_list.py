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


def test_unknown_names_are_bad_input(loco_sim):
    assert loco_sim("list", "colours").returncode == 2
    done = loco_sim("list", "hardware", "cx6")
    assert done.returncode == 2
    assert "cx5-roce-25g" in done.stderr
    assert loco_sim("list", "workloads", "barier").returncode == 2
