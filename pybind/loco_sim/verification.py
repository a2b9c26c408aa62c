"""RMA programs: proved for every schedule, or a schedule that breaks them."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from . import _core
from ._keys import file_name
from ._optional import need
from ._shown import shown
from .errors import InputError
from .scenario import yaml_text

Hardware = Union[str, "os.PathLike[str]", Mapping[str, Any]]

__all__ = ["Liveness", "OnHardware", "Verification", "verify"]

_FILE_BYTES_MAX = 1 << 24  # as the command line: a device has no end


@dataclass(frozen=True)
class OnHardware:
    """Whether what a counterexample shows happens on a simulated NIC."""

    hardware: str
    shows: str  #: "seen", "forbidden" (all schedules along its paths were explored), "not seen" or "not run"
    how: str | None = None  #: "explored" or, where that was too large, "sampled"
    states: int = 0  #: explored
    runs: int = 0  #: sampled
    why: str | None = None  #: of "not run"


@dataclass(frozen=True)
class Liveness:
    """Whether what has to happen in the end does, in every run that counts."""

    property: str  #: as in the program: "ends", "leads_to (at(1, try), at(1, cs))"
    line: int
    fairness: str  #: "weak", "nic" or "none": which runs count
    verdict: str  #: "live", "not live" or "unknown"
    why: str
    kind: str | None = None  #: of "not live": "stopped", "deadlock" or "livelock"
    trace: dict[str, Any] | None = None  #: of "not live": "stem", "loop" (for ever) and "again"
    recurrent: str | None = None  #: of a loop in which numbers grow: the condition that it keeps


@dataclass(frozen=True)
class Verification:
    """What was found out about one program: an element of ``loco-sim verify --json`` as an object."""

    file: str
    verdict: str  #: "safe", "unsafe" or "unknown"
    why: str  #: how it was proved, what breaks, or what was reached
    network: str
    engine: str  #: who decided it
    given: int  #: flushes that the verdict is about
    needed: int | None  #: size of a smallest placement of flushes, when one was searched for and found
    placements: list[list[int]]  #: all smallest ones, as indices of flushes in textual order
    seconds: float = field(compare=False)  #: by the clock on the wall: alike results are equal, whatever they took
    trace: list[dict[str, Any]] | None  #: of "unsafe": the schedule, step by step
    shortest: bool  #: no schedule with fewer steps breaks anything
    replay_on: list[OnHardware]  #: of "unsafe": what the hardware that was asked for shows of it
    text: str  #: as ``loco-sim verify`` prints it
    liveness: list[Liveness] = field(default_factory=list)  #: of each liveness property, in textual order

    @property
    def ok(self) -> bool:
        """Whether the program is proved safe, and live as far as it asks for that."""
        return self.verdict == "safe" and all(one.verdict == "live" for one in self.liveness)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"

    def to_pandas(self) -> Any:
        """The schedule as a pandas DataFrame, a row for each step; empty when there is none. Needs pandas."""
        return need("pandas", "Verification.to_pandas()").DataFrame(self.trace or [])


def verify(program: str | os.PathLike[str], *, network: str = "unordered", fairness: str = "weak",
           engine: str = "auto", search_flushes: bool = False, where: bool = False, pending: int = 4, max_seconds: float = 60,
           max_cpu_seconds: float = 0, max_memory: int = 2 << 30, replay_on: Hardware | Sequence[Hardware] = ()) -> Verification:
    """Proves that an RMA program keeps its properties for every schedule of CPUs and NICs, or shows how it breaks them.

    Args:
        program: a file, or the text of a program: text has a "{".
        network: "unordered", "verbs", "in-order" or "sc".
        fairness: which runs count for liveness properties that do not say it: "weak" (whoever can go on does), "nic"
            (operations are done, processes may stop) or "none".
        engine: "auto", "explicit", "predicates" or "extrapolate".
        search_flushes: also all smallest sets of the program's flushes that suffice.
        where: the same for a flush after every remote statement, in place of the program's own.
        pending: instances of a remote statement that are told apart while they are pending, at most.
        max_seconds: time limit, by the clock on the wall; 0 is none.
        max_cpu_seconds: the same in seconds of the processor, which do not depend on what else runs.
        max_memory: bytes that the points of a search may take.
        replay_on: hardware to try a counterexample on: a profile's name or file, a mapping that starts from one
            (``{"base": "cx5-roce-25g", "nic": {"placement": "unordered"}}``), or several.

    Raises:
        InputError: the program has a mistake, or an argument is none of those above.
        OSError: the file cannot be read.
    """
    if isinstance(program, str) and "{" in program:
        content, name = program.encode(errors="surrogatepass"), "<program>"
    else:
        name = file_name(program, "program", "a file or the text of a program")
        with open(name, "rb") as file:
            content = file.read(_FILE_BYTES_MAX + 1)
        if len(content) > _FILE_BYTES_MAX:
            raise InputError(f"{shown(name)}:1:1: expected at most {_FILE_BYTES_MAX} bytes, found more")
    if not isinstance(replay_on, (str, os.PathLike, Iterable)):
        raise TypeError(f"replay_on: expected a profile's name or file, a mapping, or several, found {replay_on!r}")
    profiles = [replay_on] if isinstance(replay_on, (str, os.PathLike, Mapping)) else replay_on
    out, words = _core.verify_program(content, name, {
        "network": network, "fairness": fairness, "engine": engine, "search_flushes": search_flushes, "where": where,
        "pending": pending, "max_seconds": max_seconds, "max_cpu_seconds": max_cpu_seconds, "max_memory": max_memory,
        "replay_on": [yaml_text(one, "replay_on") for one in profiles]})
    report = json.loads(out)
    flushes = report["flushes"]
    return Verification(
        file=report["file"], verdict=report["verdict"], why=report["why"], network=report["network"],
        engine=report["engine"], given=flushes["given"], needed=flushes["needed"], placements=flushes["placements"],
        seconds=report["seconds"], trace=report.get("trace"), shortest=report.get("shortest", False),
        replay_on=[OnHardware(**one) for one in report.get("replay_on", [])], text=words,
        liveness=[Liveness(**one) for one in report.get("liveness", [])])
