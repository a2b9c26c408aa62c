"""What a run measured: the times that operations took, and what links and queues did over time."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Sequence

from .units import at_least

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Latency", "Series", "rate_text", "time_text"]


def _picoseconds(name: str, values: npt.ArrayLike) -> np.ndarray[Any, Any]:
    import numpy

    given = numpy.asarray(values)
    if given.ndim != 1:
        raise ValueError(f"{name}: expected a list of times, found an array of {given.ndim} dimensions")
    if len(given) and given.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected whole picoseconds, found {given.dtype}")
    return given.astype(numpy.int64, copy=False)


class Latency:
    """The times that operations took: every sample, in picoseconds of simulated time.

    >>> import numpy
    >>> times = Latency(numpy.array([3000, 1000, 2000]))
    >>> times.percentile(50), times.min, times.max, len(times)
    (2000, 1000, 3000, 3)
    """

    def __init__(self, samples_ps: npt.ArrayLike, ends_ps: npt.ArrayLike | None = None) -> None:
        import numpy

        self._samples = _picoseconds("samples_ps", samples_ps)
        self._ends = None if ends_ps is None else _picoseconds("ends_ps", ends_ps)
        if self._ends is not None and len(self._ends) != len(self._samples):
            raise ValueError(f"ends_ps: expected {len(self._samples)}, one for each sample, found {len(self._ends)}")
        self._sorted: np.ndarray[Any, Any] | None = None

    @property
    def samples_ps(self) -> np.ndarray[Any, Any]:
        """Picoseconds, shape (n,), int64, in order of completion. Of a run: read-only, no copy."""
        return self._samples

    @property
    def ends_ps(self) -> np.ndarray[Any, Any]:
        """When each operation ended, in picoseconds since the run began: shape (n,), int64, the order of `samples_ps`.

        Raises:
            ValueError: not known: these samples are of no run.
        """
        if self._ends is None:
            raise ValueError("it is not known when these operations ended")
        return self._ends

    @property
    def sorted_ps(self) -> np.ndarray[Any, Any]:
        """The samples in ascending order."""
        if self._sorted is None:
            import numpy

            self._sorted = numpy.sort(self._samples)
        return self._sorted

    def percentile(self, q: float) -> int:
        """The smallest sample, in picoseconds, that is at least as large as q % of all (nearest rank).

        Raises:
            TypeError: q is no number.
            ValueError: q outside of 0..100, or no samples.
        """
        if not isinstance(q, Real):
            raise TypeError(f"q: expected a number, found {q!r}")
        if not 0 <= q <= 100:
            raise ValueError(f"q: expected 0 to 100, found {q}")
        n = len(self._samples)
        if n == 0:
            raise ValueError("no operation has been measured")
        # Rounding guards against q * n / 100 lying a hair above the whole number that it means.
        rank = max(1, -int(-round(q * n / 100, 9) // 1))
        return int(self.sorted_ps[rank - 1])

    @property
    def min(self) -> int:
        """Picoseconds."""
        return self.percentile(0)

    @property
    def median(self) -> int:
        """Picoseconds."""
        return self.percentile(50)

    @property
    def p99(self) -> int:
        """Picoseconds."""
        return self.percentile(99)

    @property
    def max(self) -> int:
        """Picoseconds."""
        return self.percentile(100)

    @property
    def mean(self) -> float:
        """Picoseconds."""
        if len(self._samples) == 0:
            raise ValueError("no operation has been measured")
        return float(self._samples.mean())

    def cdf(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """(picoseconds ascending, share of the samples that are at most as large)."""
        import numpy

        n = len(self._samples)
        return self.sorted_ps, numpy.arange(1, n + 1) / n

    def histogram(self, bins_per_octave: int = 8) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """(counts, edges in picoseconds) with edges that grow by the same factor: one longer than counts."""
        import numpy

        bins_per_octave = at_least("bins_per_octave", bins_per_octave, 1)
        if len(self._samples) == 0:
            return numpy.zeros(0, int), numpy.zeros(1)
        low = numpy.log2(max(self.min, 1))
        high = numpy.log2(max(self.max, 1))
        bins = max(1, int(numpy.ceil((high - low) * bins_per_octave)))
        edges = numpy.exp2(low + numpy.arange(bins + 1) / bins_per_octave)
        edges[0] = min(edges[0], self.min)
        edges[-1] = max(edges[-1], self.max)
        counts, edges = numpy.histogram(self._samples, edges)
        return counts, edges

    def __len__(self) -> int:
        return len(self._samples)

    def summary(self) -> dict[str, int]:
        """count, min_ps, median_ps, p99_ps, max_ps, as the command line's --json prints them."""
        if len(self) == 0:
            return {"count": 0, "min_ps": 0, "median_ps": 0, "p99_ps": 0, "max_ps": 0}
        return {"count": len(self), "min_ps": self.min, "median_ps": self.median, "p99_ps": self.p99, "max_ps": self.max}

    def __repr__(self) -> str:
        if len(self) == 0:
            return "Latency(no samples)"
        return (f"Latency({len(self)} samples, min {time_text(self.min)}, median {time_text(self.median)}, "
                f"p99 {time_text(self.p99)}, max {time_text(self.max)})")


