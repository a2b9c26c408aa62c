"""Sweeps of any function: what it gets and gives, metrics of one's own, batches, workers of other versions or that die."""

import functools
import os
import pickle
import signal
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

import loco_sim as ls

POINTS = {"nodes": [2, 3], "delay": ["50ns", "1us"]}


def rows(*args, **kwargs):
    return sorted(ls.sweep_rows(*args, progress=False, **kwargs), key=lambda r: r["point"])


def one_run(nodes, delay, seed=1):
    return ls.run({"topology": {"nodes": nodes}, "workload": {"kind": "barrier", "iterations": 5},
                   "fabric": {"link": {"delay": delay}}}, seed=seed)


def plain(nodes, delay):
    return {"product": nodes * len(delay), "inner": {"text": delay, "list": [nodes]}}


def fails(nodes, delay):
    if nodes == 3:
        raise KeyError("no such thing")
    return nodes


def test_a_function_is_called_with_the_values_of_each_point():
    table = rows(plain, POINTS)
    assert [(r["nodes"], r["delay"], r["product"], r["inner.text"], r["inner.list"]) for r in table] == [
        (2, "50ns", 8, "50ns", [2]), (2, "1us", 6, "1us", [2]), (3, "50ns", 12, "50ns", [3]), (3, "1us", 9, "1us", [3])]
    assert all(r["error"] is None and r["version"] == ls.__version__ for r in table)


def test_what_a_function_may_give():
    def node(ctx):
        yield ctx.put("x", node=1, value=1, wait=True)

    kinds = {
        "a run": (lambda seed: one_run(2, "50ns", seed), "latency_median_ps"),
        "a program": (ls.Program(nodes={0: node}), "simulated_ps"),
        "perf": (lambda seed: ls.perf("write_lat", iterations=4 + seed), "t_typical_us"),
        "litmus": (lambda seed: ls.litmus("tests/litmus/loco-paper.yaml", engine="sample", runs=1, seed=seed), "ok"),
        "verify": (lambda seed: ls.verify("scenarios/verify/lost_update.rma"), "verdict"),
        "a number": (lambda seed: seed * 2, "value"),
    }
    for name, (function, column) in kinds.items():
        for row in rows(function, {"seed": [1, 2]}):
            assert row["error"] is None and row[column] is not None, name


def test_metrics_are_columns(barrier):
    metrics = {"first": lambda r: r.latency.samples_ps[0], "calls": lambda r: {"number": len(r.trace.calls)}}
    alone = ls.run(barrier)
    [row] = rows(barrier, {"seed": [1]}, metrics=metrics)
    assert row["first"] == alone.latency.samples_ps[0] and row["calls.number"] == len(alone.trace.calls)
    assert row["latency_median_ps"] == alone.latency.median
    [row] = rows(one_run, [{"nodes": 2, "delay": "1us"}], metrics={"nodes run": lambda r: r.scenario.nodes})
    assert row["nodes run"] == 2 and "operations" not in row
    [row] = rows(barrier, {"seed": [1]}, metrics={"bad": lambda r: r.nothing})
    assert row["error"].startswith("metrics: bad: AttributeError") and "retry" not in row


