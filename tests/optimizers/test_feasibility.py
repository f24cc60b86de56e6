"""Limits are learned and honoured by the methods that weigh expected improvement."""

from dataclasses import replace

import numpy as np
import pytest
from squares import plain

from albacore import recorded
from albacore.optimizers import Observation, by_name, feasibility, initial_design

SPACE = plain(4)


def beyond(config) -> bool:
    """Whether a config needs more than there is: the cheapest configs lie beyond."""
    return float(config["x0"]) + float(config["x1"]) > 1.2


def cost(config) -> float:
    return 3.0 - float(config["x0"]) - float(config["x1"]) + (float(config["x2"]) - 0.4) ** 2


def told(seed: int, n: int = 30) -> list[Observation]:
    design = initial_design(SPACE, n, seed=seed)
    worst = max(cost(c) for c in design)
    return [
        Observation(config=c, score=worst if beyond(c) else cost(c), is_failure=beyond(c), ask_index=i)
        for i, c in enumerate(design)
    ]


def test_the_border_is_learned_from_thirty_configs():
    """Of new configs nine in ten are told right, in four knobs of which two do nothing."""
    seen = told(1)
    kept = feasibility.probability(np.array([SPACE.encode(o.config) for o in seen]), [o.is_failure for o in seen])
    assert kept is not None
    new = initial_design(SPACE, 300, seed=99)
    right = (kept(np.array([SPACE.encode(c) for c in new])) > 0.5) == ~np.array([beyond(c) for c in new])
    assert right.mean() > 0.85


@pytest.mark.parametrize("failed", [0, 2, 29])
def test_nothing_is_said_before_three_of_each(failed: int):
    """With too few failures, or too few successes, improvement is not weighed."""
    x = np.random.default_rng(1).random((30, 4))
    assert feasibility.probability(x, [i < failed for i in range(30)]) is None


@pytest.mark.parametrize("kind", ["gp", "boosted_trees"])
def test_what_is_proposed_keeps_the_limit_more_often_than_without_the_weight(kind: str):
    """Over twelve histories; and what keeps it is as good as the best of the history or near it."""
    weighed, plainly = by_name(kind), by_name(kind, weighs_limits=False)
    asked = {True: [], False: []}
    for seed in range(12):
        for is_weighed, method in ((True, weighed), (False, plainly)):
            asked[is_weighed].append(method.suggest(SPACE, told(seed), [], seed=seed, ask_index=30))
    lost = {key: sum(beyond(c) for c in found) for key, found in asked.items()}
    assert lost[True] <= 4
    assert lost[True] <= lost[False]
    assert np.median([cost(c) for c in asked[True] if not beyond(c)]) < 2.4  # half of all configs cost more than 2


def test_without_failures_nothing_changes():
    """The weight is there only where something failed."""
    seen = [replace(o, is_failure=False) for o in told(3)]
    both = [by_name("gp", weighs_limits=w).suggest(SPACE, seen, [], seed=1, ask_index=30) for w in (True, False)]
    assert both[0] == both[1]


def test_a_run_from_before_the_weight_is_read_without_it(tmp_path):
    """Its campaign does not speak of it."""
    from stored_runs import opened

    run = opened(tmp_path, optimizer={"name": "gp"}).store.run("run")
    old = replace(run, effective={**run.effective, "optimizer": {"name": "gp", "initial": 10}})
    assert recorded.campaign(run).optimizer_of().weighs_limits  # type: ignore[attr-defined]
    assert not recorded.campaign(old).optimizer_of().weighs_limits  # type: ignore[attr-defined]
