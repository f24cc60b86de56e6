"""Guards: who may call a route. Airflow does not protect the apps of plugins, so every route names one of these.

Reading needs the permission to read the campaign's DAG, writing the permission to edit it. The DAG that counts is the
campaign's own, also for its `.iteration` and `.history`: one permission opens one campaign.
"""

from typing import Annotated
from urllib.parse import urlsplit

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.base_auth_manager import ResourceMethod
from airflow.api_fastapi.auth.managers.models.resource_details import DagDetails
from airflow.api_fastapi.core_api.security import GetUserDep, get_user, requires_access_dag
from airflow.models.dag import DagModel
from fastapi import Depends, HTTPException, Request

__all__ = ["GetUserDep", "campaign_of", "is_allowed", "may_edit", "may_read", "readable_campaigns", "same_origin"]

signed_in = Depends(get_user)


def campaign_of(dag_id: str) -> str:
    """Return the campaign that a DAG belongs to: campaign names have no dot."""
    return dag_id.partition(".")[0]


def is_allowed(method: ResourceMethod, campaign: str, request: Request, user: GetUserDep) -> bool:
    """Whether the user may read (GET) or edit (PUT) a campaign.

    An imported campaign has no DAG of its own; whoever may read or edit DAGs at all may do the same with it.
    """
    if DagModel.get_dagmodel(campaign) is None:
        return get_auth_manager().is_authorized_dag(method=method, details=DagDetails(id=None), user=user)
    try:
        requires_access_dag(method, None, campaign)(request, user)
    except HTTPException:
        return False
    return True


def _refuse() -> HTTPException:
    return HTTPException(403, "You may not do this with this campaign: Airflow's permissions on its DAG decide.")


def may_read(dag_id: str, request: Request, user: GetUserDep) -> None:
    """Let pass who may read the campaign's DAG."""
    if not is_allowed("GET", campaign_of(dag_id), request, user):
        raise _refuse()


def may_edit(dag_id: str, request: Request, user: GetUserDep) -> None:
    """Let pass who may edit the campaign's DAG."""
    if not is_allowed("PUT", campaign_of(dag_id), request, user):
        raise _refuse()


def readable_campaigns(known: set[str], user: GetUserDep) -> set[str]:
    """Return which of the campaigns of the store, and which DAGs besides, the user may read."""
    manager = get_auth_manager()
    permitted = manager.get_authorized_dag_ids(user=user, method="GET")
    if not manager.is_authorized_dag(method="GET", details=DagDetails(id=None), user=user):
        return permitted
    return permitted | {campaign for campaign in known if DagModel.get_dagmodel(campaign) is None}


def same_origin(request: Request, _: Annotated[object, signed_in]) -> None:
    """Refuse a write that another site made the browser send: the session's cookie comes along with it.

    Browsers say where a write comes from; a program that says nothing has to send a token instead of a cookie.
    """
    headers = request.headers
    if not headers.get("content-type", "").startswith("application/json"):
        raise HTTPException(415, "Expected JSON.")
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is None and origin is None:
        if not headers.get("authorization", "").lower().startswith("bearer "):
            raise HTTPException(403, "A write without Origin needs a token.")
        return
    host = headers.get("x-forwarded-host") or headers.get("host", "")
    if site not in (None, "same-origin") or (origin is not None and urlsplit(origin).netloc != host):
        raise HTTPException(403, "Writes from other sites are refused.")
