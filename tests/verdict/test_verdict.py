"""Laws of the verdict: only fresh nodes speak, only a clear gain ships, and what is in place has to be beaten."""

import json
from dataclasses import replace

import pytest
from contenders import CONFIGS, judged
from scenes import SPACE, failure, sample, scene

from albacore.fact import REOPEN
from albacore.sample import Blame, Purpose
from albacore.trial import Direction, Note
from albacore.verdict import Terms, concluding
from albacore.verdict.caveat import caveats
from albacore.verdict.validation import Plan

A, B, OLD = CONFIGS[0], CONFIGS[1], CONFIGS[2]
DEFAULT = SPACE.default()
FRESH = ("f1", "f2", "f3")
FLAT = [100.0, 100.0, 100.0]
TERMS = Terms(unit="tps")


def run(*figures, previous=None, extra=(), nodes=FRESH, terms=TERMS, contenders=(A, B), **fields):
    """Conclude from one figure per fresh node: of the default, the contenders, the incumbent; None is no sample."""
    configs = [DEFAULT, *contenders, *([OLD] if previous else [])]
    plan = Plan(
        contenders=tuple(c.id for c in contenders),
        previous=OLD.id if previous else None,
        previous_run="r1" if previous else None,
        nodes=nodes,
    )
    events = [*[judged(c, [150.0]) for c in contenders], plan.note()]
    for config, values in zip(configs, (*figures, *([previous] if previous else [])), strict=True):
        for slot, (node, value) in enumerate(zip(nodes, values, strict=True)):
            if value is not None:
                events.append(sample(config.id, node, value, slot=slot, purpose=Purpose.VALIDATE))
    now = scene([*events, *extra], CONFIGS, **fields)
    return concluding.conclude(now, terms), now


def broken(config, node="f2"):
    return failure(config.id, node, Blame.CONFIG, purpose=Purpose.VALIDATE)


def test_a_clear_gain_on_every_fresh_node_ships():
    """1.5 times as good everywhere: the interval excludes 1, also after a choice among two."""
    found, _ = run(FLAT, [150.0, 149.0, 152.0], [120.0, 121.0, 119.0])

    assert found.ship and found.incumbent == A.id
    assert found.gain is not None and found.gain.low > 1.4
    assert found.probability_beats_default is not None and found.probability_beats_default > 0.99
    assert found.sentence.startswith(f"Ship {A.id}: on 3 fresh nodes it is 1.50 times as good as the default (95% ")
    assert found.sentence.endswith("it is bad on at most 63% of all nodes (95% confidence).")


def test_the_fresh_nodes_choose_among_the_contenders():
    """The second of the tuning is better where nobody had looked."""
    found, _ = run(FLAT, [120.0, 121.0, 119.0], [150.0, 149.0, 152.0])

    assert found.best is not None and found.best.config_id == B.id
    assert [c.rank for c in found.contenders] == [1, 2]


def test_an_unstable_contender_leaves_the_place_to_a_stable_one():
    """However fast on average."""
    found, _ = run(FLAT, [400.0, 390.0, 130.0], [150.0, 149.0, 152.0])

    assert found.ship and found.incumbent == B.id
    assert "unstable on fresh nodes" in str(found.contenders[0].refused)


def test_no_significant_gain_says_so():
    """Better on one node, worse on another: the interval includes 1."""
    found, _ = run(FLAT, [110.0, 92.0, 103.0], [90.0, 91.0, 89.0])

    assert not found.ship and found.incumbent is None
    assert f"Do not ship {A.id}: no significant gain; on 3 fresh nodes it is 1.01 times" in found.sentence


def test_equal_values_are_no_gain():
    """Exactly as good as the default, everywhere."""
    found, _ = run(FLAT, FLAT, FLAT)

    assert not found.ship and "no significant gain" in found.sentence
    assert found.probability_beats_default == 0.25


