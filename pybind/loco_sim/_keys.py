"""Values by dotted key, and seeds, as every call takes them."""

from __future__ import annotations

import operator
from typing import Mapping


def require_keys(name: str, values: object) -> None:
    """TypeError unless these are values by dotted key."""
    if not isinstance(values, Mapping):
        raise TypeError(f"{name}: expected a mapping from dotted keys to values, found {values!r}")
    for key in values:
        if not isinstance(key, str):
            raise TypeError(f"{name}: expected dotted keys, found {key!r}")


def seed_number(seed: int) -> int:
    """The seed as an int; TypeError when it is none."""
    try:
        return operator.index(seed)
    except TypeError:
        raise TypeError(f"seed: expected an integer from 0 to 2^63 - 1, found {seed!r}") from None
