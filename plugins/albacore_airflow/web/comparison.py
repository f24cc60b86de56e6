"""Comparison: two policies over the back-filled runs of a campaign, as a page and as JSON."""

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import HTMLResponse

from albacore.backfill import comparing
from albacore.errors import UserError
from albacore.store import rescorings
from albacore_airflow import settings
from albacore_airflow.web.guards import campaign_of, may_read
from albacore_airflow.web.pages import page_of
from albacore_airflow.web.plain import answer, encode
from albacore_airflow.web.reading import shelf

router = APIRouter()
READ = [Depends(may_read)]


@router.get("/dags/{dag_id}/compare", dependencies=READ)
def page(request: Request, dag_id: str) -> HTMLResponse:
    """Show what two policies make of the same history."""
    return page_of(request, "compare.html", title="Compare policies", dag_id=campaign_of(dag_id))


@router.get("/data/dags/{dag_id}/compare", dependencies=READ)
def data(dag_id: str, a: str = "", b: str = "") -> Response:
    """Return the policies that have judged the campaign's runs, and the comparison of two when they are named."""
    if shelf().state() != "ready":
        return answer(encode({"policies": {}, "comparison": None}))
    store, campaign = settings.store(), campaign_of(dag_id)
    found = {"policies": rescorings.policies_of(store, campaign), "comparison": None}
    if a and b:
        try:
            found["comparison"] = comparing.plain(comparing.compare(store, campaign, a, b))
        except UserError as error:
            raise HTTPException(404, error.message) from error
    return answer(encode(found))