def test_the_gain_asked_for_is_that_of_the_lower_end():
    """1.5 times with an interval from 1.4 is surely above 1.3, not above 1.5."""
    figures = FLAT, [150.0, 149.0, 152.0], FLAT

    assert run(*figures, terms=replace(TERMS, min_gain=1.3))[0].ship
    found, _ = run(*figures, terms=replace(TERMS, min_gain=1.5))
    assert not found.ship and "no gain that is surely above 1.5" in found.sentence


def test_less_is_better_in_the_other_direction():
    """A latency of two thirds."""
    found, _ = run(FLAT, [66.0, 67.0, 66.5], [90.0, 91.0, 89.0], direction=Direction.MIN)

    assert found.ship and found.gain is not None
    assert found.gain.estimate == pytest.approx(1.5, abs=0.01)
    assert found.best is not None and found.best.worst == 67.0


def test_all_contenders_unstable_do_not_ship():
    """The first of the tuning is told of."""
    found, _ = run(FLAT, [400.0, 390.0, 130.0], [300.0, 310.0, 110.0])

    assert not found.ship
    assert f"Do not ship {A.id}: it is unstable on fresh nodes" in found.sentence


def test_a_contender_that_fails_on_a_fresh_node_does_not_ship():
    """The message says where; the other one may."""
    found, _ = run(FLAT, [150.0, None, 150.0], [150.0, None, 150.0], extra=[broken(A), broken(B)])
    assert not found.ship
    assert f"Do not ship {A.id}: it failed on a fresh node (f2: it broke); it is 1.50 times" in found.sentence

    other, _ = run(FLAT, [150.0, None, 150.0], [140.0, 141.0, 142.0], extra=[broken(A)])
    assert other.ship and other.incumbent == B.id


def test_a_default_that_fails_on_every_fresh_node_leaves_nothing_to_compare():
    """Nothing ships, and the reason is the default's."""
    faults = [broken(DEFAULT, node) for node in FRESH]

    found, _ = run([None] * 3, [150.0] * 3, [150.0] * 3, extra=faults)

    assert not found.ship
    assert "the default itself failed on every fresh node (f1: it broke)" in found.sentence


def test_a_node_lost_in_the_validation_leaves_the_others():
    """The pairs that are there are compared, and the missing ones are told."""
    found, now = run([100.0, None, 100.0], [150.0, 149.0, 152.0], FLAT)

    assert found.gain is not None and found.gain.estimate == pytest.approx((1.5 * 1.52) ** 0.5)
    assert any(f"1 of 3 validation samples of {DEFAULT.id} are missing" in line for line in caveats(now))


def test_without_fresh_nodes_nothing_was_validated():
    """`[nodes] validation = 0`."""
    found, _ = run([], [], [], nodes=())

    assert not found.ship and found.gain is None and found.best is not None
    assert "it was not validated, for the campaign has no fresh nodes" in found.sentence


def test_one_node_once_has_no_interval():
    """The estimate is told, and why it is not enough."""
    found, _ = run([100.0], [150.0], [120.0], nodes=("f1",))

    assert not found.ship and found.gain is None and found.probability_beats_default is None
    assert "one fresh node says nothing of others; there it was 1.50 times" in found.sentence


def test_figures_that_are_not_positive_do_not_ship():
    """A throughput of 0 on one node is not left out."""
    found, _ = run(FLAT, [150.0, 0.0, 150.0], [0.0, 0.0, 0.0])

    assert not found.ship
    json.dumps(found.body(), allow_nan=False)


def test_without_a_stable_config_there_is_nothing_to_ship():
    """The default's figures are still there."""
    found, _ = run([100.0, 101.0, 102.0], contenders=())

    assert not found.ship and found.best is None
    assert found.default.mean == 101.0
    assert found.sentence == "Do not ship: no config was found stable, so there is nothing to compare with the default."


def test_the_incumbent_stays_unless_it_is_beaten_with_confidence():
    """Better than the default, hardly better than what is in place (Metis §9)."""
    found, _ = run(FLAT, [150.0, 149.0, 152.0], FLAT, previous=[149.0, 150.0, 150.0])

    assert not found.ship and found.incumbent == OLD.id
    assert f"Do not ship {A.id}: no significant gain over the incumbent (1.00 times" in found.sentence
    assert found.sentence.endswith(f"the incumbent {OLD.id} stays.")


