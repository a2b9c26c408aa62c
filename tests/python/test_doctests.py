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


def test_every_public_thing_has_a_docstring():
    import inspect
    missing = []
    for name in loco_sim.__all__:
        thing = getattr(loco_sim, name)
        if not (inspect.isclass(thing) or inspect.isroutine(thing)):
            continue
        if not inspect.getdoc(thing):
            missing.append(name)
        if inspect.isclass(thing) and thing.__module__.startswith("loco_sim."):
            missing += [f"{name}.{k}" for k, v in vars(thing).items() if not k.startswith("_")
                        and (callable(v) or isinstance(v, property)) and not inspect.getdoc(v)]
    described_in_class = {"Scenario.name", "Scenario.description", "Scenario.seed", "Trace.scenario", "Trace.seed",
                          "Trace.nodes"}
    assert set(missing) - described_in_class == set()
