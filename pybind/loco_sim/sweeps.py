"""Sweeps: a scenario, or any function, at many points of its parameters, on any `concurrent.futures.Executor`.

A row of the result is a function of the point alone: neither the number of jobs nor the order in which they finish
shows in it. Rows are written as they finish, so that an interrupted sweep goes on where it stopped.
"""

from __future__ import annotations

import functools
import os
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, Union

from . import __version__, _core
from ._keys import require_path
from ._optional import need
from ._parquet import ParquetFile
from ._pools import OnPool, Pool, PoolBroken
from ._progress import Progress
from ._rows import RowFile, require_other_file
from ._shown import shown
from ._work import Metrics, Row, Task, identity, name_of, packed, require_arguments, work
from .errors import InputError, RunError
from .points import Choice, Parameters, Uniform, sweep_points
from .program import Program
from .programs import ProgramsScenario
from .scenario import Scenario, yaml_text
from .units import at_least, yes_or_no

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["sweep", "sweep_rows"]

What = Union[str, "os.PathLike[str]", Mapping[str, Any], Scenario, Program, Callable[..., Any]]


def _cell(value: Any) -> Any:
    return value if value is None or isinstance(value, (int, float, str)) else yaml_text(value)


class _Point:
    """A point: what a worker gets of it, and what identifies its row."""

    given: Any = None  #: None: it cannot be
    error = ""
    head: dict[str, Any]

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = dict(values)

    def row(self, results: Mapping[str, Any]) -> dict[str, Any]:
        return {**self.head, **results}


