"""Reaping: which machines nobody will delete any more, and why the others are left alone.

Only what carries this owner's tag is looked at. A run that goes on keeps its machines; one that has ended loses what it
left. What says of itself that it is ours but is of no run that we know is only reported: another Airflow may have been
given the same owner.
"""

import enum
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from albacore.clouds.azure import client, tag
from albacore.clouds.azure.order import AzureOrder

if TYPE_CHECKING:
    from azure.mgmt.compute import ComputeManagementClient


class Standing(enum.StrEnum):
    """Name what is known of the run that something was made for."""

    GOES_ON = "goes on"
    ENDED = "ended"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is to be done about everything that one run has there.

    Attributes:
        run: The campaign run's id.
        is_deleted: Whether it goes; else it is only told.
        reason: Why, for people.
    """

    run: str
    is_deleted: bool
    reason: str


def claimed(order: AzureOrder, found: "ComputeManagementClient") -> dict[str, list[Mapping[str, str]]]:
    """Return run -> the tags of everything of this owner in the order's resource group."""
    with client.told(f"list what {order.owner} has in {order.resource_group}"):
        tagged = list(_tags(order, found))
    runs: dict[str, list[Mapping[str, str]]] = {}
    for tags in tagged:
        runs.setdefault(tags.get(tag.RUN, ""), []).append(tags)
    return runs


def _tags(order: AzureOrder, found: "ComputeManagementClient") -> Iterator[Mapping[str, str]]:
    """Yield tags; machines are asked for themselves, as the list of resources may be late."""
    for vm in found.virtual_machines.list(order.resource_group):
        if (vm.tags or {}).get(tag.OWNER) == order.owner:
            yield vm.tags or {}
    path = f"/subscriptions/{order.subscription}/resourceGroups/{order.resource_group}/resources"
    query = {"$filter": f"tagName eq '{tag.OWNER}' and tagValue eq '{order.owner}'"}
    for each in client.listed(found, path, client.RESOURCES_API, query):
        tags = each.get("tags") or {}
        if tags.get(tag.OWNER) == order.owner and tag.RUN in tags:
            yield tags


def findings(
    runs: Mapping[str, Collection[Mapping[str, str]]],
    standing: Callable[[str, Collection[str]], Standing],
    *,
    now: float,
) -> list[Finding]:
    """Return what is to be done about each run.

    Args:
        runs: What `claimed` returns.
        standing: Says of a run, and of the DAG runs that its tags name, whether it goes on.
        now: Seconds since the epoch.
    """
    return [_finding(run, tags, standing, now) for run, tags in sorted(runs.items())]


def _finding(
    run: str,
    tags: Collection[Mapping[str, str]],
    standing: Callable[[str, Collection[str]], Standing],
    now: float,
) -> Finding:
    expiries = [tag.expiry(each) for each in tags]
    if not run or None in expiries:
        said = "its tags cannot be read: look at it, and delete it by hand if nobody needs it"
        return Finding(run=run, is_deleted=False, reason=said)
    late = max(0.0, now - min(e for e in expiries if e is not None)) / 3600
    overdue = f", {late:.1f} h after it expired" if late else ""
    known = standing(run, sorted({each.get(tag.DAG_RUN, "") for each in tags} - {""}))
    if known is Standing.GOES_ON:
        return Finding(run=run, is_deleted=False, reason=f"the run goes on{overdue}")
    if known is Standing.UNKNOWN:
        said = f"no run of this store{overdue}: it would be deleted if it were; is the owner's name used twice?"
        return Finding(run=run, is_deleted=False, reason=said)
    return Finding(run=run, is_deleted=True, reason=f"the run has ended{overdue}")
