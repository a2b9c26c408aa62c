"""Sweeps: points, rows, executors, progress. What they write: test_sweep_files.py."""

import io
import sys
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import pytest

import loco_sim as ls
from loco_sim._work import Answer

GRID = {"topology.nodes": [2, 3], "fabric.link.delay": ["50ns", "1us"]}


@pytest.fixture
def quick(barrier):
    barrier["workload"]["iterations"] = 5
    return barrier


def rows(*args, **kwargs):
    return sorted(ls.sweep_rows(*args, progress=False, **kwargs), key=lambda r: r["point"])


def test_without_numpy_nothing_is_run(quick, tmp_path, monkeypatch, capsys):
    from loco_sim.__main__ import main

    path = tmp_path / "s.yaml"
    path.write_text(ls.Scenario(quick).dump() + "sweep: {topology.nodes: [2, 3]}\n")
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ls.MissingPackageError, match="a sweep needs numpy, which is not installed: pip install numpy"):
        ls.sweep_rows(quick, GRID, out=tmp_path / "rows.csv")
    assert not (tmp_path / "rows.csv").exists()
    for command in (["sweep", str(path)], ["report", str(path), "-o", str(tmp_path / "r.html")]):
        assert main(command) == 2
        printed = capsys.readouterr()
        assert printed.out == "" and printed.err.count("pip install numpy") == 1


@pytest.mark.parametrize("options, message", [
    ({"seeds": [1, -1]}, "seeds: expected integers from 0 to 2\\^63 - 1, found -1"),
    ({"seeds": [2**63]}, "seeds: expected integers from 0 to 2\\^63 - 1, found 9223372036854775808"),
    ({"sample_seed": -1}, "sample_seed: expected 0 or more, found -1"),
])
def test_seeds_that_no_run_can_have_are_refused(quick, options, message):
    for call in (ls.sweep_points, lambda p, **o: ls.sweep_rows(quick, p, **o)):
        with pytest.raises(ValueError, match=message):
            call({"topology.nodes": [2]}, **options)
    with pytest.raises(ValueError, match="seeds: expected integers"):  # the scenario's seed is the last there is
        ls.sweep_rows({**quick, "seed": 2**63 - 1}, {"topology.nodes": [2]}, seeds=2)


def test_what_leaves_no_point_or_does_nothing_is_refused(quick):
    drawn = {"topology.nodes": ls.Choice([2, 3])}
    for parameters, options, message in [
            ({"topology.nodes": [2]}, {"samples": 5}, "samples: expected a Uniform or a Choice"),
            ([{"topology.nodes": 2}], {"samples": 5}, "samples: expected a Uniform or a Choice"),
            (drawn, {"samples": 0}, "samples: expected 1 or more, found 0"),
            (drawn, {"seeds": []}, "seeds: expected .* found an empty list"),
            ({"topology.nodes": []}, {}, "topology.nodes: expected one value or more, found none"),
            ({"topology.nodes": ls.Choice([])}, {}, "topology.nodes: expected one value or more, found none"),
            ([], {}, "parameters: expected .* found an empty list")]:
        for call in (ls.sweep_points, lambda p, **o: ls.sweep_rows(quick, p, **o)):
            with pytest.raises(ValueError, match=message):
                call(parameters, **options)
    with pytest.raises(ValueError, match="samples: expected a Uniform or a Choice"):
        ls.sweep_rows({**quick, "sweep": {"topology.nodes": [2, 4]}}, samples=2)
    assert [p["seed"] for p in ls.sweep_points({}, seeds=2)] == [1, 2], "seeds alone are a sweep"


def test_rows_say_everything(quick):
    table = rows(quick, GRID, seeds=2)
    assert len(table) == 8
    for row in table:
        assert row["version"] == ls.__version__ and row["error"] is None and row["consistent"] is True
        values = {k: row[k] for k in GRID}
        alone = ls.run(quick, overrides=values, seed=row["seed"])
        assert row["config_hash"] == alone.scenario.config_hash()
        assert row["operations"] == alone.operations_done
        for name, value in alone.latency.summary().items():
            assert name == "count" or row[f"latency_{name}"] == value
        assert (row["measured_ps"], row["simulated_ps"]) == (alone.measured_ps, alone.simulated_ps)
        assert row["counters.events"] == alone.counters["events"]
        assert {k: row[f"by_operation.barrier.{k}"] for k in alone.latency.summary()} == alone.latency.summary()
    assert len({row["config_hash"] for row in table}) == 8


def test_sweep_of_the_scenario_itself(quick):
    table = rows({**quick, "sweep": {"topology.nodes": [2, 4]}})
    assert [r["topology.nodes"] for r in table] == ["2", "4"]
    assert [r["operations"] for r in table] == [5, 5], "barriers, whatever the number of nodes"


