"""Sweeps: one scenario at many points of its parameters, on any `concurrent.futures.Executor`.

A row of the result is a function of the point alone: neither the number of jobs nor the order in which they finish
shows in it. Rows are written as they finish, so that an interrupted sweep goes on where it stopped.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
import random
import sys
from collections.abc import Set
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, Sequence, Union

from . import __version__, _core
from ._optional import need
from ._rows import RowFile
from .errors import Error, InputError
from .scenario import Scenario, _seed, require_keys, yaml_text
from .units import at_least, format_like, parse_quantity

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Choice", "Range", "Uniform", "sweep", "sweep_points", "sweep_rows"]

_WINDOW = 256  # points handed to a foreign executor at one time


@dataclass(frozen=True)
class Range:
    """`count` values from `low` to `high`, both included; evenly spaced, or with `log` by equal factors.

    >>> list(Range(2, 16, 4, log=True))
    [2, 4, 8, 16]
    >>> list(Range("50ns", "1us", 3))
    ['50ns', '525ns', '1us']
    """

    low: int | float | str
    high: int | float | str
    count: int
    log: bool = False

    def __iter__(self) -> Iterator[int | float | str]:
        count = at_least("count", self.count, 1)
        for i in range(count):
            yield _between(self.low, self.high, i / (count - 1) if count > 1 else 0.0, self.log, _nearest)


@dataclass(frozen=True)
class Uniform:
    """A random value from `low` to `high`, both included; whole if both are, each as likely. With `log`, each octave is as
    likely: of whole numbers, 1 as 2 and 3 together."""

    low: int | float | str
    high: int | float | str
    log: bool = False

    def draw(self, stream: random.Random) -> int | float | str:
        """One value."""
        return _between(self.low, self.high, stream.random(), self.log, _drawn)


@dataclass(frozen=True)
class Choice:
    """One of these values at random, each as likely."""

    values: Sequence[Any]

    def __post_init__(self) -> None:
        expected = "a list of values"
        if isinstance(self.values, Set):  # whose order, and with it the draws, may be another in the next process
            raise TypeError(f"Choice: expected {expected}, found {self.values!r}")
        object.__setattr__(self, "values", tuple(_listed("Choice", self.values, expected)))

    def draw(self, stream: random.Random) -> Any:
        """One value."""
        return self.values[int(stream.random() * len(self.values))]


def _listed(name: str, values: Any, expected: str) -> list[Any]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: expected {expected}, found {values!r}")
    return list(values)


Values = Union[Iterable[Any], Range, Uniform, Choice]
Parameters = Union[Mapping[str, Values], Sequence[Mapping[str, Any]]]


def _number(value: int | float | str) -> int | float | str:
    """Text that is a whole number, as in YAML, and NumPy's, as that number."""
    if not isinstance(value, (Real, str)):
        raise TypeError(f"expected a number, or text such as 50ns, found {value!r}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"expected a finite number, found {value}")
    whole = value.strip().isdecimal() if isinstance(value, str) else isinstance(value, Integral)
    return int(value) if whole else value


def _between(low: int | float | str, high: int | float | str, share: float, log: bool,
             place: Callable[[Any, Any, float, bool], Any]) -> int | float | str:
    """What `place` finds for two numbers, or two quantities of a kind."""
    low, high = _number(low), _number(high)
    if isinstance(low, str) or isinstance(high, str):
        (b, other) = parse_quantity(str(high))
        (a, kind) = (0, other) if low == 0 else parse_quantity(str(low))
        if kind != other:
            raise ValueError(f"expected two of a kind, found {low!r} and {high!r}")
        return format_like(int(_between(a, b, share, log, place)), kind)
    if log and (low <= 0 or high <= 0):
        raise ValueError(f"log: expected positive bounds, found {low} and {high}")
    value: int | float = place(low, high, share, log)
    return value


def _at(low: float, high: float, share: float, log: bool) -> float:
    return low * math.pow(2.0, share * math.log2(high / low)) if log else low + (high - low) * share


def _nearest(low: int | float, high: int | float, share: float, log: bool) -> int | float:
    """The value at that share of the way; of whole numbers, the nearest one."""
    value = _at(low, high, share, log)
    return round(value) if isinstance(low, int) and isinstance(high, int) else value


def _drawn(low: int | float, high: int | float, share: float, log: bool) -> int | float:
    """The value that a random share from 0 to less than 1 stands for; a whole number stands for all up to the next."""
    if not isinstance(low, int) or not isinstance(high, int):
        return _at(low, high, share, log)
    low, high = min(low, high), max(low, high)
    value = int(_at(low, high + 1, share, True)) if log else low + int(share * (high - low + 1))
    return min(value, high)  # a double may round up


def sweep_points(parameters: Parameters, *, samples: int | None = None, sample_seed: int = 1,
                 seeds: int | Iterable[int] | None = None, first_seed: int = 1) -> list[dict[str, Any]]:
    """The points of a sweep, in order: dicts from dotted keys to values.

    >>> sweep_points({"topology.nodes": [2, 4], "workload.iterations": [10]})
    [{'topology.nodes': 2, 'workload.iterations': 10}, {'topology.nodes': 4, 'workload.iterations': 10}]
    >>> sweep_points([{"seed": 7}])
    [{'seed': 7}]
    """
    sample_seed = at_least("sample_seed", sample_seed, 0)
    if samples is not None:
        samples = at_least("samples", samples, 1)
    drawn: dict[str, Uniform | Choice] = {}
    if isinstance(parameters, Mapping):
        require_keys("parameters", parameters)
        fixed = {k: _listed(k, v, "a list of values, a Range, a Uniform or a Choice") for k, v in parameters.items()
                 if not isinstance(v, (Uniform, Choice))}
        drawn = {k: v for k, v in parameters.items() if isinstance(v, (Uniform, Choice))}
        empty = [k for k, values in fixed.items() if not values]
        empty += [k for k, v in drawn.items() if isinstance(v, Choice) and not v.values]
        if empty:
            raise ValueError(f"{empty[0]}: expected one value or more, found none")
        # A sampled point takes one draw from every distribution; each is drawn from a stream of its own, so that
        # adding a parameter, or samples, leaves the other draws alone.
        draws = [{k: _plain(v.draw(random.Random(f"{sample_seed}/{k}/{i}"))) for k, v in drawn.items()}
                 for i in range((samples or 1) if drawn else 1)]
        points = [{**{k: _plain(v) for k, v in zip(fixed, combination)}, **draw}
                  for combination in itertools.product(*fixed.values()) for draw in draws]
        points = [{k: p[k] for k in parameters} for p in points]
    else:
        points = _own_points(parameters)
        if not points:
            raise ValueError("parameters: expected a mapping, or a list of points, found an empty list")
    if samples is not None and not drawn:
        raise ValueError("samples: expected a Uniform or a Choice to draw from, found none")
    if seeds is None:
        return points
    if any("seed" in p for p in points):
        raise ValueError("seed: a parameter of the sweep already, seeds must not be given, too")
    if isinstance(seeds, Iterable):
        numbers = [_seed(s) for s in seeds]
    else:
        numbers = list(range(first_seed, first_seed + at_least("seeds", seeds, 1)))
    if not numbers:
        raise ValueError("seeds: expected a number of seeds, or a list of them, found an empty list")
    for number in numbers:
        if not 0 <= number < 2**63:
            raise ValueError(f"seeds: expected integers from 0 to 2^63 - 1, found {number}")
    return [{**p, "seed": s} for p in points for s in numbers]


def _own_points(parameters: Any) -> list[dict[str, Any]]:
    """The points that a list gives one by one."""
    if isinstance(parameters, (str, bytes)) or not isinstance(parameters, Iterable):
        raise TypeError(f"parameters: expected a mapping, or a list of points, found {parameters!r}")
    points = list(parameters)
    for point in points:
        require_keys("parameters", point)
    return [{k: _plain(v) for k, v in point.items()} for point in points]


def _plain(value: Any) -> Any:
    """NumPy scalars as Python numbers: rows are compared and written."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value


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
               progress: bool | None = None) -> Iterator[dict[str, Any]]:
    """The rows of a sweep as they finish, those of an earlier, interrupted call first. Arguments: see `sweep`."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor: expected a concurrent.futures.Executor, found {executor!r}")
    need("numpy", "a sweep")  # else every point would fail for want of it
    jobs = len(os.sched_getaffinity(0)) if jobs is None else at_least("jobs", jobs, 1)
    base = Scenario(scenario, overrides=overrides)
    own_samples, own_seed = base.sweep_samples if parameters is None else (1, 1)
    sample_seed = own_seed if sample_seed is None else sample_seed
    if parameters is None:
        parameters = base.sweep_axes
        if samples is None and any(isinstance(v, (Uniform, Choice)) for v in parameters.values()):
            samples = own_samples
    base = base.override({"sweep": None}) if base.sweep_axes else base
    points = [_Point(i, base, values) for i, values in enumerate(
        sweep_points(parameters, samples=samples, sample_seed=sample_seed, seeds=seeds, first_seed=base.seed))]
    if points and all(p.scenario is None for p in points):
        raise points[0].input_error
    file = RowFile(out, [p.head for p in points], resume=resume) if out is not None else None
    return _rows(points, file, jobs, executor, progress)


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
            yield from _on_executor(todo, threads, stop, 4 * jobs)
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
            self._bar.update()
        elif self._on:
            print(f"\r{self._count}/{self._total} runs", end="", file=sys.stderr, flush=True)

    def message(self, text: str) -> None:
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)
        elif self._on:
            print(f"\n{text}", file=sys.stderr)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._on:
            print(file=sys.stderr)


def sweep(scenario: str | os.PathLike[str] | Mapping[str, Any] | Scenario, parameters: Parameters | None = None, *,
          overrides: Mapping[str, Any] | None = None, seeds: int | Iterable[int] | None = None, samples: int | None = None,
          sample_seed: int | None = None, jobs: int | None = None, executor: Executor | None = None,
          out: str | os.PathLike[str] | None = None, resume: bool = True, progress: bool | None = None) -> pd.DataFrame:
    """Runs a scenario at many points and returns a table, one row a point.

    Args:
        scenario: a YAML file, the same content as a mapping, or a Scenario.
        parameters: ``{"topology.nodes": [2, 4, 8], ...}`` is a grid: every combination. Values are a list, a
            `Range`, or a `Uniform` or `Choice` to draw from. A list of mappings gives the points themselves.
            None: the scenario's own ``sweep:``.
        overrides: what all points have in common.
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
                           progress=progress))
    table: pd.DataFrame = pandas.DataFrame(sorted(rows, key=lambda row: int(row["point"])))
    return table
