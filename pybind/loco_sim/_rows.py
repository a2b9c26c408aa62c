"""Files of rows that grow while a sweep runs: CSV, or one JSON object a line."""

from __future__ import annotations

import csv
import io
import json
import os
from typing import IO, Any, Mapping, Sequence

from . import _core
from .errors import Error

_RESULTS = ("error", "consistent", "operations", "operations_per_second", "latency_min_ps", "latency_median_ps",
            "latency_p99_ps", "latency_max_ps", "measured_ps", "simulated_ps")


def require_folder_of(path: str | os.PathLike[str]) -> None:
    """ValueError unless a file can be there: asked before work whose result would be lost."""
    if os.path.isdir(path):
        raise ValueError(f"{os.fspath(path)}: expected a file, found a folder")
    folder = os.path.dirname(os.fspath(path))
    if folder and not os.path.isdir(folder):
        raise ValueError(f"{os.fspath(path)}: expected a file in a folder that is there, found no such "
                         "folder")


class ForeignRows(Error):
    """A file that holds something other than rows of this sweep. `overwrite`: how to say that it may go."""

    def __init__(self, problem: str, overwrite: str = "resume=False") -> None:
        super().__init__(f"{problem}: give another file, or {overwrite} to overwrite this one")
        self.problem = problem


class RowFile:
    """Rows on disk. `done` holds those that were there already, by point; the rest is appended line by line."""

    def __init__(self, path: str | os.PathLike[str], heads: Sequence[Mapping[str, Any]], *, resume: bool) -> None:
        self._path = os.fspath(path)
        suffix = os.path.splitext(self._path)[1]
        if suffix not in (".csv", ".json", ".jsonl"):
            raise ValueError(f"out: expected a name that ends in .csv, .json or .jsonl, found {self._path!r}")
        require_folder_of(self._path)
        self._csv = suffix == ".csv"
        parameters: dict[str, None] = {}
        for head in heads:
            parameters.update(dict.fromkeys(head))
        self._head = list(parameters)
        self.done: dict[int, dict[str, Any]] = {}
        if resume and os.path.exists(self._path):
            self._load(heads)
        # What a killed sweep left half-written goes away before anything is added.
        self._replace([self.done[i] for i in sorted(self.done)])
        self._file: IO[str] = open(self._path, "a", encoding="utf-8", newline="")

    def _load(self, heads: Sequence[Mapping[str, Any]]) -> None:
        by_identity = {_key(head): head["point"] for head in heads}
        with open(self._path, encoding="utf-8", newline="") as file:
            text = file.read()
        if not text.endswith("\n"):  # the line that was being written when the sweep was killed
            text = text[:text.rfind("\n") + 1]
        for number, row in self._parse(text):
            if row.pop("retry", None):
                continue
            head = {k: row.get(k) for k in self._head}
            point = by_identity.get(_key(head))
            if point is None:
                raise ForeignRows(f"{self._path}:{number}: expected a row of this sweep, found one with other "
                                  "parameters, configuration or version")
            self.done[point] = {**row, **heads[point]}

    def _parse(self, text: str) -> list[tuple[int, dict[str, Any]]]:
        try:
            if not self._csv:
                return [(i + 1, json.loads(line)) for i, line in enumerate(text.splitlines())]
            reader = csv.DictReader(io.StringIO(text))
            return [(reader.line_num, {k: v or None if k in _TEXTS else _cell_value(v) for k, v in row.items() if k is not None})
                    for row in reader]
        except (ValueError, csv.Error) as error:
            raise ForeignRows(f"{self._path}: expected the rows of a sweep, found something else ({error})") from None

    def _columns(self) -> list[str]:
        from .result import COUNTERS

        return [*self._head, *_RESULTS, *(f"counters.{c}" for c in COUNTERS), "workload_counters", "by_operation", "retry"]

    def _line(self, row: Mapping[str, Any]) -> str:
        if not self._csv:
            return json.dumps(row) + "\n"
        return _csv_line([_cell(row.get(c)) for c in self._columns()])

    def append(self, row: Mapping[str, Any]) -> None:
        self._file.write(self._line(row))
        self._file.flush()

    def finish(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Replaces the file by all rows in order."""
        self._file.close()
        self._replace(rows)

    def _replace(self, rows: Sequence[Mapping[str, Any]]) -> None:
        lines = [_csv_line(self._columns())] if self._csv else []
        _core.write_whole_file(os.fsencode(self._path), "".join([*lines, *map(self._line, rows)]))

    def close(self) -> None:
        self._file.close()


_TEXTS = {"version", "config_hash", "error"}
"""Columns of a CSV file that are no JSON, whatever they look like: 1596726e34279042 is a hash, not infinity."""


def _key(head: Mapping[str, Any]) -> str:
    """What identifies a point's row. Numbers and their texts are alike, since CSV cannot tell them apart."""
    return json.dumps({k: _cell(v) for k, v in head.items() if k != "point" and v is not None}, sort_keys=True)


def _csv_line(cells: Sequence[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value.replace("\r\n", " / ").replace("\n", " / ")
    return json.dumps(value)


def _cell_value(text: str | None) -> Any:
    if text is None or text == "":
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text
