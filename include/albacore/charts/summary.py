"""Summary: a campaign run in one line, for the fleet and for the head of every page of the run."""

import enum
from dataclasses import dataclass
from typing import Any

from albacore import replay, stopping
from albacore.charts import finite, night
from albacore.charts.book import Book
from albacore.replay import Scene
from albacore.sample import Blame, Failure, Purpose, Sample
from albacore.trial import Judgement, Stability


class State(enum.StrEnum):
    """Name where a campaign run is."""

    PREPARE = "preparing"
    DEFAULT = "default"
    TUNE = "tuning"
    VALIDATE = "validating"
    SHIP = "ship"
    KEEP = "do not ship"
    STOPPED = "stopped"
    FAILED = "failed"
    IMPORTED = "imported"
    ENDED = "ended"

    @property
    def is_live(self) -> bool:
        """Whether something may still happen."""
        return self in (State.PREPARE, State.DEFAULT, State.TUNE, State.VALIDATE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What the log does not say.

    Attributes:
        now: Seconds since the epoch.
        is_watched: Whether somebody holds the run's lease.
        dag_state: State of the Airflow DAG run, "" when there is none.
        imported_from: What the run was recorded in, "" when it was measured here.
    """

    now: float
    is_watched: bool = False
    dag_state: str = ""
    imported_from: str = ""


def state(book: Book, outside: Outside) -> State:
    """Return where a run is: Airflow knows whether it lives, the log how far it has come."""
    if outside.dag_state in ("running", "queued") or (outside.is_watched and not outside.dag_state):
        return _phase(book)
    if verdicts := _notes(book, "verdict"):
        return State.SHIP if verdicts[-1].body.get("ship") else State.KEEP
    if outside.imported_from:
        return State.IMPORTED
    if outside.dag_state == "failed":
        return State.FAILED
    return State.STOPPED if book.scene and stopping.stopped_by(book.scene.log) else State.ENDED


def _notes(book: Book, kind: str) -> list[Any]:
    return book.scene.log.notes(kind) if book.scene else []


def _phase(book: Book) -> State:
    """Return how far a living run has come, by its last facts."""
    if not book.events:
        return State.PREPARE
    for event in reversed(book.events):
        fact = event.fact
        if isinstance(fact, Sample | Failure) and fact.purpose is Purpose.VALIDATE:
            return State.VALIDATE
        if isinstance(fact, Judgement):
            return State.TUNE
        if isinstance(fact, Sample | Failure) and fact.purpose is Purpose.DEFAULT:
            return State.DEFAULT
    return State.TUNE


def line(book: Book, outside: Outside) -> dict[str, Any]:
    """Return the run in one line: progress, best against default with its spread, what was found, what is left."""
    found = state(book, outside)
    verdicts = _notes(book, "verdict")
    return {
        "run": book.run.id,
        "campaign": book.run.campaign,
        "title": book.campaign.title,
        "system": book.campaign.system,
        "workload": book.campaign.workload,
        "opened_at": book.run.opened_at,
        "logical_date": book.run.logical_date,
        "state": found.value,
        "is_live": found.is_live,
        "imported_from": outside.imported_from,
        "metric": book.metric,
        "unit": book.unit,
        "direction": book.direction.value,
        "policy": book.campaign.policy.preset,
        "optimizer": book.campaign.optimizer.name,
        "seed": book.campaign.seed,
        "last_n": book.scene.log.last_n if book.scene else 0,
        "verdict": verdicts[-1].body.get("sentence") if verdicts else None,
        "moved": night.moved(book),
        "due": book.due,
        **(_progress(book, book.scene, outside, is_live=found.is_live) if book.scene else _nothing(book)),
    }


def _nothing(book: Book) -> dict[str, Any]:
    """Return the progress of a run whose nodes are not there yet."""
    return {
        "samples": 0,
        "limit": book.campaign.limits.samples,
        "hours": 0.0,
        "hours_limit": book.campaign.limits.hours,
        "cost": None,
        "cost_limit": book.campaign.limits.cost,
        "left_s": None,
        "trials": 0,
        "unstable": 0,
        "failed": 0,
        "best": None,
        "default": None,
        "gain": None,
        "stop": None,
    }


def _progress(book: Book, scene: Scene, outside: Outside, *, is_live: bool) -> dict[str, Any]:
    samples, limits = stopping.spent(scene.log), stopping.limits_of(scene)
    last = book.events[-1].at if book.events else book.run.opened_at
    elapsed_s = stopping.elapsed_s(scene.log, now=outside.now if is_live else last, opened_at=book.run.opened_at)
    best, default = replay.incumbent(scene), _top(book)
    judged = scene.log.facts(Judgement)
    shown = [_shown(scene, j) for j in (best, default)]
    return {
        "samples": samples,
        "limit": int(limits["samples"]),
        "hours": elapsed_s / 3600,
        "hours_limit": limits["hours"],
        "cost": None if scene.price_per_hour is None else stopping.cost(scene),
        "cost_limit": limits.get("cost"),
        "left_s": _left_s(elapsed_s, samples, limits) if is_live else None,
        "trials": len({j.config_id for j in judged}),
        "unstable": len({j.config_id for j in judged if j.stability is Stability.UNSTABLE}),
        "failed": len({f.config_id for f in scene.log.facts(Failure) if f.blame is Blame.CONFIG}),
        "best": shown[0],
        "default": shown[1],
        "gain": _gain(scene, shown[0], shown[1]),
        "stop": stopping.stopped_by(scene.log),
    }


def _top(book: Book) -> Judgement | None:
    return book.trials[book.default_id].top if book.default_id in book.trials else None


def _shown(scene: Scene, judgement: Judgement | None) -> dict[str, Any] | None:
    """Return what a config's nodes showed: the aggregate without any penalty, and the range of the raw figures."""
    if judgement is None or not judgement.adjusted:
        return None
    raw = list(judgement.raw.values())
    return {
        "config": judgement.config_id,
        "value": scene.policy.aggregate.score(list(judgement.adjusted.values()), scene.direction),
        "low": min(raw),
        "high": max(raw),
        "nodes": len(raw),
        "relative_range": finite(judgement.relative_range),
        "stability": judgement.stability.value,
    }


def _gain(scene: Scene, best: dict[str, Any] | None, default: dict[str, Any] | None) -> float | None:
    """Return how many times better than the default the best has shown itself so far; None where it has no meaning."""
    if best is None or default is None or best["value"] <= 0 or default["value"] <= 0:
        return None
    return scene.direction.gain(best["value"], default["value"])


def _left_s(elapsed_s: float, samples: int, limits: dict[str, float]) -> float | None:
    """Return the seconds left at the pace so far, bounded by the limit on hours; None before the first sample."""
    if not samples:
        return None
    by_samples = elapsed_s / samples * max(0.0, limits["samples"] - samples)
    return min(by_samples, max(0.0, limits["hours"] * 3600 - elapsed_s))
