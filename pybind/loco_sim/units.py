"""Quantities as scenarios write them: 50ns, 4KiB, 25Gbps."""

from __future__ import annotations

import re
from contextlib import suppress
from fractions import Fraction
from numbers import Integral

__all__ = ["WORD_MAX", "at_least", "duration_ps", "format_like", "parse_quantity", "yes_or_no"]

WORD_MAX = 2**64 - 1  #: the largest number that the machine takes

_DURATION = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
_SIZE = {"B": 1, "kB": 10**3, "KiB": 2**10, "MB": 10**6, "MiB": 2**20, "GB": 10**9, "GiB": 2**30}
_RATE = {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}
_KINDS = {"duration": _DURATION, "size": _SIZE, "rate": _RATE}
# Other spellings that are of one kind only: what the scenario format takes besides, but for letters alone (64k, 100G).
_OTHERS = {
    "duration": {"psec": 1, "nsec": 10**3, "usec": 10**6, "msec": 10**9, "sec": 10**12, "\u00b5s": 10**6, "\u03bcs": 10**6,
                 "\u00b5sec": 10**6, "\u03bcsec": 10**6},
    "size": {"KB": 10**3, "kib": 2**10, "mib": 2**20, "gib": 2**30, "kiB": 2**10, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30,
             "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "byte": 1, "bytes": 1},
    "rate": {f"{p}{u}": 1000**i for i, both in enumerate(("", "kK", "mM", "gG", "tT")) for p in (both or ("",))
             for u in ("bps", "bit/s", "b/s")},
}
# Letters alone, where it is known that they are of a size.
_SIZE_LETTERS = {"k": 2**10, "K": 2**10, "M": 2**20, "G": 2**30}
_FORM = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z/\u00b5\u03bc]+)\s*")


def parse_quantity(text: str, *, of_size: bool = False) -> tuple[int, str]:
    """The amount in base units (ps, bytes, bit/s), and which of "duration", "size", "rate" it is. Where only a size can be
    meant, letters may stand alone.

    >>> parse_quantity("1.5us")
    (1500000, 'duration')
    >>> parse_quantity("64k", of_size=True)
    (65536, 'size')
    """
    match = _FORM.fullmatch(text)
    for kind, known in _KINDS.items():
        units = {**_OTHERS[kind], **known, **(_SIZE_LETTERS if of_size and kind == "size" else {})}
        if match and match[2] in units:
            amount = Fraction(match[1]) * units[match[2]]
            if amount.denominator == 1:
                return int(amount), kind
    raise ValueError(f"expected a time, a size or a rate such as 50ns, 4KiB or 25Gbps, found {text!r}")


def duration_ps(value: int | str, name: str = "bucket") -> int:
    """Picoseconds, given as such or as a text with a unit; more than 0, and of 63 bits.

    >>> duration_ps("2us")
    2000000
    """
    amount, kind = 0, ""
    if isinstance(value, Integral):
        amount, kind = int(value), "duration"
    elif isinstance(value, str):
        with suppress(ValueError):
            amount, kind = parse_quantity(value)
    if kind != "duration" or not 1 <= amount < 2**63:
        raise ValueError(f"{name}: expected a time such as 10us, found {value!r}")
    return amount


def yes_or_no(name: str, value: bool) -> bool:
    """True or False, NumPy's too.

    >>> yes_or_no("where", True)
    True
    """
    if type(value).__name__ not in ("bool", "bool_"):
        raise TypeError(f"{name}: expected True or False, found {value!r}")
    return bool(value)


def at_least(name: str, value: int, least: int, *, most: int | None = None) -> int:
    """A whole number, NumPy's too, that is not below `least`, nor above `most`.

    >>> at_least("bins", 100, 1)
    100
    """
    if not isinstance(value, Integral):
        raise TypeError(f"{name}: expected a whole number, found {value!r}")
    if value < least:
        raise ValueError(f"{name}: expected {least} or more, found {value}")
    if most is not None and value > most:
        raise ValueError(f"{name}: expected {most} or less, found {value}")
    return int(value)


def format_like(amount: int, kind: str) -> str:
    """An amount in the largest unit that shows it whole.

    >>> format_like(1500000, "duration")
    '1500ns'
    """
    units = sorted(_KINDS[kind].items(), key=lambda u: -u[1])
    for unit, factor in units:
        if amount and amount % factor == 0:
            return f"{amount // factor}{unit}"
    return f"{amount}{units[-1][0]}"
