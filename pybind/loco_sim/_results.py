"""What the JSON of a run must look like before a page is made of it: files come from anywhere."""

from __future__ import annotations

import json
import math
from typing import Any, Callable, Mapping

NEEDED = ("operations", "operations_done", "operations_per_second", "measured_ps", "counters")

Check = Callable[[str, Any], None]


def _refuse(key: str, expected: str, found: Any) -> None:
    shown = json.dumps(found) if isinstance(found, (str, int, float, bool, type(None))) else type(found).__name__
    raise ValueError(f"{key}: expected {expected}, found {shown if len(shown) <= 60 else shown[:57] + '...'}")


def _text(key: str, value: Any) -> None:
    if not isinstance(value, str):
        _refuse(key, "text", value)


def _number(key: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        _refuse(key, "a number", value)


def _integer(key: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**63:
        _refuse(key, "an integer below 2^63", value)


def _boolean(key: str, value: Any) -> None:
    if not isinstance(value, bool):
        _refuse(key, "true or false", value)


def _scalar(key: str, value: Any) -> None:
    if isinstance(value, (list, dict)):
        _refuse(key, "text or a number", value)


def _list_of(item: Check) -> Check:
    def check(key: str, value: Any) -> None:
        if not isinstance(value, (list, tuple)):
            _refuse(key, "a list", value)
        for i, entry in enumerate(value):
            item(f"{key}[{i}]", entry)

    return check


def _integers(key: str, value: Any) -> None:
    """A list of them, quickly: there may be millions."""
    if not isinstance(value, (list, tuple)) or not all(type(v) is int and -2**63 < v < 2**63 for v in value):
        _list_of(_integer)(key, value)


def _map_of(item: Check) -> Check:
    def check(key: str, value: Any) -> None:
        if not isinstance(value, Mapping):
            _refuse(key, "an object", value)
        for name, entry in value.items():
            _text(key, name)
            item(f"{key}.{name}" if key else name, entry)

    return check


def _object(needed: Mapping[str, Check], more: Mapping[str, Check] = {}) -> Check:
    def check(key: str, value: Any) -> None:
        if not isinstance(value, Mapping):
            _refuse(key, "an object", value)
        for name, entry in needed.items():
            path = f"{key}.{name}" if key else name
            if name not in value:
                raise ValueError(f"{path}: expected a value, found none")
            entry(path, value[name])
        for name, entry in more.items():
            if value.get(name) is not None:
                entry(f"{key}.{name}" if key else name, value[name])

    return check


def _anything(key: str, value: Any) -> None:
    pass


_STEP = _object({"thread_name": _text, "call": _text, "subevent": _text, "edge": _text})
_VIOLATION = _object({"rule": _text, "message": _text, "cycle": _list_of(_STEP)})
_LIBRARY = _object({"library": _text, "consistent": _boolean, "violations": _list_of(_VIOLATION)},
                   {"undecided": _boolean})
_CHECK = _object({"consistent": _boolean, "subevents": _integer, "libraries": _list_of(_LIBRARY)})
_OPERATION = _object({"name": _text, "count": _integer, "min_ps": _integer, "median_ps": _integer, "p99_ps": _integer,
                      "max_ps": _integer})
_USAGE = _object({"resource": _text, "share": _number})
_RESULT = _object(
    {"operations": _list_of(_OPERATION), "operations_done": _integer, "operations_per_second": _number,
     "measured_ps": _integer, "counters": _map_of(_integer)},
    {"workload_counters": _map_of(_integer), "simulated_ps": _integer, "broken": _list_of(_text), "hints": _list_of(_text), "limited_by": _text, "busiest": _list_of(_USAGE), "check": _CHECK,
     "samples_ps": _map_of(_integers), "config": _map_of(_anything), "command": _text, "config_hash": _scalar,
     "version": _scalar, "scenario": _scalar, "seed": _scalar, "hardware": _scalar, "nodes": _scalar,
     "workload": _scalar, "schedule": _scalar, "faults": _list_of(_text)})


def require_result(data: Any) -> None:
    """ValueError, in one line, unless it is the JSON of one run, as far as a page shows it."""
    if not isinstance(data, Mapping):
        raise ValueError(f"expected the JSON of one run, found {type(data).__name__}")
    for key in NEEDED:
        if data.get(key) is None:
            raise ValueError(f"expected the JSON of one run, with {', '.join(NEEDED)}, found no {key}")
    _RESULT("", data)
