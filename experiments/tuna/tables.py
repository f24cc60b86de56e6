"""Tables: contestants beside one another, for the page."""

from collections.abc import Mapping, Sequence

import analysis
import numpy as np
from analysis import Row, Runs

from albacore import stats
from albacore.simulation.contest import REACHED


def standing(found: Mapping[str, Runs], reference: str) -> list[str]:
    """Return a table of what contestants ship on ten new nodes; each is paired with the reference.

    Args:
        found: Contestant -> its runs; those without a run are left out.
        reference: Whom the others are compared with.
    """
    head = (
        "| contestant | runs | of optimum % | against {} | deviation over new nodes % | torn on new nodes | unstable |"
    )
    lines = [head.format(f"`{reference}`"), "|" + "---|" * (head.count("|") - 1)]
    for name, runs in found.items():
        if not runs:
            continue
        rows = list(runs.values())
        own, base = analysis.paired(runs, found[reference])
        gain = analysis.mean([a["share"] - b["share"] for a, b in zip(own, base, strict=True)])
        cells = (
            f"`{name}`",
            str(len(rows)),
            analysis.mean([row["share"] for row in rows]).words(scale=100),
            "" if name == reference else gain.words(scale=100, sign="+"),
            analysis.mean([deviation(row) for row in rows]).words(scale=100),
            share_of(sum(analysis.is_torn(row) for row in rows), len(rows)),
            share_of(sum(row["is_unstable"] for row in rows), len(rows)),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def race(found: Mapping[str, Runs], reference: str) -> list[str]:
    """Return a table of the share of good runs, paired, and of the samples to 85 % of the optimum."""
    lines = [
        f"| contestant | runs | good % | `{reference}` less it | unstable shipped | {REACHED:.0%} reached |",
        "|---|---|---|---|---|---|",
    ]
    for name, runs in found.items():
        if not runs:
            continue
        own, base = analysis.paired(runs, found[reference])
        lead = analysis.mean([float(analysis.is_good(b)) - analysis.is_good(a) for a, b in zip(own, base, strict=True)])
        good = analysis.mean([float(analysis.is_good(row)) for row in runs.values()])
        bad = sum(row["is_unstable"] for row in runs.values())
        cells = (
            f"`{name}`",
            str(len(runs)),
            good.words(0, scale=100),
            "" if name == reference else lead.words(0, scale=100, sign="+"),
            f"{bad} of {len(runs)} (< {stats.binomial_upper(bad, len(runs), 0.95):.0%})",
            reached(list(runs.values())),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def reached(rows: Sequence[Row]) -> str:
    """Return in how many runs, and after how many samples the median one, would have shipped something good enough.

    Runs that never did count as later than all others.
    """
    samples = sorted(row["samples_to"] for row in rows if row["samples_to"] is not None)
    if 2 * len(samples) <= len(rows):
        return f"{len(samples)} of {len(rows)}"
    return f"{len(samples)} of {len(rows)}; the median run after {samples[(len(rows) - 1) // 2]} samples"


def deviation(row: Row) -> float:
    """Return the coefficient of variation over the ten new nodes."""
    values = analysis.deployed(row)
    return float(np.std(values, ddof=1) / values.mean()) if values.mean() > 0 else 1.0


def share_of(count: int, runs: int) -> str:
    """Return a count."""
    return f"{count} of {runs}"
