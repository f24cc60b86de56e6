"""Contestants: ways to tune, each with a name, at the same number of samples unless they say otherwise."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from albacore import optimizers
from albacore.errors import UserError
from albacore.optimizers import Optimizer
from albacore.optimizers.random import Random
from albacore.optimizers.stable_forest import StableForest
from albacore.optimizers.tpe import Tpe
from albacore.policies import Adjuster, Policy, presets
from albacore.policies.budget_allocation import BudgetAllocation
from albacore.policies.cross_validated import CrossValidated
from albacore.policies.forest import Forest
from albacore.policies.racing import Racing
from albacore.policies.relative_range import RelativeRange
from albacore.policies.rerun import Rerun
from albacore.simulation.playing import Plan

RUNGS = (1, 3, 10)
FOREST = "forest"
TREES, SHARE = 20, 1.0
"""Of the adjusters' forests: half of a campaign's, and all features, as the paper's artifact has them."""
SURROGATE = 10
"""Trees of the optimizers' forests: as many as SMAC's; a campaign's `stable_forest` has twice as many."""
AGAIN = 10
"""Configs that `rerun` measures on every node in the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """A way to tune.

    Attributes:
        plan: What it makes of the plan that all are given.
        optimizer: Its own; None takes the one that all are given.
        has_veto: Whether what it ships may be vetoed by its neighbours (`verdict/veto.py`).
    """

    name: str
    title: str
    policy: Callable[[Plan, int], Policy]
    plan: Callable[[Plan, int], Plan] = lambda plan, nodes: plan
    optimizer: Optimizer | None = None
    has_veto: bool = False

    def suggests(self, usual: str, samples: int) -> Optimizer:
        """Return its optimizer, given the name of the one that is usual here."""
        return self.optimizer or usual_optimizer(usual, samples)


def usual_optimizer(name: str, samples: int) -> Optimizer:
    """Return an optimizer by name; `forest` is a random forest that reads the highest rung, as SMAC does.

    SMAC itself takes seconds for a suggestion.
    """
    if name == FOREST:
        return StableForest(reads_all_rungs=False, weighs_stability=False, trees=SURROGATE, name=FOREST)
    return optimizers.by_name(name, budget=samples)


def _preset(preset: str, **parts: object) -> Callable[[Plan, int], Policy]:
    def make(plan: Plan, nodes: int) -> Policy:
        policy = presets.by_name(preset, nodes=nodes, rungs=rungs(nodes), **parts)
        return replace(policy, adjuster=_quick(policy.adjuster))

    return make


def _quick(adjuster: Adjuster) -> Adjuster:
    """Return the adjuster with forests of the simulation's size."""
    if isinstance(adjuster, Forest | CrossValidated):
        return replace(adjuster, trees=TREES, share=SHARE)
    return adjuster


def rungs(nodes: int) -> tuple[int, ...]:
    """Return the paper's rungs as far as the fleet has nodes for them; the last one is the fleet."""
    return (*(r for r in RUNGS if r < nodes), nodes)


def _rerun(plan: Plan, nodes: int) -> Policy:
    spare = plan.samples - nodes - AGAIN * (nodes - 1)
    ladder = Rerun(rungs=(1, nodes), first=max(AGAIN, spare), best=AGAIN)
    return replace(presets.one_rung("rerun", nodes), ladder=ladder, detector=RelativeRange(threshold=0.30))


def _racing(plan: Plan, nodes: int) -> Policy:
    return replace(_preset("tuna")(plan, nodes), ladder=Racing(rungs=tuple(range(1, nodes + 1))))


def _allocated(plan: Plan, nodes: int) -> Policy:
    return replace(_preset("tuna")(plan, nodes), ladder=BudgetAllocation(rungs=tuple(range(1, nodes + 1))))


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
        Contestant(
            name="stable-forest",
            title="the paper's ladder, a forest over all rungs",
            policy=_preset("tuna"),
            optimizer=StableForest(trees=SURROGATE),
        ),
        Contestant(
            name="asynchronous-top",
            title="capped asynchronous halving, a forest over the highest rung",
            policy=_preset("tuna", ladder="asynchronous"),
        ),
        Contestant(
            name="asynchronous",
            title="capped asynchronous halving, a forest over all rungs",
            policy=_preset("tuna", ladder="asynchronous"),
            optimizer=StableForest(trees=SURROGATE),
        ),
        Contestant(
            name="tuna-veto", title="the paper's policy, with a final veto", policy=_preset("tuna"), has_veto=True
        ),
        Contestant(
            name="asynchronous-veto",
            title="the same, with a final veto",
            policy=_preset("tuna", ladder="asynchronous"),
            optimizer=StableForest(trees=SURROGATE),
            has_veto=True,
        ),
        Contestant(
            name="racing",
            title="a sample at a time for whoever may still win, a forest over all rungs",
            policy=_racing,
            optimizer=StableForest(trees=SURROGATE),
        ),
        Contestant(
            name="racing-veto",
            title="the same, with a final veto",
            policy=_racing,
            optimizer=StableForest(trees=SURROGATE),
            has_veto=True,
        ),
        Contestant(
            name="ocba",
            title="samples by optimal computing budget allocation, three per config; a forest over all rungs",
            policy=_allocated,
            optimizer=StableForest(trees=SURROGATE),
        ),
        Contestant(
            name="ocba-veto",
            title="the same, with a final veto",
            policy=_allocated,
            optimizer=StableForest(trees=SURROGATE),
            has_veto=True,
        ),
        Contestant(
            name="tuna-cross-validated",
            title="an adjuster chosen by cross-validation",
            policy=_preset("tuna", adjuster="cross_validated"),
        ),
        Contestant(name="tuna-ridge", title="a linear adjuster", policy=_preset("tuna", adjuster="ridge")),
        Contestant(name="naive", title="every config on every node", policy=_preset("naive")),
        Contestant(name="traditional", title="one node, equal time", policy=_preset("traditional"), plan=_alone),
        Contestant(
            name="traditional-equal-cost", title="one sample per config, equal cost", policy=_preset("traditional")
        ),
        Contestant(
            name="rerun", title="random search, the best ten again on every node", policy=_rerun, optimizer=Random()
        ),
        Contestant(name="tpe-repeats", title="TPE, three samples per config", policy=_repeats, optimizer=Tpe()),
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
