"""Stopping: when a campaign run asks no more, and why."""

from albacore.replay import Scene
from albacore.sample import Blame, Failure, Purpose, Sample
from albacore.trial import Log

FAILED_IN_A_ROW = 5
"""Failed iterations in a row that stop a campaign run."""
FAILED = f"{FAILED_IN_A_ROW} iterations failed in a row"
"""The reason that makes a campaign run a failed one."""


def spent(log: Log) -> int:
    """Return the samples that count against the limit: the default's and the trials', failed ones included."""
    samples = sum(s.purpose is not Purpose.VALIDATE for s in log.facts(Sample))
    return samples + sum(f.blame is Blame.CONFIG and f.purpose is not Purpose.VALIDATE for f in log.facts(Failure))


def stop_reason(scene: Scene, *, elapsed_s: float) -> str | None:
    """Return why the run must not ask again, or None."""
    stops = scene.log.notes("stop")
    if stops:
        return str(stops[-1].body.get("reason", "stopped"))
    limits = limits_of(scene)
    if spent(scene.log) >= limits["samples"]:
        return f"limit reached: {limits['samples']:.0f} samples"
    if elapsed_s >= limits["hours"] * 3600:
        return f"limit reached: {limits['hours']:g} hours"
    if _failed_in_a_row(scene.log):
        return FAILED
    return None


def _failed_in_a_row(log: Log) -> bool:
    """Whether so many iterations have failed one after the other, ever: those that end afterwards change nothing."""
    row = 0
    for note in log.notes("iteration"):
        row = 0 if note.body.get("ok") else row + 1
        if row == FAILED_IN_A_ROW:
            return True
    return False


def limits_of(scene: Scene) -> dict[str, float]:
    """Return the limits in force: the campaign's, or those of the last logged change."""
    limits = dict(scene.limits)
    for note in scene.log.notes("limits"):
        limits.update({k: float(v) for k, v in note.body.items() if k in limits and isinstance(v, int | float)})
    return limits
