"""Read the reports and say what identifies a report's result and its plan."""

from __future__ import annotations

import hashlib
from pathlib import Path

from postgres import LoadError
from session import Session

FOLDER = Path(__file__).parent / "reports"


def reports() -> dict[str, str]:
    """Read every report's SQL, by name, in the order of the names.

    Raises:
        LoadError: When there is none: no work would be the fastest config of all.
    """
    found = {path.stem: path.read_text().strip() for path in sorted(FOLDER.glob("*.sql"))}
    if not found:
        raise LoadError(f"{FOLDER}: expected reports (*.sql), there is none. Copy the benchmark to the node again.")
    return found


def checksums(session: Session) -> dict[str, str]:
    """Run each report once and digest its rows."""
    return {name: session.ask(sql).checksum for name, sql in reports().items()}


def plan_hashes(session: Session) -> dict[str, str]:
    """Digest each report's plan without its costs: equal plans give equal hashes on every node."""
    plans = {name: session.ask(f"EXPLAIN (COSTS OFF) {sql}").rows for name, sql in reports().items()}
    return {name: hashlib.sha256("\n".join(rows).encode()).hexdigest()[:8] for name, rows in plans.items()}
