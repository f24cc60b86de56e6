"""Laws of the final veto."""

from dataclasses import replace

import numpy as np
from scenes import SPACE, sample, scene

from albacore import judging
from albacore.trial import Event, Judgement, Log, Stability
from albacore.verdict import ranking, validation, veto
from albacore.verdict.caveat import caveats


def judgement(config, rung, score, *, stable=True):
    raw = {f"n{i}": score for i in range((1, 3, 10)[rung])}
    found = Stability.STABLE if stable else Stability.UNSTABLE
    return Judgement(
        config_id=config.id,
        rung=rung,
        stability=found,
        relative_range=0.0,
        raw=raw,
        adjusted=raw,
        score=score,
        reasons=(),
        read_n=0,
    )


def config(x, y, z=0.3):
    return SPACE.config({"k0": x, "k1": y, "k2": z})


def scattered(low, high, count, seed):
    rng = np.random.default_rng(seed)
    return [config(rng.uniform(low, high), rng.random()) for _ in range(count)]


def with_note(now, note):
    events = (*now.log.events, Event(n=now.log.last_n + 1, at=0.0, fact=note))
    return replace(now, log=Log(events))


LUCKY, SOUND = config(0.8, 0.5), config(0.2, 0.5)


def told(unstable=12):
    """Configs with k0 above a half flip; the lucky one among them did not on its ten nodes, and is the best."""
    bad, good = scattered(0.6, 1.0, unstable, 1), scattered(0.0, 0.4, 12, 2)
    facts = [judgement(c, 1, 50.0, stable=False) for c in bad] + [judgement(c, 1, 60.0) for c in good]
    facts += [judgement(LUCKY, 2, 100.0), judgement(SOUND, 2, 90.0)]
    return scene(facts, (*bad, *good, LUCKY, SOUND))


def test_a_config_among_unstable_ones_is_not_shipped():
    """The second best is, whose neighbours are stable."""
    assert veto.finalists(told(), 2) == [LUCKY.id, SOUND.id]
    assert veto.chance_of_instability(told(), LUCKY.id) > 0.5 > veto.chance_of_instability(told(), SOUND.id)
    assert veto.chosen(told()) == SOUND.id


def test_in_a_campaign_it_stands_back_and_the_verdict_names_it():
    """The next one is validated in its place; with room for both it is the last."""
    plan = validation.plan(told(), nodes=["f1"], repeats=1, count=1)

    assert (plan.contenders, plan.stood_back) == ((SOUND.id,), (LUCKY.id,))
    assert [s.config_id for s in ranking.contenders(told(), 2)] == [SOUND.id, LUCKY.id]
    (told_of,) = [line for line in caveats(with_note(told(), plan.note())) if LUCKY.id in line]
    assert "stood back" in told_of and "veto = false" in told_of


def test_without_the_veto_the_best_is_validated():
    """`validation.veto = false`, and runs that were planned before there was one."""
    plan = validation.plan(told(), nodes=["f1"], repeats=1, count=1, has_veto=False)

    assert (plan.contenders, plan.stood_back) == ((LUCKY.id,), ())
    assert validation.Plan.of({"contenders": [LUCKY.id]}).has_veto is False


def test_a_config_on_fewer_nodes_is_no_finalist():
    """Whoever stands back stays before those that instability had fewer nodes to show on."""
    assert [s.config_id for s in ranking.contenders(told(), 3)][:2] == [SOUND.id, LUCKY.id]


def test_with_too_few_unstable_configs_the_best_is_shipped():
    """Three say nothing."""
    assert veto.chosen(told(unstable=3)) == LUCKY.id


def test_when_all_are_vetoed_the_best_is_shipped():
    """Somebody has to be."""
    bad = scattered(0.0, 1.0, 20, 3)
    facts = [judgement(c, 1, 50.0, stable=False) for c in bad] + [judgement(c, 1, 50.0) for c in scattered(0, 1, 5, 4)]
    facts += [judgement(LUCKY, 2, 100.0)]

    assert veto.chosen(scene(facts, (*bad, *scattered(0, 1, 5, 4), LUCKY))) == LUCKY.id


def test_a_run_without_a_stable_config_ships_nothing():
    """And the default is never a choice."""
    start = scene([sample(SPACE.default().id, f"n{i}", 10.0, slot=i) for i in range(10)])
    default = judging.judge(start, SPACE.default().id, 2)

    assert veto.chosen(scene([default])) is None
