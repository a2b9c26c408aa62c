"""Sweeps: one scenario at many points of its parameters, on any `concurrent.futures.Executor`.

A row of the result is a function of the point alone: neither the number of jobs nor the order in which they finish
shows in it. Rows are written as they finish, so that an interrupted sweep goes on where it stopped.
"""

from __future__ import annotations

import functools
import itertools
import os
import sys
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping

from . import __version__, _core
from ._optional import need
from ._rows import RowFile
from .errors import Error, InputError
from .points import Choice, Parameters, Uniform, sweep_points
from .scenario import Scenario, yaml_text
from .units import at_least

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["sweep", "sweep_rows"]

_WINDOW = 256  # points handed to a foreign executor at one time


def _run_point(scenario: Scenario, stop: _core.StopFlag | None = None) -> dict[str, Any]:
    """One run as a row's results. Called in whatever process or thread the executor has."""
    from .result import run

    try:
        result = run(scenario, keep_trace=False, stop=stop)
    except Error as error:
        return {"error": str(error)}
    times = result.latency.summary()
    return {
        "error": None,
        "consistent": result.consistent,
        "operations": result.operations_done,
        "operations_per_second": result.operations_per_second,
        "latency_min_ps": times["min_ps"], "latency_median_ps": times["median_ps"],
        "latency_p99_ps": times["p99_ps"], "latency_max_ps": times["max_ps"],
        "measured_ps": result.measured_ps, "simulated_ps": result.simulated_ps,
        **{f"counters.{k}": v for k, v in result.counters.items()},
        "workload_counters": result.workload_counters,
        "by_operation": {name: t.summary() for name, t in result.operations.items()},
    }


class _Point:
    """A point, the scenario that it makes, and what identifies its row."""

    def __init__(self, index: int, base: Scenario, values: Mapping[str, Any]) -> None:
        self.values = dict(values)
        self.scenario: Scenario | None = None
        self.error = ""
        seed: int | None = self.values.get("seed")
        config_hash = ""
        try:
            self.scenario = base.override(self.values)
            seed, config_hash = self.scenario.seed, self.scenario.config_hash()
        except InputError as error:
            self.input_error = error
            self.error = str(error)
        self.head: dict[str, Any] = {"point": index, **{k: v if isinstance(v, (int, float, str)) else yaml_text(v)
                                        for k, v in self.values.items()},
                     "seed": seed, "version": __version__, "config_hash": config_hash}

    def row(self, results: Mapping[str, Any]) -> dict[str, Any]:
        return {**self.head, **results}


def sweep_rows(scenario: str | os.PathLike[str] | Mapping[str, Any] | Scenario, parameters: Parameters | None = None, *,
               overrides: Mapping[str, Any] | None = None, seeds: int | Iterable[int] | None = None, samples: int | None = None,
               sample_seed: int | None = None, jobs: int | None = None, executor: Executor | None = None,
               out: str | os.PathLike[str] | None = None, resume: bool = True,
               progress: bool | None = None, for_spreadsheets: bool = False) -> Iterator[dict[str, Any]]:
    """The rows of a sweep as they finish, those of an earlier, interrupted call first. Arguments: see `sweep`."""
    return planned_rows(scenario, parameters, overrides=overrides, seeds=seeds, samples=samples, sample_seed=sample_seed,
                        jobs=jobs, executor=executor, out=out, resume=resume, progress=progress,
                        for_spreadsheets=for_spreadsheets)[1]


