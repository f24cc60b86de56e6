"""Adjuster: how far single samples are from the full-budget mean, before and after the adjuster (TUNA §6.6, Fig. 19b).

| symbol | meaning |
|---|---|
| p | a figure as measured; q the same after the adjuster of that moment, which had not seen it |
| m | mean of the config's figures over the nodes of the highest rung: the ground truth of §6.6 |
| before, after | mean of abs(p/m - 1) and of abs(q/m - 1) over the nodes |

What was adjusted is read from the judgements. `albacore show RUN --verify` is the proof that the log's adjuster gives
them again.
"""

import statistics
from typing import Any

from albacore.charts import rounded
from albacore.charts.book import Book, Told
from albacore.policies import Identity
from albacore.trial import Stability

WINDOW = 5
"""Trials in the running mean."""


def page(book: Book) -> dict[str, Any]:
    """Return the errors of every stable trial on the highest rung, oldest first, and what they come to."""
    scene = book.scene
    has_adjuster = scene is not None and not isinstance(scene.policy.adjuster, Identity)
    found = [] if scene is None else [(t, *errors) for t in book.told if (errors := _errors(t, scene.top_rung))]
    trained = [(t, before, after) for t, before, after in found if _is_adjusted(t)]
    return {
        "has_adjuster": has_adjuster,
        "trials": {
            "config": [t.judgement.config_id for t, _, _ in found],
            "samples": [t.samples for t, _, _ in found],
            "hours": rounded(book.hours(t.at) for t, _, _ in found),
            "nodes": [len(t.judgement.raw) for t, _, _ in found],
            "before": rounded(before for _, before, _ in found),
            "after": rounded(after for _, _, after in found),
            "is_trained": [_is_adjusted(t) for t, _, _ in found],
            "before_mean": rounded(_running([before for _, before, _ in found])),
            "after_mean": rounded(_running([after for _, _, after in found])),
        },
        "over_the_run": _summary([(b, a) for _, b, a in found]),
        "once_trained": _summary([(b, a) for _, b, a in trained]),
        "second_half": _summary([(b, a) for _, b, a in found[len(found) // 2 :]]),
    }


def _errors(told: Told, top_rung: int) -> tuple[float, float] | None:
    """Return error before and after of one trial; None where the ground truth is not known."""
    j = told.judgement
    if j.rung != top_rung or j.stability is not Stability.STABLE or len(j.raw) < 2:
        return None
    m = statistics.fmean(j.raw.values())
    if m == 0:
        return None
    before = statistics.fmean(abs(p / m - 1) for p in j.raw.values())
    after = statistics.fmean(abs(j.adjusted[node] / m - 1) for node in j.raw)
    return before, after


def _is_adjusted(told: Told) -> bool:
    """Whether a model was there: with none, the adjusted values are the measured ones."""
    return dict(told.judgement.raw) != dict(told.judgement.adjusted)


def _running(values: list[float]) -> list[float]:
    """Return the mean of each value and the ones before it, at most `WINDOW` together."""
    return [statistics.fmean(values[max(0, i - WINDOW + 1) : i + 1]) for i in range(len(values))]


def _summary(pairs: list[tuple[float, float]]) -> dict[str, Any] | None:
    """Return mean errors, and the share of the error that is gone (below 0: the adjuster made it worse)."""
    if not pairs:
        return None
    before, after = (statistics.fmean(column) for column in zip(*pairs, strict=True))
    return {
        "trials": len(pairs),
        "before": before,
        "after": after,
        "reduction": 1 - after / before if before > 0 else None,
    }
