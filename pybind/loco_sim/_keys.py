"""Values by dotted key, seeds and names of files, as every call takes them."""

from __future__ import annotations

import operator
import os
from typing import Mapping

from ._shown import shown
from .errors import _input_error


def require_keys(name: str, values: object) -> None:
    """TypeError unless these are values by dotted key."""
    if not isinstance(values, Mapping):
        raise TypeError(f"{name}: expected a mapping from dotted keys to values, found {values!r}")
    for key in values:
        if not isinstance(key, str):
            raise TypeError(f"{name}: expected dotted keys, found {key!r}")


def require_utf8(name: str, text: str) -> None:
    """InputError unless a file could hold the text, which no lone surrogate is in."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _input_error(f"{name}: expected text in UTF-8, found a lone surrogate at position {error.start}") from None


def seed_number(seed: int) -> int:
    """The seed as an int; TypeError when it is none."""
    try:
        return operator.index(seed)
    except TypeError:
        raise TypeError(f"seed: expected an integer from 0 to 2^63 - 1, found {seed!r}") from None


def require_path(argument: str, path: object, expected: str = "a path") -> None:
    """TypeError that names the argument, where Python's own would not."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"{argument}: expected {expected}, found {path!r}")


def file_name(path: str | bytes | os.PathLike[str], argument: str, expected: str = "a path") -> str:
    """A path as text. InputError when its bytes are no UTF-8, which messages and results could not show."""
    require_path(argument, path, expected)
    name = os.fsdecode(path)
    try:
        name.encode()
    except UnicodeEncodeError:
        raise _input_error(f"{shown(name)}: expected a file name in UTF-8, found other bytes") from None
    return name
