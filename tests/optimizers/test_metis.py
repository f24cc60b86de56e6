"""Laws of Metis (M01 to M07) and of the Gaussian process under it."""

import numpy as np
import pytest
from squares import at, plain, scored

from albacore.optimizers import INITIAL, gaussian, highest_rung, initial_design
from albacore.optimizers.gp import GaussianProcess
from albacore.optimizers.metis import BOOTSTRAP, REACH, Metis, Model
from albacore.space import Config

SPACE = plain(2)


def bowl(config: Config) -> float:
    """Return a cost with its minimum at (0.3, 0.6)."""
    return (float(config["x0"]) - 0.3) ** 2 + (float(config["x1"]) - 0.6) ** 2


def observed(n: int, noise: float = 0.0):
    errors = np.random.default_rng(8).normal(0, noise, n) if noise else np.zeros(n)
    return scored([(c, bowl(c) + float(e)) for c, e in zip(initial_design(SPACE, n, seed=4), errors, strict=True)])


def test_the_first_five_are_a_latin_hypercube() -> None:
    """I = 5 whatever the dimension, one point in each fifth of each knob (§4.1)."""
    space = plain(7)
    asked = [Metis().suggest(space, [], [], seed=2, ask_index=i) for i in range(BOOTSTRAP)]
    for name in space.names:
        assert sorted(int(float(config[name]) * 5) for config in asked) == [0, 1, 2, 3, 4]


def test_the_kernel_is_matern_three_halves_and_white_noise() -> None:
    """§5; the noise of scores is learned: near 0.04 quartile distances squared, or none."""
    noisy = Model.of(SPACE, observed(60, 0.05), [], [1])
    assert noisy.process.model.kernel_.k1.k2.nu == 1.5
    quartiles = np.subtract(*np.percentile([o.score for o in observed(60, 0.05)], [75, 25]))
    # The variance of 60 residuals has a relative error of sqrt(2 / 60) = 0.18; three of them, and the fit's own.
    assert noisy.process.noise == pytest.approx((0.05 / quartiles) ** 2, rel=0.7)
    assert Model.of(SPACE, observed(60), [], [1]).process.noise < 0.01


def test_exploration_is_the_largest_interval() -> None:
    """The point with the largest deviation on a grid is the one that exploration prefers (§4.2.1)."""
    model = Model.of(SPACE, scored([(at(x, y), x) for x in (0.0, 0.2, 0.4) for y in (0.0, 0.5, 1.0)]), [], [1])
    grid = np.array([(x, y) for x in np.linspace(0, 1, 11) for y in np.linspace(0, 1, 11)])
    spread = model.spread(grid)
    assert (spread == model.process.predict(grid)[1]).all()
    assert grid[np.argmax(spread)][0] == 1.0  # far from all scores


def test_exploitation_prefers_the_planted_basin() -> None:
    """Ln P1 / P2 is larger in the middle of the best group than where the rest is (§4.2.1)."""
    model = Model.of(SPACE, observed(40), [], [1])
    inside, outside = model.likeness(np.array([(0.3, 0.6), (0.9, 0.1)]))
    assert inside > outside


def test_the_lowest_expectation_is_a_candidate_too() -> None:
    """It is the lowest mean on a grid, and lies in the basin (docs/decisions/metis-exploits-its-process.md)."""
    model = Model.of(SPACE, observed(40), [], [1])
    grid = np.array([(x, y) for x in np.linspace(0, 1, 11) for y in np.linspace(0, 1, 11)])
    hope = model.hope(grid)
    assert (hope == -model.process.predict(grid)[0]).all()
    assert grid[np.argmax(hope)] == pytest.approx((0.3, 0.6))


@pytest.mark.parametrize("n", [9, 14])
def test_a_planted_outlier_is_suspected_after_ten_scores(n: int) -> None:
    """The config whose score is far outside the others' interval is measured again; never before ten scores (§6.2)."""
    seen = observed(n)
    seen[6] = type(seen[6])(config=seen[6].config, score=seen[6].score + 3.0, ask_index=6)
    suspect = Model.of(SPACE, seen, [], [1]).suspect(seen, [])
    assert suspect == (seen[6].config if n >= 10 else None)


