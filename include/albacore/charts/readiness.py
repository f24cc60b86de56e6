"""Readiness: what the noise of a run's fleet means for the next campaign, by the default's repeats in its validation.

The figures are those of `albacore readiness RUN`; see `readiness.py`.
"""

from dataclasses import asdict
from typing import Any

from albacore import pilot
from albacore.charts.book import Book
from albacore.errors import UserError
from albacore.stats import Interval

NOTHING: dict[str, Any] = {"found": None, "why": "The validation has not measured the default yet."}


def page(book: Book) -> dict[str, Any]:
    """Return components of the noise, chances of detection, threshold, repeats and the bill; or why there are none."""
    if book.scene is None:
        return NOTHING
    rows = pilot.of_scene(book.scene)
    if not rows:
        return NOTHING
    try:
        return {"found": _found(book, rows), "why": None}
    except UserError as error:
        return {"found": None, "why": str(error)}


def _found(book: Book, rows: Any) -> dict[str, Any]:
    """Return the figures.

    Raises:
        UserError: When the samples are too few to tell nodes from repeats.
    """
    from albacore import readiness

    policy, limits = book.campaign.policy, book.campaign.limits
    found = readiness.readiness(
        readiness.table([(node, round_, value) for node, round_, value, _ in rows]),
        rungs=tuple(policy.rungs),
        threshold=policy.threshold,
    )
    price = book.campaign.nodes.price_per_hour
    bill = readiness.bill(
        [seconds for *_, seconds in rows], samples=int(limits.samples), nodes=book.campaign.nodes.tuning, price=price
    )
    return {
        "nodes": found.nodes,
        "rounds": found.rounds,
        "components": [{"name": name, **_interval(i)} for name, i in found.intervals.items()],
        "unstable": asdict(found.unstable),
        "threshold": found.threshold,
        "suggested": found.suggested,
        "needed": found.needed,
        "chances": [{"nodes": n, "found": p, "alarms": found.alarms[n]} for n, p in found.found.items()],
        "gain": found.gain,
        "repeats": found.repeats,
        "samples": bill.samples,
        "hours": _interval(bill.hours),
        "node_hours": _interval(bill.node_hours),
        "cost": bill.cost and _interval(bill.cost),
    }


def _interval(found: Interval) -> dict[str, float]:
    return {"estimate": found.estimate, "low": found.low, "high": found.high}
