"""Back-fill: past campaign runs sent again through a policy, date by date, without touching a node.

What Airflow's backfill of `<campaign>.history` calls. A date's runs are found by the moment they are recorded under,
never by a DAG run's id; results are kept by campaign run and policy, so that a night's own run stays as it was.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import albacore
from albacore import recorded
from albacore.backfill import choosing, rescoring
from albacore.backfill.calendar import Calendar
from albacore.errors import UserError
from albacore.policies import Policy, named, presets
from albacore.replay import Scene
from albacore.store import CampaignRun, Store, rescorings
from albacore.store.rescorings import Rescored
from albacore.trial import Judgement

MODES = ("rescore", "retune")
OF_FILE = "campaign"
"""Name of the policy that the campaign file has today."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a back-fill asks for every date: a mode of `MODES`, and a policy's name."""

    mode: str
    policy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a back-fill does for one date.

    Attributes:
        runs: Ids of the campaign runs, oldest first.
        reasons: One line for each run of that date that is left out; without runs, why there is nothing to do.
    """

    runs: tuple[str, ...]
    reasons: tuple[str, ...] = ()


def policies(calendar: Calendar) -> tuple[str, ...]:
    """Return the names that a back-fill takes, the first one when it names none."""
    own = () if calendar.policy is None else (OF_FILE,)
    return *own, *dict.fromkeys((*presets.PRESETS, *named.CHOICES))


def request_of(conf: Mapping[str, Any], calendar: Calendar) -> Request:
    """Return what a back-fill's conf asks for.

    Raises:
        UserError: Unknown key, mode or policy, with the list of what is known.
    """
    unknown = sorted(set(conf) - {"mode", "policy"})
    if unknown:
        raise UserError(f"conf: expected the keys policy and mode, got {unknown[0]!r:.60}. Remove or correct it.")
    known = policies(calendar)
    mode, policy = conf.get("mode") or MODES[0], conf.get("policy") or known[0]
    if mode not in MODES:
        raise UserError(f"conf: mode: expected one of {', '.join(MODES)}, got {mode!r:.60}.")
    if not isinstance(policy, str) or policy.partition(":")[0] not in known:
        raise UserError(f"conf: policy: expected one of {', '.join(known)}, got {policy!r:.60}.")
    if _is_choice(policy):
        named.choice(policy)
    return Request(mode=mode, policy=policy)


def plan(store: Store, calendar: Calendar, moment: datetime, request: Request) -> Plan:
    """Return the campaign runs that a back-fill takes for a moment of the schedule."""
    start, end = calendar.window(moment)
    runs: list[str] = []
    reasons: list[str] = []
    for run in rescorings.between(store, calendar.name, start, end):
        reason = _obstacle(store, run, request)
        reasons.append(f"{run.id}: {reason}") if reason else runs.append(run.id)
    if not runs and not reasons:
        span = f"{start:%Y-%m-%d %H:%M} up to {end:%Y-%m-%d %H:%M} ({calendar.timezone})"
        reasons.append(f"no run of campaign {calendar.name} is recorded from {span}")
    return Plan(runs=tuple(runs), reasons=tuple(reasons))


def _obstacle(store: Store, run: CampaignRun, request: Request) -> str | None:
    """Return why a run cannot be back-filled, or None."""
    if request.mode == "retune":
        if store.has_archive(run.benchmark_digest):
            return None
        return f"its benchmark folder {run.benchmark_digest[:19]} is not archived, so it cannot be measured again"
    if run.space is None or not recorded.scene(store, run).log.facts(Judgement):
        return "no trial of it was judged"
    return None


def rescore_run(store: Store, run_id: str, policy: str, calendar: Calendar) -> Rescored:
    """Send a recorded run through a policy and keep the result; the one that is there already is returned.

    Args:
        store: Where the run is, and the result will be.
        run_id: The campaign run.
        policy: A name of `policies()`.
        calendar: The campaign's, with the policy that its file has today.
    """
    run = store.run(run_id)
    scene = recorded.scene(store, run, telemetry=True)
    if _is_choice(policy):
        found = choosing.rescore(scene, policy, named.choice(policy), recorded.terms(run))
    else:
        found = rescoring.rescore(scene, policy_of(policy, scene, calendar), recorded.terms(run))
    return rescorings.put(
        store,
        Rescored(
            run_id=run_id,
            policy=policy,
            policy_digest=found.policy_digest,
            at=store.clock(),
            library=albacore.__version__,
            body=found.plain(),
        ),
    )


def _is_choice(policy: str) -> bool:
    """Whether a name is that of a choice among configs (`albacore replay`), not of a policy that judges each."""
    return policy != OF_FILE and policy not in presets.PRESETS


def policy_of(name: str, scene: Scene, calendar: Calendar) -> Policy:
    """Return a policy by the name that a back-fill gives it, with the ladder of a recorded run."""
    rungs = scene.policy.ladder.rungs
    own = calendar.policy if name == OF_FILE else None
    found = own or presets.by_name(name, nodes=rungs[-1], rungs=rungs)
    return dataclasses.replace(found, name=name, ladder=scene.policy.ladder)