def test_an_incumbent_that_is_beaten_is_replaced():
    """By at least `min_gain`, surely."""
    figures = FLAT, [150.0, 149.0, 152.0], FLAT

    found, _ = run(*figures, previous=[120.0, 121.0, 119.0])
    assert found.ship and found.incumbent == A.id
    assert f"it replaces {OLD.id} (1.25 times as good" in found.sentence

    asked, _ = run(*figures, previous=[120.0, 121.0, 119.0], terms=replace(TERMS, min_gain=1.2))
    assert not asked.ship and asked.incumbent == OLD.id


def test_an_incumbent_that_fails_goes_whatever_follows():
    """To the best config if that ships, to the default if not."""
    fault = broken(OLD, "f1")

    found, _ = run(FLAT, [150.0, 149.0, 152.0], FLAT, previous=[None, 150.0, 150.0], extra=[fault])
    assert found.ship and found.incumbent == A.id

    none, _ = run(FLAT, FLAT, FLAT, previous=[None, 150.0, 150.0], extra=[fault])
    assert not none.ship and none.incumbent is None
    assert f"the incumbent {OLD.id} goes: it failed on a fresh node (f1: it broke)." in none.sentence


def test_an_incumbent_that_is_surely_worse_than_the_default_goes():
    """The upper end of its gain is below 1."""
    found, _ = run(FLAT, FLAT, FLAT, previous=[50.0, 51.0, 49.0])

    assert found.incumbent is None and "goes: it is worse than the default" in found.sentence


def test_an_incumbent_that_nobody_could_measure_stays():
    """What was not compared is not replaced."""
    found, _ = run(FLAT, [150.0, 149.0, 152.0], FLAT, previous=[None, None, None])

    assert not found.ship and found.incumbent == OLD.id
    assert "it could not be compared with the incumbent" in found.sentence


def test_a_second_round_has_its_own_verdict():
    """The first round's samples have no say in it."""
    first, now = run(FLAT, [150.0, 149.0, 152.0], FLAT)
    plan = Plan(round=1, contenders=(A.id,), nodes=FRESH, first=1)
    again = [Note(kind=REOPEN, body={}), plan.note()]
    for config, value in ((DEFAULT, 100.0), (A, 101.0)):
        again += [
            sample(config.id, n, value + i, slot=3 + i, purpose=Purpose.VALIDATE, repeat=1) for i, n in enumerate(FRESH)
        ]
    later = scene([e.fact for e in now.log.events] + again, CONFIGS)

    second = concluding.conclude(later, TERMS)

    assert (first.ship, first.round) == (True, 0)
    assert second.round == 1 and second.gain is not None and second.gain.estimate == pytest.approx(1.01, abs=0.001)
    assert concluding.conclude(replace(later, log=later.log.until(first.read_n)), TERMS) == first


def test_the_verdict_is_plain_data():
    """JSON gives back what was written: lists, numbers, texts, null."""
    found, _ = run(FLAT, [150.0, 149.0, 152.0], FLAT, previous=[120.0, 121.0, 119.0])

    body = found.body()

    assert json.loads(json.dumps(body, allow_nan=False)) == body
    assert body["previous_incumbent"]["run_id"] == "r1"


def test_what_measuring_cost():
    """Seconds on nodes, of the tuning and of the validation; money only where an hour has a price."""
    tuned = replace(sample(A.id, "n1", 150.0), duration_s=60.0)

    found, now = run(FLAT, FLAT, FLAT, extra=[tuned])
    assert found.cost == {
        "node_seconds": 69.0,
        "tuning_node_seconds": 60.0,
        "validation_node_seconds": 9.0,
        "samples": 10,
        "rented_node_seconds": None,
        "price_per_hour": None,
        "money": None,
    }
    assert concluding.cost(replace(now, price_per_hour=3.6))["money"] == pytest.approx(0.069)
