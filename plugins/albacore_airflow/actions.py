"""Actions: what a person does to a campaign run from a page, as `albacore stop` and its kin do from a terminal.

Bad input is a UserError: expected, given, remedy.
"""

from contextlib import nullcontext

from albacore.runs import action, conclusion
from albacore.runs import exclusion as excluding
from albacore_airflow import settings


def stop(run_id: str, *, by: str, reason: str = "") -> None:
    """Let a run ask no more; see `albacore.runs.action.stop`."""
    action.stop(settings.store(), run_id, by=by, reason=reason)


def extend(
    run_id: str, *, by: str, samples: int | None = None, hours: float | None = None, cost: float | None = None
) -> dict[str, float]:
    """Set new totals of a run's limits and return those in force; see `albacore.runs.action.extend`.

    A run that goes on obeys them when its lanes look next. One that has ended is re-opened by a run of its campaign's
    DAG with the conf `extends`.
    """
    return action.extend(settings.store(), run_id, by=by, samples=samples, hours=hours, cost=cost)


def exclude(run_id: str, *, by: str, node: str, since: float, until: float, reason: str = "") -> str:
    """Let the samples of a node that started from `since` to `until` (epoch seconds) count no more; return the id.

    A live run takes the missing samples again. One that has ended is judged by what is left and gets a new verdict:
    that is `settle`, which may take minutes.
    """
    span = excluding.Span(node=node, since=since, until=until)
    return excluding.leave_out(settings.store(), run_id, span, by=by, reason=reason)


def undo_exclude(run_id: str, *, by: str, exclusion: str) -> None:
    """Take an exclusion back, by its id; see `albacore.runs.exclusion.take_back`. Then `settle`."""
    excluding.take_back(settings.store(), run_id, by=by, exclusion=exclusion)


def settle(run_id: str, *, turn: excluding.Turn = nullcontext) -> None:
    """Judge what an exclusion, or its undoing, left without a judgement, and conclude again if the run has ended.

    Args:
        run_id: The run.
        turn: Entered for whatever computes: see `albacore.runs.exclusion.settle`.
    """
    excluding.settle_unwatched(settings.store(), run_id, turn=turn)
    with turn():
        conclusion.conclude_again(settings.store(), run_id)


def requeue(run_id: str, *, by: str, config_id: str, reason: str = "") -> None:
    """Have a config measured again; see `albacore.runs.exclusion.requeue`."""
    excluding.requeue(settings.store(), run_id, by=by, config_id=config_id, reason=reason)