def test_a_config_that_is_measured_again_already_is_not_suspected() -> None:
    """Pending, failed, or measured three times: another measurement would say nothing."""
    seen = observed(14)
    odd = type(seen[6])(config=seen[6].config, score=seen[6].score + 3.0, ask_index=6)
    seen[6] = odd
    assert Model.of(SPACE, seen, [odd.config], [1]).suspect(seen, [odd.config]) != odd.config
    seen[6] = type(odd)(config=odd.config, score=odd.score, ask_index=6, is_failure=True)
    assert Model.of(SPACE, seen, [], [1]).suspect(seen, []) != odd.config


def test_a_suggestion_may_be_a_second_measurement() -> None:
    """Over a run with outliers some answers of `suggest_or_repeat` are observed configs; `suggest` never is one."""
    repeats = 0
    for seed in range(6):
        seen = observed(14 + seed, 0.02)
        seen[2] = type(seen[2])(config=seen[2].config, score=-1.0, ask_index=2)  # too good to be true
        known = {o.config for o in seen}
        repeats += Metis().suggest_or_repeat(SPACE, seen, [], seed=seed, ask_index=20) in known
        assert Metis().suggest(SPACE, seen, [], seed=seed, ask_index=20) not in known
    assert repeats > 0


def test_the_left_out_prediction_equals_a_fit_without_the_score() -> None:
    """The closed form gives what a process through all other scores with the same kernel gives (GPML eq. 5.12)."""
    process = Model.of(SPACE, observed(15, 0.05), [], [1]).process
    mean, deviation = process.left_out()
    rest = np.arange(15) != 4
    without = gaussian.given(process.model.kernel_, process.x[rest], process.y[rest])
    again, spread = without.predict(process.x[4:5])
    assert mean[4] == pytest.approx(again[0], abs=1e-5)
    assert deviation[4] == pytest.approx(np.sqrt(spread[0] ** 2 + process.noise), rel=1e-4)


def test_the_gain_is_what_two_more_fits_would_say() -> None:
    """§4.2.2 in one dimension by hand: add the lower, then the upper bound, and see what the best mean improves by."""
    space = plain(1)
    model = Model.of(space, scored([(at(x / 10), (x / 10 - 0.4) ** 2) for x in range(0, 11, 2)]), [], [1])
    config = at(0.33)
    x = space.encode(config)[None]
    mean, deviation = model.process.predict(x)
    everywhere = np.vstack([model.pool, model.process.x])
    expected = 0.0
    for bound in (mean - REACH * deviation, mean + REACH * deviation):
        more = gaussian.given(
            model.process.model.kernel_, np.vstack([model.process.x, x]), np.concatenate([model.process.y, bound])
        )
        expected += max(0.0, model.expected.min() - more.predict(everywhere)[0].min())
    assert model.gain(config) == pytest.approx(expected, abs=1e-4)
    assert expected > 0


def test_the_best_is_the_lowest_prediction_not_the_lowest_score() -> None:
    """A lucky score beside the basin does not win (§4.2.2, M07)."""
    seen = observed(60, 0.05)
    lucky = min(range(60), key=lambda i: abs(bowl(seen[i].config) - 0.1))
    seen[lucky] = type(seen[lucky])(config=seen[lucky].config, score=-0.12, ask_index=lucky)
    assert min(seen, key=lambda o: o.score) is seen[lucky]
    assert bowl(Metis().best(SPACE, seen)) < 0.05 < bowl(seen[lucky].config)


def test_one_length_scale_for_many_knobs_and_one_each_for_few() -> None:
    """Below 20 knobs each feature has its own; a fit of 100 of them would take a minute."""
    for knobs, scales in ((3, 3), (20, 1)):
        space = plain(knobs)
        seen = scored([(c, float(c["x0"])) for c in initial_design(space, 15, seed=1)])
        assert np.size(Model.of(space, seen, [], [1]).process.model.kernel_.k1.k2.length_scale) == scales


def test_the_gaussian_process_finds_the_basin() -> None:
    """After 30 noiseless scores the next proposals lie near the minimum; random ones are 0.2 away in cost."""
    seen = observed(30)
    for index in range(INITIAL, INITIAL + 3):
        assert bowl(GaussianProcess().suggest(SPACE, seen, [], seed=1, ask_index=index)) < 0.02


def test_pending_configs_are_kept_away_from() -> None:
    """With the favourite pending, the next proposal is another one, as if it had been measured there."""
    seen = observed(30)
    first = GaussianProcess().suggest(SPACE, seen, [], seed=1, ask_index=12)
    second = GaussianProcess().suggest(SPACE, seen, [first], seed=1, ask_index=12)
    assert second != first
    assert highest_rung(seen) == seen
