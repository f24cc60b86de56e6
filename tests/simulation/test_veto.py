"""Laws of the final veto."""

import numpy as np
from scenes import SPACE, sample, scene

from albacore import judging
from albacore.simulation import veto
from albacore.trial import Judgement, Stability


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
