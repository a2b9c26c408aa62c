"""Names of others, on a terminal or a page: what would break a line or turn the direction of writing is escaped."""

from __future__ import annotations

import re

_CONTROLS = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\ud800-\\udfff]")


def shown(text: str) -> str:
    """The text on one line, as the command line shows it.

    >>> shown("a\\x1b[31m\\nb\\x85")
    'a\\\\x1b[31m\\\\x0ab\\\\u0085'
    """
    return _CONTROLS.sub(lambda m: f"\\x{ord(m[0]):02x}" if ord(m[0]) < 0x80 else f"\\u{ord(m[0]):04x}", text)
