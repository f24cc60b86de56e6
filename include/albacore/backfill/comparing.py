"""Comparing: what two policies say of the same history, run by run and in sum.

It reads the results of re-scoring that are in the store (`<campaign>.history`, docs/tutorial/05-history.md): nothing
is computed again, and runs that one of the policies has not seen yet are named.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from albacore.errors import UserError
from albacore.stats import Interval, mean_ratio
from albacore.store import CampaignRun, Store, rescorings

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one policy says of one run: the config it chose, and how many times better than the default that is.

    Attributes:
        seen: Gain on the nodes that chose it; None without an incumbent.
        held_out: Gain on a node that did not choose it; None where that cannot be said.
        unstable: How many trials it calls unstable.
    """

    incumbent: str | None
    seen: float | None
    held_out: float | None
    unstable: int
    ship: bool | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One run under both policies.

    Attributes:
        change: Gain under `b` over gain under `a`, held out where both have it, else as seen; None when one has none.
    """

    run_id: str
    date: str
    title: str
    a: Side
    b: Side
    change: float | None

    @property
    def is_changed(self) -> bool:
        """Whether the policies choose different configs."""
        return self.a.incumbent != self.b.incumbent


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two policies over the history of a campaign.

    Attributes:
        pairs: The runs that both have judged, oldest first.
        missing: Policy -> runs that the other has judged, or nobody.
        total: Geometric mean of the changes, with its interval over runs (Student's t); None with fewer than two.
    """

    campaign: str
    a: str
    b: str
    pairs: tuple[Pair, ...]
    missing: Mapping[str, tuple[str, ...]]
    total: Interval | None

    @property
    def changed(self) -> int:
        """In how many runs the incumbent changes."""
        return sum(pair.is_changed for pair in self.pairs)


def compare(store: Store, campaign: str, a: str, b: str) -> Comparison:
    """Return what two policies say of a campaign's runs, as far as these were re-scored under both.

    Raises:
        UserError: The campaign has no run, or one of the policies has judged none of them.
    """
    runs = [run for run in store.runs() if run.campaign == campaign and run.space is not None]
    if not runs:
        known = sorted({run.campaign for run in store.runs()})
        raise UserError(f"compare: no run of campaign {campaign!r:.60}. The store has: {', '.join(known) or 'none'}.")
    found = {policy: rescorings.of_campaign(store, campaign, policy) for policy in (a, b)}
    for policy, own in found.items():
        if not own:
            raise UserError(_unseen(store, campaign, policy))
    runs.sort(key=lambda run: (rescorings.date_of(run), run.id))
    pairs = tuple(
        _pair(run, found[a][run.id].body, found[b][run.id].body)
        for run in runs
        if run.id in found[a] and run.id in found[b]
    )
    changes = [pair.change for pair in pairs if pair.change is not None]
    return Comparison(
        campaign=campaign,
        a=a,
        b=b,
        pairs=pairs,
        missing={policy: tuple(run.id for run in runs if run.id not in own) for policy, own in found.items()},
        total=mean_ratio(changes) if len(changes) > 1 else None,
    )


def _unseen(store: Store, campaign: str, policy: str) -> str:
    """Return the error for a policy without results, with the command that makes them."""
    seen = rescorings.policies_of(store, campaign)
    has = ", ".join(f"{name} ({count} runs)" for name, count in seen.items()) or "none"
    return (
        f"compare: policy {policy!r:.60} has judged no run of {campaign} yet; results are there for: {has}. Back-fill: "
        f"airflow backfill create --dag-id {campaign}.history --from-date DATE --to-date DATE --reprocess-behavior "
        f'completed --dag-run-conf \'{{"policy": "{policy}"}}\''
    )


def _pair(run: CampaignRun, a: Body, b: Body) -> Pair:
    sides = _side(a), _side(b)
    both_held = sides[0].held_out is not None and sides[1].held_out is not None
    gains = [side.held_out if both_held else side.seen for side in sides]
    first, second = gains
    return Pair(
        run_id=run.id,
        date=rescorings.date_of(run).isoformat(),
        title=str(run.effective.get("title") or ""),
        a=sides[0],
        b=sides[1],
        change=second / first if first and second else None,
    )


def _side(body: Body) -> Side:
    held = body["held_out"]
    return Side(
        incumbent=body["incumbent"],
        seen=body["gain"],
        held_out=held["gain"]["estimate"] if held else None,
        unstable=len({j["config_id"] for j in body["judgements"] if j["stability"] == "unstable"}),
        ship=body["ship"],
        sentence=body["sentence"],
    )


def plain(found: Comparison) -> dict[str, Any]:
    """Return a comparison as plain data, for --json and the page."""
    pairs = [dataclasses.asdict(pair) | {"is_changed": pair.is_changed} for pair in found.pairs]
    return dataclasses.asdict(found) | {"pairs": pairs, "changed": found.changed}


def lines(found: Comparison) -> Sequence[str]:
    """Return a comparison as text: a line per run, then the sum."""
    a, b = found.a, found.b
    table = [f"campaign {found.campaign}: policy {a} against {b}", ""]
    header = ("date", "run", f"{a}: best", "gain", f"{b}: best", "gain", "change")
    body = [_row(pair) for pair in found.pairs]
    widths = [max(len(row[i]) for row in [header, *body]) for i in range(len(header))]
    table += ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in [header, *body]]
    table += ["", f"the incumbent changes in {found.changed} of {len(found.pairs)} run(s)"]
    if found.total is not None:
        t = found.total
        interval = f"{t.confidence:.0%} interval {t.low:.3f} to {t.high:.3f}"
        table.append(f"gain under {b} over gain under {a}: {t.estimate:.3f} ({interval})")
    table.append("gain: times as good as the default, on nodes left out of the choice; * on the nodes that chose")
    for policy, runs in found.missing.items():
        if runs:
            table.append(f"{len(runs)} run(s) not re-scored under {policy} yet, the first is {runs[0]}")
    return [line.rstrip() for line in table]


def _row(pair: Pair) -> tuple[str, ...]:
    def gain(side: Side) -> str:
        if side.held_out is not None:
            return f"{side.held_out:.3f}"
        return f"{side.seen:.3f}*" if side.seen is not None else "-"

    change = "-" if pair.change is None else f"{pair.change - 1:+.1%}"
    if not pair.is_changed and pair.change in (None, 1.0):
        change = "same"
    best = [side.incumbent or "none" for side in (pair.a, pair.b)]
    return pair.date[:10], pair.title or pair.run_id, best[0], gain(pair.a), best[1], gain(pair.b), change
