"""Actions: what a person does to a campaign run from a page, as `albacore stop` and its kin do from a terminal.

Bad input is a UserError: expected, given, remedy.
"""

from albacore import action
from albacore_airflow import settings


def stop(run_id: str, *, by: str, reason: str = "") -> None:
    """Let a run ask no more; see `albacore.action.stop`."""
    action.stop(settings.store(), run_id, by=by, reason=reason)


def extend(
    run_id: str, *, by: str, samples: int | None = None, hours: float | None = None, cost: float | None = None
) -> dict[str, float]:
    """Set new totals of a run's limits and return those in force; see `albacore.action.extend`.

    A run that goes on obeys them when its lanes look next. One that has ended is re-opened by a run of its campaign's
    DAG with the conf `extends`.
    """
    return action.extend(settings.store(), run_id, by=by, samples=samples, hours=hours, cost=cost)