class _ScenarioPoint(_Point):
    """A scenario with some values at dotted keys."""

    def __init__(self, index: int, base: Scenario, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        seed: int | None = self.values.get("seed")
        config_hash = ""
        try:
            self.given = base.override(self.values)
            seed, config_hash = self.given.seed, self.given.config_hash()
        except InputError as error:
            self.input_error = error
            self.error = str(error)
        self.head = {"point": index, **{k: _cell(v) for k, v in self.values.items()},
                     "seed": seed, "version": __version__, "config_hash": config_hash}


class _CallPoint(_Point):
    """A function's arguments."""

    def __init__(self, index: int, code: str, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.given = self.values
        self.head = {"point": index, **{k: _cell(v) for k, v in self.values.items()},
                     "version": __version__, "config_hash": code}


def sweep_rows(what: What, parameters: Parameters | None = None, *, metrics: Metrics | None = None,
               overrides: Mapping[str, Any] | None = None, seeds: int | Iterable[int] | None = None, samples: int | None = None,
               sample_seed: int | None = None, jobs: int | None = None, executor: Pool | None = None, batch: int = 1,
               out: str | os.PathLike[str] | None = None, resume: bool = True,
               progress: bool | None = None, for_spreadsheets: bool = False) -> Iterator[dict[str, Any]]:
    """The rows of a sweep as they finish, those of an earlier, interrupted call first. Arguments: see `sweep`."""
    return planned_rows(**locals())[1]


def planned_rows(what: What, parameters: Parameters | None = None, *, metrics: Metrics | None = None,
                 overrides: Mapping[str, Any] | None = None, seeds: int | Iterable[int] | None = None,
                 samples: int | None = None, sample_seed: int | None = None, jobs: int | None = None,
                 executor: Pool | None = None, batch: int = 1, out: str | os.PathLike[str] | None = None,
                 resume: bool = True, progress: bool | None = None, for_spreadsheets: bool = False
                 ) -> tuple[int, Iterator[dict[str, Any]]]:
    """How many rows there will be, and these, as `sweep_rows` gives them."""
    if executor is not None and not callable(getattr(executor, "submit", None)) and not callable(executor):
        raise TypeError(f"executor: expected a concurrent.futures.Executor, or a function that makes one, found {executor!r}")
    need("numpy", "a sweep")  # else every point would fail for want of it
    jobs = len(os.sched_getaffinity(0)) if jobs is None else at_least("jobs", jobs, 1, most=2**63 - 1)
    batch = at_least("batch", batch, 1, most=2**31 - 1)
    yes_or_no("resume", resume)
    yes_or_no("for_spreadsheets", for_spreadsheets)
    _require_metrics(metrics)
    reads: list[tuple[str, str]] = []
    if isinstance(what, Program):
        what = what.run
    points: list[Any]
    programs = ProgramsScenario.of(what)
    if programs is not None:
        what, parameters, samples, sample_seed = _of_programs(programs, parameters, overrides, samples, sample_seed)
        overrides = None
    if callable(what):
        task = Task(what, metrics)
        points = _calls(task, parameters, overrides, seeds, samples, sample_seed)
    else:
        task = Task(None, metrics)
        points, reads = _scenarios(what, parameters, overrides, seeds, samples, sample_seed)
    file = None
    if out is not None:
        require_path("out", out)
        require_other_file(out, reads)
        kind = ParquetFile if os.path.splitext(os.fsdecode(out))[1] == ".parquet" else RowFile
        file = kind(out, [p.head for p in points], resume=resume, for_spreadsheets=for_spreadsheets,
                    runs=task.function is None)
    return len(points), _rows(task, points, file, jobs, executor, batch, progress)


def _require_metrics(metrics: object) -> None:
    if metrics is None:
        return
    if not isinstance(metrics, Mapping):
        raise TypeError(f"metrics: expected functions by name, found {metrics!r}")
    for name, metric in metrics.items():
        if not isinstance(name, str) or not callable(metric):
            raise TypeError(f"metrics: expected functions by name, found {name!r}: {metric!r}")


def _calls(task: Task, parameters: Parameters | None, overrides: object, seeds: int | Iterable[int] | None,
           samples: int | None, sample_seed: int | None) -> list[_CallPoint]:
    """The points of a function."""
    assert task.function is not None
    if parameters is None:
        parameters = {}
        if seeds is None:
            raise TypeError(f"parameters: expected the arguments of {name_of(task.function)}, found none")
    if overrides is not None:
        raise TypeError("overrides: expected a scenario to override, found a function")
    points = sweep_points(parameters, samples=samples, sample_seed=1 if sample_seed is None else sample_seed, seeds=seeds)
    for point in points:
        require_arguments(task.function, point)
    code = identity(task)
    return [_CallPoint(i, code, values) for i, values in enumerate(points)]


def _of_programs(programs: ProgramsScenario, parameters: Parameters | None, overrides: Mapping[str, Any] | None,
                 samples: int | None, sample_seed: int | None
                 ) -> tuple[Callable[..., Any], Parameters, int | None, int | None]:
    """A scenario of programs as a function of its keys, and its own axes where none are given."""
    if parameters is None:
        base = programs.machine()
        parameters = _axes(base, overrides)
        if samples is None and any(isinstance(v, (Uniform, Choice)) for v in parameters.values()):
            samples = base.sweep_samples[0]
        sample_seed = base.sweep_samples[1] if sample_seed is None else sample_seed
    function: Any = functools.partial(programs, **overrides) if overrides else programs
    return function, parameters, samples, sample_seed


def _scenarios(what: Any, parameters: Parameters | None, overrides: Mapping[str, Any] | None,
               seeds: int | Iterable[int] | None, samples: int | None, sample_seed: int | None
               ) -> tuple[list[_ScenarioPoint], list[tuple[str, str]]]:
    """The points of a scenario, and the files that are read for them, each with the key that names it."""
    base = Scenario(what, overrides=overrides)
    own_samples, own_seed = base.sweep_samples if parameters is None else (1, 1)
    sample_seed = own_seed if sample_seed is None else sample_seed
    if parameters is None:
        parameters = _axes(base, overrides)
        if samples is None and any(isinstance(v, (Uniform, Choice)) for v in parameters.values()):
            samples = own_samples
    base = base.override({"sweep": None}) if base.sweep_axes else base
    points = [_ScenarioPoint(i, base, values) for i, values in enumerate(
        sweep_points(parameters, samples=samples, sample_seed=sample_seed, seeds=seeds, first_seed=base.seed))]
    if points and all(p.given is None for p in points):
        raise points[0].input_error
    reads = [("scenario", base.file), *(file for p in points if p.given is not None for file in p.given.inputs)]
    return points, list(dict.fromkeys(reads))


def _axes(base: Scenario, overrides: Mapping[str, Any] | None) -> dict[str, Any]:
    """The scenario's own sweep without the keys that somebody has set to one value."""
    axes = dict(base.sweep_axes)
    for key, value in (overrides or {}).items():
        axes.pop(key, None)
        above = next((axis for axis in axes if key.startswith(f"{axis}.")), None)
        if above is not None:
            raise InputError(f"--set {key}={value}: expected a key that the sweep leaves alone, found one below its key "
                             f'"{above}"')
    return axes


def _rows(task: Task, points: list[_Point], file: RowFile | None, jobs: int, executor: Pool | None, batch: int,
          progress: bool | None) -> Iterator[dict[str, Any]]:
    done = dict(file.done) if file is not None else {}
    missing = [p for p in points if p.head["point"] not in done]
    rows: dict[int, dict[str, Any]] = dict(done)
    with Progress(len(points), progress) as bar:
        try:
            for row in done.values():
                bar.advance()
                yield row
            for point, results in _results(task, missing, jobs, executor, batch):
                row = point.row(results)
                rows[row["point"]] = row
                if file is not None:
                    file.append(row)
                if row["error"]:
                    bar.message(f"{ {k: v for k, v in point.values.items()} }: {row['error']}")
                bar.advance()
                yield row
            if file is not None:
                file.finish([rows[i] for i in sorted(rows)])
        except PoolBroken as error:
            kept = "none is kept, out= keeps them" if file is None else "the same call goes on from there"
            raise RunError(f"the pool has broken after {len(rows)} of {len(points)} points ({error}): {kept}; executor= may "
                           "be a function that makes a pool, which is then made anew") from None
        finally:
            if file is not None:
                file.close()


def _results(task: Task, points: list[_Point], jobs: int, executor: Pool | None, batch: int) -> Iterator[tuple[_Point, Row]]:
    """(point, results) as they finish."""
    todo = []
    for point in points:
        if point.given is None:
            yield point, {"error": point.error}
        else:
            todo.append(point)
    if not todo:
        return

    def given(point: _Point) -> Any:
        return point.given

    if executor is not None:
        foreign = task if isinstance(executor, ThreadPoolExecutor) else packed(task)
        yield from OnPool(executor, foreign, given, batch=batch).results(todo)
        return
    if jobs == 1:
        for point in todo:
            yield point, work(task, [point.given]).results[0]
        return
    # Threads do: a run releases the interpreter lock and shares nothing with the others.
    stop = _core.StopFlag()
    with ThreadPoolExecutor(jobs, thread_name_prefix="loco-sim-sweep") as threads:
        try:
            yield from OnPool(threads, task, given, batch=batch, window=4 * min(jobs, len(todo)), stop=stop).results(todo)
        finally:
            stop.set()  # does something only when the sweep was left early


def sweep(what: What, parameters: Parameters | None = None, *, metrics: Metrics | None = None,
          overrides: Mapping[str, Any] | None = None, seeds: int | Iterable[int] | None = None, samples: int | None = None,
          sample_seed: int | None = None, jobs: int | None = None, executor: Pool | None = None, batch: int = 1,
          out: str | os.PathLike[str] | None = None, resume: bool = True, progress: bool | None = None,
          for_spreadsheets: bool = False) -> pd.DataFrame:
    """Runs a scenario, or calls a function, at many points and returns a table, one row a point.

    Args:
        what: a scenario (a YAML file, the same content as a mapping, or a Scenario), a function that is called with a
            point's values by name, or a Program, whose ``run()`` is called so. A scenario of programs is a function of
            its keys, which gives an `Exec`.
        parameters: ``{"topology.nodes": [2, 4, 8], ...}`` is a grid: every combination. Values are a list, a
            `Range`, or a `Uniform` or `Choice` to draw from. A list of mappings gives the points themselves.
            None: the scenario's own ``sweep:``.
        metrics: functions by the names of columns. Each gets what a point gave (a `Result` of a scenario, else what
            the function returned), where the point is run, and gives a number, text, or such by name. Of a scenario
            these are further columns, of a function the only ones.
        overrides: what all points of a scenario have in common. A key of its own ``sweep:`` is then not swept any more.
        seeds: a number of seeds to try at each point (from the scenario's seed on, else from 1 on), or the seeds.
        samples: how many draws to take from `Uniform` and `Choice`, at each combination of the rest; by default the
            scenario's ``sweep.samples`` with its own sweep, else 1.
        sample_seed: decides the draws; by default as with `samples`.
        jobs: runs at one time, on threads; by default as many as processors.
        executor: where to run instead: any `concurrent.futures.Executor` (processes, Dask, MPI, Ray), or a function
            without arguments that makes one: when a pool has broken, because a worker was killed, another is made.
        batch: points that a worker gets at one time: many where a point is cheap.
        out: a file that rows are written to as they finish: .csv, or .json / .jsonl for one JSON object a line, or
            .parquet, which is there at the end. When the sweep is complete its rows are in the order of the points.
        resume: go on with `out` if it is there: only what is missing is run. False starts again.
        progress: a bar; by default when stderr is a terminal, and in notebooks.
        for_spreadsheets: in a .csv file, text that a spreadsheet would take for a formula (it begins with = + - or @)
            gets an apostrophe before it. Go on with such a file with the same.

    Returns:
        A pandas DataFrame in the order of the points, with a column for each parameter, ``version`` (the worker's),
        ``config_hash`` (of the configuration; of a function, of its code) and ``error`` (None, or why the point failed);
        of scenarios also ``seed``, ``consistent``, ``operations``, ``operations_per_second``, ``latency_*_ps``,
        ``counters.*``, ``workload_counters.*`` and ``by_operation.*``; what metrics and functions gave.

    Raises:
        InputError: a mistake in the scenario, or one that every point has. One that only some points have, and runs
            that fail, are reported in their rows and do not stop the rest.
        RunError: the pool has broken. What had been done is in `out`.
        TypeError, ValueError: arguments that are none, before anything runs.
    """
    given = dict(locals())
    pandas = need("pandas", "sweep(), which returns a table (sweep_rows() does without),")
    rows = list(sweep_rows(**given))
    table: pd.DataFrame = pandas.DataFrame(sorted(rows, key=lambda row: int(row["point"])))
    return table
