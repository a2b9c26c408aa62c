"""The gallery: its page is what the simulator says today."""

import importlib.util
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def load():
    spec = importlib.util.spec_from_file_location("gallery_make", ROOT / "scenarios/gallery/make.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["gallery_make"] = module
    spec.loader.exec_module(module)
    return module


GALLERY = load()
#: Whose runs take some seconds.
SLOW = {"mixed_traffic", "queue_pairs", "corerma_errors", "rails", "congestion_control", "all_reduce"}
ENTRIES = [pytest.param(entry, id=entry.name, marks=[pytest.mark.long] if entry.name in SLOW else []) for entry in GALLERY.ENTRIES]


def test_every_scenario_has_an_entry_and_a_picture():
    names = {entry.name for entry in GALLERY.ENTRIES}
    measured = {entry.name for entry in GALLERY.ENTRIES if entry.measure}
    assert names == {path.stem for path in (ROOT / "scenarios/gallery").glob("*.yaml")} | measured and len(names) >= 10
    page = (ROOT / "docs/gallery.md").read_text()
    for name in re.findall(r"\]\((gallery/.*?\.svg)\)", page):
        assert (ROOT / "docs" / name).read_text().startswith("<?xml")
    assert page.count("](gallery/") == len(names)


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_page_is_up_to_date(entry):
    """./dev gallery writes it anew: look at the difference before committing it."""
    assert GALLERY.section(entry, draw=False, jobs=1) in GALLERY.PAGE.read_text(), "docs/gallery.md is out of date: ./dev gallery"


def test_the_page_has_nothing_else():
    text = GALLERY.PAGE.read_text()
    assert text.startswith(GALLERY.HEAD)
    assert text.count("\n## ") == len(GALLERY.ENTRIES)