def together(kinds: Sequence[Latency]) -> Latency:
    """The operations of several kinds as one, in order of completion."""
    import numpy

    none = numpy.empty(0, numpy.int64)
    samples = numpy.concatenate([none, *(k.samples_ps for k in kinds)])
    ends = numpy.concatenate([none, *(k.ends_ps for k in kinds)])
    order = numpy.argsort(ends, kind="stable")
    return Latency(samples[order], ends[order])


class Series:
    """The links of the network over time, looked at in regular intervals: ``series: {interval: 1us}`` in a scenario.

    Attributes:
        interval_ps: picoseconds from one look to the next. Long runs have every second look dropped, and the interval
            doubled, until there are at most 16,384.
        links: names, e.g. "h0-s0": from host 0 to switch 0.
    """

    def __init__(self, interval_ps: int, links: list[str], busy: Any, queued: Any, end_ps: int) -> None:
        import numpy

        self.interval_ps, self.links = interval_ps, links
        shape = (-1, len(links)) if links else (0, 0)
        looks = end_ps // interval_ps + 1  # timers may run on when the programs have ended
        self._busy = numpy.frombuffer(busy, dtype=numpy.int64).reshape(shape)[:looks]
        self._queued = numpy.frombuffer(queued, dtype=numpy.uint64).reshape(shape)[:looks]

    @property
    def times_ps(self) -> np.ndarray[Any, Any]:
        """When it was looked: shape (n,), picoseconds since the run began."""
        import numpy

        return numpy.arange(len(self._busy), dtype=numpy.int64) * self.interval_ps

    @property
    def queued_bytes(self) -> np.ndarray[Any, Any]:
        """What waited for each link's port at that moment: shape (n, links), bytes. Read-only, no copy."""
        return self._queued

    @property
    def busy_ps(self) -> np.ndarray[Any, Any]:
        """For how long each link had been sending by then: shape (n, links), picoseconds. Read-only, no copy."""
        return self._busy

    @property
    def utilisation(self) -> np.ndarray[Any, Any]:
        """The share of each interval for which a link was sending: shape (n - 1, links), 0 to 1."""
        import numpy

        return numpy.diff(self._busy, axis=0) / self.interval_ps

    def __repr__(self) -> str:
        return f"Series({len(self._busy)} looks, one every {time_text(self.interval_ps)}, {len(self.links)} links)"


def _scaled(value: float, units: tuple[str, ...]) -> str:
    unit = 0
    while value >= 1000 and unit + 1 < len(units):
        value /= 1000
        unit += 1
    return f"{value:.{1 if value >= 100 else 2 if value >= 10 else 3}f} {units[unit]}"


def time_text(ps: int) -> str:
    """Picoseconds as people read them.

    >>> time_text(1234567)
    '1.235 us'
    """
    return f"{ps} ps" if ps < 1000 else _scaled(ps * 1e-3, ("ns", "us", "ms", "s"))


def rate_text(per_second: float) -> str:
    """A rate as people read it, without its unit, which follows a space.

    >>> rate_text(1.5e6), rate_text(20)
    ('1.500 M', '20.00')
    """
    return _scaled(per_second, ("", "k", "M", "G")).rstrip()
