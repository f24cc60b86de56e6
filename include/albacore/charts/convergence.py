"""Convergence: the best config so far against samples and hours (TUNA, Fig. 17), with everything it came from."""

import statistics
from typing import Any

from albacore.charts import rounded
from albacore.charts.book import Book, Told, counts
from albacore.replay import Scene
from albacore.sample import Sample
from albacore.trial import Judgement, Stability


def page(book: Book) -> dict[str, Any]:
    """Return best so far, scores told, and raw samples, each as columns over samples spent and hours."""
    scene = book.scene
    if scene is None:
        return {"best": None, "told": None, "raw": None, "default": None}
    told = [t for t in book.told if t.judgement.config_id != book.default_id]
    best = _best_so_far(scene, told)
    return {
        "best": {**_places(book, best), "score": rounded(t.judgement.score for t in best), **_what(book, best)},
        "told": {
            **_places(book, told),
            "score": rounded(t.judgement.score for t in told),
            "stability": [t.judgement.stability.value for t in told],
            **_what(book, told),
        },
        "raw": _raw(book, scene),
        "default": _default(book, scene),
    }


def _best_so_far(scene: Scene, told: list[Told]) -> list[Told]:
    """Return the judgements that were the incumbent when they were told: see `replay.incumbent`.

    A higher rung beats a better score, so the line may step back once: the config that leads on one node has to show
    itself on more.
    """
    found: list[Told] = []
    for entry in told:
        j = entry.judgement
        if j.stability is not Stability.STABLE or j.score is None:
            continue
        if not found or _beats(scene, j, found[-1].judgement):
            found.append(entry)
    return found


def _beats(scene: Scene, new: Judgement, old: Judgement) -> bool:
    if new.rung != old.rung:
        return new.rung > old.rung
    return scene.direction.cost(new.score or 0.0) < scene.direction.cost(old.score or 0.0)


def _places(book: Book, told: list[Told]) -> dict[str, Any]:
    return {"samples": [t.samples for t in told], "hours": rounded(book.hours(t.at) for t in told)}


def _what(book: Book, told: list[Told]) -> dict[str, Any]:
    """Return which config at how many nodes."""
    return {"config": [t.judgement.config_id for t in told], "nodes": [len(t.judgement.raw) for t in told]}


def _raw(book: Book, scene: Scene) -> dict[str, Any]:
    """Return every sample of the trials and the default as it was measured."""
    samples, hours, values, configs, nodes, excluded, spent = [], [], [], [], [], [], 0
    for event in book.events:
        spent += counts(event.fact)
        fact = event.fact
        if isinstance(fact, Sample) and fact.purpose.is_tuning and scene.metric in fact.metrics:
            samples.append(spent)
            hours.append(book.hours(event.at))
            values.append(fact.value(scene.metric))
            configs.append(book.name(fact.config_id))
            nodes.append(fact.node)
            excluded.append(event.n in book.void)
    return {
        "samples": samples,
        "hours": rounded(hours),
        "value": rounded(values),
        "config": configs,
        "node": nodes,
        "is_excluded": excluded,
    }


def _default(book: Book, scene: Scene) -> dict[str, Any] | None:
    """Return what the default's nodes showed: their worst, mean and range, without any penalty."""
    judged = book.trials[book.default_id].top if book.default_id in book.trials else None
    if judged is None or not judged.adjusted:
        return None
    values = list(judged.raw.values())
    return {
        "shown": scene.policy.aggregate.score(list(judged.adjusted.values()), scene.direction),
        "mean": statistics.fmean(values),
        "low": min(values),
        "high": max(values),
        "nodes": len(values),
        "stability": judged.stability.value,
    }
