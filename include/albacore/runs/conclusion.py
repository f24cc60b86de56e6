"""Conclusion: a campaign run's verdict, written into its log.

The verdict itself is a pure function of the log (`concluding.py`); here it gets what people need beside it.
"""

import json
from typing import Any

from albacore import recorded, stopping
from albacore.benchmark import Fragment
from albacore.errors import PlatformError
from albacore.fact import EXCLUDE, INCLUDE, REOPEN, VERDICT
from albacore.nightly import nights
from albacore.runs import exclusion
from albacore.runs.action import has_ended
from albacore.sample import Failure, Sample
from albacore.space import Config, Space
from albacore.store import CampaignRun, Store
from albacore.store.run_log import RunLog
from albacore.trial import Log, Note
from albacore.verdict import caveat, concluding, validation


def conclude(store: Store, run_id: str) -> dict[str, Any]:
    """Return the verdict as plain data: sentence, figures, the knobs that differ, and the fragment to copy.

    It is written into the log, beside an older one when it says something else than that.

    Raises:
        PlatformError: Iterations failed in a row, or nothing was validated in this round.
    """
    run = store.run(run_id)
    exclusion.settle(store, run_id)
    scene, stopped = recorded.scene(store, run), stop_reason(store, run_id)
    if stopped == stopping.FAILED:
        raise PlatformError(f"run {run_id}: {stopped}, so there is no verdict. See the red iterations.")
    plan = validation.planned(scene)
    taken = [fact for kind in (Sample, Failure) for fact in scene.log.recorded(kind) if plan.holds(fact)]
    is_this_round = plan.round == validation.round_of(scene.log)
    if recorded.campaign(run).nodes.validation and not (taken and is_this_round):
        raise PlatformError(
            f"run {run_id}: nothing was validated, so there is no verdict. See the failed task before it."
        )
    found = concluding.conclude(scene, recorded.terms(run))
    body = found.body() | {"campaign_run": run_id, "stopped": stopped}
    body["warnings"] = caveat.caveats(scene) + [finding.sentence for finding in nights.findings(scene.log)]
    if found.best is not None:
        body |= changes(run, scene.space, scene.space.default(), scene.configs[found.best.config_id])
    return _said(scene.log, RunLog(store, run_id), body)


def verdict_key(log: Log) -> str:
    """Return the key of a run's next verdict: one for the run, and one more for each act of a person since."""
    acts = [e.n for e in log.events if isinstance(e.fact, Note) and e.fact.kind in (REOPEN, EXCLUDE, INCLUDE)]
    return f"{VERDICT}.{acts[-1]}" if acts else VERDICT


def _said(log: Log, writes: RunLog, body: dict[str, Any]) -> dict[str, Any]:
    """Append a verdict; the last one since the run was (re-)opened stands when it says the same of an older log."""
    said = log.notes(VERDICT, after=log.reopened_n)
    if said and {**said[-1].body, "read_n": 0} == json.loads(json.dumps({**body, "read_n": 0})):
        return dict(said[-1].body)
    return dict(writes.append_note(Note(kind=VERDICT, body=body), key=verdict_key(log)).body)


def changes(run: CampaignRun, space: Space, default: Config, best: Config) -> dict[str, Any]:
    """Return the knobs in which two configs differ, and the fragment of the system's own config file that says so."""
    knobs = space.difference(default, best)
    texts = {c.id: space.text(c) for c in (default, best)}
    fragment = Fragment(**run.benchmark["fragment"])
    return {
        "knobs": [
            {
                "name": k.name,
                "default": texts[default.id][k.name],
                "best": texts[best.id][k.name],
                "unit": k.unit,
                "doc": k.doc,
            }
            for k in knobs
        ],
        "fragment": {"file": fragment.file, "text": fragment.render({k.name: texts[best.id][k.name] for k in knobs})},
    }


def conclude_again(store: Store, run_id: str) -> bool:
    """Conclude anew when a run has its verdict and what counts has changed; return whether the verdict is another."""
    log = RunLog(store, run_id)
    before = log.read()
    if not has_ended(before):
        return False
    conclude(store, run_id)
    return len(log.read().notes(VERDICT)) > len(before.notes(VERDICT))


def stop_reason(store: Store, run_id: str) -> str | None:
    """Return why a campaign run asks no more, or None."""
    run = store.run(run_id)
    scene = recorded.scene(store, run)
    elapsed_s = stopping.elapsed_s(scene.log, now=store.clock(), opened_at=run.opened_at)
    return stopping.stop_reason(scene, elapsed_s=elapsed_s)
