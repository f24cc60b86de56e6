"""Admission: whether a DAG run may begin as a run of its campaign: not too late, and never two at once.

The lock of a campaign is a lease in the store, so that it also holds between two Airflows, and between the DAGs of one.
Its owner names campaign run and DAG run: a retry or Clear of the same DAG run finds its own lock.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from albacore.campaign import Campaign
from albacore.errors import AlbacoreError, UserError
from albacore.store import Store
from albacore.store.leases import Leases

LOCK_S = 6 * 3600.0
"""A lock that nobody has renewed for so long is free: longer than any task of a campaign between two renewals."""
SCHEDULED = "scheduled"
LONGEST_OWNER = 250


class NotTonightError(AlbacoreError):
    """Say why a scheduled run does not begin; it is skipped, and nothing has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The DAG run that wants to begin.

    Attributes:
        run_type: Airflow's word: scheduled, manual, backfill …; an id may be chosen by anybody and says nothing.
        run_after: When it was to begin.
        is_over: Whether a DAG run of the same campaign has ended in this Airflow, by its id.
    """

    dag_run_id: str
    run_type: str
    run_after: datetime
    is_over: Callable[[str], bool]

    @property
    def is_scheduled(self) -> bool:
        """Whether the schedule created it, not a person or a backfill."""
        return self.run_type == SCHEDULED


def admit(store: Store, campaign: Campaign, run_id: str, caller: Caller) -> None:
    """Take the campaign's lock for a DAG run.

    A run that was opened before began in time, whenever its tasks are cleared.

    Raises:
        NotTonightError: For a scheduled run that is too late, or finds the lock held.
        UserError: For any other run that finds the lock held.
    """
    late_s = store.clock() - caller.run_after.timestamp()
    if caller.is_scheduled and late_s > campaign.start_within * 3600 and not store.has_run(run_id):
        raise NotTonightError(_lateness(campaign, caller, late_s))
    lock = Leases(store, lease_s=LOCK_S)
    resource, owner = resource_of(campaign.name), f"{run_id}/dag/{caller.dag_run_id}"[:LONGEST_OWNER]
    while not lock.take_resource(resource, owner):
        holder = lock.holder(resource)
        if holder is None:
            continue  # it was given back this moment
        holding_run, _, holding_dag_run = holder.partition("/dag/")
        if holding_dag_run and caller.is_over(holding_dag_run):
            lock.release(holder)  # it ended without its release
            continue
        reason = (
            f"campaign {campaign.name}: never two runs at once, and {holding_run} (DAG run {holding_dag_run}) goes on. "
            "Wait until it has ended; if it is dead, clear its task 'release'."
        )
        raise NotTonightError(reason) if caller.is_scheduled else UserError(reason, holder=holding_run)


def renew(store: Store, run_id: str) -> None:
    """Keep the lock of a campaign run that goes on."""
    campaign = store.run(run_id).campaign
    Leases(store, lease_s=LOCK_S).renew_resource(resource_of(campaign), f"{run_id}/")


def resource_of(campaign: str) -> str:
    """Return the resource whose lease is a campaign's lock."""
    return f"campaign:{campaign}"


def _lateness(campaign: Campaign, caller: Caller, late_s: float) -> str:
    """Return why a scheduled run is too late to begin.

    Airflow creates the latest missed run when a DAG is switched on or Airflow starts, with `catchup=False` too.
    """
    hours, minutes = divmod(int(late_s // 60), 60)
    return (
        f"campaign {campaign.name}: this run was due at {caller.run_after:%Y-%m-%d %H:%M %Z}, {hours} h {minutes} "
        f"min ago; start_within is {campaign.start_within:g} h. The next one comes as scheduled; start one by hand to "
        "have it now."
    )
