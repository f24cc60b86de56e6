"""Expectation: when more asking is not expected to help (Metis §3, §3.2; TUNA §6.5.2 names it future work).

Two rules of the campaign file's `[stop]`, both off by default. They are looked at when a new config would be asked for,
never before promotions; what they conclude is a stop in the log, with its reason, and replays like any decision.
"""

from collections.abc import Sequence

from albacore.fact import Note
from albacore.optimizers import Observation
from albacore.replay import Scene, observations
from albacore.stopping import STOP

MOVED = 0.01
"""Share by which the predicted best score may move and still counts as unchanged."""


def rung_to_judge(scene: Scene) -> list[Observation]:
    """Return the scores of the highest rung that has enough of them, crash scores left out; none when none has.

    Scores of different rungs do not mix: the worst of one sample is optimistic beside the worst of ten.
    """
    seen = [o for o in observations(scene) if not o.is_failure]
    enough = max(scene.stop.get("min_scores", 20), scene.stop.get("converged_after", 0) + 3)
    for rung in sorted({o.rung for o in seen}, reverse=True):
        found = [o for o in seen if o.rung == rung]
        if len(found) >= enough:
            return found
    return []


def reason_to_stop(scene: Scene) -> str | None:
    """Return why no new config should be asked for, or None.

    A run that a person re-opened is not stopped by a rule again: that person wants more.
    """
    gain, last = float(scene.stop.get("expected_gain", 0.0)), int(scene.stop.get("converged_after", 0))
    if scene.log.reopened_n or not (gain or last):
        return None
    seen = rung_to_judge(scene)
    if not seen:
        return None
    return (_converged(scene, seen, last) if last else None) or (_no_gain(scene, seen, gain) if gain else None)


def note(scene: Scene, reason: str) -> Note:
    """Return the stop that a rule concludes, as an event of the log."""
    return Note(kind=STOP, body={"reason": reason, "by": "[stop]", "rule": True, "read_n": scene.log.last_n})


def _no_gain(scene: Scene, seen: Sequence[Observation], gain: float) -> str | None:
    """Return the reason when the largest expected improvement is below a share of the predicted best score."""
    from albacore.optimizers.outlook import outlook

    found = outlook(scene.space, seen, seed=scene.seed)
    if found.share >= gain:
        return None
    return (
        f"no improvement expected: at most {found.share:.2%} of the predicted best score, by {len(seen)} score(s) on "
        f"{_nodes(scene, seen)} node(s); [stop] expected_gain is {gain:.2%}"
    )


def _converged(scene: Scene, seen: Sequence[Observation], last: int) -> str | None:
    """Return the reason when the predicted best has stayed the same config and value over the last scores."""
    from albacore.optimizers.outlook import predicted_bests

    found = predicted_bests(scene.space, seen, last)
    best, value = found[-1]
    if any(config != best or abs(then - value) > MOVED * abs(value) for config, then in found):
        return None
    return (
        f"converged: the predicted best has been {best} over the last {last} of {len(seen)} score(s) on "
        f"{_nodes(scene, seen)} node(s)"
    )


def _nodes(scene: Scene, seen: Sequence[Observation]) -> int:
    return scene.policy.ladder.rungs[seen[0].rung]