@pytest.mark.parametrize("call, message", [
    (lambda: ls.sweep_rows(plain), "parameters: expected the arguments of plain, found none"),
    (lambda: ls.sweep_rows(plain, {"nodes": [1]}), r"parameters: expected those of plain\(nodes, delay\), found nodes"),
    (lambda: ls.sweep_rows(plain, POINTS, overrides={"seed": 1}), "overrides: expected a scenario to override, found a function"),
    (lambda: ls.sweep_rows(plain, POINTS, metrics={"x": 3}), "metrics: expected functions by name, found 'x': 3"),
    (lambda: ls.sweep_rows(plain, POINTS, executor=3), "executor: expected a concurrent.futures.Executor, or a function"),
    (lambda: ls.sweep_rows(plain, POINTS, batch=0), "batch: expected 1 or more, found 0"),
])
def test_what_no_point_could_do_is_refused(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_failures_of_a_function_are_its_rows():
    table = rows(fails, POINTS)
    assert [r["error"] for r in table] == [None, None, "KeyError: 'no such thing'", "KeyError: 'no such thing'"]
    assert not any("retry" in r for r in table)
    [row] = rows(lambda x: object(), {"x": [1]})
    assert "expected a number, text, or values by name" in row["error"]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_files_of_functions_resume_to_the_same_bytes(tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    whole, part = tmp_path / f"whole.{ending}", tmp_path / f"part.{ending}"
    rows(fails, POINTS, out=whole, jobs=2)
    stream = ls.sweep_rows(fails, POINTS, out=part, jobs=1, progress=False)
    next(stream)
    stream.close()
    rows(fails, POINTS, out=part)
    rows(fails, POINTS, out=part, batch=3)  # nothing is left
    assert part.read_bytes() == whole.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"part.{ending}", f"whole.{ending}"]
    with pytest.raises(ls.Error, match="resume=False"):
        rows(plain, POINTS, out=part)  # another function


def test_text_that_looks_like_a_number_keeps_its_bytes_in_csv(tmp_path):
    path = tmp_path / "s.csv"
    rows(lambda x: {"text": "1e3"}, {"x": [1, 2]}, out=path)
    before = path.read_bytes()
    rows(lambda x: {"text": "1e3"}, {"x": [1, 2]}, out=path)
    assert path.read_bytes() == before


def test_batches_and_pools_do_not_show(tmp_path):
    expected = rows(plain, POINTS, seeds=None)
    with ProcessPoolExecutor(2) as pool:
        assert rows(plain, POINTS, executor=pool, batch=3) == expected
    assert rows(plain, POINTS, executor=lambda: ThreadPoolExecutor(2), batch=2) == expected
    pytest.importorskip("cloudpickle")
    with ProcessPoolExecutor(1) as pool:  # a lambda is no function of a module
        assert [r["value"] for r in rows(lambda x: x + 1, {"x": [1, 2]}, executor=pool)] == [2, 3]


def dies_once(flag, x):
    if x == 3 and not os.path.exists(flag):
        open(flag, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def always_dies(x):
    if x == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def test_a_killed_worker(tmp_path):
    """A pool that was given ends the sweep with one message, and the next call goes on; one that is made is made anew."""
    points, whole = {"x": list(range(20))}, tmp_path / "whole.csv"
    dies = functools.partial(dies_once, str(tmp_path / "flag"))
    (tmp_path / "flag").touch()
    rows(dies, points, out=whole)
    (tmp_path / "flag").unlink()
    with ProcessPoolExecutor(2) as pool, pytest.raises(ls.RunError, match="the pool has broken after .* of 20 points"):
        rows(dies, points, out=tmp_path / "a.csv", executor=pool)
    with ProcessPoolExecutor(2) as pool:
        rows(dies, points, out=tmp_path / "a.csv", executor=pool)
    (tmp_path / "flag").unlink()
    rows(dies, points, out=tmp_path / "b.csv", executor=lambda: ProcessPoolExecutor(2))
    assert whole.read_bytes() == (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_a_point_that_kills_its_worker_is_the_only_one_to_fail():
    table = rows(always_dies, {"x": list(range(8))}, executor=lambda: ProcessPoolExecutor(2))
    assert [r.get("value") for r in table] == [0, 1, 2, None, 4, 5, 6, 7]
    assert table[3]["error"].startswith("its worker died 3 times") and table[3]["retry"] is True


def test_a_worker_of_another_version_says_so(barrier, monkeypatch, tmp_path):
    work = sys.modules["loco_sim._work"]

    class Old(ThreadPoolExecutor):
        def submit(self, function, *arguments):
            def old():
                monkeypatch.setattr(work, "__version__", "0.0.9")
                try:
                    return function(*arguments)
                finally:
                    monkeypatch.undo()

            return super().submit(old)

    path = tmp_path / "s.csv"
    with Old(1) as pool:
        [row] = rows(barrier, {"seed": [1]}, executor=pool, out=path)
    assert row["version"] == "0.0.9" and "consistent" not in row
    assert row["error"] == f"expected a worker with loco_sim {ls.__version__}, found one with 0.0.9"
    [row] = rows(barrier, {"seed": [1]}, out=path)  # is tried again
    assert row["version"] == ls.__version__ and row["error"] is None


def test_scenarios_travel_as_values(tmp_path, monkeypatch):
    """A profile and a platform by a path that the worker does not have."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text("base: ./other.yaml\nnic: {max_rd_atomic: 3}\n")
    (tmp_path / "other.yaml").write_text("base: cx5-roce-25g\ncpu: {load: 7ns}\n")
    scenario = ls.Scenario({"hardware": "./mine.yaml", "topology": {"nodes": 2}, "workload": {"kind": "barrier", "iterations": 3}})
    assert [(key, os.path.basename(file)) for key, file in scenario.inputs] == [
        ("hardware", "mine.yaml"), ("hardware", "other.yaml"), ("hardware", "cx5-roce-25g.yaml")]
    expected, sent = ls.run(scenario).to_json(), pickle.dumps(scenario)
    value = ls.hardware("./mine.yaml")
    (tmp_path / "mine.yaml").unlink()
    (tmp_path / "other.yaml").unlink()
    there = pickle.loads(pickle.dumps(pickle.loads(sent)))
    assert there == scenario and there.config_hash() == scenario.config_hash() and there.hardware == "mine"
    assert ls.run(there).to_json() == expected
    assert there.override({"hardware.nic.max_rd_atomic": 5}).effective()["hardware.nic.max_rd_atomic"] == 5
    assert there.override({"hardware": "cx5-roce-25g"}).hardware == "cx5-roce-25g"
    assert value["nic"]["max_rd_atomic"] == 3 and value["cpu"]["load"] == "7ns"
    assert ls.perf("write_lat", hardware=value, iterations=5)[0]["t_typical_us"] > 0


@pytest.mark.parametrize("write", ["out", "report"])
def test_no_file_that_is_read_is_written(tmp_path, write, capsys):
    from loco_sim.__main__ import main

    profile, scenario = tmp_path / "mine.json", tmp_path / "s.yaml"
    scenario.write_text("hardware: {base: ./b.yaml}\nworkload: {kind: barrier}\nsweep: {topology.nodes: [2]}\n".replace(
        "./b.yaml", str(tmp_path / "b.yaml")))
    (tmp_path / "b.yaml").write_text(f"base: {profile.parent}/c.yaml\n")
    (tmp_path / "c.yaml").write_text("base: cx5-roce-25g\n")
    link = tmp_path / ("link.csv" if write == "out" else "link.html")
    link.symlink_to(tmp_path / "c.yaml")
    command = ["sweep", str(scenario), "--out", str(link), "--restart"] if write == "out" else ["report", str(scenario), "-o", str(link)]
    assert main(command) == 2
    assert "expected another file to write, found one that is read (hardware)" in capsys.readouterr().err
    assert (tmp_path / "c.yaml").read_text() == "base: cx5-roce-25g\n"
