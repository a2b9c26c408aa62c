"""What a worker of a sweep does: some points, in whatever process or thread the executor has."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import pickle
import textwrap
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence, Union

from . import __version__, _core
from ._optional import need
from .errors import Error
from .outcome import Outcome
from .scenario import Scenario

if TYPE_CHECKING:
    from .result import Result

Metrics = Mapping[str, Callable[[Any], Any]]
Row = dict[str, Any]


class Task(NamedTuple):
    """What is done at each point. `function`: with the point's values by name; None: the point is a scenario, to be run."""

    function: Optional[Callable[..., Any]]
    metrics: Optional[Metrics]


class Answer(NamedTuple):
    """What a worker sends back: its version, and the results of each point."""

    version: str
    results: list[Row]


class Packed:
    """A task that pickle does not know how to pickle: a lambda, a function in a function."""

    def __init__(self, task: Task) -> None:
        self._bytes: bytes = need("cloudpickle", "a sweep of a function that is no function of a module").dumps(task)

    def task(self) -> Task:
        """The task itself."""
        found: Task = pickle.loads(self._bytes)
        return found


def packed(task: Task) -> Union[Task, Packed]:
    """The task in a form that pickles."""
    try:
        pickle.dumps(task)
    except Exception:  # whatever its parts raise
        return Packed(task)
    return task


def work(task: Union[Task, Packed], points: Sequence[Any], stop: Optional[_core.StopFlag] = None) -> Answer:
    """The results of some points. What goes wrong with one is its result."""
    done = task.task() if isinstance(task, Packed) else task
    return Answer(__version__, [_results(done, point, stop) for point in points])


def _results(task: Task, point: Any, stop: Optional[_core.StopFlag]) -> Row:
    try:
        if task.function is None:
            return _of_run(point, task.metrics, stop)
        result = task.function(**point)
        return {"error": None, **(cells(result) if task.metrics is None else _measured(task.metrics, result))}
    except MemoryError as error:
        return {"error": f"MemoryError: {error}", "retry": True}
    except Error as error:
        return {"error": str(error)}
    except Exception as error:  # of a function of one's own
        return {"error": f"{type(error).__name__}: {error}"}


def _of_run(scenario: Scenario, metrics: Optional[Metrics], stop: Optional[_core.StopFlag]) -> Row:
    from .result import run

    result = run(scenario, keep_trace=metrics is not None, stop=stop)
    return {"error": None, **summary(result), **(_measured(metrics, result) if metrics else {})}


def _measured(metrics: Metrics, result: Any) -> Row:
    row: Row = {}
    for name, metric in metrics.items():
        try:
            value = metric(result)
        except Exception as error:
            raise Error(f"metrics: {name}: {type(error).__name__}: {error}") from error
        row.update(_flat(name, value))
    return row


def summary(result: Union[Result, Outcome]) -> Row:
    """A run's results as the cells of a row."""
    times = result.latency.summary()
    return {
        "consistent": result.consistent,
        "operations": result.operations_done,
        "operations_per_second": result.operations_per_second,
        "latency_min_ps": times["min_ps"], "latency_median_ps": times["median_ps"],
        "latency_p99_ps": times["p99_ps"], "latency_max_ps": times["max_ps"],
        "measured_ps": result.measured_ps, "simulated_ps": result.simulated_ps,
        **_flat("counters", result.counters),
        **_flat("workload_counters", result.workload_counters),
        **_flat("by_operation", {name: t.summary() for name, t in result.operations.items()}),
    }


def cells(result: Any) -> Row:
    """The cells of a row that a function's result stands for.

    Raises:
        TypeError: it is neither a run's result, a number, text, a mapping nor something else with named values.
    """
    from .litmus_tests import LitmusResults
    from .programs import Exec
    from .verification import Verification

    if isinstance(result, Exec):
        return {"simulated_ps": result.simulated, "fingerprint": result.fingerprint,
                **_flat("ended_us", {str(p.host): p.ended_us for p in result.programs}),
                **_flat("counters", result.counters)}
    if isinstance(result, Outcome):
        return summary(result)
    if isinstance(result, Verification):
        return {name: getattr(result, name) for name in ("verdict", "why", "network", "engine", "given", "needed")}
    if isinstance(result, LitmusResults):
        return {"ok": result.ok, **{f"{test.name}.ok": test.ok for test in result}}
    if isinstance(result, (list, tuple)) and not hasattr(result, "_fields") and len(result) == 1:
        return cells(result[0])  # of perf: a size, a row
    return _flat("", result)


def _flat(name: str, value: Any) -> Row:
    """Named values below a name as cells: ``{"a": {"b": 1}}`` is the cell ``a.b``. Lists of numbers stay lists."""
    plain = _plain(value)
    if isinstance(plain, Mapping):
        row: Row = {}
        for key, inner in plain.items():
            row.update(_flat(f"{name}.{key}" if name else str(key), inner))
        return row
    return {name or "value": plain}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return value
    if hasattr(value, "_asdict"):  # a named tuple
        return value._asdict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "to_dict"):  # a row of pandas
        return value.to_dict()
    if hasattr(value, "tolist"):  # of NumPy
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    raise TypeError(f"expected a number, text, or values by name (metrics= takes them from anything), found {value!r}")


def require_arguments(function: Callable[..., Any], point: Mapping[str, Any]) -> None:
    """TypeError unless the function takes the point's values by name."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # one of C
        return
    try:
        signature.bind(**point)
    except TypeError as error:
        raise TypeError(f"parameters: expected those of {name_of(function)}{signature}, found {', '.join(point) or 'none'} "
                        f"({error})") from None


def name_of(function: Callable[..., Any]) -> str:
    """What messages call it."""
    return getattr(function, "__qualname__", None) or type(function).__name__


def identity(task: Task) -> str:
    """16 hexadecimal digits of what is done at a point: other code, other digits."""
    parts = [part for one in (task.function, *_named(task.metrics)) for part in _identity(one)]
    return hashlib.sha256("\0".join(parts).encode(errors="backslashreplace")).hexdigest()[:16]


def _named(metrics: Optional[Metrics]) -> Iterator[Any]:
    for name, metric in (metrics or {}).items():
        yield name
        yield metric


def _identity(one: Any) -> Iterator[str]:
    if one is None or isinstance(one, (bool, int, float, str)):
        yield repr(one)
    elif isinstance(one, (tuple, list)):
        for inner in one:
            yield from _identity(inner)
    elif isinstance(one, functools.partial):
        yield from _identity((one.func, *one.args, *sorted(one.keywords.items())))
    elif inspect.ismethod(one):
        yield from _identity(one.__func__)
    elif inspect.isfunction(one):
        yield one.__qualname__
        try:
            yield textwrap.dedent(inspect.getsource(one))
        except (OSError, TypeError):
            yield one.__code__.co_code.hex()
        for cell in one.__closure__ or ():
            yield from _identity(cell.cell_contents)
    else:
        yield name_of(one) if callable(one) else type(one).__qualname__
