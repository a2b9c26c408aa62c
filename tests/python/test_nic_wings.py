"""Includes between the wings of nic_model/ point down (nic_model/README.md, "Who knows whom")."""

import re
from pathlib import Path

HALL = Path(__file__).resolve().parents[2] / "nic_model"

# From the lowest to the highest: a wing may include what is before it, and itself.
ORDER = ("vocabulary", "delivery", "engine", "host", "connection", "pcie", "port", "requester", "responder", "verbs",
         "state", "system")  # fmt: skip
# Beside the wings and above them; so is exploration/, which looks at all of the state for System.
SYSTEM = {"announcements.cpp", "event_dispatch.cpp", "event_dispatch.hpp", "parcel.hpp", "part_windows.hpp", "parts.cpp", "parts.hpp",
          "step_check.cpp", "step_check.hpp", "system.cpp", "system.hpp", "system_inspection.cpp", "system_leaving_out.cpp", "system_setup.cpp",
          "usage.cpp"}  # fmt: skip


def wing(path: Path) -> str:
    """Where a file of nic_model/ is; the headers beside the wings are what all wings use."""
    if len(path.parts) > 1:
        return "system" if path.parts[0] == "exploration" else path.parts[0]
    if path.name in SYSTEM:
        return "system"
    return path.stem if path.stem == "state" else "vocabulary"


def upward(includes: list[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those of (file, what it includes) that point to a higher wing."""
    return {
        (source, target)
        for source, target in includes
        if ORDER.index(wing(Path(source))) < ORDER.index(wing(Path(target)))
    }


def all_includes() -> list[tuple[str, str]]:
    return [
        (str(file.relative_to(HALL)), target)
        for file in sorted(HALL.rglob("*.[ch]pp"))
        for target in re.findall(r'^#include "nic_model/([^"]+)"', file.read_text(), re.MULTILINE)
    ]


def test_no_include_points_up() -> None:
    assert not upward(all_includes())


def test_an_upward_include_is_found() -> None:
    assert upward([("pcie/pcie.hpp", "verbs/cpu.hpp"), ("verbs/cpu.cpp", "pcie/pcie.hpp")]) == {
        ("pcie/pcie.hpp", "verbs/cpu.hpp")
    }


def test_every_folder_is_a_wing() -> None:
    folders = {path.name for path in HALL.iterdir() if path.is_dir()}
    assert folders <= {*ORDER, "exploration"}