def test_ranges_and_random_samples_of_the_scenario_itself(quick):
    """YAML's forms: ranges written out, random axes drawn as `sweep_points` draws them."""
    axes = {"samples": 3, "sample_seed": 9, "topology.nodes": {"range": [2, 4, 1]},
            "fabric.link.delay": {"log_uniform": ["50ns", "10us"]}, "seed": {"uniform": [1, 1000]}}
    table = rows({**quick, "sweep": axes})
    assert [r["topology.nodes"] for r in table] == ["2", "2", "2", "3", "3", "3", "4", "4", "4"]
    points = ls.sweep_points({"topology.nodes": ["2", "3", "4"], "fabric.link.delay": ls.Uniform("50ns", "10us", log=True),
                              "seed": ls.Uniform(1, 1000)}, samples=3, sample_seed=9)
    assert [r["fabric.link.delay"] for r in table] == [p["fabric.link.delay"] for p in points]
    assert [r["seed"] for r in table] == [p["seed"] for p in points] and len({r["seed"] for r in table}) == 3
    assert len(rows({**quick, "sweep": axes}, samples=2)) == 6, "an argument wins over the file"
    assert all(r["error"] is None for r in table)


def test_own_draws_of_a_scenario_are_its_own_sweeps_only(quick):
    """Its `samples` and `sample_seed` are those of its axes, not of parameters that replace them."""
    quick["sweep"] = {"samples": 4, "sample_seed": 9, "topology.nodes": {"choice": [2, 3, 4]}}
    table = rows(quick)
    drawn = ls.sweep_points({"topology.nodes": ls.Choice(["2", "3", "4"])}, samples=4, sample_seed=9)
    assert [r["topology.nodes"] for r in table] == [p["topology.nodes"] for p in drawn]
    parameters = {"seed": ls.Uniform(1, 10**6)}
    assert [r["seed"] for r in rows(quick, parameters)] == [p["seed"] for p in ls.sweep_points(parameters)]


def test_parameters_replace_the_sweep_of_the_scenario(quick):
    """Even one whose axes the points do not have."""
    quick["sweep"] = {"workload.fence": ["none", "all_nodes"]}
    [row] = rows(quick, {"workload": [{"kind": "lock"}]})
    assert row["error"] is None and row["workload"] == "{\"kind\": lock}", "as YAML, which can be given again"


def test_overrides_are_common_to_all_points(quick):
    table = rows(quick, {"seed": [1, 2]}, overrides={"workload.iterations": 70})
    assert [r["operations"] for r in table] == [70, 70], "barriers, whatever the number of nodes"
    for row in table:  # enough of them for a 99th percentile that is not the greatest
        summary = ls.run(quick, overrides={"workload.iterations": 70}, seed=row["seed"]).latency.summary()
        assert row["latency_p99_ps"] == summary["p99_ps"] < row["latency_max_ps"]


def test_jobs_do_not_show_in_the_results(quick, tmp_path):
    for ending in ("jsonl", "csv"):
        files = [tmp_path / f"{jobs}.{ending}" for jobs in (1, 2, 5)]
        for jobs, path in zip((1, 2, 5), files):
            rows(quick, GRID, seeds=3, jobs=jobs, out=path)
        assert files[0].read_bytes() == files[1].read_bytes() == files[2].read_bytes()
    before = files[0].read_bytes()
    for wrong, message in (({"jobs": 0}, "jobs: expected 1 or more, found 0"),
                           ({"jobs": 1.5}, "jobs: expected a whole number, found 1.5"),
                           ({"jobs": "2"}, "jobs: expected a whole number"), ({"executor": 3}, "executor: expected a concurrent")):
        with pytest.raises((TypeError, ValueError), match=message):
            ls.sweep_rows(quick, GRID, seeds=3, out=files[0], resume=False, **wrong)
    assert files[0].read_bytes() == before, "a mistake costs no rows"


def test_pandas_table(quick):
    pytest.importorskip("pandas")
    table = ls.sweep(quick, GRID, executor=None, progress=False)
    assert list(table["topology.nodes"]) == [2, 2, 3, 3] and list(table["point"]) == [0, 1, 2, 3]
    assert table["consistent"].all()


def test_process_pool(quick):
    with ProcessPoolExecutor(2) as pool:
        assert rows(quick, GRID, executor=pool) == rows(quick, GRID, jobs=1)


def test_thread_pool_of_ones_own(quick):
    with ThreadPoolExecutor(2) as pool:
        assert rows(quick, GRID, executor=pool) == rows(quick, GRID, jobs=1)


class OddExecutor(Executor):
    """Runs at once, fails for one task: what a worker that dies looks like."""

    def __init__(self):
        self.submitted = 0

    def submit(self, task, /, *args, **kwargs):
        self.submitted += 1
        future = Future()
        if self.submitted == 2:
            future.set_exception(MemoryError("worker died"))
        else:
            future.set_result(task(*args, **kwargs))
        return future


