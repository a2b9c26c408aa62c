"""The rows that a sweep writes, and resuming from them."""

import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, ThreadPoolExecutor

import pytest

import loco_sim as ls

GRID = {"topology.nodes": [2, 3], "fabric.link.delay": ["50ns", "1us"]}


@pytest.fixture
def quick(barrier):
    barrier["workload"]["iterations"] = 5
    return barrier


def rows(*args, **kwargs):
    return sorted(ls.sweep_rows(*args, progress=False, **kwargs), key=lambda r: r["point"])


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_resume_runs_only_what_is_missing(quick, tmp_path, ending):
    whole, path = tmp_path / f"whole.{ending}", tmp_path / f"part.{ending}"
    rows(quick, GRID, seeds=2, out=whole)
    lines = whole.read_bytes().splitlines(keepends=True)
    head = 1 if ending == "csv" else 0
    # killed while it wrote the fourth row; rows in the order in which they happened to finish
    path.write_bytes(b"".join(lines[:head] + [lines[head + 2], lines[head + 5], lines[head]] + [lines[head + 3][:40]]))

    class Counting(ThreadPoolExecutor):
        submitted = 0

        def submit(self, *args, **kwargs):
            self.submitted += 1
            return super().submit(*args, **kwargs)

    with Counting(2) as pool:
        table = rows(quick, GRID, seeds=2, out=path, executor=pool)
    assert pool.submitted == 5 and len(table) == 8
    assert path.read_bytes() == whole.read_bytes()
    with Counting(2) as pool:
        rows(quick, GRID, seeds=2, out=path, executor=pool)
    assert pool.submitted == 0 and path.read_bytes() == whole.read_bytes()



@pytest.mark.parametrize("there", [True, False], ids=["to a file", "to nothing yet"])
def test_a_link_stays_one_and_what_it_leads_to_is_written(barrier, tmp_path, there):
    folder, link = tmp_path / "folder", tmp_path / "rows.csv"
    folder.mkdir()
    target = folder / "any-name"
    if there:
        target.touch()
    link.symlink_to(target)
    for _ in range(2):
        rows = list(ls.sweep_rows(barrier, {"topology.nodes": [2, 3]}, out=link, progress=False))
        assert len(rows) == 2 and link.is_symlink()
        assert [row["topology.nodes"] for row in csv.DictReader(target.open())] == ["2", "3"]
    assert [file.name for file in folder.iterdir()] == ["any-name"]


def test_a_hash_that_looks_like_a_number_stays_one(quick, tmp_path, monkeypatch):
    monkeypatch.setattr(ls.Scenario, "config_hash", lambda self: "1596726e34279042")
    path = tmp_path / "s.csv"
    first = rows(quick, {"topology.nodes": [2, 3]}, out=path)
    assert [row["config_hash"] for row in first] == ["1596726e34279042"] * 2
    assert rows(quick, {"topology.nodes": [2, 3]}, out=path) == first


class Nobody(Executor):
    def submit(self, *args, **kwargs):
        raise AssertionError("there is nothing left to run")


@pytest.mark.parametrize("parameters", [
    {"check": ["[ ]", "[rdmawait,sv]"]},       # lists, but not as JSON writes them
    {"description": ["1.50", " 2", "1e3"]},    # numbers, but not as JSON writes them
    {"description": ["", "null", "true"]},
    {"description": ["a\nb", "a\rb", "a\r\nb", 'x,"y"']},
    {"description": ["twice", "twice"]},
])
def test_text_of_any_kind_is_known_again_in_a_csv_file(quick, tmp_path, parameters):
    path = tmp_path / "s.csv"
    first = rows(quick, parameters, out=path)
    content = path.read_bytes()
    again = rows(quick, parameters, out=path, executor=Nobody())
    assert path.read_bytes() == content
    assert [{k: row.get(k) for k in (*parameters, "config_hash", "operations")} for row in again] == [
        {k: row.get(k) for k in (*parameters, "config_hash", "operations")} for row in first]


def test_file_of_another_sweep_is_not_touched(quick, tmp_path):
    path = tmp_path / "s.csv"
    rows(quick, GRID, out=path)
    before = path.read_bytes()
    with pytest.raises(ls.Error, match="resume=False"):
        rows(quick, {"topology.nodes": [2, 4]}, out=path)
    assert path.read_bytes() == before
    rows(quick, {"topology.nodes": [2, 4]}, out=path, resume=False)
    assert len(path.read_text().splitlines()) == 3


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize("content", [b"hello\n", b'[{"point": 0}]\n', b"5\n", b"\xff\xfe\n", b"a,b\n", b"a,b\n1,2",
                                     b'{"a": {"b": 1}}', b"precious"])
