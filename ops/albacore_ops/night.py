"""Nights: what a campaign with a schedule does next, in words, from what the REST API says of its DAG."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from albacore_ops.rest import Airflow, path

Dag = Mapping[str, Any]


def is_scheduled(dag: Dag) -> bool:
    """Whether a DAG has a schedule of its own."""
    return bool(dag.get("timetable_summary"))


def sentence(campaign: str, dag: Dag) -> str:
    """Return when a campaign's next run begins, or how it is switched on; "" for one without a schedule."""
    if not is_scheduled(dag):
        return ""
    said = f"{campaign}: schedule '{dag['timetable_summary']}'"
    if dag.get("is_paused"):
        return f"{said}, switched off; `make tune CAMPAIGN={campaign}` switches it on"
    begins = dag.get("next_dagrun_run_after")
    return f"{said}, next run {local(begins)}" if begins else f"{said}, next run not known yet"


def was_due(airflow: Airflow, campaign: str, now: datetime | None = None) -> bool:
    """Whether a campaign that is switched off will have a run for a moment that has passed, once it is switched on."""
    dag = airflow.find(path("dags", campaign)) or {}
    begins = dag.get("next_dagrun_run_after")
    if not is_scheduled(dag) or not dag.get("is_paused") or not begins:
        return False
    return datetime.fromisoformat(begins) <= (now or datetime.now(UTC))


def local(moment: str) -> str:
    """Return an API's moment on this machine's clock."""
    return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M %Z}"


def of_campaign(airflow: Airflow, campaign: str) -> str:
    """Return the sentence of one campaign; "" when it has no schedule."""
    return sentence(campaign, airflow.find(path("dags", campaign)) or {})


def of_all(airflow: Airflow) -> list[str]:
    """Return the sentences of all campaigns with a schedule, by name."""
    found = airflow.call("GET", path("dags"), query={"tags": "campaign", "limit": 100, "order_by": "dag_id"})
    return [said for dag in found["dags"] if (said := sentence(dag["dag_id"], dag))]
