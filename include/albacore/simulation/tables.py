"""Tables: a contest for a terminal or a page, and as plain data."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from albacore import stats
from albacore.simulation.contest import REACHED, Contest, Estimate, Shipped, mean, of

HEADER = "| contestant | of optimum % | good % | unstable | against {reference} | {reached:.0%} at | samples, hours |"


def lines(contest: Contest, shipped: Sequence[Shipped]) -> list[str]:
    """Return a table in Markdown; differences are paired with the first contestant."""
    reference = contest.contestants[0]
    head = HEADER.format(reference=f"`{reference}`", reached=REACHED)
    rows = [head, "|" + "---|" * (head.count("|") - 1)]
    base = of(shipped, reference)
    for name in contest.contestants:
        own = of(shipped, name)
        unstable = sum(s.is_unstable for s in own)
        most = stats.binomial_upper(unstable, len(own), 0.95)
        cells = (
            f"`{name}`",
            _percent(mean([s.share for s in own])),
            _percent(mean([float(s.is_good) for s in own])),
            f"{unstable} of {len(own)} (< {most:.0%})",
            "" if name == reference else _percent(_difference(own, base), sign="+"),
            *_reached(own),
        )
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def _difference(own: Sequence[Shipped], base: Sequence[Shipped]) -> Estimate:
    return mean([a.share - b.share for a, b in zip(own, base, strict=True)])


def _percent(found: Estimate, sign: str = "") -> str:
    return f"{100 * found.value:{sign}.1f} [{100 * found.low:{sign}.1f}, {100 * found.high:{sign}.1f}]"


def _reached(own: Sequence[Shipped]) -> tuple[str, str]:
    samples = [s.samples_to for s in own if s.samples_to is not None]
    hours = [s.hours_to for s in own if s.hours_to is not None]
    if not samples:
        return f"0 of {len(own)}", "never"
    return f"{len(samples)} of {len(own)}", f"{statistics.median(samples):.0f}, {statistics.median(hours):.1f}"


def as_json(contest: Contest, shipped: Sequence[Shipped]) -> dict[str, Any]:
    """Return every run and the means of every contestant."""
    return {
        "optimizer": contest.optimizer,
        "plan": asdict(contest.plan),
        "contestants": {
            name: {
                "share": asdict(mean([s.share for s in of(shipped, name)])),
                "good": asdict(mean([float(s.is_good) for s in of(shipped, name)])),
                "unstable": sum(s.is_unstable for s in of(shipped, name)),
                "runs": [asdict(s) for s in of(shipped, name)],
            }
            for name in contest.contestants
        },
    }
