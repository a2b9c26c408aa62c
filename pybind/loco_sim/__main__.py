"""`python3 -m loco_sim`: the commands that need Python: sweep and report.

Exit codes as of loco-sim: 0 done, 1 a point or run failed or is inconsistent, or an output could not be written, 2 bad
input.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import signal
import sys
import threading
from types import FrameType
from typing import Any, Callable, NoReturn, Sequence

from . import __version__
from .errors import Error, InputError, RunError


_SCENARIO_BYTES_MAX = 1 << 20


def _overrides(pairs: Sequence[str]) -> dict[str, str]:
    out = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InputError(f"--set {pair}: expected key=value, found {json.dumps(pair)}")
        out[key] = value
    return out


def _say(text: str) -> None:
    """A line on stderr; what cannot be said there is not said."""
    try:
        print(text, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        pass


class _Interrupted(Exception):
    """Ctrl-C, and what had been done until then."""


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """Ctrl-C. During an import it is the end: modules written in C print an exception that stops their being imported,
    or make an ImportError of it. Nothing can be lost by that, a sweep writes each row when it has it."""
    if _importing(frame):
        _say("loco-sim: interrupted")
        os._exit(130)
    signal.default_int_handler(number, frame)


def _sweep(arguments: argparse.Namespace) -> int:
    from ._rows import ForeignRows
    from .sweeps import planned_rows

    if arguments.out is None and sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "stdout")
    failed = 0
    rows: list[dict[str, Any]] = []
    try:
        total, found = planned_rows(arguments.scenario, overrides=_overrides(arguments.set), seeds=arguments.seeds,
                                    jobs=arguments.jobs, out=arguments.out, resume=not arguments.restart,
                                    progress=False if arguments.quiet else None,
                                    for_spreadsheets=arguments.for_spreadsheets)
    except ForeignRows as error:
        raise ForeignRows(error.problem, "--restart") from None
    try:
        for row in found:
            rows.append(row)
            if row["error"]:
                _say(f"point {row['point']}: {row['error']}")
            failed += bool(row["error"]) or row.get("consistent") is False
    except KeyboardInterrupt:
        kept = "the same command goes on" if arguments.out is not None else "none is kept, --out FILE keeps them"
        raise _Interrupted(f"interrupted; {len(rows)} of {total} points done, {kept}") from None
    if arguments.out is None:
        for row in sorted(rows, key=lambda r: int(r["point"])):
            print(json.dumps(row))
    return 1 if failed else 0


def _is_scenario(file: str) -> bool:
    """One by its name, or a JSON file that has a workload and no results."""
    from .scenario import scenarios

    if not os.path.isfile(file):
        return file.endswith((".yaml", ".yml")) or (not os.path.exists(file) and file in scenarios())
    if file.endswith((".yaml", ".yml")):
        return True
    try:
        with open(file, "rb") as opened:
            content = opened.read(_SCENARIO_BYTES_MAX + 1)
        data = json.loads(content.decode("utf-8-sig")) if len(content) <= _SCENARIO_BYTES_MAX else None
    except (OSError, ValueError, RecursionError):
        return False  # what is wrong with it is told where it is read
    return isinstance(data, dict) and "workload" in data and "operations" not in data


def _report(arguments: argparse.Namespace) -> int:
    from ._rows import require_folder_of, require_other_file
    from .reports import read_result, report
    from .result import run
    from .scenario import Scenario

    require_folder_of(arguments.out)
    file: str = arguments.result
    if _is_scenario(file):
        scenario = Scenario(file, seed=arguments.seed, overrides=_overrides(arguments.set))
        require_other_file(arguments.out, [("scenario", scenario.file), *scenario.inputs])
        result = run(scenario)
        report(result, arguments.out)
        return 1 if result.consistent is False else 0
    if arguments.set or arguments.seed is not None:
        raise InputError(f"{file}: expected a scenario beside --set and --seed, found a result")
    data = read_result(file)
    report(data, arguments.out)
    return 1 if data.get("broken") or (data.get("check") or {}).get("consistent") is False else 0


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as all of loco-sim does."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        _say(f"{self.prog}: {message}")
        sys.exit(2)


def _whole_number(least: int, most: int = 2**63 - 1) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdecimal()) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"expected an integer from {least} to {most}, found {json.dumps(text)}")
        return int(text)

    return read


def _forget_stdout() -> None:
    """What could not be written is not tried again when the interpreter ends."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit code."""
    parser = _Parser(prog="loco-sim", description=__doc__)
    parser.add_argument("--version", action="version", version=f"loco-sim {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)

    sweep = commands.add_parser("sweep", help="run a scenario at every point of its sweep: key")
    sweep.add_argument("scenario", help="a YAML file")
    sweep.add_argument("-j", "--jobs", type=_whole_number(1), metavar="N", help="runs at one time (default: as many as processors)")
    sweep.add_argument("--out", metavar="FILE", help="FILE.csv, FILE.json (one object a line) or FILE.parquet; an interrupted sweep "
                                                     "goes on there. Without it: to stdout at the end")
    sweep.add_argument("--seeds", type=_whole_number(1), metavar="N", help="that many seeds at each point")
    sweep.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a key of the scenario")
    sweep.add_argument("--restart", action="store_true", help="overwrite --out instead of going on")
    sweep.add_argument("--for-spreadsheets", action="store_true",
                       help="in FILE.csv, an apostrophe before cells that begin with = + - @")
    sweep.add_argument("-q", "--quiet", action="store_true", help="no progress bar")
    sweep.set_defaults(run=_sweep)

    report = commands.add_parser("report", help="one self-contained HTML page about a run")
    report.add_argument("result", help="a result (run --json, or Result.save), or a scenario to run")
    report.add_argument("-o", "--out", required=True, metavar="FILE.html")
    report.add_argument("--seed", type=_whole_number(0), metavar="N", help="of the run, if a scenario is given")
    report.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a key of the scenario")
    report.set_defaults(run=_report)

    if sys.stderr is None:  # as stdout, too, is when the process began without one
        sys.stderr = open(os.devnull, "w")
    arguments = parser.parse_args(argv)
    try:
        if signal.getsignal(signal.SIGINT) != signal.SIG_IGN and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, _interrupt)
        return _guarded(arguments)
    except KeyboardInterrupt:
        _say("loco-sim: interrupted")
        return 130


def _guarded(arguments: argparse.Namespace) -> int:
    """The command's exit code; every error is a line."""
    try:
        code: int = arguments.run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        _forget_stdout()
        return 0
    except _Interrupted as error:
        _say(f"loco-sim {arguments.command}: {error}")
        return 130
    except OSError as error:  # of outputs: an input that cannot be read is an InputError
        _say(f"loco-sim: {error.filename or 'stdout'}: {error.strerror}")
        _forget_stdout()
        return 1
    except RunError as error:
        _say(f"loco-sim: {error}")
        return 1
    except MemoryError:
        _say("loco-sim: out of memory")
        return 1
    except (Error, ValueError) as error:
        _say(str(error))
        return 2


if __name__ == "__main__":
    sys.exit(main())
