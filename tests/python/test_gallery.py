"""The gallery: its page is what the simulator says today."""

import importlib.util
import os
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="module")
def gallery():
    spec = importlib.util.spec_from_file_location("gallery_make", ROOT / "scenarios/gallery/make.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["gallery_make"] = module
    spec.loader.exec_module(module)
    return module


def test_every_scenario_has_an_entry_and_a_picture(gallery):
    names = {entry.name for entry in gallery.ENTRIES}
    measured = {entry.name for entry in gallery.ENTRIES if entry.measure}
    assert names == {path.stem for path in (ROOT / "scenarios/gallery").glob("*.yaml")} | measured and len(names) >= 10
    page = (ROOT / "docs/gallery.md").read_text()
    for name in re.findall(r"\]\((gallery/.*?\.svg)\)", page):
        assert (ROOT / "docs" / name).read_text().startswith("<?xml")
    assert page.count("](gallery/") == len(names)


def test_the_page_is_up_to_date(gallery):
    """LOCO_SIM_UPDATE=1 ./dev test, or ./dev gallery, writes it anew: look at the difference before committing it."""
    if os.environ.get("LOCO_SIM_UPDATE"):
        pytest.importorskip("matplotlib")
        gallery.PAGE.write_text(gallery.page(draw=True))
    assert gallery.PAGE.read_text() == gallery.page(), "docs/gallery.md is out of date: ./dev gallery"
