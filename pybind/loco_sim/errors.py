"""What can go wrong, as exceptions. The text of each is what the command line prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["Error", "InputError", "MissingPackageError", "RunError", "TraceError"]


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


class Error(Exception):
    """Base of every error that loco_sim raises on purpose."""


class InputError(Error, ValueError):
    """A mistake in a scenario, a hardware profile, an override or a litmus test.

    ``str(error)`` is the line that the command line prints: ``file:line:column: key: expected E, found F``.

    Attributes:
        file: the file concerned, or the argument (``--set topology.nodes=4``).
        line: counted from 1; 0 when `file` names no file.
        column: counted from 1; 0 when `file` names no file.
        key: dotted path of the key concerned, or "".
        expected: what would have been right.
        found: what was there.
        hint: e.g. ``did you mean "nodes"?``, or "".
    """

    file: str = ""
    line: int = 0
    column: int = 0
    key: str = ""
    expected: str = ""
    found: str = ""
    hint: str = ""


class TraceError(Error, ValueError):
    """A trace file that is damaged or cut short.

    Attributes:
        offset: byte offset in the file at which that was seen.
    """

    offset: int = 0


class RunError(Error, RuntimeError):
    """A run that could not finish: a broken invariant, a deadlock, an operation that failed, too many events.

    Attributes:
        trace: what had been recorded until then, to look at and to check, or None. Calls that were under way have not
            returned in it.
    """

    trace: Trace | None = None


class NoSuchName(ValueError, KeyError):
    """A name that is none of those there are."""

    __str__ = Exception.__str__  # a KeyError shows its text in quotes


class NoSuchIndex(ValueError, IndexError):
    """A position that there is not."""


class MissingPackageError(Error, ImportError):
    """An optional package is not installed; the text says how to get it."""


def _input_error(text: str, **fields: object) -> InputError:
    error = InputError(text)
    for name, value in fields.items():
        setattr(error, name, value)
    return error


def _trace_error(text: str, offset: int) -> TraceError:
    error = TraceError(text)
    error.offset = offset
    return error


class WrongType(InputError, TypeError):
    """An argument of a type that the call does not take."""


def _wrong_type(argument: str, expected: str, found: str) -> WrongType:
    error = WrongType(f"{argument}: expected {expected}, found {found}")
    error.key, error.expected, error.found = argument.rpartition(" ")[2], expected, found
    return error
