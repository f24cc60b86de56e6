"""Hold the PostgreSQL benchmark to its contract on a real server."""

from __future__ import annotations

import dataclasses
import os
import shutil
import socket
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import PostgresNode

FOLDER = Path(__file__).parents[2] / "include" / "benchmarks" / "postgres"
CATALOGUE = tomllib.loads((FOLDER / "knobs.toml").read_text())
NOBODY = 61999


@pytest.mark.node
def test_the_catalogue_agrees_with_the_server(parts: Callable[[str], ModuleType], postgres: PostgresNode) -> None:
    """Kind, default, limits and context of every knob are those of the server; what is denied exists too."""
    in_base_unit = parts("settings").in_base_unit
    assert postgres.call("start").code == 0
    columns = (
        "name, vartype, boot_val, coalesce(min_val, ''), coalesce(max_val, ''), coalesce(unit, ''), context, enumvals"
    )
    rows = [line.split("|") for line in postgres.sql(f"SELECT {columns} FROM pg_settings").splitlines()]
    server = {row[0]: row[1:] for row in rows}
    program = postgres.root / "install/postgres/pgserver/pginstall/bin/postgres"
    described = subprocess.run([str(program), "--describe-config"], capture_output=True, text=True, check=True, cwd="/")
    contexts = {line.split("\t")[0]: line.split("\t")[1] for line in described.stdout.splitlines()}
    kinds = {"int": "integer", "real": "real", "bool": "bool", "choice": "enum"}
    facts = {"ram_bytes": 8 * 1024**3, "cores": 2}
    for name, knob in CATALOGUE["knob"].items():
        kind, default, low, high, unit, context, choices = server[name]
        assert kind == kinds[knob["kind"]], name
        assert contexts[name] == context, name
        assert (context == "postmaster") == knob["restart"], name
        if knob["kind"] == "bool":
            assert default == ("on" if knob["default"] else "off"), name
        elif knob["kind"] == "choice":
            assert default == knob["default"], name
            assert set(knob["choices"]) <= set(choices.strip("{}").split(",")), name
        else:
            suffix = knob.get("unit", "")
            assert in_base_unit(f"{knob['default']}{suffix}", unit) == pytest.approx(float(default)), name
            bounds = [eval(str(value), {}, facts) for value in (knob["min"], knob["max"])]
            values = [*bounds, *knob.get("special", [])]
            assert all(float(low) <= in_base_unit(f"{value}{suffix}", unit) <= float(high) for value in values), name
            assert bounds[0] < bounds[1], name
            assert bounds[0] <= knob["default"] <= bounds[1] or knob["default"] in knob.get("special", []), name
            assert bounds[0] <= 0 or bounds[1] / bounds[0] < 100 or knob.get("log"), name
    assert CATALOGUE["deny"].keys() <= server.keys()


@pytest.mark.node
def test_a_sample_goes_round_and_leaves_nothing(postgres: PostgresNode) -> None:
    """Start, run and stop give metrics, settings in effect and plans; the server is never root and opens no port."""
    started = postgres.call("start", {"work_mem": "8MB", "random_page_cost": "1.1", "enable_memoize": "off"})
    assert started.code == 0, started.words
    assert started.json("applied.json")["work_mem"] == "8192 kB"
    pids = postgres.pids()
    assert pids
    assert {os.stat(f"/proc/{pid}").st_uid for pid in pids} == {NOBODY if os.geteuid() == 0 else os.geteuid()}
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", postgres.port)) != 0
    ran = postgres.call("run")
    assert ran.code == 0, ran.words
    metrics = ran.json("metrics.json")["metrics"]
    assert metrics["report_ms"]["value"] > 0
    assert {"p95_ms", "cpu_ms"} <= metrics.keys()
    notes = ran.json("notes.json")
    reports = {path.stem for path in (FOLDER / "workloads/reporting/reports").glob("*.sql")}
    assert notes["plans"].keys() == notes["median_ms"].keys() == reports
    for _ in range(2):
        assert postgres.call("stop").code == 0
        postgres.assert_clean()


@pytest.mark.node
def test_installing_and_loading_again_changes_nothing(postgres: PostgresNode) -> None:
    """Both verbs are idempotent, and install says the version each time."""
    note = postgres.root / "golden/reporting.json"
    before = (note.stat().st_mtime_ns, (postgres.root / "install/postgres").stat().st_ino)
    again = [postgres.call("install"), postgres.call("load")]
    assert [told.code for told in again] == [0, 0]
    assert again[0].json("versions.json") == {"postgres": "16.2"}
    assert (note.stat().st_mtime_ns, (postgres.root / "install/postgres").stat().st_ino) == before
    assert not list(postgres.folder.rglob("__pycache__"))


@pytest.mark.node
def test_a_second_start_replaces_the_first_server(postgres: PostgresNode) -> None:
    """Starting twice leaves one server, under the second config."""
    assert postgres.call("start", {"work_mem": "8MB"}).code == 0
    first = set(postgres.pids())
    assert postgres.call("start", {"work_mem": "16MB"}).code == 0
    assert not first & set(postgres.pids())
    assert postgres.sql("SHOW work_mem") == "16MB"


@pytest.mark.node
def test_each_sample_begins_from_the_same_bytes(postgres: PostgresNode) -> None:
    """Rows changed in one sample fail that sample, and are back in the next."""
    assert postgres.call("start").code == 0
    postgres.sql("UPDATE order_lines SET quantity = quantity + 1")
    changed = postgres.call("run")
    assert changed.code == 10
    assert "differ" in changed.words
    assert postgres.call("start").code == 0
    assert postgres.call("run").code == 0


@pytest.mark.node
def test_an_unprivileged_agent_needs_nothing_of_root(loaded_postgres: PostgresNode) -> None:
    """The same verbs do the same work for a user who owns the node's directory and nothing else."""
    folder = loaded_postgres.root / "system" / "postgres"
    shutil.copytree(FOLDER, folder)
    node = dataclasses.replace(loaded_postgres, folder=folder, as_nobody=True)
    try:
        for verb in ("start", "run", "stop"):
            told = node.call(verb)
            assert told.code == 0, told.words
        node.assert_clean()
    finally:
        node.call("stop")
