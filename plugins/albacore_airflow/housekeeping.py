"""Housekeeping: Airflow forgets iterations that are older than their campaign's `keep_days`; the store forgets nothing.

Only runs of `<campaign>.iteration` go, through Airflow's own `db clean`, and their log files; and what the DAG
processor logged day by day. Campaign runs stay in the grid, and whatever was measured and decided is in the store:
pages, replay and history read that.
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
"""Airflow's database where airflow.cfg does not have it. A task cannot ask for it: Airflow puts a decoy into its
environment and into its configuration. What is named by a command or a secret (`…_CONN_CMD`, `…_CONN_SECRET`) is found
by the commands that are run here, as in any other process."""
HIDDEN_IN_TASKS = ("AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", "AIRFLOW__CORE__SQL_ALCHEMY_CONN")
LEFT_OVER = re.compile(r"not cleaned due to errors: \[(.*?)\]", re.DOTALL)
NEVER_CLEANED = {"deadline"}
"""Follows dag_run, but has no column dag_id, so Airflow 3.3.2 fails on it whenever --dag-ids is given; rows of deleted
runs go with them."""
LIMIT_S = 1800
REAPER = "reaper"
"""A DAG of four runs an hour: they go with the iterations of the campaigns that it works for."""
KEEP_DAYS = 30
"""Days that logs of parsing are kept where no campaign says how long."""
DAY = re.compile(r"\d{4}-\d\d-\d\d")


def main() -> None:
    """Clean what is due and say so: `make clean-history`."""
    for line in clean():
        print(line, flush=True)


def clean(now: datetime | None = None, *, witness: str | None = None) -> Iterator[str]:
    """Clean the iterations of every campaign, and what parsing logged; yield what was done.

    Args:
        now: The present.
        witness: The run of this DAG that asks: where the database does not know it, it is not the one to clean.

    Raises:
        PlatformError: When `airflow db clean` fails, or would clean another database than Airflow's.
    """
    now = now or datetime.now(UTC)
    if witness is not None:
        recognise(witness)
    for keep_days, dag_ids in sorted(by_age().items()):
        before = now - timedelta(days=keep_days)
        database_clean(dag_ids, before)
        removed = sum(remove_logs(logs_folder(), dag_id, before) for dag_id in dag_ids)
        yield (
            f"{', '.join(dag_ids)}: runs that began before {before:%Y-%m-%d %H:%M %Z} are gone from Airflow, "
            f"with the logs of {removed}"
        )
    longest = timedelta(days=max(by_age(), default=KEEP_DAYS))
    days = remove_parsing_logs(parsing_logs_folder(), now - longest)
    yield f"the logs of {days} day(s) of parsing DAG files are gone, those before {now - longest:%Y-%m-%d}"


def by_age() -> dict[int, list[str]]:
    """Return days to keep -> iteration DAGs, of all campaigns that can be read, and the reaper if it runs by itself."""
    found: dict[int, list[str]] = defaultdict(list)
    for campaign in campaign_files.good():
        found[campaign.keep_days].append(f"{campaign.name}.iteration")
        if campaign.nodes.is_rented and REAPER not in found[campaign.keep_days]:
            found[campaign.keep_days].append(REAPER)
    return dict(found)


def recognise(witness: str) -> None:
    """Expect the database that a command of this process reaches to be the one that Airflow runs on.

    A task is not given the address: where it is only in the environment of Airflow's processes, the commands would
    read airflow.cfg and clean whatever that names.

    Args:
        witness: A run of this DAG that goes on.

    Raises:
        PlatformError: It does not know the run.
    """
    done = _airflow("tasks", "states-for-dag-run", DAG_ID, witness)
    if done.returncode != 0:
        raise PlatformError(
            f"housekeeping: expected the database that airflow.cfg names to be Airflow's own, it does not know run "
            f"{witness} of this DAG; nothing was cleaned. Put the address into airflow.cfg, or into {DATABASE} or "
            f"{HIDDEN_IN_TASKS[0]}_CMD in the environment of the scheduler.\n{_said(done)[-1000:]}"
        )


def database_clean(dag_ids: list[str], before: datetime) -> None:
    """Run Airflow's `db clean` for some DAGs.

    Raises:
        PlatformError: When it fails; the message has its last lines.
    """
    chosen = ["--clean-before-timestamp", before.isoformat(), "--dag-ids", ",".join(dag_ids), "--tables", TABLES]
    done = _airflow("db", "clean", "--yes", "--skip-archive", *chosen)
    said = _said(done)
    if done.returncode != 0 or left_over(said):
        raise PlatformError(
            f"airflow db clean of {', '.join(dag_ids)}: exit code {done.returncode}. Is Airflow's database in "
            f"airflow.cfg, or in {DATABASE}?\n{said[-2000:]}"
        )


def _airflow(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of Airflow to its end."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "airflow", *arguments],
        env=environment(os.environ),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def _said(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stdout + done.stderr).strip()


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


def parsing_logs_folder() -> Path:
    """Return where the DAG processor logs what parsing said: a folder a day."""
    from airflow.sdk.configuration import conf

    return Path(conf.get("logging", "dag_processor_child_process_log_directory"))


def remove_parsing_logs(folder: Path, before: datetime) -> int:
    """Remove the logs of parsing of the days before a date; return how many days."""
    days = [day for day in folder.glob("*") if DAY.fullmatch(day.name) and not day.is_symlink()]
    old = [day for day in days if day.name < f"{before:%Y-%m-%d}"]
    for day in old:
        shutil.rmtree(day, ignore_errors=True)
    return len(old)


def _newest(folder: Path) -> float:
    """Return when something below a folder was written last, seconds since the epoch; now while it changes."""
    try:
        return max(path.lstat().st_mtime for path in (folder, *folder.rglob("*")))
    except FileNotFoundError:
        return time.time()


if __name__ == "__main__":
    main()
