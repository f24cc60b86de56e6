"""Hold the PostgreSQL benchmark's pure parts and its catalogue to their laws; no server is needed."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

FOLDER = Path(__file__).parents[2] / "include" / "benchmarks" / "postgres"
CATALOGUE = tomllib.loads((FOLDER / "knobs.toml").read_text())


@pytest.mark.parametrize(
    ("asked", "shown", "unit", "kind", "expected"),
    [
        ("128MB", "16384", "8kB", "integer", True),
        ("4MB", "4096", "kB", "integer", True),
        ("300s", "300", "s", "integer", True),
        ("5min", "300", "s", "integer", True),
        ("1.1", "1.1", "", "real", True),
        ("0.123456789", "0.123457", "", "real", True),
        ("true", "on", "", "bool", True),
        ("-1", "512", "8kB", "integer", True),
        ("pglz", "pglz", "", "enum", True),
        ("128MB", "16383", "8kB", "integer", False),
        ("1.1", "4", "", "real", False),
        ("on", "off", "", "bool", False),
    ],
)
def test_values_are_compared_in_the_base_unit(
    parts: Callable[[str], ModuleType], asked: str, shown: str, unit: str, kind: str, expected: bool
) -> None:
    """What was asked for equals what is shown when both mean the same amount, whatever the units."""
    assert parts("settings").is_in_effect(asked, shown, unit, kind) is expected


def test_a_value_cannot_smuggle_in_a_second_setting(parts: Callable[[str], ModuleType], tmp_path: Path) -> None:
    """Quotes and backslashes are escaped; a line break or an odd name is refused."""
    server, blamed = parts("server"), parts("contract").ConfigError
    server.write_config(tmp_path / "conf", {"search_path": "a'b\\c"})
    assert (tmp_path / "conf").read_text() == "search_path = 'a''b\\\\c'\n"
    for bad in ({"work_mem": "4MB'\nfsync = 'off"}, {"fsync = off #": "1"}, {"include": "x\x00"}):
        with pytest.raises(blamed):
            server.write_config(tmp_path / "conf", bad)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("ERROR:  57014: canceling statement due to statement timeout", 10),
        ("ERROR:  53200: out of memory", 10),
        ("server closed the connection unexpectedly", 10),
        ('ERROR:  53100: could not resize shared memory segment "/x": No space left on device', 10),
        ('ERROR:  53100: could not write to file "base/pgsql_tmp/x": No space left on device', 30),
        ('ERROR:  42P01: relation "nothing" does not exist', 20),
    ],
)
def test_the_sqlstate_says_who_is_to_blame(parts: Callable[[str], ModuleType], said: str, code: int) -> None:
    """A failed statement is the config's, the node's or the load generator's fault by its SQLSTATE."""
    assert parts("session").blame_of(said).code == code


def test_no_knob_is_both_tuned_and_denied() -> None:
    """The catalogue holds at least 80 knobs, none of them denied, each with a source and, if blunt, a reason."""
    assert len(CATALOGUE["knob"]) >= 80
    assert not CATALOGUE["knob"].keys() & CATALOGUE["deny"].keys()
    assert all(knob["doc"].startswith("https://") for knob in CATALOGUE["knob"].values())
    assert all(("why" in knob) == (knob["safety"] == "caution") for knob in CATALOGUE["knob"].values())
    named = {name for relation in CATALOGUE["relation"] for name in relation["less_or_equal"]}
    named |= {name for memory in CATALOGUE["memory"] for name in memory["terms"]}
    assert named <= CATALOGUE["knob"].keys()


def test_percentiles_and_throughput_come_from_pgbenchs_own_lines(parts: Callable[[str], ModuleType]) -> None:
    """Each line is a transaction; the time runs from the first begin to the last end."""
    pgbench = parts("pgbench")
    lines = [f"0 {i} {1000 * (i + 1)} 0 100 {100000 * (i + 1)}" for i in range(9)]
    measured = pgbench.Measured(transactions=pgbench.parse(lines), server_cpu_ms=1.0, client_cpu_ms=1.0)

    assert measured.seconds == pytest.approx(0.9 - 0.1 + 0.001)
    assert parts("contract").percentile([one.ms for one in measured.transactions], 50) == 5.0
    assert parts("contract").percentile([one.ms for one in measured.transactions], 95) == 9.0


@pytest.mark.parametrize("lines", [[], ["0 1 failed 0 100 5"], ["0 1 900 0 100 5", "0 2 deadlock 0 100 9"]])
def test_failed_transactions_fail_the_sample(parts: Callable[[str], ModuleType], lines: list[str]) -> None:
    """No transaction, or one that failed, is the load's failure."""
    with pytest.raises(parts("contract").LoadError):
        parts("pgbench").parse(lines)


def test_last_words_instead_of_a_plan_are_the_configs_failure(parts: Callable[[str], ModuleType]) -> None:
    """A server that dies under EXPLAIN says something that is no JSON; the config is told so, not us."""
    dying = SimpleNamespace(ask=lambda _: SimpleNamespace(rows=("server closed the connection",)))
    with pytest.raises(parts("contract").ConfigError, match="said something else"), parts("session").understood():
        parts("plans").capture(dying, {"q": "SELECT 1;"})


def test_a_plan_is_its_shape(parts: Callable[[str], ModuleType]) -> None:
    """Nodes, tables and indexes make the shape; constants and costs do not."""
    scan = {"Node Type": "Index Scan", "Index Name": "i", "Relation Name": "t", "Index Cond": "(a = 7)"}
    plan = {"Node Type": "Hash Join", "Parallel Aware": True, "Plans": [scan, {"Node Type": "Result"}]}

    assert parts("plans").shape(plan) == "Parallel Hash Join (Index Scan using i on t, Result)"


def test_only_single_statements_are_explained(parts: Callable[[str], ModuleType]) -> None:
    """EXPLAIN before several statements would execute all but the first; a semicolon in a text or comment ends none."""
    given = {
        "plain": "SELECT 1;",
        "comment": "-- first; second\nSELECT ';' ;\n",
        "with": "/* x */ WITH a AS (SELECT 1) SELECT * FROM a",
        "two": "SELECT 1; DELETE FROM t;",
        "command": "SET work_mem = '1MB';",
    }
    assert set(parts("statements").explainable(given)) == {"plain", "comment", "with"}


def test_knobs_of_other_versions_are_dropped_and_unknown_names_are_not(parts: Callable[[str], ModuleType]) -> None:
    """A name of the catalogue that the server lacks is dropped with the reason; a misspelt one is not."""
    described = (
        "work_mem\tuser\tResource Usage / Memory\tINTEGER\t4096\nwal_compression\tsuperuser\tWAL\tBOOLEAN\tFALSE"
    )
    config = {"work_mem": "4MB", "wal_compression": "pglz", "enable_memoize": "on", "no_such_knob": "1"}
    found = parts("software").lacking(config, described, CATALOGUE["knob"])

    assert found.keys() == {"enable_memoize", "wal_compression"}


def test_a_version_is_read_off_what_the_server_says(parts: Callable[[str], ModuleType]) -> None:
    """Packages add words behind the figure."""
    version = parts("software").version
    assert version("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n") == "15.18"
    assert version("postgres (PostgreSQL) 18beta1") == "18"
    assert version("nothing") is None
