"""Recorded: a campaign run out of the store, as the values that the library works with.

Everything here was fixed when the run opened (law of opening): editing a campaign file or a benchmark folder changes
none of it.
"""

from collections.abc import Mapping
from types import MappingProxyType

from albacore import earlier, objective
from albacore.benchmark import Workload
from albacore.campaign import Campaign, parse
from albacore.errors import UserError
from albacore.objective import Objective
from albacore.replay import Scene
from albacore.space import Config, Space
from albacore.store import CampaignRun, Store
from albacore.store.run_log import RunLog
from albacore.trial import Direction, Log
from albacore.verdict import Terms


def campaign(run: CampaignRun) -> Campaign:
    """Return the effective campaign of a run.

    Runs from before there were second measurements and weighed limits do not say that they have none.
    """
    chosen = {"resample": False, "weighs_limits": False, **run.effective.get("optimizer", {})}
    return parse({**run.effective, "optimizer": chosen}, where=f"campaign run {run.id}")


def workload(run: CampaignRun) -> Workload:
    """Return the run's workload."""
    fields = dict(run.benchmark["workload"])
    return Workload(
        **{**fields, "direction": Direction(fields["direction"]), "timeouts_s": MappingProxyType(fields["timeouts_s"])}
    )


def objective_of(run: CampaignRun) -> Objective:
    """Return what the run tunes, and its limits."""
    chosen, own = campaign(run).objective, workload(run)
    direction = Direction(chosen.direction) if chosen.direction else own.direction
    return Objective(
        expression=chosen.expression, direction=direction, unit=chosen.unit, limits=MappingProxyType(chosen.limits)
    )


def unit(run: CampaignRun) -> str:
    """Return the unit of what the run tunes."""
    chosen = objective_of(run)
    return chosen.unit if chosen.expression else workload(run).unit


def terms(run: CampaignRun) -> Terms:
    """Return what a config of the run has to show before it ships."""
    asked = campaign(run).validation
    return Terms(unit=unit(run), min_gain=asked.min_gain, confidence=asked.confidence)


def space(run: CampaignRun) -> Space:
    """Return the run's effective space.

    Raises:
        UserError: Before the nodes are provisioned, whose facts bound it.
    """
    if run.space is None:
        raise UserError(f"run {run.id}: its space is not fixed yet. Let its task 'provision' succeed first.")
    return Space.from_json(run.space)


def configs(store: Store, run: CampaignRun) -> dict[str, Config]:
    """Return every config that the run asked for, and the default, by id."""
    default = space(run).default()
    return {i: Config(knobs) for i, knobs in RunLog(store, run.id).configs().items()} | {default.id: default}


def scene(
    store: Store, run: CampaignRun, *, until: int | None = None, telemetry: bool = False, notes: bool = False
) -> Scene:
    """Return a campaign run as the decisions see it.

    Args:
        until: Number of the last event to read; all by default.
        telemetry: Whether samples carry their guest metrics, and the adjuster has the readings of earlier runs.
        notes: Whether samples carry what their workload noted.
    """
    log = RunLog(store, run.id).read(telemetry=telemetry, notes=notes)
    taught = earlier.readings(log, store.archive) if telemetry else ()
    return scene_of(run, log if until is None else log.until(until), configs(store, run), taught)


def scene_of(run: CampaignRun, log: Log, known: Mapping[str, Config], taught: earlier.Trials = ()) -> Scene:
    """Return a campaign run as the decisions see it, from a log, configs and earlier readings that the caller has."""
    chosen, load = campaign(run), workload(run)
    tuned = objective_of(run)
    return Scene(
        policy=chosen.policy_of(),
        space=space(run),
        metric=objective.NAME if tuned.expression else load.metric,
        direction=tuned.direction,
        seed=chosen.seed,
        limits={k: float(v) for k, v in chosen.limits.model_dump().items() if v is not None},
        price_per_hour=chosen.nodes.price_per_hour,
        nodes=chosen.nodes.tuning,
        stop=chosen.stop.model_dump(),
        configs=known,
        log=objective.applied(log, tuned, space(run).default().id),
        earlier=taught,
    )
