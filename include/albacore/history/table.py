"""A CSV file, plain or gzip, read strictly: every fault has a file, a line, what was expected and what was given."""

import csv
import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from albacore.errors import HistoryError

LIMIT_BYTES = 512 * 2**20
"""No file of recorded samples is larger, unpacked; what is larger is not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row, with its place for messages."""

    table: "Table"
    line: int
    cells: Mapping[str, str]

    def text(self, column: str) -> str:
        """Return a cell that is not empty."""
        found = self.cells[column].strip()
        if not found:
            raise self.error(column, "a name", "nothing")
        return found

    def whole(self, column: str) -> int:
        """Return a cell that is a whole number of at least 0, also when written `3.0`."""
        value = self.number(column)
        if not 0 <= value < 2**53 or value != int(value):
            raise self.error(column, "a whole number of at least 0", repr(self.cells[column]))
        return int(value)

    def number(self, column: str) -> float:
        """Return a cell that is a number; `nan` and `inf` are numbers here."""
        try:
            return float(self.cells[column])
        except ValueError as error:
            raise self.error(column, "a number", repr(self.cells[column][:80])) from error

    def flag(self, column: str) -> bool:
        """Return a cell that is 0 or 1, or False or True."""
        known = {"0": False, "1": True, "false": False, "true": True}
        found = known.get(self.cells[column].strip().lower())
        if found is None:
            raise self.error(column, "0 or 1", repr(self.cells[column][:80]))
        return found

    def error(self, column: str, expected: str, given: str) -> HistoryError:
        """Return the error that names this row and a column."""
        return self.table.error(self.line, f"{expected} in column {column!r}", given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A CSV file with a header, in memory as text.

    Attributes:
        path: Where it was read.
        digest: SHA-256 of the file's bytes as they are on disk.
        header: Names of the columns.
        text: The whole file, unpacked.
    """

    path: Path
    digest: str
    header: tuple[str, ...]
    text: str

    @classmethod
    def open(cls, path: Path) -> "Table":
        """Read a file.

        Raises:
            HistoryError: When it is not there, not text, too large or empty.
        """
        raw = _bytes(path)
        try:
            text = _unpacked(path, raw).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise HistoryError(f"{path}: expected a CSV file in UTF-8, got other bytes at {error.start}.") from error
        try:
            header = next(csv.reader(io.StringIO(text)), [])
        except csv.Error as error:
            raise HistoryError(f"{path}, line 1: expected a CSV header, got: {error}.") from error
        if not header:
            raise HistoryError(f"{path}: expected a CSV file with a header, got an empty file.")
        return cls(path=path, digest=hashlib.sha256(raw).hexdigest(), header=tuple(header), text=text)

    def rows(self) -> Iterator[Row]:
        """Yield the rows after the header.

        Raises:
            HistoryError: At a row with another number of cells, or that is no CSV.
        """
        reader = csv.reader(io.StringIO(self.text), strict=True)
        try:
            next(reader)
            for cells in reader:
                if not cells:
                    continue
                if len(cells) != len(self.header):
                    raise self.error(reader.line_num, f"{len(self.header)} cells", f"{len(cells)}")
                yield Row(table=self, line=reader.line_num, cells=dict(zip(self.header, cells, strict=True)))
        except csv.Error as error:
            raise self.error(reader.line_num, "a row of a CSV file", str(error)) from error

    def error(self, line: int, expected: str, given: str) -> HistoryError:
        """Return the error that names this file and a line."""
        return HistoryError(
            f"{self.path}, line {line}: expected {expected}, got {given}.", path=str(self.path), line=line
        )


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > LIMIT_BYTES:
            raise HistoryError(f"{path}: expected at most {LIMIT_BYTES} bytes, got {path.stat().st_size}.")
        return path.read_bytes()
    except OSError as error:
        raise HistoryError(f"{path}: expected a file of recorded samples, got: {error.strerror}.") from error


def _unpacked(path: Path, raw: bytes) -> bytes:
    """Return the text's bytes; a gzip file is told by its first two bytes, not by its name."""
    if raw[:2] != b"\x1f\x8b":
        return raw
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as packed:
            found = packed.read(LIMIT_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise HistoryError(f"{path}: expected a whole gzip file, got: {error}.") from error
    if len(found) > LIMIT_BYTES:
        raise HistoryError(f"{path}: expected at most {LIMIT_BYTES} bytes unpacked, got more.")
    return found
