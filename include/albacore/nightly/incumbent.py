"""Incumbent: the config that a campaign's runs have left in place, which a later run has to beat (Metis §9).

It is read off the verdicts in the store, never stored by itself: the newest verdict of a live run says which config
stays. A config that today's run could not measure is passed over with the reason, and the next older verdict speaks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from albacore import recorded
from albacore.errors import UserError
from albacore.space import Config
from albacore.store import CampaignRun, Store
from albacore.store.run_log import RunLog
from albacore.store.verdicts import Concluded, verdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Incumbent:
    """A config that was left in place.

    Attributes:
        run_id: The campaign run whose verdict left it.
        decided_at: When that verdict was written, seconds since the epoch.
    """

    config: Config
    run_id: str
    decided_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What looking for the incumbent gave.

    Attributes:
        incumbent: The config in place; None when that is the system's default.
        skipped: One line per verdict that was passed over, with its reason.
    """

    incumbent: Incumbent | None
    skipped: tuple[str, ...] = ()


def previous(store: Store, campaign: str, *, before: float | None = None) -> Incumbent | None:
    """Return the incumbent of a campaign by its verdicts so far, whatever a new run could do with it.

    Args:
        store: Where the campaign's runs are.
        campaign: The campaign's name.
        before: Seconds since the epoch; only verdicts older than this count.
    """
    return _first(store, verdicts(store, campaign, before=before), None).incumbent


def of_run(store: Store, run: CampaignRun, *, before: float | None = None) -> Search:
    """Return the incumbent that a run has to beat: one that it can measure, left by another run.

    Args:
        store: Where the campaign's runs are.
        run: The run at hand, its space fixed.
        before: Seconds since the epoch; only verdicts older than this count. For a run that is looked at later, the
        time it opened.
    """
    others = [found for found in verdicts(store, run.campaign, before=before) if found.run.id != run.id]
    return _first(store, others, run)


def left_by(body: Mapping[str, Any]) -> tuple[bool, str | None]:
    """Return whether a verdict decides which config stays, and the config's id; None is the system's default.

    Verdicts of the first shape knew no incumbent: those that said "ship" left their best, the others left all as it
    was.
    """
    if "incumbent" in body:
        return True, body["incumbent"]
    best = body.get("best") or {}
    return bool(body.get("ship")), best.get("config_id")


def is_live(run: CampaignRun) -> bool:
    """Whether a run may decide the incumbent: imported runs and re-measured past dates may not.

    Whoever opens such a run says so under `origin` in the run's facts of the benchmark (`imported`, `retune`).
    """
    return run.benchmark.get("origin", "live") == "live"


def _first(store: Store, found: list[Concluded], today: CampaignRun | None) -> Search:
    """Return what the newest verdict left that decides and fits, and why newer ones were passed over."""
    skipped: list[str] = []
    for one in found:
        decides, config_id = left_by(one.body)
        if not decides or not is_live(one.run):
            continue
        if config_id is None:
            return Search(incumbent=None, skipped=tuple(skipped))
        try:
            config = _config(store, one.run, config_id, today)
        except UserError as error:
            skipped.append(f"incumbent {config_id} of run {one.run.id} is passed over: {error.message}")
            continue
        return Search(incumbent=Incumbent(config=config, run_id=one.run.id, decided_at=one.at), skipped=tuple(skipped))
    return Search(incumbent=None, skipped=tuple(skipped))


def _config(store: Store, run: CampaignRun, config_id: str, today: CampaignRun | None) -> Config:
    """Return a run's config as one of today's space.

    Raises:
        UserError: When it is of another benchmark, or not legal today.
    """
    knobs = RunLog(store, run.id).configs().get(config_id)
    if knobs is None:
        raise UserError(f"expected its values among the configs of run {run.id}, there are none. Leave it out.")
    if today is None:
        return Config(knobs)
    for key in ("system", "workload"):
        old, new = run.effective.get(key), today.effective.get(key)
        if old != new:
            raise UserError(f"expected the {key} {new!r} of today, it was measured with {old!r}.")
    return recorded.space(today).config(knobs)
