"""Say what is wrong with this clone's Airflow, one sentence each with the place to look; exit 0 when nothing is."""

import shutil
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime

from albacore_ops import health, rest, supervision
from albacore_ops.layout import Layout
from albacore_ops.up import FREE_BYTES


def run(layout: Layout) -> int:
    """Print the findings; return the exit code."""
    found = findings(layout, datetime.now(UTC))
    for sentence in found:
        print(f"albacore: {sentence}")
    if not found:
        print("albacore: healthy: every component has a fresh heartbeat, the store answers, the disk has room")
    return 1 if found else 0


def findings(layout: Layout, now: datetime) -> list[str]:
    """Return one sentence for everything that is wrong."""
    running = supervision.recall(layout)
    if running is None:
        return ["nothing runs: start it with `make up`", *store_findings(layout), *disk_findings(layout)]
    layout = replace(layout, port=running.port)
    return [*process_findings(layout), *airflow_findings(layout, now), *store_findings(layout), *disk_findings(layout)]


def process_findings(layout: Layout) -> list[str]:
    """Return what the supervisor has to say about its processes."""
    try:
        states = supervision.states(layout)
    except OSError as error:
        return [f"supervisor: does not answer ({error}): run `make down`, then `make up`"]
    return [
        f"{info['name']}: {info['statename'].lower()}: {info['spawnerr'] or info['description']}; "
        f"see {info['stdout_logfile']}"
        for info in states
        if info["statename"] not in ("RUNNING", "STARTING")
    ]


def airflow_findings(layout: Layout, now: datetime) -> list[str]:
    """Return what Airflow's health endpoint has to say."""
    try:
        answer = rest.request("GET", layout.url + "/api/v2/monitor/health", timeout_s=10.0)
    except (OSError, rest.ApiError, ValueError) as error:
        return [f"api-server: no answer from {layout.url} ({error}); see {layout.logs / 'api-server.log'}"]
    return health.findings(answer, now)


def store_findings(layout: Layout) -> list[str]:
    """Return whether the default store can be read; one that does not exist yet is fine."""
    if not layout.store.exists():
        return []
    try:
        with sqlite3.connect(f"file:{layout.store}?mode=ro", uri=True, timeout=10) as store:
            store.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        return [
            f"store: {layout.store} cannot be read ({error}): restore it from a copy, or move it away to begin anew"
        ]
    return []


def disk_findings(layout: Layout) -> list[str]:
    """Return whether the disk has room."""
    free = shutil.disk_usage(layout.root).free
    if free >= FREE_BYTES:
        return []
    return [f"disk: {free / 1024**2:.0f} MB free, {FREE_BYTES / 1024**2:.0f} MB needed: free some space"]
