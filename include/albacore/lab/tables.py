"""Tables: a comparison for people, on a terminal or in a file."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from albacore.lab import comparison
from albacore.lab.comparison import Estimate, Row
from albacore.lab.protocol import FIGURES, Outcome

WIDTH = 156
"""Columns that a table needs; a terminal that is wider is used."""


def show(
    outcome: Outcome,
    policies: Sequence[str],
    curve: Sequence[str],
    *,
    ks: Sequence[int],
    reference: str,
    console: Console | None = None,
) -> None:
    """Print a table per workload and k, the pooled ones last, then the ceiling and the trade-off curve per k."""
    console = console or Console()
    console.width = max(console.width, WIDTH)
    for name, scope in comparison.scopes(outcome).items():
        for k in ks:
            found = comparison.rows(outcome, scope, policies, k=k, reference=reference)
            console.print(
                _table(
                    f"{name}, {int(scope.sum())} run(s), {k} nodes seen; per cent, [95 % of run draws]",
                    found,
                    reference,
                )
            )
    for k in ks:
        _trade(console, outcome, policies, curve, k=k)


def _table(title: str, rows: Sequence[Row], reference: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("policy", no_wrap=True)
    for figure in FIGURES:
        table.add_column(figure, justify="right", no_wrap=True)
        table.add_column(f"- {reference}", no_wrap=True)
    for row in rows:
        cells = [row.policy]
        for figure in FIGURES:
            own, apart = row.figures[figure], row.differences[figure]
            cells += [f"{own.value:.1f}", "" if row.policy == reference else _signed(apart)]
        table.add_row(*cells)
    return table


def _signed(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:+.2f}"
    return f"{estimate.value:+.2f} [{estimate.low:+.1f}, {estimate.high:+.1f}]"


def _trade(console: Console, outcome: Outcome, policies: Sequence[str], curve: Sequence[str], *, k: int) -> None:
    """Print the ceiling, the curve, and which policies are above it."""
    best = dict(zip(FIGURES, outcome.ceiling[k].mean(axis=0), strict=True))
    line = comparison.points(outcome, curve, k=k)
    others = [p for p in comparison.points(outcome, policies, k=k) if not p.policy.startswith("albacore")]
    over = comparison.above(line, others)
    console.print(f"\n{k} nodes seen, pooled: mean against share of unstable picks", highlight=False)
    console.print(
        f"  ceiling, perfect knowledge: mean {best['mean']:.2f} % at {best['unstable']:.1f} % unstable", highlight=False
    )
    for point in sorted(line, key=lambda p: p.unstable):
        console.print(
            f"  {point.policy:26} mean {point.mean:6.2f} %  unstable {point.unstable:5.1f} %", highlight=False
        )
    ahead = {name: points for name, points in over.items() if points > 0}
    text = ", ".join(f"{name} by {points:.2f} points" for name, points in ahead.items()) or "none"
    console.print(f"  policies above the curve at their own share of unstable picks: {text}", highlight=False)
