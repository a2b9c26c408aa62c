"""Includes between folders point down (README.md, "Where things are"): each folder includes only what it may know."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

MAY_KNOW = {
    "rdma": set(),
    "text": set(),
    "sim": set(),
    "yaml": {"text"},
    "trace": {"rdma", "text"},
    "options": {"sim", "text"},
    "fabric": {"options", "rdma", "sim"},
    "nic_model": {"fabric", "options", "rdma", "sim"},
    "model": {"text", "trace", "yaml"},
    "verify": {"text"},
    "loco_sim/loco": {"rdma", "trace/call_info.hpp"},  # what the brackets of its calls say: a struct, no code, no trace
    "loco_sim/process": {"loco_sim/loco"},
    "loco_sim/libibverbs": {"loco_sim/loco", "loco_sim/process"},
    "loco_sim/libfabric": {"loco_sim/loco", "loco_sim/process"},
    "loco_sim/launch": {"loco_sim/libfabric", "loco_sim/libibverbs", "loco_sim/loco", "loco_sim/process"},
    "exec": {"fabric", "hosts", "nic_model", "rdma", "sim", "text"},
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
