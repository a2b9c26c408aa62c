"""Generated coreRMA tests: every program up to a bound in which a rule matters (docs/corerma.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, Iterator

from . import _core
from ._optional import need

if TYPE_CHECKING:
    import pandas

__all__ = ["GeneratedTest", "GeneratedTests", "generate"]

_BATCH = 100


@dataclass(frozen=True)
class GeneratedTest:
    """A test.

    Attributes:
        name: pivot, processes, size and program; ``generate(after=name)`` goes on after it.
        pivot: the rule that matters in it.
        size: actions and variables of the program.
        document: a litmus document, for `litmus` or a file.
        outcomes: every outcome under the rules: registers by name.
        forbidden: an outcome that only the pivot forbids; None where each such execution has the values of one that is
            allowed.
    """

    name: str
    pivot: str
    size: int
    document: str
    outcomes: tuple[dict[str, int], ...]
    forbidden: dict[str, int] | None


class GeneratedTests:
    """The tests that `generate` found: iterate over them, as often as you like; they are made as they are asked for."""

    def __init__(self, given: dict[str, Any], every: int) -> None:
        self._given, self._every = given, every

    def __iter__(self) -> Iterator[GeneratedTest]:
        after, skip, left = self._given["after"], 0, self._given["limit"] or None
        while left is None or left > 0:
            wanted = _BATCH if left is None else min(_BATCH, left)
            batch = _core.generate_batch(self._given, after, skip, self._every, wanted)
            for name, size, document, outcomes, forbidden in batch:
                yield GeneratedTest(name, self._given["pivot"], size, document, tuple(outcomes), forbidden)
            if len(batch) < wanted:
                return
            after, skip = batch[-1][0], self._every - 1
            left = None if left is None else left - len(batch)

    def __repr__(self) -> str:
        given = self._given
        shown = [repr(given["pivot"]), *(f"{name}={given[name]!r}" for name in ("size", "processes", "rules", "reads")),
                 *(f"{name}={given[name]!r}" for name in ("statements", "hosts", "after", "limit") if given[name])]
        return f"GeneratedTests({', '.join(shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return GeneratedTests, (self._given, self._every)

    def counts(self) -> dict[int, int]:
        """How many tests there are of each size, whatever `after`, `limit` and `sample` say."""
        return dict(_core.generate_count(self._given))

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each test: name, pivot, size, outcomes (how many), forbidden, document."""
        pandas = need("pandas", "GeneratedTests.to_pandas()")
        columns = ["name", "pivot", "size", "outcomes", "forbidden", "document"]
        rows = [(t.name, t.pivot, t.size, len(t.outcomes), t.forbidden, t.document) for t in self]
        return pandas.DataFrame(rows, columns=columns)


def generate(pivot: str, size: int, *, processes: int = 1, hosts: int | None = None,
             statements: str | Iterable[str] = "", rules: str | Iterable[str] = "corerma", reads: str = "any",
             after: str = "", limit: int = 0, sample: int = 0, anyway: bool = False) -> GeneratedTests:
    """Every coreRMA test for a pivot up to a size, each once up to renaming, in a fixed order.

    Args:
        pivot: the rule: "R1", "R2", "F1", "F2", "F3", "PG", "GA", "CAS" (or "CAS-T", "CAS-F"), "LO", "WS", "IR", ...
        size: actions and variables of a program, at most.
        processes, hosts: of a program; hosts beyond the processes' own hold variables only.
        statements: some of "read", "write", "put", "get", "flush", "rga", "cas"; all when left out.
        rules: a rule set by name, or rules ("R1,R2,F1" or a list).
        reads: "any": each writer is read by a local read; "one": by exactly one.
        after: the name of a test to go on after.
        limit: so many tests at most; 0 is no limit.
        sample: at most so many tests, evenly spread over all; 0 is all. They are counted first.
        anyway: even if there are too many programs to come to an end.

    Raises:
        ValueError: no such rule or statement, a pivot that is not in the rules, an impossible bound, or one that is out of
            reach.
        TypeError: arguments of other types.

    >>> [test.name for test in generate("R1", 4)]
    ['R1-1x4-wa.ra.ra']
    >>> generate("LO", 5).counts()
    {3: 1, 4: 5, 5: 23}
    """
    given = dict(locals(), statements=_list(statements), rules=_list(rules))
    _core.generate_check(given)
    if sample and after:
        raise ValueError(f"sample: expected no after beside it, found {after!r}")
    every = 1
    if sample:
        tests = sum(count for _, count in _core.generate_count(given))
        every = max(1, -(-tests // sample))
    return GeneratedTests(given, every)


def _list(words: Any) -> Any:
    """A list of words as text; anything else as it is."""
    if isinstance(words, str) or not isinstance(words, Iterable):
        return words
    return ",".join(str(word) for word in words)
