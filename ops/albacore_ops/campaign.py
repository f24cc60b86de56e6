"""One run of a campaign, seen over the REST API: start it, look at it, read its verdict."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from albacore_ops.rest import Airflow, Json, path

ENDED = ("success", "failed")
PROGRESS = "progress"
LOOK_BACK = 20
"""Runs among which the one to look at is searched: a night that goes on long skips those that fall into it."""
MISSED_LOOKS = 60
"""Seconds within which the run of a missed night has begun or was skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignRun:
    """Name a run of a campaign.

    Attributes:
        airflow: Where it runs.
        campaign: The campaign's name, which is its DAG's id.
        run_id: The DAG run's id.
    """

    airflow: Airflow
    campaign: str
    run_id: str

    def state(self) -> str:
        """Return the state of the DAG run: queued, running, success or failed."""
        return str(self.airflow.call("GET", path("dags", self.campaign, "dagRuns", self.run_id))["state"])

    def tasks(self) -> list[Json]:
        """Return the task instances of the campaign run itself."""
        where = path("dags", self.campaign, "dagRuns", self.run_id, "taskInstances")
        return list(self.airflow.call("GET", where, query={"limit": 100})["task_instances"])

    def progress(self) -> Json:
        """Return the newest progress that a task of this run or of its iterations has left, {} when none has."""
        entries = [*self._left_in(self.campaign, self.run_id), *self._left_in(f"{self.campaign}.iteration", "~")]
        opened = self._value(self.campaign, self.run_id, "open", "return_value")
        for entry in sorted(entries, key=lambda entry: entry["timestamp"], reverse=True):
            facts = self._value(entry["dag_id"], entry["run_id"], entry["task_id"], PROGRESS)
            # A lane of an earlier run may still be ending.
            if isinstance(facts, dict) and facts.get("campaign_run", opened) == opened:
                return facts
        return {}

    def opened(self) -> str:
        """Return the id of the campaign run that it works on, "" while that is not known."""
        return str(self._value(self.campaign, self.run_id, "open", "return_value") or "")

    def verdict(self) -> Json:
        """Return the verdict, {} when there is none."""
        facts = self._value(self.campaign, self.run_id, "verdict", "verdict")
        return facts if isinstance(facts, dict) else {}

    def has_begun(self) -> bool:
        """Whether its campaign run is open."""
        return self._value(self.campaign, self.run_id, "open", "return_value") is not None

    def skipped(self) -> str:
        """Return why a run of the schedule did not begin, "" when it did."""
        return str(self._value(self.campaign, self.run_id, "open", "skipped") or "")

    def failed_tasks(self) -> list[Json]:
        """Return the task instances that failed by themselves, the first one first."""
        failed = [task for task in self.tasks() if task["state"] == "failed"]
        return sorted(failed, key=lambda task: task.get("end_date") or "")

    def log(self, task: Json) -> Json:
        """Return the API's answer with the log of a task instance's last try."""
        where = path(
            "dags",
            self.campaign,
            "dagRuns",
            self.run_id,
            "taskInstances",
            task["task_id"],
            "logs",
            str(task["try_number"]),
        )
        query = {"map_index": task.get("map_index", -1), "full_content": "true"}
        return self.airflow.find(where, query=query) or {}

    def _left_in(self, dag: str, run_id: str) -> list[Json]:
        """Return where the newest progress of a DAG lies; a few of them, the newest one first."""
        query = {"xcom_key": PROGRESS, "order_by": "-timestamp", "limit": 3}
        found = self.airflow.find(
            path("dags", dag, "dagRuns", run_id, "taskInstances", "~", "xcomEntries"), query=query
        )
        return list((found or {}).get("xcom_entries", []))

    def _value(self, dag: str, run_id: str, task: str, key: str) -> Any:
        """Return what a task pushed under a key, None when it has not."""
        where = path("dags", dag, "dagRuns", run_id, "taskInstances", task, "xcomEntries", key)
        return (self.airflow.find(where) or {}).get("value")


def latest(airflow: Airflow, campaign: str) -> CampaignRun | None:
    """Return the run of a campaign to look at, None when there is none.

    It is the newest, but one that goes on goes before those that have ended, and one that measures before nights that
    were skipped.
    """
    query = {"order_by": "-run_after", "limit": LOOK_BACK}
    found = airflow.find(path("dags", campaign, "dagRuns"), query=query) or {}
    ids = [run["dag_run_id"] for run in sorted(found.get("dag_runs", []), key=lambda r: r.get("state") in ENDED)]
    runs = [CampaignRun(airflow=airflow, campaign=campaign, run_id=run_id) for run_id in ids]
    return next((run for run in runs if not run.skipped()), runs[0] if runs else None)


def switch_on(airflow: Airflow, campaign: str) -> None:
    """Switch a campaign on, its schedule included."""
    for dag in (campaign, f"{campaign}.iteration"):
        airflow.call("PATCH", path("dags", dag), body={"is_paused": False})


def missed(airflow: Airflow, campaign: str, before: CampaignRun | None) -> CampaignRun | None:
    """Return the run that Airflow creates for the schedule's last moment when it is switched on, if it begins.

    It is the night that was just missed, and would be in the way of a run started by hand.

    Args:
        before: The newest run from before the switch.
    """
    for _ in range(MISSED_LOOKS):
        found = latest(airflow, campaign)
        if found is not None and found != before:
            if found.has_begun():
                return found
            if found.skipped() or found.state() in ENDED:
                return None
        airflow.sleep(1.0)
    return None


def start(
    airflow: Airflow, campaign: str, now: datetime | None = None, *, conf: Mapping[str, Any] | None = None
) -> CampaignRun:
    """Start a run of a campaign that is switched on, with values for its form."""
    run_id = f"{campaign}-{now or datetime.now(UTC):%Y%m%d-%H%M%S}"
    body = {"dag_run_id": run_id, "logical_date": None, "conf": dict(conf or {})}
    answer = airflow.call("POST", path("dags", campaign, "dagRuns"), body=body)
    return CampaignRun(airflow=airflow, campaign=campaign, run_id=str(answer["dag_run_id"]))


def is_known(airflow: Airflow, campaign: str) -> bool:
    """Return whether Airflow has read both DAGs of a campaign."""
    return all(airflow.find(path("dags", dag)) is not None for dag in (campaign, f"{campaign}.iteration"))


def import_errors(airflow: Airflow) -> list[str]:
    """Return file and last line of every DAG file that could not be read."""
    found = airflow.call("GET", path("importErrors"))["import_errors"]
    return [f"{error['filename']}: {error['stack_trace'].strip().splitlines()[-1]}" for error in found]
