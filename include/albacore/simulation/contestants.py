"""Contestants: ways to tune, each with a name, at the same number of samples unless they say otherwise."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from albacore import optimizers
from albacore.errors import UserError
from albacore.optimizers import Optimizer
from albacore.policies import Policy, presets
from albacore.policies.relative_range import RelativeRange
from albacore.policies.rerun import Rerun
from albacore.simulation.playing import Plan

RUNGS = (1, 3, 10)
AGAIN = 10
"""Configs that `rerun` measures on every node in the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """A way to tune.

    Attributes:
        plan: What it makes of the plan that all are given.
        optimizer: Its name; None takes the one that all are given.
    """

    name: str
    title: str
    policy: Callable[[Plan, int], Policy]
    plan: Callable[[Plan, int], Plan] = lambda plan, nodes: plan
    optimizer: str | None = None

    def suggests(self, usual: str, samples: int) -> Optimizer:
        """Return its optimizer, given the one that is usual here."""
        return optimizers.by_name(self.optimizer or usual, budget=samples)


def _preset(preset: str, **parts: object) -> Callable[[Plan, int], Policy]:
    return lambda plan, nodes: presets.by_name(preset, nodes=nodes, rungs=rungs(nodes), **parts)


def rungs(nodes: int) -> tuple[int, ...]:
    """Return the paper's rungs as far as the fleet has nodes for them; the last one is the fleet."""
    return (*(r for r in RUNGS if r < nodes), nodes)


def _rerun(plan: Plan, nodes: int) -> Policy:
    spare = plan.samples - nodes - AGAIN * (nodes - 1)
    ladder = Rerun(rungs=(1, nodes), first=max(AGAIN, spare), best=AGAIN)
    return replace(presets.one_rung("rerun", nodes), ladder=ladder, detector=RelativeRange(threshold=0.30))


def _repeats(plan: Plan, nodes: int) -> Policy:
    return replace(presets.one_rung("repeats", min(3, nodes)), detector=RelativeRange(threshold=0.30))


def _alone(plan: Plan, nodes: int) -> Plan:
    """Return the plan of one node that works as long as the fleet does."""
    return replace(plan, samples=max(1, plan.samples // nodes) + nodes, lanes=1)


CONTESTANTS = {
    one.name: one
    for one in (
        Contestant(name="tuna", title="the paper's policy", policy=_preset("tuna")),
        Contestant(
            name="tuna-no-adjuster", title="without the noise adjuster", policy=_preset("tuna", adjuster="identity")
        ),
        Contestant(name="tuna-no-detector", title="without the detector", policy=_preset("tuna", detector="never")),
        Contestant(name="tuna-hyperband", title="Hyperband's brackets", policy=_preset("tuna", ladder="hyperband")),
        Contestant(name="naive", title="every config on every node", policy=_preset("naive")),
        Contestant(name="traditional", title="one node, equal time", policy=_preset("traditional"), plan=_alone),
        Contestant(
            name="traditional-equal-cost", title="one sample per config, equal cost", policy=_preset("traditional")
        ),
        Contestant(
            name="rerun", title="random search, the best ten again on every node", policy=_rerun, optimizer="random"
        ),
        Contestant(name="tpe-repeats", title="TPE, three samples per config", policy=_repeats, optimizer="tpe"),
    )
}


def by_name(name: str) -> Contestant:
    """Return a contestant.

    Raises:
        UserError: When there is none of this name.
    """
    if name not in CONTESTANTS:
        raise UserError(f"contestant: expected one of {', '.join(CONTESTANTS)}, got {name!r:.60}.")
    return CONTESTANTS[name]
