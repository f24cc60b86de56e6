"""Measure a throughput: pgbench's transactions per second, and which plans the statements of its scripts have."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from pathlib import Path

from contract import LoadError, percentile
from pgbench import Load, Measured, drive
from plans import capture
from postgres import Node
from results import publish
from session import Session, understood

SCANS = "SELECT relname, coalesce(seq_scan, 0) FROM pg_stat_user_tables ORDER BY 1;"


def weighted(folder: Path, params: Mapping[str, object]) -> tuple[str, ...]:
    """Return pgbench's arguments for a folder of scripts; the parameter of a script's name is its weight.

    Raises:
        LoadError: When all weights are 0.
    """
    weights = {path: int(str(params[path.stem])) for path in sorted(folder.glob("*.sql"))}
    if not any(weights.values()):
        raise LoadError(f"{folder}: expected a weight above 0, all are 0: {', '.join(path.stem for path in weights)}.")
    return tuple(part for path, weight in weights.items() if weight for part in ("-f", f"{path}@{weight}"))


def load_of(params: Mapping[str, object], scripts: tuple[str, ...], variables: Mapping[str, int]) -> Load:
    """Make the load that a workload's parameters describe."""
    return Load(
        scripts=scripts,
        variables=variables,
        clients=int(str(params["clients"])),
        mode=str(params["mode"]),
        warmup_s=round(float(str(params["warmup_s"]))),
        measure_s=max(1, round(float(str(params["measure_s"])))),
        statement_timeout_s=float(str(params["statement_timeout_s"])),
    )


def drawn(folder: Path, draws: Mapping[str, Mapping[str, int]]) -> dict[str, str]:
    """Return statements whose plan is looked at: each file of a folder with each draw of values for its variables.

    Args:
        folder: Files with `:name` where a value goes.
        draws: How a draw is shown -> its values.
    """
    found = {}
    for path in sorted(folder.glob("*.sql")):
        for shown, values in draws.items():
            sql = f"{path.read_text()};"
            for name in sorted(values, key=len, reverse=True):
                sql = sql.replace(f":{name}", str(values[name]))
            found[f"{path.stem}[{shown}]"] = sql
    return found


def figures(measured: Measured) -> dict[str, tuple[float, str]]:
    """Make the metrics; `txn_per_cpu_s` hardly notices who else uses the processors."""
    times, count = [one.ms for one in measured.transactions], len(measured.transactions)
    cpu_s = (measured.server_cpu_ms + measured.client_cpu_ms) / 1000
    return {
        "tps": (count / measured.seconds, "1/s"),
        **{f"p{share}_ms": (percentile(times, share), "ms") for share in (50, 95, 99)},
        "txn_per_cpu_s": (count / cpu_s, "1/s"),
        "cpu_ms": (measured.server_cpu_ms / count, "ms"),
        "transactions": (float(count), "1"),
    }


def by_script(measured: Measured, names: list[str]) -> dict[str, dict[str, float]]:
    """Say of each script how often it ran and how long it took in the median."""
    found = {}
    for number, name in enumerate(names):
        times = [one.ms for one in measured.transactions if one.script == number]
        found[name] = {"count": len(times), "median_ms": round(statistics.median(times), 3) if times else 0.0}
    return found


def sample(node: Node, load: Load, statements: Mapping[str, str]) -> None:
    """Measure one sample and write its metrics and notes.

    Args:
        node: Where a server runs on a restored copy.
        load: What to do.
        statements: Name -> SQL whose plan is noted, before the load changes anything.

    Raises:
        BlamedError: Whoever is to blame when it does not go well.
    """
    session = Session(node, statement_timeout_s=load.statement_timeout_s)
    try:
        with understood():
            found, before = capture(session, statements), scans(session)
            measured, after = drive(node, load), scans(session)
    finally:
        session.close()
    names = [Path(part).name.split("@")[0].removesuffix(".sql") for part in load.scripts[1::2]]
    counted = {table: after[table] - before.get(table, 0) for table in after}
    notes = {"scripts": by_script(measured, names), "seq_scans": counted, **found}
    publish(node, figures(measured), notes)


def scans(session: Session) -> dict[str, int]:
    """Count the sequential scans of each table so far."""
    rows = (row.split("|") for row in session.ask(SCANS).rows)
    return {table: int(count) for table, count in rows}
