"""Points of a sweep on executors: so many at a time, in batches, on pools that break and are made anew."""

from __future__ import annotations

import collections
import contextlib
import itertools
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from typing import Any, Callable, Deque, Generic, Iterator, Optional, Sequence, TypeVar, Union

from . import __version__, _core
from ._work import Answer, Packed, Row, Task, work
from .errors import RunError

WINDOW = 256  # batches handed to an executor at one time

_DEATHS_MAX = 3  # of workers that had a point
_RENEWED_MAX = 3  # pools, one after the other, none of which has done anything

P = TypeVar("P")
Pool = Union[Executor, Callable[[], Executor]]


class PoolBroken(RunError):
    """A pool takes nothing any more. Rows until then have been told."""


class _Pool:
    """An executor, or one that is made when there is none and after it has broken."""

    def __init__(self, pool: Pool) -> None:
        self._make = None if isinstance(pool, Executor) or hasattr(pool, "submit") else pool
        self._executor: Any = pool if self._make is None else None

    def submit(self, *arguments: Any) -> Future[Answer]:
        if self._executor is None and self._make is not None:
            self._executor = self._make()
            if not callable(getattr(self._executor, "submit", None)):
                raise TypeError(f"executor: expected a function that makes an executor, found one that makes {self._executor!r}")
        submitted: Future[Answer] = self._executor.submit(work, *arguments)
        return submitted

    def renew(self) -> bool:
        """Forgets a pool that has broken; False: it was given."""
        if self._make is None:
            return False
        self.close(broken=True)
        return True

    def close(self, broken: bool = False) -> None:
        if self._make is not None and self._executor is not None:
            executor, self._executor = self._executor, None
            with contextlib.suppress(Exception):
                executor.shutdown(wait=not broken)


class OnPool(Generic[P]):
    """The points of a sweep on a pool. `given`: what a worker gets of a point."""

    def __init__(self, pool: Pool, task: Union[Task, Packed], given: Callable[[P], Any], *, batch: int = 1,
                 window: int = 0, stop: Optional[_core.StopFlag] = None) -> None:
        self._pool = _Pool(pool)
        self._task, self._given, self._batch = task, given, batch
        self._window = window or WINDOW
        self._stop = () if stop is None else (stop,)
        self._waiting: dict[Future[Answer], list[P]] = {}
        self._deaths: dict[int, int] = {}  # by id of a point: workers that died while they had it
        self._renewed = 0

    def results(self, points: Sequence[P]) -> Iterator[tuple[P, Row]]:
        """(point, results) as they finish.

        Raises:
            PoolBroken: the pool takes nothing any more, and it was given, or new ones break at once.
        """
        rest: Deque[P] = collections.deque(points)
        alone: Deque[P] = collections.deque()  # each may be what kills workers
        try:
            while rest or alone or self._waiting:
                problem = self._fill(rest, alone)
                # A timeout lets Ctrl-C through on every platform.
                finished, _ = wait(list(self._waiting), timeout=0.05, return_when=FIRST_COMPLETED)
                lost: list[P] = []
                for future in [f for f in self._waiting if f in finished]:
                    batch = self._waiting.pop(future)
                    try:
                        answer = future.result()
                    except (BrokenExecutor, CancelledError) as error:
                        problem, lost = error, lost + batch
                        continue
                    except Exception as error:  # a worker was lost, what it sent cannot be read, ...
                        yield from ((point, {"error": _text(error), "retry": True}) for point in batch)
                        continue
                    self._renewed = 0
                    yield from zip(batch, _of_this_version(answer))
                if problem is not None:
                    yield from self._heal(problem, lost, rest, alone)
        finally:
            for future in self._waiting:
                future.cancel()
            self._pool.close()

    def _fill(self, rest: Deque[P], alone: Deque[P]) -> Optional[BaseException]:
        """Hands out what there is room for; why the pool takes nothing any more."""
        while (rest or alone) and len(self._waiting) < self._window:
            if alone and self._waiting:
                return None
            batch = [alone.popleft()] if alone else list(itertools.islice(_taken(rest), self._batch))
            try:
                future = self._pool.submit(self._task, [self._given(point) for point in batch], *self._stop)
            except (BrokenExecutor, RuntimeError) as error:  # it was shut down
                rest.extendleft(reversed(batch))
                return error
            self._waiting[future] = batch
        return None

    def _heal(self, problem: BaseException, lost: list[P], rest: Deque[P], alone: Deque[P]) -> Iterator[tuple[P, Row]]:
        """A new pool for what the old one had."""
        for batch in self._waiting.values():
            lost.extend(batch)
        self._waiting.clear()
        self._renewed += 1
        if not self._pool.renew() or self._renewed > _RENEWED_MAX:
            raise PoolBroken(_text(problem))
        again: list[P] = []
        for point in lost:
            deaths = self._deaths[id(point)] = self._deaths.get(id(point), 0) + 1
            if deaths >= _DEATHS_MAX:
                self._renewed = 0
                yield point, {"error": f"its worker died {deaths} times ({_text(problem)})", "retry": True}
            elif deaths == _DEATHS_MAX - 1:
                alone.append(point)
            else:
                again.append(point)
        rest.extendleft(reversed(again))


def _taken(queue: Deque[P]) -> Iterator[P]:
    while queue:
        yield queue.popleft()


def _text(error: BaseException) -> str:
    said = str(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _of_this_version(answer: Answer) -> list[Row]:
    """The results, or that the worker runs something else."""
    if answer.version == __version__:
        return answer.results
    other = {"error": f"expected a worker with loco_sim {__version__}, found one with {answer.version}",
             "version": answer.version, "retry": True}
    return [dict(other) for _ in answer.results]
