"""The examples in docstrings run."""

import doctest
import importlib
import pkgutil

import pytest

import loco_sim

MODULES = sorted(m.name for m in pkgutil.iter_modules(loco_sim.__path__) if m.name not in ("_core", "__main__"))


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    pytest.importorskip("matplotlib") if name in ("plot", "reports") else None
    module = importlib.import_module(f"loco_sim.{name}")
    assert doctest.testmod(module).failed == 0