def test_a_file_that_holds_no_rows_is_not_touched(quick, tmp_path, ending, content):
    """Nor one whose only line has no end, as json.dump writes it: no sweep that was killed leaves that."""
    path = tmp_path / f"odd.{ending}"
    path.write_bytes(content)
    with pytest.raises(ls.Error, match=f"odd.{ending}: expected .* resume=False"):
        rows(quick, GRID, out=path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_sweep_may_be_killed_at_any_byte(quick, tmp_path, ending):
    path = tmp_path / f"s.{ending}"
    first = rows(quick, {"topology.nodes": [2, 3]}, out=path)
    whole = path.read_bytes()
    head = whole.index(b"\n") + 1 if ending == "csv" else 0  # written at once, with the file
    for length in [0, *range(head, head + 20), len(whole) - 1]:
        path.write_bytes(whole[:length])
        assert [row["latency_median_ps"] for row in rows(quick, {"topology.nodes": [2, 3]}, out=path)] == [
            row["latency_median_ps"] for row in first]
        assert path.read_bytes() == whole


def test_the_command_line_names_its_own_option(quick, tmp_path, capsys):
    from loco_sim.__main__ import main

    scenario, out = tmp_path / "s.json", tmp_path / "s.jsonl"
    scenario.write_text(json.dumps({**quick, "sweep": {"topology.nodes": [2, 3]}}))
    out.write_text("hello\n")
    assert main(["sweep", str(scenario), "--out", str(out)]) == 2
    message = capsys.readouterr().err
    assert "give another file, or --restart to overwrite this one" in message and "resume" not in message
    assert main(["sweep", str(scenario), "--out", str(out), "--restart"]) == 0
    with pytest.raises(ValueError, match=".csv"):
        rows(quick, GRID, out=tmp_path / "s.txt")


def test_csv_reads_back(quick, tmp_path):
    path = tmp_path / "s.csv"
    rows(quick, GRID, out=path)
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    assert [r["fabric.link.delay"] for r in table] == ["50ns", "1us"] * 2
    assert table[0]["by_operation.barrier.count"] == "10"


def test_the_page_about_sweeps_names_every_column(quick, tmp_path):
    path = tmp_path / "s.csv"
    rows(quick, GRID, out=path)
    with open(path, newline="") as file:
        columns = set(next(csv.reader(file))) - set(GRID)
    page = (pathlib.Path(__file__).parents[2] / "docs" / "sweeps.md").read_text()
    listed = re.sub(r"latency_\{(.*?)\}_ps", lambda m: " ".join(f"`latency_{x}_ps`" for x in m[1].split(",")),
                    page.split("## Rows")[1].split("## ")[0])
    assert not [c for c in columns if f"`{c}`" not in listed and f"`{c.partition('.')[0]}.*`" not in listed]


def test_rows_are_on_disk_as_they_finish(quick, tmp_path):
    path = tmp_path / "s.jsonl"
    stream = ls.sweep_rows(quick, GRID, out=path, jobs=1, progress=False)
    next(stream)
    assert len(path.read_text().splitlines()) == 1
    stream.close()
    assert len(rows(quick, GRID, out=path)) == 4


def test_killed_sweep_resumes(quick, tmp_path):
    """A real kill: the process gets SIGKILL in the middle of a sweep."""
    path = tmp_path / "s.jsonl"
    quick["workload"]["iterations"] = 100
    code = (f"import loco_sim as ls\n"
            f"list(ls.sweep_rows({quick!r}, {{'topology.nodes': [2, 3]}}, seeds=100, out={str(path)!r}, jobs=2))")
    process = subprocess.Popen([sys.executable, "-c", code],
                               env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    while not path.exists() or path.read_bytes().count(b"\n") < 5:
        time.sleep(0.005)
        assert process.poll() is None, "it ended before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = path.read_bytes().count(b"\n")
    assert 5 <= done < 200
    table = rows(quick, {"topology.nodes": [2, 3]}, seeds=100, out=path)
    assert len(table) == 200
    whole = tmp_path / "whole.jsonl"
    rows(quick, {"topology.nodes": [2, 3]}, seeds=100, out=whole)
    assert path.read_bytes() == whole.read_bytes()


def test_rows_with_other_cells_than_columns_are_none(quick, tmp_path):
    path = tmp_path / "s.csv"
    rows(quick, {"topology.nodes": [2, 3]}, out=path)
    head, first, second = path.read_text().splitlines()
    for odd in ([first + ",5", second], [first.rpartition(",")[0], second], [first, second + ",5"]):
        path.write_text("\n".join([head, *odd, ""]))
        before = path.read_bytes()
        with pytest.raises(ls.Error, match="line [23] has other cells than columns"):
            rows(quick, {"topology.nodes": [2, 3]}, out=path)
        assert path.read_bytes() == before


def test_a_file_beside_the_program(quick, tmp_path, monkeypatch):
    """Points need not have the same parameters, and a name needs no folder."""
    monkeypatch.chdir(tmp_path)
    points = [{"workload.iterations": 3}, {"topology.nodes": 2}]
    for name in ("rows.csv", "rows.jsonl"):
        rows(quick, points, out=name)
        before = pathlib.Path(name).read_bytes()
        rows(quick, points, out=name, executor=Nobody())
        assert pathlib.Path(name).read_bytes() == before and b"\r" not in before
