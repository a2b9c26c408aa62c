"""The figures of the LOCO paper: ./dev paper runs, and what it says of barriers agrees with an independent simulator."""

import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest

import loco_sim as ls

PAPER = pathlib.Path(__file__).parents[2] / "scenarios/paper"


@pytest.fixture(scope="module")
def smpi():
    spec = importlib.util.spec_from_file_location("paper_smpi", PAPER / "smpi.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_figure_runs_at_its_corners():
    done = subprocess.run([sys.executable, PAPER / "make.py", "--quick"], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    for name in (path.stem for path in PAPER.glob("*.yaml")):
        assert re.search(rf"^{name}\n\| .*\n\| --- .*\n\| .*\d", done.stdout, re.MULTILINE), name


@pytest.fixture(scope="module")
def make():
    sys.path.insert(0, str(PAPER))
    spec = importlib.util.spec_from_file_location("paper_make", PAPER / "make.py")
    module = sys.modules["paper_make"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row_of(name: str, **overrides):
    """The first point of a figure's sweep, with these keys."""
    axes = {key: [values] for key, values in overrides.items()}
    return next(iter(ls.sweep_rows(PAPER / f"{name}.yaml", axes, jobs=1)))


def test_values_are_of_what_a_reader_counts(make):
    """A round of a barrier takes what each of its threads measures, whose samples are of every round; a broadcast and a
    section count once, whatever they call and however many nodes take part."""
    barrier = row_of("fig16_barrier", **{"topology.nodes": 4, "workload.algorithm": "loco", "workload.fence": "all_nodes",
                                         "workload.threads_per_node": 4, "workload.iterations": 50})
    assert make.mean_round(barrier) == pytest.approx(barrier["latency_median_ps"] / 1e6, rel=0.1)
    lock = row_of("fig19_lock", **{"topology.nodes": 4, "workload.algorithm": "loco", "workload.iterations": 50})
    sections = 4 * 50
    value = next(figure for figure in make.FIGURES if figure.name == "fig19_lock").value
    assert value(lock) == pytest.approx(sections / (lock["measured_ps"] / 1e6))


def test_an_unknown_figure_is_an_error():
    done = subprocess.run([sys.executable, PAPER / "make.py", "fig61"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "found fig61" in done.stderr


def test_the_page_shows_every_picture():
    page = (PAPER.parents[1] / "docs/evaluation.md").read_text()
    shown = set(re.findall(r"\]\(pictures/(fig\w+\.svg)\)", page))
    assert shown == {path.name for path in (PAPER.parents[1] / "docs/pictures").glob("fig*.svg")} and shown


@pytest.mark.parametrize("algorithm", ["dissemination", "recursive_doubling"])
def test_barriers_over_messages_grow_with_the_nodes_as_under_smpi(smpi, algorithm):
    """SMPI is told what a message takes, and nothing else; the rest is how many of them follow each other."""
    if not smpi.available():
        pytest.skip("needs smpicc, of libsimgrid-dev")
    nodes = [2, 3, 4, 5, 7, 8, 16]
    rounds = 100

    def ours(n: int) -> float:
        result = ls.run(PAPER / "fig16_barrier.yaml", overrides={
            "topology.nodes": n, "workload.algorithm": algorithm, "workload.iterations": rounds})
        return result.measured_ps / 1e6 / rounds

    here = {n: ours(n) for n in nodes}
    there = smpi.barriers_us(algorithm, nodes, here[2])
    for n in nodes:
        assert here[n] / here[2] == pytest.approx(there[n] / there[2], rel=0.15), f"{n} nodes"
