"""coreRMA on simulated networks: the paper's evaluation, and the rules that a network keeps (docs/corerma.md)."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Mapping

from . import _core
from ._optional import need
from .scenario import yaml_text

if TYPE_CHECKING:
    import pandas

__all__ = ["Campaign", "Fit", "RuleSetFit", "corerma", "fit"]


@dataclass(frozen=True)
class RuleSetFit:
    """A set of rules that allows all that a network showed, and to which no rule can be added.

    Attributes:
        words: "corerma-verbs plus PTG, SO".
        base: the largest set with a name in it; None where there is none.
        plus: what it has beside those.
        rules: all of it; ``litmus(..., model=",".join(rules))`` takes it as a model.
        ruled_out: for each other rule the test that rules it out: `rule`, `test`, `outcome`, `cycle`, `document`.
    """

    words: str
    base: str | None
    plus: tuple[str, ...]
    rules: tuple[str, ...]
    ruled_out: tuple[dict[str, str], ...] = field(repr=False)


@dataclass(frozen=True)
class Fit:
    """The rules that a network keeps.

    Attributes:
        hardware: the profile's name.
        strongest: the strongest sets, those with the most rules first; one where the tests decide.
        exceptions: tests that contradict the basic rules (`test`, `outcome`, `cycle`, `document`) and were left out.
        left_out: what these have, e.g. "rga"; empty where nothing was left out.
        untested: rules of which the tests that are left say nothing.
        tests, outcomes: run and observed.
        allowed: outcomes that the first of `strongest` allows.
    """

    hardware: str
    strongest: tuple[RuleSetFit, ...]
    exceptions: tuple[dict[str, str], ...] = field(repr=False)
    left_out: str
    untested: tuple[str, ...]
    tests: int
    outcomes: int
    allowed: int

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each set and rule that cannot be added to it: set, rule, test, outcome, cycle, document."""
        pandas = need("pandas", "Fit.to_pandas()")
        columns = ["set", "rule", "test", "outcome", "cycle", "document"]
        rows = [{"set": s.words, **why} for s in self.strongest for why in s.ruled_out]
        return pandas.DataFrame(rows, columns=columns)

    def __str__(self) -> str:
        return " or ".join(s.words for s in self.strongest)


class Campaign:
    """The coreRMA paper's Table 6 for simulated networks.

    Attributes:
        data: what ``loco-sim corerma --json`` prints.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each rule, number of processes and network."""
        pandas = need("pandas", "Campaign.to_pandas()")
        rows = []
        for row in self.data["rows"]:
            same = {key: row[key] for key in ("rule", "processes", "size", "tests", "tests_in_bound", "outcomes")}
            for network, tally in row["networks"].items():
                rows.append({**same, "network": network, **{key: tally[key] for key in (
                    "errors", "observed_percent", "own_rules_errors", "own_rules_observed_percent")},
                             "paper_tests": row["paper"]["tests"], "paper_outcomes": row["paper"]["outcomes"]})
        return pandas.DataFrame(rows)

    def errors(self) -> "pandas.DataFrame":
        """A row for each rule and network with errors: the shortest test, its outcome, the cycle that forbids it."""
        pandas = need("pandas", "Campaign.errors()")
        columns = ["rule", "processes", "network", "errors", "test", "size", "outcome", "cycle", "document"]
        rows = [{"rule": row["rule"], "processes": row["processes"], "network": network, "errors": tally["errors"],
                 **tally["shortest_error"]}
                for row in self.data["rows"] for network, tally in row["networks"].items() if "shortest_error" in tally]
        return pandas.DataFrame(rows, columns=columns)

    def unobserved(self) -> "pandas.DataFrame":
        """A row for each network and guarantee that explains expected outcomes that it does not show."""
        pandas = need("pandas", "Campaign.unobserved()")
        columns = ["network", "explained_by", "outcomes", "test", "outcome"]
        rows = [{"network": network["name"], **group} for network in self.data["networks"] for group in network["unobserved"]]
        return pandas.DataFrame(rows, columns=columns)


def corerma(*, size: str = "paper", jobs: int = 1, tests: int = 0) -> Campaign:
    """Runs the coreRMA paper's evaluation on the networks that it tested.

    Args:
        size: "paper", the bounds of its Table 6; or "small", three actions less and few tests.
        jobs: threads that run tests.
        tests: for each rule and number of processes at most; 0: the paper's number, at least 300.

    Raises:
        ValueError: another size, or numbers out of range.
    """
    return Campaign(json.loads(_core.corerma_json({"size": size, "jobs": jobs, "tests": tests})))


def fit(hardware: str | os.PathLike[str] | Mapping[str, Any], *, routing: str | None = None, tests: int = 60) -> Fit:
    """The strongest sets of coreRMA rules that a network is consistent with.

    Args:
        hardware: a profile's name or file, or a mapping that starts from one:
            ``{"base": "model-weak", "nic": {"placement": "unordered"}}``.
        routing: "deterministic" or "ecmp": all packets of a queue pair take one path; "adaptive" or "spray", or left
            out: they may take any.
        tests: for each rule and number of processes, the smallest ones.

    Raises:
        InputError: a profile that does not exist or does not fit.
        ValueError: another routing, or a number out of range.

    >>> str(fit({"base": "model-weak", "nic": {"placement": "unordered"}}, tests=10))
    'corerma-unordered plus PTA, SO, SF, FA'
    """
    data = json.loads(_core.fit_json({"hardware": yaml_text(hardware, "hardware"), "routing": routing or None, "tests": tests}))
    strongest = tuple(RuleSetFit(s["words"], s["base"], tuple(s["plus"]), tuple(s["rules"]), tuple(s["ruled_out"]))
                      for s in data["strongest"])
    return Fit(data["hardware"], strongest, tuple(data["exceptions"]), data["left_out"], tuple(data["untested"]),
               data["tests"], data["outcomes"], data["allowed"])
