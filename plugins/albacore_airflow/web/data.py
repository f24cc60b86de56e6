"""Data: what the pages show, as JSON."""

from typing import Any

from airflow.api_fastapi.common.db.common import SessionDep
from fastapi import APIRouter, Depends, HTTPException, Request, Response

from albacore.charts import fleet as fleet_chart
from albacore.charts import trials
from albacore.errors import UserError
from albacore.store import CampaignRun
from albacore_airflow.web import dag_runs, fitting
from albacore_airflow.web.catalogue import BY_NAME
from albacore_airflow.web.guards import GetUserDep, campaign_of, is_allowed, may_read, readable_campaigns, signed_in
from albacore_airflow.web.plain import answer, encode
from albacore_airflow.web.reading import book_of, line, shelf

router = APIRouter(prefix="/data")
READ = [Depends(may_read)]


@router.get("/fleet", dependencies=[signed_in])
def fleet(session: SessionDep, user: GetUserDep) -> Response:
    """Return one row per campaign that the user may read."""
    runs: dict[str, list[CampaignRun]] = {}
    for run in shelf().runs():
        runs.setdefault(run.campaign, []).append(run)
    readable = readable_campaigns(set(runs), user)
    runs = {campaign: own for campaign, own in runs.items() if campaign in readable}
    latest = {campaign: _line(session, own[-1].id, campaign) for campaign, own in runs.items()}
    dags = dag_runs.campaign_dags(session, readable)
    counts = {campaign: len(own) for campaign, own in runs.items()}
    return answer(encode(fleet_chart.page(latest, counts, dags) | {"store": shelf().state()}))


def _line(session: SessionDep, run_id: str, campaign: str) -> dict[str, Any]:
    return line(shelf().book(run_id), dag_runs.of_campaign(session, campaign).get(run_id))


@router.get("/dags/{dag_id}/runs", dependencies=READ)
def runs(dag_id: str) -> Response:
    """Return the campaign's runs, latest first, for the chooser."""
    own = [run for run in shelf().runs() if run.campaign == campaign_of(dag_id)]
    found = [{"run": run.id, "opened_at": run.opened_at, "logical_date": run.logical_date} for run in reversed(own)]
    return answer(encode({"runs": found}))


@router.get("/dags/{dag_id}/dag-runs/{dag_run_id}", dependencies=READ)
def of_dag_run(dag_id: str, dag_run_id: str, session: SessionDep) -> Response:
    """Return the campaign run that a DAG run belongs to, once it is open."""
    wanted = dag_runs.campaign_run_of(session, dag_id, dag_run_id)
    known = {run.id for run in shelf().runs() if run.campaign == campaign_of(dag_id)}
    return answer(encode({"run": wanted if wanted in known else None}))


@router.get("/dags/{dag_id}/runs/{run_id}/line", dependencies=READ)
def head(dag_id: str, run_id: str, request: Request, user: GetUserDep, session: SessionDep) -> Response:
    """Return the run in one line, and what the user may do with it."""
    book = book_of(dag_id, run_id)
    seen = dag_runs.of_campaign(session, campaign_of(dag_id)).get(run_id)
    may_edit = is_allowed("PUT", campaign_of(dag_id), request, user)
    return answer(encode(line(book, seen) | {"may_edit": may_edit}))


@router.get("/dags/{dag_id}/runs/{run_id}/importance", dependencies=READ)
def importance(dag_id: str, run_id: str) -> Response:
    """Return which knobs matter, or that it is being computed."""
    return answer(encode(fitting.importance(book_of(dag_id, run_id))))


@router.get("/dags/{dag_id}/runs/{run_id}/trials/{config_id}", dependencies=READ)
def trial(dag_id: str, run_id: str, config_id: str) -> Response:
    """Return one trial in full."""
    try:
        return answer(encode(trials.one(book_of(dag_id, run_id), config_id, shelf().notes(run_id, config_id))))
    except UserError as error:
        raise HTTPException(404, error.message) from error


@router.get("/dags/{dag_id}/runs/{run_id}/pages/{page}", dependencies=READ)
def of_page(dag_id: str, run_id: str, page: str) -> Response:
    """Return what one page of a run shows."""
    if page not in BY_NAME:
        raise HTTPException(404, "No such page.")
    book = book_of(dag_id, run_id)
    return answer(shelf().page(book.run.id, page, lambda now: encode(BY_NAME[page].make(now))))
