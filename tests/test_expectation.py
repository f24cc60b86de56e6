"""When more is not expected to help: two rules that are off, and what they say when they are on."""

from dataclasses import replace

import pytest
from scenes import SPACE, ask, sample, scene

from albacore import expectation, stopping
from albacore.campaign import parse
from albacore.errors import CampaignError
from albacore.fact import REOPEN
from albacore.sample import Purpose
from albacore.trial import Event, Judgement, Note, Stability

BOTH = {"min_scores": 20, "expected_gain": 0.01, "converged_after": 10}


def told(count, value, *, stop, rung=0):
    """Return a scene in which `count` configs over the cube were told value(k0, i)."""
    events, configs = [], []
    for i in range(count):
        config = SPACE.config({"k0": (i * 0.618) % 1, "k1": (i * 0.414) % 1, "k2": (i * 0.732) % 1})
        score = value(config["k0"], i)
        configs.append(config)
        events.append(ask(i, config.id, rung=rung))
        events.append(
            Judgement(
                config_id=config.id,
                rung=rung,
                stability=Stability.STABLE,
                relative_range=0.0,
                raw={"n1": score},
                adjusted={"n1": score},
                score=score,
                reasons=(),
                read_n=2 * i + 1,
            )
        )
    return replace(scene(events, configs), stop=stop)


def flat(k0, i):
    """Nothing to find: all the same but for a thousandth of noise."""
    return 100.0 + 0.1 * ((i * 7919) % 13 - 6) / 6


def bowl(k0, i):
    """A smooth hill with its top at 0.5, well sampled."""
    return 100.0 - 40.0 * (k0 - 0.5) ** 2


def rising(k0, i):
    """Better with every config: the best is always the newest."""
    return 100.0 + 3.0 * i


@pytest.mark.parametrize("stop", [{}, {"min_scores": 20, "expected_gain": 0.0, "converged_after": 0}])
def test_both_rules_are_off_by_default(stop):
    """A flat landscape alone stops nothing."""
    assert expectation.reason_to_stop(told(60, flat, stop=stop)) is None
    assert parse({"name": "c", "system": "noop", "workload": "sleep"}, where="a test").stop.expected_gain == 0.0


def test_where_nothing_can_be_gained_the_run_stops_and_says_so():
    """The largest expected improvement is far below one per cent."""
    reason = expectation.reason_to_stop(told(40, flat, stop={"min_scores": 20, "expected_gain": 0.01}))

    assert reason is not None
    assert reason.startswith("no improvement expected: at most 0.")
    assert "by 40 score(s) on 1 node(s)" in reason


def test_where_the_best_moves_with_every_score_nothing_has_converged():
    """The predicted best changes, so the run goes on."""
    assert expectation.reason_to_stop(told(40, rising, stop={"min_scores": 20, "converged_after": 10})) is None


def test_a_prediction_that_stays_has_converged():
    """A smooth hill: after its top was found, further scores move nothing."""
    reason = expectation.reason_to_stop(told(60, bowl, stop={"min_scores": 20, "converged_after": 10}))

    assert reason is not None
    assert "over the last 10 of 60 score(s)" in reason


def test_too_few_scores_say_nothing():
    """Below the floor neither rule looks; scores of two rungs are not added up."""
    few = told(19, flat, stop=BOTH)
    assert expectation.reason_to_stop(few) is None

    events = [e.fact for e in few.log.events] + [e.fact for e in told(15, flat, stop=BOTH, rung=1).log.events]
    both = replace(few, log=type(few.log)(tuple(Event(n=i + 1, at=0.0, fact=f) for i, f in enumerate(events))))
    assert expectation.reason_to_stop(both) is None


def test_a_person_who_extends_a_run_is_not_stopped_by_a_rule():
    """That person wants more."""
    now = told(40, flat, stop=BOTH)
    again = Event(n=now.log.last_n + 1, at=0.0, fact=Note(kind=REOPEN, body={"key": "x"}))

    assert expectation.reason_to_stop(now) is not None
    assert expectation.reason_to_stop(replace(now, log=type(now.log)((*now.log.events, again)))) is None


def test_the_same_log_gives_the_same_reason_and_the_reason_is_the_stop():
    """A pure function; its note is what stops the run."""
    now = told(40, flat, stop=BOTH)
    reason = expectation.reason_to_stop(now)
    assert reason == expectation.reason_to_stop(now)

    stop = Event(n=now.log.last_n + 1, at=0.0, fact=expectation.note(now, reason))
    stopped = replace(now, log=type(now.log)((*now.log.events, stop)))
    assert stopping.stop_reason(stopped, elapsed_s=0.0) == reason


def test_a_limit_on_cost_counts_every_second_on_a_node():
    """Two samples of an hour at 0.5 each, one of them of the validation; the limit is reached at exactly 1."""
    hours = [
        replace(sample("c", "n1", 1.0), duration_s=3600.0),
        replace(sample("c", "f1", 1.0, purpose=Purpose.VALIDATE), duration_s=3600.0),
    ]
    now = replace(scene(hours), price_per_hour=0.5, limits={"samples": 9.0, "hours": 9.0, "cost": 1.0})

    assert stopping.cost(now) == 1.0
    assert stopping.stop_reason(now, elapsed_s=0.0) == "limit reached: 1 in cost"
    assert stopping.stop_reason(replace(now, limits={**now.limits, "cost": 1.1}), elapsed_s=0.0) is None


def test_a_limit_on_cost_without_a_price_is_an_error_at_the_start():
    """The key that is missing is named."""
    table = {"name": "c", "system": "noop", "workload": "sleep", "limits": {"cost": 5.0}}

    with pytest.raises(CampaignError, match=r"limits\.cost: needs nodes\.price_per_hour"):
        parse(table, where="a test")
    assert parse({**table, "nodes": {"price_per_hour": 0.0}}, where="a test").limits.cost == 5.0
