"""Files of rows that grow while a sweep runs: CSV, or one JSON object a line."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import re
from typing import IO, Any, Mapping, Sequence

from . import _core
from ._keys import require_path
from ._shown import shown
from .errors import Error

_LINE_END = re.compile("\r\n|\r|\n")
_RESULTS = ("error", "consistent", "operations", "operations_per_second", "latency_min_ps", "latency_median_ps",
            "latency_p99_ps", "latency_max_ps", "measured_ps", "simulated_ps")


def require_folder_of(path: str | os.PathLike[str]) -> None:
    """ValueError unless a file can be there, TypeError for no path: asked before work whose result would be lost."""
    require_path("path", path)
    name = os.fsdecode(path)
    if not name:
        raise ValueError('expected the name of a file, found ""')
    if "\0" in name:
        raise ValueError(f"{shown(name)}: expected a name without NUL, found one with it")
    if os.path.isdir(name):
        raise ValueError(f"{shown(name)}: expected a file, found a folder")
    folder = os.path.dirname(name)
    if folder and not os.path.isdir(folder):
        raise ValueError(f"{shown(name)}: expected a file in a folder that is there, found no such folder")


def require_other_file(path: str | os.PathLike[str], reads: Sequence[tuple[str, str]]) -> None:
    """ValueError where a file would be written that is read, by the key that names it."""
    name = os.fsdecode(path)
    for key, file in reads:
        if os.path.isfile(file) and os.path.exists(name) and os.path.samefile(name, file):
            raise ValueError(f"{shown(name)}: expected another file to write, found one that is read ({key})")


class Loaded(dict[str, Any]):
    """A row of a CSV file, and its cells as they are written there: what they say may be written in several ways."""

    def __init__(self, row: Mapping[str, Any], written: Mapping[str, str]) -> None:
        super().__init__(row)
        self.written = written


class ForeignRows(Error):
    """A file that holds something other than rows of this sweep. `overwrite`: how to say that it may go."""

    def __init__(self, problem: str, overwrite: str = "resume=False") -> None:
        super().__init__(f"{problem}: give another file, or {overwrite} to overwrite this one")
        self.problem = problem


class RowFile:
    """Rows on disk. `done` holds those that were there already, by point; the rest is appended line by line."""

    def __init__(self, path: str | os.PathLike[str], heads: Sequence[Mapping[str, Any]], *, resume: bool,
                 for_spreadsheets: bool = False, runs: bool = True) -> None:
        """`runs`: of rows of scenarios some columns are known before there are any."""
        name = os.fsdecode(path)
        self._shown = shown(name)
        # What a link leads to, which is then replaced whole: what is written through a link is written in place, under
        # a lock, which this sweep holds.
        self._path = os.path.realpath(name)
        self._for_spreadsheets = for_spreadsheets
        suffix = os.path.splitext(name)[1]
        if suffix not in (".csv", ".json", ".jsonl"):
            raise ValueError(f"{self._shown}: expected a name that ends in .csv, .json, .jsonl or .parquet, found {json.dumps(suffix)}")
        require_folder_of(path)
        if os.path.exists(self._path) and not os.path.isfile(self._path):
            raise ValueError(f"{self._shown}: expected a file, which rows can be added to, found a device or a pipe")
        self._csv = suffix == ".csv"
        parameters: dict[str, None] = {}
        for head in heads:
            parameters.update(dict.fromkeys(head))
        self._head = list(parameters)
        self._first = [*self._head, *(_run_columns() if runs else ["error"])]
        self._more: list[str] = []  # columns of the file beyond these
        self._written: list[Mapping[str, Any]] = []
        self.done: dict[int, dict[str, Any]] = {}
        before = self._locked() if os.path.isfile(self._path) else None
        try:
            if resume and os.path.exists(self._path):
                self._load(heads)
            # What a killed sweep left half-written goes away before anything is added.
            self._written = list(self.done.values())
            self._replace(self._written)
            self._file: IO[str] = self._locked()
        finally:
            if before is not None:
                before.close()

    def _locked(self) -> IO[str]:
        """The file, to be added to: by one sweep at a time."""
        file = open(self._path, "a", encoding="utf-8", newline="")
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise ValueError(f"{self._shown}: expected a file of this sweep alone, found one that another sweep is "
                             "writing") from None
        except OSError:
            pass  # a file system without locks
        return file

    def _load(self, heads: Sequence[Mapping[str, Any]]) -> None:
        by_identity: dict[str, list[int]] = {}  # a sweep may have a point twice
        for head in heads:
            by_identity.setdefault(_key(head), []).append(head["point"])
        with open(self._path, "rb") as file:
            content = file.read()
        whole = content.rfind(b"\n") + 1
        if not self._killed_here(content[whole:], first=whole == 0):
            raise self._no_rows("its last line is none")
        for number, row in self._parse(content[:whole]):
            if row.pop("retry", None):
                continue
            head = {k: row.get(k) for k in self._head}
            points = by_identity.get(_key(head))
            if points is None:
                raise ForeignRows(f"{self._shown}:{number}: expected a row of this sweep, found one with other "
                                  "parameters, configuration or version")
            for point in points:
                if point in self.done and _said(self.done[point]) != _said(row):
                    raise ForeignRows(f"{self._shown}:{number}: expected a row for each point, found another one with other "
                                      "results")
            self.done.update((point, Loaded({**row, **heads[point]}, row.written) if isinstance(row, Loaded)
                              else {**row, **heads[point]}) for point in points)

    def _killed_here(self, rest: bytes, *, first: bool) -> bool:
        """May the file have ended so when a sweep was killed: with nothing, or with a part of the row being written?"""
        if self._csv:  # whose head is there before any row is
            return not (first and rest)
        begin = b'{"point": '
        return rest[:len(begin)] == begin[:len(rest)]

    def _no_rows(self, why: object) -> ForeignRows:
        return ForeignRows(f"{self._shown}: expected the rows of a sweep, found something else ({why})")

    def _parse(self, content: bytes) -> list[tuple[int, dict[str, Any]]]:
        try:
            text = content.decode()
            if not self._csv:
                return [(i + 1, _object(json.loads(line))) for i, line in enumerate(text.splitlines())]
            reader = csv.DictReader(io.StringIO(text))
            names = reader.fieldnames or ()
            if text and (not set(self._first) <= set(names) or len(set(names)) != len(names)):
                raise ValueError("other columns")
            self._more = [name for name in names if name not in self._first and name != "retry"]
            rows = [(reader.line_num, row) for row in reader]
            for number, row in rows:
                if None in row or None in row.values():
                    raise ValueError(f"line {number} has other cells than columns")
            return [(number, Loaded({k: value for k, v in row.items() if (value := self._value(k, v)) is not None
                                     or k in self._first}, row)) for number, row in rows]
        except (ValueError, csv.Error) as error:
            raise self._no_rows(error) from None

    def _value(self, column: str, cell: str | None) -> Any:
        """What a cell of a CSV file says. Parameters stay as they are written: of text such as "[4,4]" JSON knows only what
        it means, and a hash such as 1596726e34279042 is no number."""
        if column not in self._head and column != "error":
            return _cell_value(cell)
        return (cell[1:] if self._for_spreadsheets and cell and _formula(cell[1:]) and cell[0] == "'" else cell) or None

    def columns_of(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """The columns that these rows need: those that all have, then others by name, whichever row was there first."""
        more = {name for row in rows for name in row}.union(self._more).difference(self._first, ["retry"])
        return [*self._first, *sorted(more), "retry"]

    def _line(self, row: Mapping[str, Any], columns: Sequence[str]) -> str:
        if not self._csv:
            return json.dumps(row) + "\n"
        return _csv_line([self._cell(row, name) for name in columns])

    def _cell(self, row: Mapping[str, Any], name: str) -> str:
        if isinstance(row, Loaded) and name not in self._head:
            return row.written.get(name) or ""
        value = row.get(name)
        cell = _cell(value)
        return "'" + cell if self._for_spreadsheets and isinstance(value, str) and _formula(cell) else cell

    def append(self, row: Mapping[str, Any]) -> None:
        """Adds a row; to a CSV file also the columns that it is the first to have."""
        if self._csv:
            self._written.append(row)
            if not {name for name in row if name != "retry"}.issubset([*self._first, *self._more]):
                before = self._file
                self._replace(self._written)
                self._file = self._locked()
                before.close()
                return
        try:
            self._file.write(self._line(row, [*self._first, *self._more, "retry"]))
            self._file.flush()
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._path) from None

    def finish(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Replaces the file by all rows in order."""
        self._replace(rows)
        self.close()

    def _replace(self, rows: Sequence[Mapping[str, Any]]) -> None:
        columns = self.columns_of(rows)
        self._more = columns[len(self._first):-1]
        lines = [_csv_line(columns)] if self._csv else []
        _core.write_whole_file(os.fsencode(self._path), "".join([*lines, *(self._line(row, columns) for row in rows)]))

    def close(self) -> None:
        try:
            self._file.close()
        except OSError:  # of a row that could not be written, which has been told
            pass


def _run_columns() -> list[str]:
    from .outcome import COUNTERS

    return [*_RESULTS, *(f"counters.{c}" for c in COUNTERS)]


def _said(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The results of a row of a file: what its head has beside them is the same."""
    return {k: v for k, v in (row.written if isinstance(row, Loaded) else row).items() if k != "point"}


def _object(row: Any) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise ValueError(f"a row that is no object: {row!r}")
    return row


def _key(head: Mapping[str, Any]) -> str:
    """What identifies a point's row. Numbers and their texts are alike, and so are no text and none, since CSV cannot tell
    them apart."""
    return json.dumps({k: cell for k, v in head.items() if k != "point" and (cell := _cell(v))}, sort_keys=True)


def _csv_line(cells: Sequence[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return _LINE_END.sub(" / ", value)
    return json.dumps(value)


def _formula(cell: str) -> bool:
    """Would a spreadsheet compute it, or take an apostrophe away that is not ours?"""
    return cell.lstrip("'")[:1] in ("=", "+", "-", "@")


def _cell_value(text: str | None) -> Any:
    if text is None or text == "":
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text
