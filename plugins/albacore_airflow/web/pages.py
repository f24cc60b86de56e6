"""Pages: the HTML. It holds no data but ids; everything else comes as JSON and is written by scripts as text."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

from airflow.api_fastapi.common.db.common import SessionDep
from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from albacore_airflow.web import assets, dag_runs
from albacore_airflow.web.catalogue import BY_NAME, PAGES
from albacore_airflow.web.guards import campaign_of, may_read, signed_in
from albacore_airflow.web.reading import shelf

router = APIRouter()
templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, undefined=StrictUndefined
)
READ = [Depends(may_read)]


def _root(request: Request) -> str:
    """Return where the pages are mounted, without a slash at the end."""
    return request.scope.get("root_path", "").rstrip("/")


def page_of(request: Request, template: str, **values: Any) -> HTMLResponse:
    """Return a page."""
    root = _root(request)
    text = templates.get_template(template).render(
        root=root,
        assets=f"{root}/static/{assets.digest()}",
        plotly=f"{root}/static/plotly/{assets.plotly_version()}.js",
        style_ids=assets.plotly_style_ids(),
        pages=PAGES,
        **values,
    )
    return HTMLResponse(text, headers={"cache-control": "no-store"})


@router.get("/", dependencies=[signed_in])
def fleet(request: Request) -> HTMLResponse:
    """Show all campaigns."""
    return page_of(request, "fleet.html", title="Tuning")


@router.get("/dags/{dag_id}", dependencies=READ)
def of_dag(request: Request, dag_id: str) -> Any:
    """Lead to the latest run of a campaign: the tab on its DAG."""
    own = [run.id for run in shelf().runs() if run.campaign == campaign_of(dag_id)]
    return _lead(request, dag_id, own[-1]) if own else _empty(request, dag_id, "")


@router.get("/dags/{dag_id}/dag-runs/{dag_run_id}", dependencies=READ)
def of_dag_run(request: Request, dag_id: str, dag_run_id: str, session: SessionDep) -> Any:
    """Lead to the campaign run that a DAG run is or belongs to: the tab on the run."""
    wanted = dag_runs.campaign_run_of(session, dag_id, dag_run_id)
    known = {run.id for run in shelf().runs() if run.campaign == campaign_of(dag_id)}
    return (
        _lead(request, dag_id, wanted)
        if wanted is not None and wanted in known
        else _empty(request, dag_id, dag_run_id)
    )


def _lead(request: Request, dag_id: str, run_id: str) -> RedirectResponse:
    target = f"{_root(request)}/dags/{quote(dag_id)}/runs/{quote(run_id)}/{PAGES[0].name}"
    return RedirectResponse(target, status_code=307, headers={"cache-control": "no-store"})


def _empty(request: Request, dag_id: str, dag_run_id: str) -> HTMLResponse:
    """Say that there is nothing to see yet, and wait for it."""
    campaign = campaign_of(dag_id)
    return page_of(request, "empty.html", title=campaign, campaign=campaign, dag_id=dag_id, dag_run_id=dag_run_id)


@router.get("/dags/{dag_id}/runs/{run_id}/{page}", dependencies=READ)
def of_run(request: Request, dag_id: str, run_id: str, page: str) -> HTMLResponse:
    """Show one page of a campaign run."""
    if page not in BY_NAME:
        raise HTTPException(404, "No such page.")
    found = BY_NAME[page]
    return page_of(request, f"{page}.html", title=found.title, page=found, dag_id=campaign_of(dag_id), run_id=run_id)
