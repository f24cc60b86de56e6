"""The default choice: speed from the middle, risk from all configs at once, never riskier than TUNA's pick for free."""

import numpy as np
import pytest

from albacore.errors import UserError
from albacore.policies.albacore import Albacore
from albacore.policies.choice import Seen
from albacore.policies.named import choice
from albacore.policies.rule import Rule
from albacore.policies.spread import Spread, inverse_trigamma, prior, robust_location
from albacore.trial import Direction


def seen(rows, direction=Direction.MAX):
    """Return one split of candidates without a default."""
    x = np.array([[*rows, [np.nan] * len(rows[0])]], dtype=float)
    return Seen(
        values=x,
        order=np.zeros(x.shape, dtype=np.int64),
        is_failed=np.zeros(x.shape, dtype=bool),
        candidates=len(rows),
        direction=direction,
    )


def picked(chooser, given):
    return int(chooser.scores(given).argmax(axis=1)[0])


def test_one_bad_node_does_not_hide_the_faster_config():
    """The worst node of the first is lower, its other nodes are 10 % faster, and both are well within the tolerance."""
    given = seen([[110, 111, 109, 110, 99], [100, 101, 100, 100, 100], [98, 99, 98, 97, 98]])

    assert picked(Rule(threshold=0.3), given) == 1
    assert picked(Albacore(), given) == 0


def test_the_worst_node_can_be_all_of_the_speed():
    """With `worst` 1 the pick of calm configs is TUNA's."""
    given = seen([[110, 111, 109, 110, 99], [100, 101, 100, 100, 100], [98, 99, 98, 97, 98]])

    assert picked(Albacore(worst=1.0), given) == picked(Rule(threshold=0.3), given) == 1


def test_times_are_the_mirror_image():
    """One over the throughputs gives the same order."""
    rows = np.array([[110, 111, 109, 110, 99], [100, 101, 100, 100, 100], [98, 99, 98, 97, 98]])

    assert picked(Albacore(), seen(1000 / rows, Direction.MIN)) == 0


def test_a_range_that_exceeds_the_tolerance_is_certain_risk():
    """At `care` 0.5 it takes 1 / (1 - 0.5 x (1 - 0.1)) = 1.82 times the speed to be chosen, at 1 ten times."""
    calm = [100, 101, 100, 99, 100]
    for factor, half, full in ((1.7, 1, 1), (2.0, 0, 1), (12.0, 0, 0)):
        wild = [100 * factor, 101 * factor, 99 * factor, 100 * factor, 60 * factor]
        given = seen([wild, calm, calm])

        assert Albacore().risk(given)[0, 0] == 1
        assert picked(Albacore(care=0.5), given) == half
        assert picked(Albacore(), given) == full


def test_where_nothing_is_stable_tunas_pick_remains():
    """All exceed the tolerance: the best worst node, as the paper would."""
    given = seen([[200, 200, 200, 200, 50], [150, 150, 150, 150, 90], [100, 100, 100, 100, 60]])

    assert (Albacore().risk(given) == 1).all()
    assert picked(Albacore(), given) == picked(Rule(threshold=0.3), given) == 1


def test_risk_rises_with_the_spread_that_was_seen():
    """Of configs with the same middle, the wider one is the riskier one."""
    rng = np.random.default_rng(4)
    calm = (100 * np.exp(rng.normal(0, 0.02, (15, 5)))).tolist()
    given = seen([*calm, [100, 109, 91, 105, 95], [100, 113, 87, 105, 95]])

    risk = Albacore().risk(given)[0]

    assert risk[:15].max() < risk[15] < risk[16] < 1


def test_the_setting_goes_from_speed_alone_to_least_risk():
    """More care never picks a riskier config; without care the fastest is picked."""
    rng = np.random.default_rng(5)
    middle = 100 * np.exp(rng.normal(0, 0.3, (20, 1)))
    rows = middle * np.exp(rng.normal(0, 1, (20, 5)) * rng.choice([0.01, 0.1, 0.3], (20, 1)))
    given = seen(rows.tolist())
    risk = Albacore().risk(given)[0]

    risks = [risk[picked(Albacore(care=care), given)] for care in (0, 0.2, 0.5, 1, 4, 1e6)]

    assert risks == sorted(risks, reverse=True)
    speed = robust_location(np.log(rows)[None], degrees=3.0)[0]
    assert picked(Albacore(care=0), given) == int(speed.argmax())


