"""The points of a sweep: values that are listed, spaced or drawn, every combination of them, and seeds."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Set
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence, Union

from ._keys import require_keys, seed_number
from .units import at_least, format_like, parse_quantity

__all__ = ["Choice", "Parameters", "Range", "Uniform", "Values", "sweep_points"]


_RUNS_MAX = 1_000_000  # of one sweep


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
        count = at_least("count", self.count, 1, most=_RUNS_MAX)
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
        samples = at_least("samples", samples, 1, most=_RUNS_MAX)
    if isinstance(parameters, Mapping):
        require_keys("parameters", parameters)
        points, random_keys = _combined(parameters, samples or 1, sample_seed)
    else:
        points, random_keys = _own_points(parameters), set()
    if samples is not None and not random_keys:
        raise ValueError("samples: expected a Uniform or a Choice to draw from, found none")
    if seeds is None:
        return points
    if any("seed" in p for p in points):
        raise ValueError("seed: a parameter of the sweep already, seeds must not be given, too")
    numbers = _seeds(seeds, first_seed, _RUNS_MAX // max(len(points), 1))
    return [{**p, "seed": s} for p in points for s in numbers]


def _combined(parameters: Mapping[str, Values], samples: int, sample_seed: int) -> tuple[list[dict[str, Any]], set[str]]:
    """Every combination of a grid's values with `samples` draws of the rest, and the keys that are drawn."""
    drawn = {k: v for k, v in parameters.items() if isinstance(v, (Uniform, Choice))}
    fixed = {k: _listed(k, v, "a list of values, a Range, a Uniform or a Choice") for k, v in parameters.items()
             if k not in drawn}
    empty = [k for k, values in fixed.items() if not values]
    empty += [k for k, v in drawn.items() if isinstance(v, Choice) and not v.values]
    if empty:
        raise ValueError(f"{empty[0]}: expected one value or more, found none")
    if math.prod(len(values) for values in fixed.values()) * samples > _RUNS_MAX:
        raise ValueError(f"parameters: expected at most {_RUNS_MAX} runs, found more")
    # A sampled point takes one draw from every distribution; each is drawn from a stream of its own, so that
    # adding a parameter, or samples, leaves the other draws alone.
    draws = [{k: _plain(v.draw(random.Random(f"{sample_seed}/{k}/{i}"))) for k, v in drawn.items()}
             for i in range(samples)]
    points = [{**{k: _plain(v) for k, v in zip(fixed, combination)}, **draw}
              for combination in itertools.product(*fixed.values()) for draw in draws]
    return [{k: p[k] for k in parameters} for p in points], set(drawn)


def _seeds(seeds: int | Iterable[int], first_seed: int, most: int) -> list[int]:
    """The seeds that a number of them, or a list, stands for."""
    if isinstance(seeds, Iterable):
        numbers = [seed_number(s) for s in seeds]
    else:
        count = at_least("seeds", seeds, 1)
        if count > most:
            raise ValueError(f"seeds: expected at most {most}, which make {_RUNS_MAX} runs, found {count}")
        numbers = list(range(first_seed, first_seed + count))
    if not numbers:
        raise ValueError("seeds: expected a number of seeds, or a list of them, found an empty list")
    for number in numbers:
        if not 0 <= number < 2**63:
            raise ValueError(f"seeds: expected integers from 0 to 2^63 - 1, found {number}")
    return numbers


def _own_points(parameters: Any) -> list[dict[str, Any]]:
    """The points that a list gives one by one."""
    if isinstance(parameters, (str, bytes)) or not isinstance(parameters, Iterable):
        raise TypeError(f"parameters: expected a mapping, or a list of points, found {parameters!r}")
    points = list(parameters)
    if not points:
        raise ValueError("parameters: expected a mapping, or a list of points, found an empty list")
    for point in points:
        require_keys("parameters", point)
    return [{k: _plain(v) for k, v in point.items()} for point in points]


def _plain(value: Any) -> Any:
    """NumPy scalars as Python numbers: rows are compared and written."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
