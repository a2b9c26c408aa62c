"""Includes between folders point down (README.md, "Where things are"): each folder includes only what it may know."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

MAY_KNOW = {
    "rdma": set(),
    "probe": set(),
    "text": set(),
    "sim": set(),
    "yaml": {"text"},
    "trace": {"rdma", "text"},
    "options": {"sim", "text"},
    "fabric": {"options", "probe", "rdma", "sim"},
    "nic_model": {"fabric", "options", "probe", "rdma", "sim"},
    "model": {"text", "trace", "yaml"},
    "verify": {"text"},
    "loco_sim/loco": {"probe", "rdma", "trace/call_info.hpp"},  # what the brackets of its calls say: a struct, no code, no trace
    "loco_sim/process": {"loco_sim/loco"},
    "loco_sim/libibverbs": {"loco_sim/loco", "loco_sim/process"},
    "loco_sim/libfabric": {"loco_sim/loco", "loco_sim/process"},
    "loco_sim/launch": {"loco_sim/libfabric", "loco_sim/libibverbs", "loco_sim/loco", "loco_sim/process"},
    "exec": {"fabric", "hosts", "nic_model", "rdma", "sim", "text", "trace"},
}


def forbidden(folder: str, text: str) -> list[str]:
    """What a file of the folder includes and may not."""
    known = MAY_KNOW[folder] | {folder}
    targets = re.findall(r'^#include "([^"]+)"', text, re.MULTILINE)
    return [target for target in targets if not any(target == k or target.startswith(k + "/") for k in known)]


def test_no_include_points_up() -> None:
    found = {
        str(file.relative_to(ROOT)): up
        for folder in MAY_KNOW
        for file in sorted((ROOT / folder).rglob("*.[ch]pp"))
        if (up := forbidden(folder, file.read_text()))
    }
    assert not found


def test_an_upward_include_is_found() -> None:
    assert forbidden("trace", '#include "model/check.hpp"\n#include "text/shown.hpp"\n') == ["model/check.hpp"]
    assert forbidden("loco_sim/loco", '#include "trace/call_info.hpp"\n#include "trace/trace.hpp"\n') == ["trace/trace.hpp"]


# ---- the wings of LOCO (loco_sim/loco/README.md) and of litmus tests (model/litmus/README.md) ---------------------

LOCO = "loco_sim/loco"
LITMUS = "model/litmus"
WINGS = {  # each may know those before it
    LOCO: ["memory", "operations", "membership", "objects", "locks", "store"],
    LITMUS: ["language", "skeletons", "models", "search", "answers", "implementations"],
}


def above(house: str, wing: str, text: str) -> list[str]:
    """What a file of a wing includes of wings that are built on it."""
    later = WINGS[house][WINGS[house].index(wing) + 1 :]
    targets = re.findall(rf'^#include "{house}/([^"]+)"', text, re.MULTILINE)
    return [target for target in targets if target.split("/")[0] in later]


def includes_of(file: Path) -> set[str]:
    targets = re.findall(rf'^#include "({LOCO}/[^"]+)"', file.read_text(), re.MULTILINE)
    return {target.rsplit(".", 1)[0] for target in targets}


def units() -> dict[str, set[str]]:
    """A header with its source as one unit, and the units that it includes."""
    result: dict[str, set[str]] = {}
    for file in sorted((ROOT / LOCO).rglob("*.[ch]pp")):
        unit = str(file.relative_to(ROOT).with_suffix(""))
        result.setdefault(unit, set()).update(includes_of(file) - {unit})
    return result


def on_a_circle(arrows: dict[str, set[str]]) -> set[str]:
    """What is left when units that include nothing are taken away, again and again: circles, and what leads to them."""
    left = {unit: set(targets) for unit, targets in arrows.items()}
    while free := {unit for unit, targets in left.items() if not targets & left.keys()}:
        left = {unit: targets for unit, targets in left.items() if unit not in free}
    return set(left)


def test_no_wing_knows_one_above_it() -> None:
    found = {
        str(file.relative_to(ROOT)): up
        for house, wings in WINGS.items()
        for wing in wings
        for file in sorted((ROOT / house / wing).rglob("*.[ch]pp"))
        if (up := above(house, wing, file.read_text()))
    }
    assert not found
    assert above(LOCO, "memory", f'#include "{LOCO}/operations/fence.hpp"\n') == ["operations/fence.hpp"]
    for house, wings in WINGS.items():
        assert {path.parent.name for path in (ROOT / house).rglob("*.[ch]pp")} <= {*wings, Path(house).name}


def test_loco_has_no_circle() -> None:
    arrows = units()
    assert len(arrows) > 40
    assert not on_a_circle(arrows)
    assert on_a_circle({"a": {"b"}, "b": {"a"}, "c": {"a"}}) >= {"a", "b"}