@pytest.mark.parametrize("name", ["s.jsonl", "s.csv"])
def test_lost_worker_is_reported_and_tried_again_on_resume(quick, tmp_path, name):
    path = tmp_path / name
    first = rows(quick, GRID, executor=OddExecutor(), out=path)
    assert [r["error"] for r in first] == [None, "MemoryError: worker died", None, None]
    assert [r.get("retry") for r in first] == [None, True, None, None]
    executor = OddExecutor()
    second = rows(quick, GRID, executor=executor, out=path)
    assert executor.submitted == 1 and [r["error"] for r in second] == [None] * 4


class BrokenPool(OddExecutor):
    """A pool of processes one of which died: it takes nothing any more."""

    def submit(self, task, /, *args, **kwargs):
        if self.submitted == 2:
            raise BrokenProcessPool("a worker died")
        return super().submit(task, *args, **kwargs)


def test_a_pool_that_broke_ends_the_sweep_with_one_message(quick, tmp_path):
    path = tmp_path / "s.jsonl"
    with pytest.raises(ls.RunError, match="the pool has broken after 2 of 4 points .BrokenProcessPool: a worker died.: "
                                          "the same call goes on from there; executor= may be a function"):
        rows(quick, GRID, executor=BrokenPool(), out=path)
    assert [r["error"] for r in rows(quick, GRID, out=path)] == [None] * 4


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_memory_does_not_suffice_for_is_reported_whatever_the_number_of_jobs(quick, monkeypatch, jobs):
    from loco_sim import result

    run = result.run

    def out_of_memory(scenario, **arguments):
        if scenario.nodes == 3:
            raise MemoryError("std::bad_alloc")
        return run(scenario, **arguments)

    monkeypatch.setattr(result, "run", out_of_memory)
    table = rows(quick, {"topology.nodes": [2, 3, 4]}, jobs=jobs)
    assert [row["error"] for row in table] == [None, "MemoryError: std::bad_alloc", None]


def test_failing_point_does_not_stop_the_rest(quick, tmp_path):
    # back_to_back needs two nodes: the points with three are mistakes
    parameters = {"topology.kind": ["back_to_back"], "topology.nodes": [2, 3], "limits.events": [100, 10**9]}
    table = rows(quick, parameters, out=tmp_path / "s.csv")
    assert [bool(r["error"]) for r in table] == [True, False, True, True]
    assert "events" in table[0]["error"] and "back_to_back" in table[2]["error"]


def test_mistake_of_every_point_is_an_error(quick):
    with pytest.raises(ls.InputError, match="nodse"):
        rows(quick, {"topology.nodse": [2, 3]})


def test_what_failed_is_told_beside_the_progress(quick, capsys):
    list(ls.sweep_rows(quick, {"topology.nodes": [2, 0]}, progress=True))
    told = capsys.readouterr().err
    assert "'topology.nodes': 0" in told and "'topology.nodes': 2" not in told


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_for_terminals(quick, monkeypatch, terminal):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(sys, "stderr", stream)
    list(ls.sweep_rows(quick, {"topology.nodes": [2]}))
    assert bool(stream.getvalue()) is terminal


class Slow(Executor):
    """Runs nothing by itself; knows what it has been given."""

    def __init__(self):
        self.given = []

    def submit(self, function, *arguments):
        self.given.append(Future())
        return self.given[-1]


def test_an_executor_has_a_window_of_points_that_are_given_back(quick, monkeypatch):
    monkeypatch.setattr(sys.modules["loco_sim._pools"], "WINDOW", 2)
    executor = Slow()
    stream = ls.sweep_rows(quick, {"seed": list(range(1, 9))}, executor=executor, progress=False)
    threading.Timer(0.2, lambda: executor.given[0].set_result(Answer(ls.__version__, [{"error": None}]))).start()
    assert next(stream)["seed"] == 1 and len(executor.given) == 2
    stream.close()
    assert executor.given[1].cancelled()


def test_the_seed_of_a_point_that_is_none(quick):
    table = rows(quick, [{"seed": 7, "topology.nodes": 0}, {"topology.nodes": 2}])
    assert table[0]["seed"] == 7 and "topology.nodes" in table[0]["error"]


def test_progress_goes_to_stderr(quick, capsys):
    list(ls.sweep_rows(quick, GRID, progress=True))
    captured = capsys.readouterr()
    assert captured.out == "" and "4/4" in captured.err


def test_dask(quick):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as local:
        with distributed.Client(local) as client:
            assert rows(quick, GRID, executor=client.get_executor()) == rows(quick, GRID, jobs=1)


def test_seeds_are_given_once():
    for seeds, match in ((2, "a parameter of the sweep already"), (0, "expected 1 or more"), (-3, "expected 1 or more")):
        parameters = {"seed": [10, 20]} if seeds == 2 else {"topology.nodes": [2]}
        with pytest.raises(ValueError, match=match):
            ls.sweep_rows({"workload": {"kind": "barrier", "iterations": 1}}, parameters, seeds=seeds)
