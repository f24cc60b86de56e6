"""Writes: what a user may do with a run.

Each needs the permission to edit the campaign's DAG, and has to come from our own pages. What an action means is in
`albacore_airflow.actions`; here is only who may call it and how it is asked for.
"""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from albacore.errors import AlbacoreError, UserError
from albacore_airflow import actions
from albacore_airflow.web import settling
from albacore_airflow.web.guards import GetUserDep, may_edit, same_origin
from albacore_airflow.web.reading import book_of

router = APIRouter(
    prefix="/dags/{dag_id}/runs/{run_id}/actions", dependencies=[Depends(may_edit), Depends(same_origin)]
)
Reason = Annotated[str, Field(max_length=500)]


class Asked(BaseModel):
    """The body of an action; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Stop(Asked):
    """End the run after the iterations in flight."""

    reason: Reason = ""


class Extend(Asked):
    """New totals; what is left out stays."""

    samples: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    hours: Annotated[float, Field(gt=0, le=10_000)] | None = None
    cost: Annotated[float, Field(gt=0, le=1e12)] | None = None


class Exclude(Asked):
    """Samples of a node between two moments, in seconds since the epoch."""

    node: Annotated[str, Field(min_length=1, max_length=200)]
    since: Annotated[float, Field(ge=0)]
    until: Annotated[float, Field(ge=0)]
    reason: Reason = ""


class UndoExclude(Asked):
    """The id of an exclusion."""

    exclusion: Annotated[str, Field(min_length=1, max_length=250)]


class Requeue(Asked):
    """The config that is measured again."""

    config_id: Annotated[str, Field(min_length=1, max_length=250)]


def _do(dag_id: str, run_id: str, action: Callable[[], Any]) -> dict[str, Any]:
    """Do it to a run of this campaign; what the user can correct is 422, what they cannot 503, with what to do."""
    book_of(dag_id, run_id)
    try:
        return {"done": action()}
    except UserError as error:
        raise HTTPException(422, error.message) from error
    except AlbacoreError as error:
        raise HTTPException(503, error.message) from error


@router.post("/stop")
def stop(dag_id: str, run_id: str, asked: Stop, user: GetUserDep) -> dict[str, Any]:
    """Stop the run."""
    return _do(dag_id, run_id, lambda: actions.stop(run_id, by=user.get_name(), reason=asked.reason))


@router.post("/extend")
def extend(dag_id: str, run_id: str, asked: Extend, user: GetUserDep) -> dict[str, Any]:
    """Raise or lower the limits of the run."""
    return _do(dag_id, run_id, lambda: actions.extend(run_id, by=user.get_name(), **asked.model_dump()))


@router.post("/exclude")
def exclude(dag_id: str, run_id: str, asked: Exclude, user: GetUserDep) -> dict[str, Any]:
    """Leave samples of a node out; scores follow beside the requests."""
    done = _do(dag_id, run_id, lambda: actions.exclude(run_id, by=user.get_name(), **asked.model_dump()))
    settling.start(run_id)
    return done


@router.post("/undo-exclude")
def undo_exclude(dag_id: str, run_id: str, asked: UndoExclude, user: GetUserDep) -> dict[str, Any]:
    """Take excluded samples back in; scores follow beside the requests."""
    done = _do(dag_id, run_id, lambda: actions.undo_exclude(run_id, by=user.get_name(), exclusion=asked.exclusion))
    settling.start(run_id)
    return done


@router.post("/settle")
def settle(dag_id: str, run_id: str, _: Asked) -> dict[str, Any]:
    """Go on with scores that are still missing, after a server was stopped in the middle of them."""
    return _do(dag_id, run_id, lambda: settling.start(run_id))


@router.post("/requeue")
def requeue(dag_id: str, run_id: str, asked: Requeue, user: GetUserDep) -> dict[str, Any]:
    """Measure a config again."""
    return _do(dag_id, run_id, lambda: actions.requeue(run_id, by=user.get_name(), config_id=asked.config_id))
