"""The reaper: deletes machines on Azure that no live campaign run owns, and reports those of unknown runs."""

from collections.abc import Callable, Collection, Iterator

from albacore import ledger, recorded
from albacore.clouds.azure.order import AzureOrder
from albacore.clouds.azure.reaping import Finding, Standing, claimed, findings
from albacore.errors import AlbacoreError, CampaignError, PlatformError
from albacore.store import CampaignRun
from albacore_airflow import campaign_files, housekeeping, renting, settings

DAG_ID = housekeeping.REAPER
SCHEDULE = "*/15 * * * *"

IsLive = Callable[[str, Collection[str]], bool]
"""Says of a DAG and ids of its runs whether one of them goes on."""


def schedule() -> str | None:
    """Return when the reaper runs: never by itself while no campaign has machines made."""
    return SCHEDULE if any(campaign.nodes.is_rented for campaign in campaign_files.good()) else None


def reap(is_live: IsLive) -> Iterator[str]:
    """Delete what is due and yield what was found, a line each.

    Raises:
        PlatformError: When something could not be asked or deleted; after everything else was done.
    """
    store = settings.store()
    store.migrate()
    runs = {run.id: run for run in store.runs()}
    orders = [*_of_files(), *_of_runs(runs.values())]
    wrong = []
    for order in {(o.connection, o.resource_group, o.owner): o for o in orders}.values():
        try:
            yield from _reap_group(order, runs, is_live)
        except AlbacoreError as error:
            wrong.append(error.message)
    if wrong:
        raise PlatformError(f"reaper: {'; '.join(wrong)}")


def _of_files() -> list[AzureOrder]:
    """Return the orders of the campaign files."""
    return [campaign.nodes.azure for campaign in campaign_files.good() if campaign.nodes.azure is not None]


def _of_runs(runs: Collection[CampaignRun]) -> Iterator[AzureOrder]:
    """Yield the orders of recorded runs: their files may be gone."""
    for run in runs:
        try:
            order = recorded.campaign(run).nodes.azure
        except CampaignError:  # of another version
            continue
        if order is not None:
            yield order


def _reap_group(order: AzureOrder, runs: dict[str, CampaignRun], is_live: IsLive) -> Iterator[str]:
    """Look at one resource group as one owner."""
    from albacore_airflow import azure_connection

    def standing(run_id: str, dag_runs: Collection[str]) -> Standing:
        if run_id not in runs:
            return Standing.UNKNOWN
        return Standing.GOES_ON if is_live(runs[run_id].campaign, dag_runs) else Standing.ENDED

    there = claimed(order, azure_connection.connected(order.connection))
    for found in findings(there, standing, now=settings.store().clock()):
        yield f"{order.resource_group}: {found.run or 'no run'}, {len(there[found.run])} resources: {_done(found)}"
    ended = [run for run in runs.values() if run.id not in there and not is_live(run.campaign, _dag_runs(run))]
    yield from _settle(order, ended)


def _done(found: Finding) -> str:
    """Delete if it is due, and say so."""
    if not found.is_deleted:
        return f"left alone: {found.reason}"
    left = renting.sweep(found.run)
    return f"deleted: {found.reason}" + (f"; not gone yet: {', '.join(left)}" if left else "")


def _dag_runs(run: CampaignRun) -> list[str]:
    """Return the DAG runs that asked for a run's machines; none for runs that have none."""
    return renting.dag_runs(run.id) if run.effective.get("nodes", {}).get("azure") else []


def _settle(order: AzureOrder, ended: Collection[CampaignRun]) -> Iterator[str]:
    """Write down that machines of ended runs are gone, and delete what of theirs carries no tags."""
    for run in ended:
        mine = recorded.campaign(run).nodes.azure if run.effective.get("nodes", {}).get("azure") else None
        is_here = mine is not None and (mine.resource_group, mine.owner) == (order.resource_group, order.owner)
        if is_here and ledger.held(settings.run_log(run.id).read()):
            left = renting.sweep(run.id)
            yield f"{order.resource_group}: {run.id}: its machines are gone{f', but for {left}' if left else ''}"
