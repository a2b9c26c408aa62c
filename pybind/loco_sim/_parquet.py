"""Rows as a Parquet file: lines of JSON beside its place while the sweep runs, one table when it is complete."""

from __future__ import annotations

import io
import json
import os
from typing import Any, Mapping, Sequence

from . import _core
from ._optional import need
from ._rows import RowFile
from ._shown import shown


class ParquetFile(RowFile):
    """As a `RowFile`. Until all rows are there they are in FILE.jsonl."""

    def __init__(self, path: str | os.PathLike[str], heads: Sequence[Mapping[str, Any]], *, resume: bool,
                 for_spreadsheets: bool = False, runs: bool = True) -> None:
        need("pyarrow", "a .parquet file")
        name = os.fsdecode(path)
        self._shown = shown(name)
        self._table = os.path.realpath(name)
        beside = f"{self._table}.jsonl"
        unpacked = resume and os.path.isfile(self._table) and not os.path.exists(beside)
        if unpacked:
            self._unpack(beside)
        try:
            super().__init__(beside, heads, resume=resume, for_spreadsheets=for_spreadsheets, runs=runs)
        except Exception:
            if unpacked:  # it holds nothing that the table does not
                os.remove(beside)
            raise

    def _unpack(self, beside: str) -> None:
        """The rows of a table as lines, to go on from."""
        import pyarrow
        from pyarrow import parquet

        try:
            rows = parquet.read_table(self._table).to_pylist()
        except (OSError, pyarrow.ArrowInvalid) as error:
            raise self._no_rows(error) from None
        lines = [json.dumps({k: v for k, v in row.items() if v is not None or k == "error"}) + "\n" for row in rows]
        _core.write_whole_file(os.fsencode(beside), "".join(lines))

    def finish(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Writes the table, and forgets the lines."""
        import pyarrow
        from pyarrow import parquet

        columns = {name: _column([row.get(name) for row in rows]) for name in self.columns_of(rows)}
        target = io.BytesIO()
        parquet.write_table(pyarrow.table(columns), target)
        self.close()
        _core.write_whole_file(os.fsencode(self._table), target.getvalue())
        os.remove(self._path)


def _column(values: list[Any]) -> list[Any]:
    """Values of one type: whole numbers and others as others, what cannot be had together as text."""
    kinds = {type(v) for v in values if v is not None}
    if len(kinds) <= 1 and not kinds & {list, dict}:
        return values
    if kinds <= {int, float}:
        return [None if v is None else float(v) for v in values]
    return [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]


