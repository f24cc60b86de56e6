"""Warm start: what a run takes over from the last runs of its campaign, fixed before its first sample.

The incumbent comes first, then the best stable configs of each run, the newest run first. Only configs that are legal
in today's space. Scores of other days are not told: a config that is taken over is measured today like any other. The
list is an event of the run's own log, so every later decision stays a function of that log alone (law of opening).
"""

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from albacore import recorded
from albacore.errors import SpaceError
from albacore.nightly import incumbent
from albacore.sentinel import WARM_START
from albacore.space import Config
from albacore.store import CampaignRun, Store
from albacore.store.run_log import RunLog
from albacore.trial import Judgement, Note, Stability

Ranked = tuple[str, Mapping[str, Any]]
"""Campaign run, and the knobs of a config of it."""


def fix(store: Store, run_id: str) -> Note | None:
    """Write down what a run starts from, once; None for a cold start.

    Args:
        run_id: A run whose space is fixed.
    """
    run = store.run(run_id)
    wanted = recorded.campaign(run)
    if not wanted.warm_configs:
        return None
    log = RunLog(store, run_id)
    found, passed_over = _found(store, run, wanted.warm_start.runs)
    chosen = dict(list(found.items())[: wanted.warm_configs])
    for config_id, one in chosen.items():
        log.put_config(config_id, dict(one["config"]))
    body = {
        "configs": [
            {"config_id": i, "run": one["run"], "is_incumbent": one["is_incumbent"]} for i, one in chosen.items()
        ],
        "passed_over": passed_over,
    }
    return log.append_note(Note(kind=WARM_START, body=body), key=WARM_START)


def _found(store: Store, run: CampaignRun, last: int) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return config id -> what can be taken over, in order of preference, and why others cannot."""
    space = recorded.space(run)
    search = incumbent.of_run(store, run, before=run.opened_at)
    found: dict[str, dict[str, Any]] = {}
    passed_over = list(search.skipped)
    if search.incumbent is not None:
        kept = search.incumbent
        found[kept.config.id] = {"config": kept.config, "run": kept.run_id, "is_incumbent": True}
    for run_id, knobs in _ranked(store, run, last):
        try:
            config = space.config(knobs)
        except SpaceError as error:
            passed_over.append(f"config {Config(knobs).id} of run {run_id} is not legal today: {error.message}")
            continue
        if config.id != space.default().id:
            found.setdefault(config.id, {"config": config, "run": run_id, "is_incumbent": False})
    return found, passed_over


def _ranked(store: Store, run: CampaignRun, last: int) -> Iterator[Ranked]:
    """Yield the best config of each run, the newest run first, then the second best of each, and so on."""
    lists = [_best_first(store, one) for one in last_runs(store, run, last)]
    for rank in zip_longest(*lists):
        yield from (one for one in rank if one is not None)


def last_runs(store: Store, run: CampaignRun, count: int) -> list[CampaignRun]:
    """Return at most so many of the last runs that a run may take something over from, the newest first."""
    return [one for one in store.runs() if _is_alike(one, run)][-count:][::-1]


def _is_alike(one: CampaignRun, run: CampaignRun) -> bool:
    """Whether a run is an earlier one of the same campaign, of the same system and workload, with a space."""
    same = ("system", "workload")
    return (
        one.campaign == run.campaign
        and one.id != run.id
        and one.opened_at <= run.opened_at
        and one.space is not None
        and incumbent.is_live(one)
        and all(one.effective.get(key) == run.effective.get(key) for key in same)
    )


def _best_first(store: Store, run: CampaignRun) -> list[Ranked]:
    """Return a run's stable configs without its default: highest rung first, then by score."""
    scene = recorded.scene(store, run)
    stable = {
        j.config_id: j  # the last one is that of the highest rung
        for j in sorted(scene.log.facts(Judgement), key=lambda j: j.rung)
        if j.stability is Stability.STABLE and j.score is not None and j.config_id != scene.default_id
    }
    order = sorted(stable.values(), key=lambda j: (-j.rung, scene.direction.cost(j.score or 0.0)))
    return [(run.id, dict(scene.configs[j.config_id])) for j in order]
