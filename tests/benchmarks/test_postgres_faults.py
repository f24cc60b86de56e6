"""Break the PostgreSQL benchmark on a real server: the exit code blames the right one, and the node is clean."""

from __future__ import annotations

import dataclasses
import os
import re
import signal
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import PostgresNode


@pytest.mark.node
@pytest.mark.parametrize(
    "config",
    [
        {"shared_buffers": "900GB"},
        {"no_such_knob": "1"},
        {"work_mem": "plenty"},
        {"max_connections": "2"},
        {"port": "1"},
        {"work_mem": "4MB\nfsync = off"},
    ],
    ids=lambda config: next(iter(config)),
)
def test_a_bad_config_is_refused_and_the_node_is_clean(postgres: PostgresNode, config: dict[str, str]) -> None:
    """A config that the server refuses, or that would not take effect, exits 10 with the reason and leaves nothing."""
    told = postgres.call("start", config)
    assert told.code == 10, told.words
    assert next(iter(config)).split("\n")[0] in told.words or "shared memory" in told.words
    assert "reserved" in told.words or config != {"max_connections": "2"}
    postgres.assert_clean()


@pytest.mark.node
@pytest.mark.parametrize(
    "config", [{"max_connections": "200000"}, {"pre_auth_delay": "60"}], ids=["starting", "answering"]
)
def test_a_server_that_hangs_is_refused_in_time(postgres: PostgresNode, config: dict[str, str]) -> None:
    """A server that is not ready, or does not answer, within the start's own limit exits 10 and is gone."""
    began = time.monotonic()
    told = postgres.call("start", config, start_timeout_s=0.6)
    assert told.code == 10, told.words
    assert "0.6 s" in told.words
    assert time.monotonic() - began < 15
    postgres.assert_clean()


@pytest.mark.node
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGQUIT], ids=["backend killed", "server stopped"])
def test_a_crash_under_load_is_the_configs_fault(postgres: PostgresNode, how: signal.Signals) -> None:
    """A server that dies under load exits 10, gives no metric and says its last lines."""
    assert postgres.call("start").code == 0
    running, job = postgres.begin("run", measure_s=40.0)
    backends = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    deadline = time.monotonic() + 10
    while not (found := postgres.sql(backends)) and time.monotonic() < deadline:
        time.sleep(0.05)
    postmaster = int((postgres.root / "data/postmaster.pid").read_text().splitlines()[0])
    os.kill(int(found.split()[0]) if how == signal.SIGKILL else postmaster, how)
    assert running.wait(timeout=20) == 10
    assert not (job / "metrics.json").exists()
    assert re.search("terminated by signal|immediate shutdown", (job / "server.log").read_text())


@pytest.mark.node
@pytest.mark.parametrize(
    "limit", [{"statement_timeout_s": 0.001}, {"run_timeout_s": 0.3, "measure_s": 30.0}], ids=["a report", "the run"]
)
def test_reports_that_never_finish_are_the_configs_fault(postgres: PostgresNode, limit: dict[str, float]) -> None:
    """A report over its limit, or a run over its own, exits 10 and gives no metric."""
    assert postgres.call("start").code == 0
    told = postgres.call("run", None, **limit)
    assert told.code == 10, told.words
    assert not (told.job / "metrics.json").exists()


@pytest.mark.node
def test_a_golden_copy_of_a_running_server_is_not_used(postgres: PostgresNode) -> None:
    """A pid file in the golden copy means that it is torn: the node is to blame."""
    pid_file = postgres.root / "golden/reporting/postmaster.pid"
    pid_file.write_text("1\n")
    try:
        told = postgres.call("start")
    finally:
        pid_file.unlink()
    assert told.code == 30
    assert "load" in told.words


@pytest.mark.node
def test_a_socket_path_that_is_too_long_is_told(loaded_postgres: PostgresNode) -> None:
    """A node directory too deep for a socket exits 30 at install, with the length and the remedy."""
    deep = loaded_postgres.root / ("d" * 90)
    deep.mkdir()
    told = dataclasses.replace(loaded_postgres, root=deep).call("install")
    assert told.code == 30
    assert "bytes" in told.words
    assert "shorter" in told.words
