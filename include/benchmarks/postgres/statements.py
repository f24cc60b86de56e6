"""Read a folder of SQL statements, and say what identifies the rows of each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from contract import LoadError
from session import Answer, Session

# Strings and comments, where a semicolon ends nothing.
ASIDE = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
EXPLAINED = ("select", "with", "values", "table", "insert", "update", "delete", "merge")


def read(folder: Path) -> dict[str, str]:
    """Read every statement by its file's name, in the order of the names.

    Raises:
        LoadError: When there is none: no work would be the fastest config of all.
    """
    found = {path.stem: _ended(path.read_text().strip()) for path in sorted(folder.glob("*.sql"))}
    if not found:
        raise LoadError(f"{folder}: expected statements (*.sql), there is none. Add one, or name another folder.")
    return found


def _ended(sql: str) -> str:
    """Put the semicolon behind a statement that its file has left out, even behind a comment."""
    return sql if sql.endswith(";") else f"{sql}\n;"


def checksum(answer: Answer, *, is_ordered: bool = True) -> str:
    """Digest a statement's rows.

    Args:
        answer: What it returned.
        is_ordered: Whether the order of the rows is part of the result: without ORDER BY it is the plan's.
    """
    return answer.checksum if is_ordered else Answer(rows=tuple(sorted(answer.rows)), ms=0.0).checksum


def checksums(session: Session, statements: Mapping[str, str], *, is_ordered: bool = True) -> dict[str, str]:
    """Run each statement once and digest its rows."""
    return {name: checksum(session.ask(sql), is_ordered=is_ordered) for name, sql in statements.items()}


def explainable(statements: Mapping[str, str]) -> dict[str, str]:
    """Return the statements that have one plan: files with several, and commands such as SET, have none."""
    return {name: sql for name, sql in statements.items() if _has_one_plan(sql)}


def _has_one_plan(sql: str) -> bool:
    bare = ASIDE.sub(" ", sql).strip().rstrip(";\n ")
    return ";" not in bare and bare.lower().startswith(EXPLAINED)
