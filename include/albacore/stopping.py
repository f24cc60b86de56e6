"""Stopping: when a campaign run asks no more, and why."""

import math

from albacore import ledger
from albacore.fact import REOPEN, VERDICT
from albacore.replay import Scene
from albacore.sample import Blame, Failure, Sample
from albacore.trial import Log, Note

FAILED_IN_A_ROW = 5
"""Failed iterations of one lane in a row that stop a campaign run.

Of one lane, because a moment's outage of Airflow's API fails an iteration of every lane at once.
"""
FAILED = f"{FAILED_IN_A_ROW} iterations failed in a row"
"""The reason that makes a campaign run a failed one."""
STOP, LIMITS = "stop", "limits"
"""Kinds of the notes by which a person stops a run, and changes its limits."""
BOUNDED = ("samples", "hours", "cost")
"""What a limit can be set on."""


def spent(log: Log) -> int:
    """Return the samples that count against the limit: the default's and the trials', failed ones included.

    Samples that were excluded later were taken all the same.
    """
    samples = sum(s.purpose.is_tuning for s in log.recorded(Sample))
    return samples + sum(f.blame is Blame.CONFIG and f.purpose.is_tuning for f in log.recorded(Failure))


def cost(scene: Scene) -> float:
    """Return what the run has cost so far: node-seconds times the price, 0 without a price."""
    return ledger.money(ledger.spent_s(scene.log), scene.price_per_hour or 0.0)


def elapsed_s(log: Log, *, now: float, opened_at: float) -> float:
    """Return how long a run has gone on: up to its first verdict, and from each re-opening to the verdict after it.

    Args:
        log: The run's log.
        now: The end while there is no verdict, seconds since the epoch.
        opened_at: The beginning.
    """
    before, since, last = 0.0, opened_at, opened_at
    ended: float | None = None
    for event in log.events:
        kind = event.fact.kind if isinstance(event.fact, Note) else ""
        if kind == VERDICT and ended is None:
            ended = event.at
        elif kind == REOPEN:  # a run that failed has no verdict: it went on up to its last event
            before, since, ended = before + (last if ended is None else ended) - since, event.at, None
        last = event.at
    return max(0.0, before + (now if ended is None else ended) - since)


def used(scene: Scene, *, now: float, opened_at: float) -> dict[str, float]:
    """Return what a run has used up of each limit."""
    hours = elapsed_s(scene.log, now=now, opened_at=opened_at) / 3600
    return {"samples": float(spent(scene.log)), "hours": hours, "cost": cost(scene)}


def stop_reason(scene: Scene, *, elapsed_s: float) -> str | None:
    """Return why the run must not ask again, or None."""
    if (stopped := stopped_by(scene.log)) is not None:
        return stopped
    limits = limits_of(scene)
    if spent(scene.log) >= limits["samples"]:
        return f"limit reached: {limits['samples']:.0f} samples"
    if elapsed_s >= limits["hours"] * 3600:
        return f"limit reached: {limits['hours']:g} hours"
    if cost(scene) >= limits.get("cost", math.inf):
        return f"limit reached: {limits['cost']:g} in cost"
    if _failed_in_a_row(scene.log):
        return FAILED
    return None


def stopped_by(log: Log) -> str | None:
    """Return the reason of the person who stopped the run since it was (re-)opened, or None."""
    stops = log.notes(STOP, after=log.reopened_n)
    return str(stops[0].body.get("reason", "stopped")) if stops else None


def _failed_in_a_row(log: Log) -> bool:
    """Whether so many iterations of a lane failed one after the other: those that end afterwards change nothing."""
    rows: dict[object, int] = {}
    for note in log.notes("iteration", after=log.reopened_n):
        lane = note.body.get("lane")
        rows[lane] = 0 if note.body.get("ok") else rows.get(lane, 0) + 1
        if rows[lane] == FAILED_IN_A_ROW:
            return True
    return False


def limits_of(scene: Scene) -> dict[str, float]:
    """Return the limits in force: the campaign's, or those of the last logged change."""
    limits = dict(scene.limits)
    for event in scene.log.events:
        if isinstance(event.fact, Note) and event.fact.kind in (LIMITS, REOPEN):
            limits |= {k: float(v) for k, v in event.fact.body.items() if k in BOUNDED and isinstance(v, int | float)}
    return limits
