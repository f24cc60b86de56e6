"""Laws of the validation: who runs on the fresh nodes, in which order, and what is read off it."""

from collections import Counter

import pytest
from contenders import CONFIGS, judged
from scenes import SPACE, failure, sample, scene

from albacore.fact import REOPEN
from albacore.policies import presets
from albacore.sample import Blame, Purpose
from albacore.trial import Note
from albacore.verdict import validation
from albacore.verdict.validation import Plan

DEFAULT = SPACE.default().id
A, B = CONFIGS[0].id, CONFIGS[1].id
PLAN = Plan(contenders=(A, B), previous="p", nodes=("f1", "f2", "f3", "f4"), repeats=4)


def fresh(config_id, node, value, repeat=0):
    return sample(config_id, node, value, purpose=Purpose.VALIDATE, repeat=repeat)


def test_every_config_runs_on_every_node_in_every_repeat():
    """Default, contenders and incumbent; slot, node and repeat belong together."""
    found = validation.slots(PLAN, DEFAULT, seed=1)

    assert Counter((c, node, r) for c, _, node, r in found) == {
        (c, node, r): 1 for c in (DEFAULT, A, B, "p") for node in PLAN.nodes for r in range(4)
    }
    assert {(slot, r * 4 + PLAN.nodes.index(node)) for _, slot, node, r in found} == {(i, i) for i in range(16)}


def test_nobody_always_begins():
    """On each node each config begins once in four repeats; and the seed decides who begins at all."""
    found = validation.slots(PLAN, DEFAULT, seed=1)
    first = {}
    for config_id, _, node, repeat in found:
        first.setdefault((node, repeat), config_id)

    for node in PLAN.nodes:
        assert {first[node, r] for r in range(4)} == {DEFAULT, A, B, "p"}
    assert len({validation.slots(PLAN, DEFAULT, seed=s)[0][0] for s in range(20)}) > 1


def test_configs_are_interleaved_and_repeats_apart():
    """All configs on a node follow each other; a repeat begins when all nodes had the last one."""
    found = validation.slots(PLAN, DEFAULT, seed=1)

    blocks = [found[i : i + 4] for i in range(0, len(found), 4)]
    assert all(len({(node, r) for _, _, node, r in block}) == 1 for block in blocks)
    assert [block[0][3] for block in blocks] == sorted(block[0][3] for block in blocks)


def test_an_incumbent_that_is_a_contender_or_a_default_runs_once():
    """Each config once per node and repeat."""
    plan = Plan(contenders=(A,), previous=A, nodes=("f1",))

    assert plan.configs(DEFAULT) == [DEFAULT, A]


def test_the_plan_in_the_log_is_the_plan():
    """Round trip through a note's body."""
    assert Plan.of(PLAN.note().body) == PLAN


def test_a_round_takes_the_best_of_the_tuning_to_the_fresh_nodes():
    """Highest rung first, at most as many as asked for."""
    now = scene([judged(CONFIGS[0], [200.0]), judged(CONFIGS[1], [100.0, 101.0], rung=1)], CONFIGS)

    plan = validation.plan(now, nodes=["f1"], repeats=2, count=1)

    assert plan == Plan(contenders=(B,), nodes=("f1",), repeats=2, has_veto=True, read_n=2)


def test_the_incumbent_takes_no_contenders_place():
    """It runs anyway, so the next best config is validated too."""
    now = scene([judged(CONFIGS[0], [200.0]), judged(CONFIGS[1], [100.0])], CONFIGS)

    plan = validation.plan(now, nodes=["f1"], repeats=1, count=1, incumbent=(A, "r1"))

    assert (plan.contenders, plan.previous, plan.previous_run) == ((B,), A, "r1")


def test_a_reopened_run_validates_again_with_new_repeats():
    """The second round's repeats and slots go on where the first ended, and only they count."""
    events = [
        judged(CONFIGS[0], [100.0]),
        Plan(contenders=(A,), nodes=("f1",), repeats=2).note(),
        fresh(A, "f1", 1.0, 0),
        fresh(A, "f1", 1.0, 1),
        Note(kind=REOPEN, body={}),
    ]
    plan = validation.plan(scene(events, CONFIGS), nodes=["f1"], repeats=2, count=1)
    assert (plan.round, plan.first, [r for *_, r in validation.slots(plan, DEFAULT, seed=1)]) == (1, 2, [2, 2, 3, 3])

    now = scene([*events, plan.note(), fresh(A, "f1", 7.0, 2)], CONFIGS)
    assert validation.planned(now) == plan
    assert validation.figures(now, plan, A) == {"f1": {2: 7.0}}


def test_a_log_without_a_plan_validated_the_best_of_the_tuning():
    """Runs recorded before there were plans."""
    now = scene([judged(CONFIGS[0], [100.0]), fresh(A, "f1", 1.0, 0), fresh(A, "f1", 2.0, 1)], CONFIGS)

    plan = validation.planned(now)

    assert (plan.contenders, plan.nodes, plan.repeats) == ((A,), ("f1",), 2)


def test_samples_of_the_tuning_have_no_say():
    """Only the purpose `validate` counts."""
    now = scene([PLAN.note(), sample(A, "n1", 1000.0), fresh(A, "f1", 90.0)], CONFIGS)

    assert validation.deployment(now, PLAN, A).by_node == {"f1": (90.0,)}


@pytest.mark.parametrize(
    ("values", "bound"),
    [
        ({"f1": 100.0, "f2": 101.0, "f3": 99.0}, 0.6316),  # none of three: 1 - 0.05 ** (1 / 3)
        ({"f1": 100.0, "f2": 101.0, "f3": 40.0}, 0.8647),  # one of three is a third as fast
        ({"f1": 100.0, "f2": 101.0, "f3": 300.0}, 0.8647),  # none is bad, yet they do not agree
        ({}, None),
    ],
)
def test_no_bad_node_among_few_leaves_many_open(values, bound):
    """The upper bound of the share of bad nodes, by Clopper and Pearson."""
    now = scene([PLAN.note(), *[fresh(A, node, v) for node, v in values.items()]], CONFIGS)

    found = validation.instability_bound(now, PLAN, validation.deployment(now, PLAN, A), 0.95)

    assert found == (pytest.approx(bound, abs=1e-4) if bound else None)


def test_a_failure_on_a_fresh_node_is_a_bad_node():
    """One of two nodes; also where there is no detector."""
    broken = failure(A, "f2", Blame.CONFIG, purpose=Purpose.VALIDATE)
    for policy in (None, presets.by_name("naive", nodes=3, rungs=(1,))):
        now = scene([PLAN.note(), fresh(A, "f1", 100.0), broken], CONFIGS, policy=policy)

        found = validation.instability_bound(now, PLAN, validation.deployment(now, PLAN, A), 0.95)

        assert found == pytest.approx(0.9747, abs=1e-4)
