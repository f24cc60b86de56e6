"""Action: what a person does to a campaign run while it goes on or after it, as events of its log.

Nothing is edited: an action appends a note, and every later decision reads it (`counting.py`, `stopping.py`). Who did
it and why is in the note.
"""

import math

from albacore import recorded, stopping
from albacore.clouds.azure import preflight
from albacore.errors import UserError
from albacore.fact import REOPEN, VERDICT, Note
from albacore.store import Store
from albacore.store.run_log import RunLog
from albacore.trial import Log

BY_AT_MOST, REASON_AT_MOST = 200, 1000
"""Characters of a name, of a reason."""
BOUNDS = {"samples": (1, 1_000_000), "hours": (0.0, 10_000.0), "cost": (0.0, 1e12)}
"""Limit -> what it may be, as in the campaign file."""


def stop(store: Store, run_id: str, *, by: str, reason: str = "") -> None:
    """Let a run ask no more: what is in flight is finished, then the best config is validated.

    A run that was stopped already stays stopped, with its first reason.

    Raises:
        UserError: There is no such run, it has ended, or a text is not one.
    """
    log = _log(store, run_id)
    body = {"reason": _stopped(by, reason), "by": named(by), "said": one_line("reason", reason)}
    if has_ended(log):
        raise UserError(f"stop {run_id}: expected a run that goes on, this one has its verdict. Nothing was changed.")
    if stopping.stopped_by(log) is None:
        RunLog(store, run_id).append_note(Note(kind=stopping.STOP, body=body))


def extend(
    store: Store,
    run_id: str,
    *,
    by: str,
    samples: int | None = None,
    hours: float | None = None,
    cost: float | None = None,
) -> dict[str, float]:
    """Change a run's limits; return those now in force.

    Args:
        samples, hours, cost: The new totals, not what is added; None keeps a limit.

    Raises:
        UserError: No limit is given, one is out of its range, or the run has used it up already.
    """
    log = _log(store, run_id)
    scene = recorded.scene(store, store.run(run_id))
    asked = {"samples": samples, "hours": hours, "cost": cost}
    given = {name: _limit(name, value) for name, value in asked.items() if value is not None}
    if not given:
        raise UserError(f"extend {run_id}: expected a new total of samples or hours, got none. Give one.")
    if cost is not None and scene.price_per_hour is None:
        raise UserError(
            f"extend {run_id}: cost: this run has no price per hour, so nothing can be charged. Limit samples or hours."
        )
    if not has_ended(log) and (stopped := stopping.stopped_by(log)) is not None:
        raise UserError(f"extend {run_id}: it was {stopped}. Wait for its verdict, then extend it: that re-opens it.")
    used = stopping.used(scene, now=store.clock(), opened_at=store.run(run_id).opened_at)
    # A run that has ended goes on only if nothing else is used up either.
    for name, value in (stopping.limits_of(scene) | given if has_ended(log) else given).items():
        if value <= used[name]:
            raise UserError(
                f"extend {run_id}: {name}: expected a total above the {used[name]:.4g} used so far, got {value:g}. "
                f"Raise {name}."
            )
    _within_caps(store, run_id, given)
    RunLog(store, run_id).append_note(Note(kind=stopping.LIMITS, body={**given, "by": named(by)}))
    return stopping.limits_of(recorded.scene(store, store.run(run_id)))


def reopen(store: Store, run_id: str, *, by: str, key: str, limits: dict[str, float]) -> None:
    """Let a run that has ended go on, with limits that are at least those it had (B08).

    Args:
        key: What re-opens it, such as a DAG run's id: the same key re-opens once.
        limits: New totals; one below what is in force is left aside.

    Raises:
        UserError: The run has no more to do even under the new limits.
    """
    run, log = store.run(run_id), _log(store, run_id)
    if any(note.body.get("key") == key for note in log.notes(REOPEN)):
        return
    scene = recorded.scene(store, run)
    old = stopping.limits_of(scene)
    raised = {name: max(old[name], _limit(name, value)) for name, value in limits.items() if name in old}
    ended_at = log.events[-1].at if log.events else store.clock()
    used = stopping.used(scene, now=ended_at, opened_at=run.opened_at)
    spent = [f"{name} {used[name]:.4g} of {value:g}" for name, value in (old | raised).items() if used[name] >= value]
    if spent:
        raise UserError(
            f"extend {run_id}: expected new totals above what was used, got {', '.join(spent)}. Raise what is used up."
        )
    _within_caps(store, run_id, raised)
    RunLog(store, run_id).append_note(Note(kind=REOPEN, body={**raised, "by": named(by), "key": key}), key=key)


def _within_caps(store: Store, run_id: str, limits: dict[str, float]) -> None:
    """Expect new limits to keep the caps of nodes that are made for the run.

    Raises:
        UserError: When one does not hold.
    """
    nodes = recorded.campaign(store.run(run_id)).nodes
    if nodes.azure is not None and "hours" in limits:
        per_hour = nodes.price_per_hour or 0.0
        preflight.caps(nodes.azure, nodes=nodes.count, hours=limits["hours"], per_hour=per_hour)


def has_ended(log: Log) -> bool:
    """Whether a run has its verdict and was not re-opened since."""
    return bool(log.notes(VERDICT, after=log.reopened_n))


def _log(store: Store, run_id: str) -> Log:
    """Return the log of a run that exists."""
    return RunLog(store, store.run(run_id).id).read()


def _limit(name: str, value: float) -> float:
    """Return a limit that is one.

    Raises:
        UserError: It is not a number, or out of range.
    """
    low, high = BOUNDS[name]
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    is_whole = name != "samples" or (is_number and float(value).is_integer())
    if not is_number or not is_whole or not low <= value <= high or value <= 0:
        kind = "a whole number" if name == "samples" else "a number"
        raise UserError(f"{name}: expected {kind} above 0, up to {high:g}, got {value!r:.60}. Correct it.")
    return float(value)


def named(by: str) -> str:
    """Return who acts.

    Raises:
        UserError: It is no text, empty, or too long.
    """
    return one_line("by", by, BY_AT_MOST) or _missing("by", "the name of whoever acts")


def one_line(name: str, text: str, at_most: int = REASON_AT_MOST) -> str:
    """Return a text as one line.

    Raises:
        UserError: It is no text, or too long.
    """
    if not isinstance(text, str) or len(text) > at_most:
        raise UserError(f"{name}: expected a text of at most {at_most} characters, got {text!r:.60}. Shorten it.")
    return " ".join(text.split())


def _missing(name: str, what: str) -> str:
    raise UserError(f"{name}: expected {what}, got nothing. Give it.")


def _stopped(by: str, reason: str) -> str:
    """Return the reason that a stopped run shows."""
    said = one_line("reason", reason)
    return f"stopped by {named(by)}" + (f": {said}" if said else "")
