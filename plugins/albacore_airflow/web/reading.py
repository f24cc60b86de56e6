"""Reading: the shelf of this process, and the run that a request asks for."""

from functools import cache
from typing import Any

from fastapi import HTTPException

from albacore.charts import summary
from albacore.charts.book import Book
from albacore.errors import UserError
from albacore.store import transcript
from albacore_airflow import settings
from albacore_airflow.web import settling
from albacore_airflow.web.dag_runs import DagRunSeen
from albacore_airflow.web.guards import campaign_of
from albacore_airflow.web.shelf import Shelf


@cache
def shelf() -> Shelf:
    """Return the shelf of this process."""
    return Shelf(settings.store)


def book_of(dag_id: str, run_id: str) -> Book:
    """Return the book of a run of the DAG's campaign.

    Raises:
        HTTPException: 404 when there is none, also when the run is another campaign's: reading was allowed for this
            one only.
    """
    if shelf().state() != "ready":
        raise HTTPException(404, "There is no campaign run in the store yet.")
    try:
        book = shelf().book(run_id)
    except UserError as error:
        raise HTTPException(404, f"There is no campaign run {run_id}.") from error
    if book.run.campaign != campaign_of(dag_id):
        raise HTTPException(404, f"{run_id} is no run of {campaign_of(dag_id)}.")
    return book


def line(book: Book, seen: DagRunSeen | None) -> dict[str, Any]:
    """Return a run in one line, with the DAG run that it is."""
    store = settings.store()
    holder = settings.leases().holder(settings.run_resource(book.run.id))
    origin = transcript.origin(store, book.run.id)
    outside = summary.Outside(
        now=store.clock(),
        is_watched=holder is not None,
        dag_state=seen.state if seen else "",
        imported_from=" · ".join(filter(None, (origin.source, origin.label, origin.method))) if origin else "",
    )
    return summary.line(book, outside) | settling.state(book.run.id) | {"dag_run_id": seen.dag_run_id if seen else None}
