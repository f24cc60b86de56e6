"""DAG runs: which of Airflow's runs a campaign run is, read from Airflow's own tables (this is the API server)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from airflow.models.dag import DagModel, DagTag
from airflow.models.dagrun import DagRun
from sqlalchemy import select
from sqlalchemy.orm import Session

from albacore_airflow.campaign_tasks import run_id_of
from albacore_airflow.web.guards import campaign_of

MOST = 500
"""DAG runs of a campaign that are looked at, the latest."""
TAG = "campaign"
"""The tag of campaign DAGs; see dags/campaigns.py."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DagRunSeen:
    """A DAG run: its id, its state, and the campaign run that it is or goes on with."""

    dag_run_id: str
    state: str
    campaign_run: str


def campaign_dags(session: Session, readable: Iterable[str]) -> list[dict[str, Any]]:
    """Return the campaign DAGs among the readable ones."""
    query = (
        select(DagModel.dag_id, DagModel.dag_display_name, DagModel.is_paused)
        .join(DagTag, DagTag.dag_id == DagModel.dag_id)
        .where(DagTag.name == TAG, DagModel.dag_id.in_(set(readable)), DagModel.is_stale.is_(False))
    )
    return [{"campaign": row[0], "title": row[1], "is_paused": row[2]} for row in session.execute(query)]


def of_campaign(session: Session, campaign: str) -> dict[str, DagRunSeen]:
    """Return campaign run -> the latest DAG run that is it or goes on with it."""
    query = select(DagRun).where(DagRun.dag_id == campaign).order_by(DagRun.id.desc()).limit(MOST)
    found: dict[str, DagRunSeen] = {}
    for row in session.scalars(query):
        seen = _seen(row)
        found.setdefault(seen.campaign_run, seen)
    return found


def _seen(row: Any) -> DagRunSeen:
    extended = (row.conf or {}).get("extends")
    own = run_id_of(row.dag_id, row.run_id, f"{row.run_after:%Y%m%dt%H%M%S}")
    state = getattr(row.state, "value", row.state) or ""
    return DagRunSeen(dag_run_id=row.run_id, state=str(state), campaign_run=str(extended or own))


def campaign_run_of(session: Session, dag_id: str, dag_run_id: str) -> str | None:
    """Return the campaign run that a DAG run belongs to; None when Airflow has no such run, or it belongs to none."""
    row = session.scalar(select(DagRun).where(DagRun.dag_id == dag_id, DagRun.run_id == dag_run_id))
    if row is None:
        return None
    if dag_id != campaign_of(dag_id):
        named = (row.conf or {}).get("campaign_run")
        return str(named) if named else None
    return _seen(row).campaign_run


def latest_of(session: Session, campaigns: Iterable[str]) -> Mapping[str, Mapping[str, DagRunSeen]]:
    """Return campaign -> its campaign runs' DAG runs."""
    return {campaign: of_campaign(session, campaign) for campaign in campaigns}