def test_the_unit_of_the_figures_does_not_matter():
    """Scores of a run in microseconds and in seconds order alike."""
    rng = np.random.default_rng(6)
    rows = 100 * np.exp(rng.normal(0, 0.2, (15, 1)) + rng.normal(0, 0.05, (15, 5)))

    one, two = (Albacore().scores(seen((rows * unit).tolist()))[0] for unit in (1.0, 1e6))

    assert np.argsort(one).tolist() == np.argsort(two).tolist()


def test_a_bad_node_that_all_configs_share_is_the_nodes_effect():
    """With node 4 at 80 % for everybody its effect is found, and nobody's own variance is large."""
    rng = np.random.default_rng(7)
    y = np.log(100 * np.array([1, 1, 1, 1, 0.8]) * np.exp(rng.normal(0, 0.01, (1, 20, 5))))

    spread = Spread.of(y)

    # Median of 20 deviations of sd 0.01: standard error 0.003; four of them.
    assert spread.node[0, 0, 4] == pytest.approx(np.log(0.8), abs=0.012)
    assert np.sqrt(spread.variance).max() < 0.02


def test_variances_are_shrunk_as_far_as_the_configs_agree():
    """Equal true variances: many borrowed degrees. A tenth of the configs 100 times wider: few."""
    rng = np.random.default_rng(8)
    same = rng.chisquare(4, (1, 400)) / 4
    mixed = same * np.where(np.arange(400) < 40, 1e4, 1.0)

    (d0_same, s0), (d0_mixed, _) = prior(same, 4.0), prior(mixed, 4.0)

    # The log variances of 400 configs fix trigamma(d0 / 2) to about 0.08, so d0 is above 15 when it is infinite.
    assert d0_same[0, 0] > 15
    assert s0[0, 0] == pytest.approx(1, rel=0.15)
    assert d0_mixed[0, 0] < 2


def test_the_inverse_of_trigamma_is_one():
    """To nine digits, over the range that variances of logarithms can have."""
    from scipy.special import polygamma

    y = np.array([0.05, 0.5, 2.0, 40.0, 900.0])

    assert inverse_trigamma(polygamma(1, y)) == pytest.approx(y, rel=1e-9)


def test_a_policy_is_written_as_name_and_settings():
    """`min:threshold=0.15` is the rule `min` with a threshold."""
    assert choice("min:threshold=0.15") == Rule(threshold=0.15)
    assert choice("mean:slope=0.5,adjust=range") == Rule(statistic="mean", slope=0.5, adjust="range")
    assert choice("albacore:care=0.4") == Albacore(care=0.4)
    assert choice("tuna") == Rule(threshold=0.30)


@pytest.mark.parametrize("text", ["best", "min:limit=1", "min:threshold", "min:threshold=low", "albacore:care=-1"])
def test_a_policy_that_is_none_is_refused(text):
    """With what was expected."""
    with pytest.raises(UserError, match="expected"):
        choice(text)


def test_the_artifacts_code_penalises_from_the_threshold_on_and_by_the_worst_default():
    """At 0.30 exactly the paper's rule lets pass; the code halves the worse of score and worst default node."""
    given = seen([[115, 85, 100], [80, 80, 80]])
    with_default = Seen(
        values=np.where(np.isnan(given.values), 60.0, given.values),
        order=given.order,
        is_failed=given.is_failed,
        candidates=2,
        direction=Direction.MAX,
    )

    assert Rule(threshold=0.3).scores(with_default)[0].tolist() == [85, 80]
    assert Rule(threshold=0.3, penalty="artifact").scores(with_default)[0].tolist() == [30, 80]
