"""Every public name is documented, and some test uses it."""

import ast
import inspect
import pathlib

import numpy as np
import pytest

import loco_sim as ls
import loco_sim.plot
import loco_sim.verbs

HERE = pathlib.Path(__file__)


def public_names():
    """(how it is written, its last name, the object) of every public function, class and member of such a class."""
    for module, prefix in ((ls, "ls."), (loco_sim.plot, "ls.plot."), (loco_sim.verbs, "ls.verbs.")):
        for name in module.__all__:
            value = getattr(module, name)
            yield prefix + name, name, value
            if inspect.isclass(value):
                bases = [base for base in value.__mro__ if base.__module__.startswith("loco_sim")]
                for member, what in {k: v for base in reversed(bases) for k, v in vars(base).items()}.items():
                    if not member.startswith("_"):
                        yield f"{prefix}{name}.{member}", member, what


def names_used():
    """Attributes, names and keywords in the code of the tests: text and comments do not count."""
    for path in HERE.parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                yield node.attr
            elif isinstance(node, ast.Name):
                yield node.id
            elif isinstance(node, ast.keyword) and node.arg:
                yield node.arg


def test_modules_show_their_public_names_only():
    for module in (ls, ls.plot, ls.verbs, ls.errors):
        shown = {name for name in dir(module) if not name.startswith("__")}
        modules = {"errors", "plot", "verbs"} if module is ls else set()
        assert shown == {name for name in module.__all__ if not name.startswith("__")} | modules, module


def test_every_public_name_is_used_in_a_test():
    used = set(names_used())
    assert [written for written, name, _ in public_names() if name not in used] == []


def test_every_public_function_and_class_is_documented():
    missing = [written for written, _, value in public_names()
               if (inspect.isroutine(value) or inspect.isclass(value) or isinstance(value, property)) and not inspect.getdoc(value)]
    assert missing == []


def node(ctx):
    yield ctx.put("x", 1, value=5)
    return (yield ctx.get("x", 1))


def test_the_classes_of_what_comes_back():
    def typed(ctx: ls.Context):
        assert isinstance(ctx, ls.Context)
        return (yield from node(ctx))

    result = ls.Program({0: typed}).run(hardware="model-weak", overrides={"series.interval": "10ns"})
    assert isinstance(result, ls.ProgramResult) and isinstance(result, ls.Result)
    assert isinstance(result.verdict, ls.Verdict) and isinstance(result.trace, ls.Trace)
    assert isinstance(result.series, ls.Series)
    paper = HERE.parents[1] / "litmus" / "loco-paper.yaml"
    results = ls.litmus(paper)
    assert isinstance(results, ls.LitmusResults) and isinstance(results[0], ls.LitmusResult)


def test_samples_of_a_sweep():
    scenario = ls.Scenario({"workload": {"kind": "barrier"}, "sweep": {"topology.nodes": {"uniform": [2, 8]}, "samples": 5, "sample_seed": 9}})
    assert scenario.sweep_samples == (5, 9)
    assert ls.Scenario({"workload": {"kind": "barrier"}}).sweep_samples == (1, 1)


def test_sorted_samples():
    latency = ls.Latency(np.array([30, 10, 20]))
    assert latency.sorted_ps.tolist() == [10, 20, 30] and latency.samples_ps.tolist() == [30, 10, 20]


@pytest.mark.parametrize("fenced", [False, True])
def test_remote_fence(fenced):
    """A write may overtake an earlier read of its queue pair on its way, not with a remote fence in between: the cell
    (aNRR, aNRW) of the stamp order, and row aRF."""
    def racing(ctx):
        handle = yield ctx.get("x", 1, wait=False)
        if fenced:
            yield ctx.rfence(1)
        yield ctx.put("x", 1, value=1)
        return (yield ctx.wait(handle))

    program = ls.Program({0: racing})
    seen = {program.run(hardware="model-weak", schedule="random", seed=seed).returned[0] for seed in range(1, 200)}
    assert seen == ({0} if fenced else {0, 1})