def planned_rows(scenario: str | os.PathLike[str] | Mapping[str, Any] | Scenario, parameters: Parameters | None = None, *,
                 overrides: Mapping[str, Any] | None = None, seeds: int | Iterable[int] | None = None,
                 samples: int | None = None, sample_seed: int | None = None, jobs: int | None = None,
                 executor: Executor | None = None, out: str | os.PathLike[str] | None = None, resume: bool = True,
                 progress: bool | None = None, for_spreadsheets: bool = False
                 ) -> tuple[int, Iterator[dict[str, Any]]]:
    """How many rows there will be, and these, as `sweep_rows` gives them."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor: expected a concurrent.futures.Executor, found {executor!r}")
    need("numpy", "a sweep")  # else every point would fail for want of it
    jobs = len(os.sched_getaffinity(0)) if jobs is None else at_least("jobs", jobs, 1, most=2**63 - 1)
    base = Scenario(scenario, overrides=overrides)
    own_samples, own_seed = base.sweep_samples if parameters is None else (1, 1)
    sample_seed = own_seed if sample_seed is None else sample_seed
    if parameters is None:
        parameters = _axes(base, overrides)
        if samples is None and any(isinstance(v, (Uniform, Choice)) for v in parameters.values()):
            samples = own_samples
    base = base.override({"sweep": None}) if base.sweep_axes else base
    points = [_Point(i, base, values) for i, values in enumerate(
        sweep_points(parameters, samples=samples, sample_seed=sample_seed, seeds=seeds, first_seed=base.seed))]
    if points and all(p.scenario is None for p in points):
        raise points[0].input_error
    file = None
    if out is not None:
        file = RowFile(out, [p.head for p in points], resume=resume, for_spreadsheets=for_spreadsheets)
    return len(points), _rows(points, file, jobs, executor, progress)


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


def _rows(points: list[_Point], file: RowFile | None, jobs: int, executor: Executor | None,
          progress: bool | None) -> Iterator[dict[str, Any]]:
    done = dict(file.done) if file is not None else {}
    missing = [p for p in points if p.head["point"] not in done]
    rows: dict[int, dict[str, Any]] = dict(done)
    with _Progress(len(points), progress) as bar:
        try:
            for row in done.values():
                bar.advance()
                yield row
            for point, results in _results(missing, jobs, executor):
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
        finally:
            if file is not None:
                file.close()


def _results(points: list[_Point], jobs: int, executor: Executor | None
             ) -> Iterator[tuple[_Point, dict[str, Any]]]:
    """(point, results) as they finish."""
    todo = []
    for point in points:
        if point.scenario is None:
            yield point, {"error": point.error}
        else:
            todo.append(point)
    if executor is not None:
        yield from _on_executor(todo, executor, None, _WINDOW)
        return
    if jobs == 1:
        for point in todo:
            assert point.scenario is not None
            yield point, _outcome(functools.partial(_run_point, point.scenario))
        return
    # Threads do: a run releases the interpreter lock and shares nothing with the others.
    stop = _core.StopFlag()
    with ThreadPoolExecutor(jobs, thread_name_prefix="loco-sim-sweep") as threads:
        try:
            yield from _on_executor(todo, threads, stop, 4 * min(jobs, len(todo)))
        finally:
            stop.set()  # does something only when the sweep was left early


def _on_executor(points: list[_Point], executor: Executor, stop: _core.StopFlag | None, window: int
                 ) -> Iterator[tuple[_Point, dict[str, Any]]]:
    waiting: dict[Future[dict[str, Any]], _Point] = {}
    rest = iter(points)
    try:
        while True:
            for point in itertools.islice(rest, window - len(waiting)):
                arguments: tuple[Any, ...] = (point.scenario,) if stop is None else (point.scenario, stop)
                waiting[_submitted(executor, *arguments)] = point
            if not waiting:
                return
            # A timeout lets Ctrl-C through on every platform.
            finished, _ = wait(list(waiting), timeout=0.05, return_when=FIRST_COMPLETED)
            for future in sorted(finished, key=lambda f: int(waiting[f].head["point"])):
                yield waiting.pop(future), _outcome(future.result)
    finally:
        for future in waiting:
            future.cancel()


def _submitted(executor: Executor, *arguments: Any) -> Future[dict[str, Any]]:
    """A pool with a dead worker takes nothing any more: the rest fails as what it had taken does."""
    try:
        return executor.submit(_run_point, *arguments)
    except BrokenExecutor as error:
        failed: Future[dict[str, Any]] = Future()
        failed.set_exception(error)
        return failed


def _outcome(result: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return result()
    except Exception as error:  # the worker died, ran out of memory, ...: this point's failure, not the sweep's
        return {"error": f"{type(error).__name__}: {error}", "retry": True}


class _Progress:
    """A bar with the time left on stderr: tqdm's, or a plain counter where tqdm is not installed."""

    def __init__(self, total: int, wanted: bool | None) -> None:
        self._total, self._count = total, 0
        self._bar: Any = None
        # stderr is None when the process began without one
        self._on = sys.stderr is not None and (sys.stderr.isatty() if wanted is None else wanted)

    def __enter__(self) -> _Progress:
        if self._on:
            try:
                from tqdm import tqdm
            except ImportError:
                print("loco_sim: pip install tqdm shows a progress bar with the time left", file=sys.stderr)
            else:
                self._bar = tqdm(total=self._total, file=sys.stderr, unit="run")
        return self

    def advance(self) -> None:
        self._count += 1
        if self._bar is not None:
            self._show(self._bar.update)
        elif self._on:
            self._show(lambda: print(f"\r{self._count}/{self._total} runs", end="", file=sys.stderr, flush=True))

    def message(self, text: str) -> None:
        if self._bar is not None:
            self._show(lambda: self._bar.write(text, file=sys.stderr))
        elif self._on:
            self._show(lambda: print(f"\n{text}", file=sys.stderr))

    def _show(self, draw: Callable[[], Any]) -> None:
        """A terminal that has gone, or is full, is no reason to end a sweep."""
        try:
            draw()
        except OSError:
            self._on, self._bar = False, None

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._show(self._bar.close)
        elif self._on:
            self._show(lambda: print(file=sys.stderr))


