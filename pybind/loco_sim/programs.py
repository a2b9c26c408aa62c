"""Other people's verbs programs on simulated hosts: ``loco-sim exec``."""

from __future__ import annotations

import json
import numbers
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

from . import _core
from ._keys import file_name, require_keys
from .errors import InputError, RunError
from .scenario import Scenario, yaml_text
from .units import yes_or_no

__all__ = ["Exec", "ExecProgram", "exec"]


@dataclass(frozen=True)
class ExecProgram:
    """What one host's program did.

    Attributes:
        host: its host, counted from 0.
        command: its words.
        status: what it exited with.
        signal: that ended it, or 0.
        stdout: what it printed.
        stderr: what it printed there.
        ended_us: when it ended, in microseconds of simulated time.
    """

    host: int
    command: list[str]
    status: int
    signal: int
    stdout: str
    stderr: str
    ended_us: float


@dataclass(frozen=True)
class Exec:
    """A run of programs.

    Attributes:
        programs: of the hosts that have one, by host.
        simulated: picoseconds of simulated time.
        counters: what the machine counted, by name.
        not_supported: what programs asked for and did not get.
        not_deterministic: why another run may differ; empty: it will not.
        fingerprint: of all changes of control between programs and the simulator.
        report: all of ``loco-sim exec --json``.
    """

    programs: list[ExecProgram]
    simulated: int
    counters: dict[str, int]
    not_supported: list[str]
    not_deterministic: list[str]
    fingerprint: str
    report: dict[str, Any]


def _command() -> str:
    beside = Path(_core.__file__).resolve().parents[2] / "bin" / "loco-sim"  # of a build tree
    found = str(beside) if beside.is_file() else shutil.which("loco-sim")
    if found is None:
        raise RunError("loco-sim: the command is not beside the package and not in PATH")
    return found


_PROGRAMS = "a list of words for each host, or a scenario's file"


def _command_line(program: object) -> list[str]:
    """A program and its arguments; TypeError for what is none."""
    if isinstance(program, os.PathLike):
        return [os.fsdecode(program)]
    if isinstance(program, (str, bytes, Mapping)) or not isinstance(program, Iterable):
        raise TypeError(f"programs: expected {_PROGRAMS}, found {program!r}")
    found = list(program)
    for word in found:
        if not isinstance(word, (str, bytes, os.PathLike, numbers.Real)):
            raise TypeError(f"programs: expected words, found {word!r}")
    if not found:
        raise ValueError("programs: expected a program for each host, found no words")
    return [os.fsdecode(word) if isinstance(word, (bytes, os.PathLike)) else str(word) for word in found]


def _require_exec(environment: object, timeout: object) -> None:
    if not isinstance(environment, Mapping) or not all(
            isinstance(text, (str, bytes, os.PathLike)) for pair in environment.items() for text in pair):
        raise TypeError(f"environment: expected texts by the names of variables, found {environment!r}")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, numbers.Real)):
        raise TypeError(f"timeout: expected seconds, found {timeout!r}")
    if timeout is not None and not float(timeout) > 0:
        raise ValueError(f"timeout: expected more than 0 s, found {timeout!r}")


def exec(*programs: Sequence[str] | str | os.PathLike[str], hardware: str | os.PathLike[str] = "cx5-roce-100g",
         topology: str = "star", hosts: int = 2, seed: int = 1, overrides: Mapping[str, Any] = {},
         environment: Mapping[str, str] = {}, check: bool = True, every_packet: bool = False,
         trace: str | os.PathLike[str] | None = None, timeout: float | None = None) -> Exec:
    """Runs verbs programs, as they were compiled, on simulated hosts: what they print, and a report.

    Args:
        programs: a list of words for each host; one list alone runs on all `hosts`, and all but the first get "node0"
            appended. Or one path: a scenario of the workload programs.
        hardware: a profile's name or file.
        topology: "star" or "back_to_back".
        hosts: how many, where one program is given.
        seed: of everything that is random.
        overrides: dotted keys of the hardware, or of the scenario, and values.
        environment: variables of the programs, beside this process's.
        check: programs that fail are a RunError.
        every_packet: also the middle of long messages is simulated, which is left out otherwise, with the same results.
        trace: a file for what NICs and programs did, which `ls.read_trace` reads; `report["verdict"]` judges it. A
            scenario of programs says it with `trace.path`, and then the file is written from Python, too.
        timeout: seconds of real time after which the run is ended.

    Raises:
        InputError: a program that is not there or cannot be run so, a mistake in the scenario.
        RunError: with `check`, a program failed, or nothing was left to happen.
        subprocess.TimeoutExpired: it took longer than `timeout`.
    """
    if not programs:
        raise TypeError(f"programs: expected {_PROGRAMS}, found none")
    _require_exec(environment, timeout)
    every_packet, check = yes_or_no("every_packet", every_packet), yes_or_no("check", check)
    words = [_command(), "exec", "--json", *(f"--set={key}={value}" for key, value in _texts(overrides))]
    if every_packet:
        words.append("--every-packet")
    if trace is not None:
        words.append(f"--trace={file_name(trace, 'trace')}")
    if len(programs) == 1 and isinstance(programs[0], (str, os.PathLike)):
        words += [os.fspath(programs[0])]
    else:
        words += [f"--hardware={file_name(hardware, 'hardware', 'the name or the file of a profile')}", f"--topology={topology}", f"--hosts={hosts}", f"--seed={seed}", "--"]
        for number, program in enumerate(programs):
            words += ([","] if number else []) + _command_line(program)
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=timeout,
                          env={**os.environ, **environment})
    if not done.stdout:
        raise InputError(done.stderr.strip())
    report = json.loads(done.stdout)
    if check and done.returncode != 0:
        raise RunError(done.stderr.strip())
    found = [ExecProgram(p["host"], p["command"], p["status"], p.get("signal", 0), p["stdout"], p["stderr"], p["ended_us"])
             for p in report.get("programs", [])]
    return Exec(found, report["simulated_ps"], report["counters"], report["not_supported"], report["not_deterministic"],
                report["fingerprint"], report)


class ProgramsScenario:
    """A scenario whose workload is programs."""

    def __init__(self, file: str | None, text: str) -> None:
        self._file, self._text = file, text
        self.__qualname__ = text  # what tells the points of a sweep of it from those of another

    @classmethod
    def of(cls, what: Any) -> ProgramsScenario | None:
        """That of a file, a name or a mapping; None for everything else."""
        if isinstance(what, Mapping):
            text = yaml_text(what, "scenario")
            return cls(None, text) if _core.runs_programs(text, "scenario") else None
        if not isinstance(what, (str, os.PathLike)):
            return None
        file = _core.find_scenario(file_name(what, "scenario"))
        if not os.path.isfile(file):  # what a pipe has is read once, by who runs it
            return None
        content = _core.read_document(file)
        return cls(file, content.decode()) if _core.runs_programs(content, file) else None

    def __call__(self, **overrides: Any) -> Exec:
        if self._file is not None:
            return exec(self._file, overrides=overrides)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(self._text)
            file.flush()
            return exec(file.name, overrides=overrides)

    def machine(self) -> Scenario:
        """All of it but its workload."""
        return Scenario.from_yaml(self._text, file=self._file or "scenario",
                                  overrides={"workload": {"kind": "traffic"}, "check": []})


def _texts(overrides: Mapping[str, Any]) -> list[tuple[str, str]]:
    require_keys("overrides", overrides)
    return [(key, value if isinstance(value, str) else yaml_text(value, key)) for key, value in overrides.items()]
