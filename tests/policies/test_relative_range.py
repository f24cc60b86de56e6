"""Laws of the detector."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from albacore.errors import CampaignError
from albacore.policies.relative_range import Never, RelativeRange, relative_range

FIGURES = st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=12)


def test_a_range_of_exactly_the_threshold_is_stable():
    """(11.5 - 8.5) / 10 is 0.30: the boundary belongs to the stable side."""
    assert not RelativeRange(threshold=0.30).detect([8.5, 10.0, 11.5]).is_unstable
    assert RelativeRange(threshold=0.30).detect([8.49, 10.0, 11.51]).is_unstable


def test_one_value_is_stable():
    """Nothing is known of the spread of one sample."""
    assert RelativeRange().detect([5.0]).relative_range == 0.0


def test_a_mean_of_zero_is_no_division():
    """Equal zeros have no range; figures that cancel out have an infinite one."""
    assert relative_range([0.0, 0.0]) == 0.0
    assert relative_range([-1.0, 1.0]) == math.inf


@given(values=FIGURES, factor=st.floats(1e-3, 1e3))
def test_the_unit_does_not_matter(values, factor):
    """Seconds or milliseconds: the relative range is the same (within rounding)."""
    assert relative_range([v * factor for v in values]) == pytest.approx(relative_range(values), rel=1e-9, abs=1e-9)


@given(values=FIGURES)
def test_the_order_does_not_matter(values):
    """Nodes have no order."""
    assert relative_range(values[::-1]) == pytest.approx(relative_range(values))


def test_never_lets_everything_pass():
    """The ablation reports the range and calls nothing unstable."""
    detection = Never().detect([1.0, 100.0])

    assert not detection.is_unstable
    assert detection.relative_range > 1


@pytest.mark.parametrize("threshold", [0.0, -1.0, math.inf, math.nan])
def test_a_threshold_that_decides_nothing_is_refused(threshold):
    """The message gives an example."""
    with pytest.raises(CampaignError, match=r"threshold: expected a number above 0"):
        RelativeRange(threshold=threshold)