def sweep(scenario: str | os.PathLike[str] | Mapping[str, Any] | Scenario, parameters: Parameters | None = None, *,
          overrides: Mapping[str, Any] | None = None, seeds: int | Iterable[int] | None = None, samples: int | None = None,
          sample_seed: int | None = None, jobs: int | None = None, executor: Executor | None = None,
          out: str | os.PathLike[str] | None = None, resume: bool = True, progress: bool | None = None,
          for_spreadsheets: bool = False) -> pd.DataFrame:
    """Runs a scenario at many points and returns a table, one row a point.

    Args:
        scenario: a YAML file, the same content as a mapping, or a Scenario.
        parameters: ``{"topology.nodes": [2, 4, 8], ...}`` is a grid: every combination. Values are a list, a
            `Range`, or a `Uniform` or `Choice` to draw from. A list of mappings gives the points themselves.
            None: the scenario's own ``sweep:``.
        overrides: what all points have in common. A key of the scenario's own ``sweep:`` is then not swept any more.
        seeds: a number of seeds to try at each point (from the scenario's seed on), or the seeds.
        samples: how many draws to take from `Uniform` and `Choice`, at each combination of the rest; by default the
            scenario's ``sweep.samples`` with its own sweep, else 1.
        sample_seed: decides the draws; by default as with `samples`.
        jobs: runs at one time, on threads; by default as many as processors.
        executor: where to run instead: any `concurrent.futures.Executor` (processes, Dask, MPI, Ray).
        out: a file that rows are written to as they finish: .csv, or .json / .jsonl for one JSON object a line. When the
            sweep is complete its rows are in the order of the points.
        resume: go on with `out` if it is there: only what is missing is run. False starts again.
        progress: a bar on stderr; by default when that is a terminal.
        for_spreadsheets: in a .csv file, text that a spreadsheet would take for a formula (it begins with = + - or @)
            gets an apostrophe before it. Go on with such a file with the same.

    Returns:
        A pandas DataFrame with a column for each parameter, ``seed``, ``error`` (None, or why the point failed),
        ``consistent``, ``operations``, ``operations_per_second``, ``latency_*_ps``, ``counters.*``, ``workload_counters``
        (what the workload and the network counted), ``by_operation``, ``version`` and ``config_hash``, in the order of the points.

    Raises:
        InputError: a mistake in the scenario, or one that every point has. One that only some points have, and runs
            that fail, are reported in their rows and do not stop the rest.
        TypeError, ValueError: arguments that are none, before anything runs.
    """
    pandas = need("pandas", "sweep(), which returns a table (sweep_rows() does without),")
    rows = list(sweep_rows(scenario, parameters, overrides=overrides, seeds=seeds, samples=samples,
                           sample_seed=sample_seed, jobs=jobs, executor=executor, out=out, resume=resume,
                           progress=progress, for_spreadsheets=for_spreadsheets))
    table: pd.DataFrame = pandas.DataFrame(sorted(rows, key=lambda row: int(row["point"])))
    return table
