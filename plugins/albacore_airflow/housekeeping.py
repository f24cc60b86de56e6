"""Housekeeping: Airflow forgets iterations that are older than their campaign's `keep_days`; the store forgets nothing.

Only runs of `<campaign>.iteration` go, through Airflow's own `db clean`, and their log files. Campaign runs stay in the
grid, and whatever was measured and decided is in the store: pages, replay and history read that.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from albacore.errors import PlatformError
from albacore_airflow import campaign_files

DAG_ID = "housekeeping"
TABLES = "dag_run,log"
"""With the runs go task instances, XComs and task states: `db clean` follows these tables itself."""
DATABASE = "ALBACORE_AIRFLOW_DB"
"""Airflow's database where airflow.cfg does not have it: a task is not given the address in its environment."""
HIDDEN_IN_TASKS = ("AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", "AIRFLOW__CORE__SQL_ALCHEMY_CONN")
LEFT_OVER = re.compile(r"not cleaned due to errors: \[(.*?)\]", re.DOTALL)
NEVER_CLEANED = {"deadline"}
"""Follows dag_run, but has no column dag_id, so Airflow 3.3.2 fails on it whenever --dag-ids is given; rows of deleted
runs go with them."""
LIMIT_S = 1800


def main() -> None:
    """Clean what is due and say so: `make clean-history`."""
    for line in clean():
        print(line, flush=True)


def clean(now: datetime | None = None) -> Iterator[str]:
    """Clean the iterations of every campaign; yield what was done.

    Raises:
        PlatformError: When `airflow db clean` fails.
    """
    now = now or datetime.now(UTC)
    for keep_days, dag_ids in sorted(by_age().items()):
        before = now - timedelta(days=keep_days)
        database_clean(dag_ids, before)
        removed = sum(remove_logs(logs_folder(), dag_id, before) for dag_id in dag_ids)
        yield (
            f"{', '.join(dag_ids)}: runs that began before {before:%Y-%m-%d %H:%M %Z} are gone from Airflow, "
            f"with the logs of {removed}"
        )


def by_age() -> dict[int, list[str]]:
    """Return days to keep -> iteration DAGs, of all campaigns that can be read."""
    found: dict[int, list[str]] = defaultdict(list)
    for campaign in campaign_files.good():
        found[campaign.keep_days].append(f"{campaign.name}.iteration")
    return dict(found)


def database_clean(dag_ids: list[str], before: datetime) -> None:
    """Run Airflow's `db clean` for some DAGs.

    Raises:
        PlatformError: When it fails; the message has its last lines.
    """
    command = [sys.executable, "-P", "-m", "airflow", "db", "clean", "--yes", "--skip-archive"]
    chosen = ["--clean-before-timestamp", before.isoformat(), "--dag-ids", ",".join(dag_ids), "--tables", TABLES]
    done = subprocess.run(
        [*command, *chosen],
        env=environment(os.environ),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    said = (done.stdout + done.stderr).strip()
    if done.returncode != 0 or left_over(said):
        raise PlatformError(
            f"airflow db clean of {', '.join(dag_ids)}: exit code {done.returncode}. Is Airflow's database in "
            f"airflow.cfg, or in {DATABASE}?\n{said[-2000:]}"
        )


def left_over(said: str) -> set[str]:
    """Return the tables that `db clean` says it could not clean, without those that it never can."""
    named = LEFT_OVER.findall(said)
    return {name for names in named for name in re.findall(r"\w+", names)} - NEVER_CLEANED


def environment(outside: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command that may use Airflow's database: a task's hides the address."""
    inside = {
        name: value
        for name, value in outside.items()
        if name not in HIDDEN_IN_TASKS and not name.startswith("_AIRFLOW_")  # what the task's own process is
    }
    if address := outside.get(DATABASE):
        inside[HIDDEN_IN_TASKS[0]] = address
    return inside


def logs_folder() -> Path:
    """Return where Airflow keeps the logs of tasks."""
    from airflow.sdk.configuration import conf

    return Path(conf.get("logging", "base_log_folder"))


def remove_logs(folder: Path, dag_id: str, before: datetime) -> int:
    """Remove the logs of a DAG's runs in which nothing was written since; return how many runs.

    Args:
        folder: The base folder: `dag_id=<id>/run_id=<id>/…` below it.
        dag_id: The DAG.
        before: Runs whose newest file is older go.
    """
    old = [run for run in (folder / f"dag_id={dag_id}").glob("run_id=*") if _newest(run) < before.timestamp()]
    for run in old:
        shutil.rmtree(run, ignore_errors=True)
    return len(old)


def _newest(folder: Path) -> float:
    """Return when something below a folder was written last, seconds since the epoch; now while it changes."""
    try:
        return max(path.lstat().st_mtime for path in (folder, *folder.rglob("*")))
    except FileNotFoundError:
        return time.time()


if __name__ == "__main__":
    main()
