"""Laws of the small statistics: they are those of the tables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as tables

from albacore.stats import binomial_upper, coefficient_of_variation, incomplete_beta, student_cdf, student_quantile


@given(st.integers(1, 200), st.floats(-50, 50))
def test_student_is_that_of_the_tables(freedom, t):
    """Against scipy; both are good to about twelve digits."""
    assert student_cdf(t, freedom) == pytest.approx(tables.t.cdf(t, freedom), abs=1e-10)


@given(st.integers(1, 200), st.floats(0.001, 0.999))
def test_the_quantile_leads_back_to_its_probability(freedom, p):
    """Also in the lower half."""
    assert student_cdf(student_quantile(p, freedom), freedom) == pytest.approx(p, abs=1e-9)


@pytest.mark.parametrize(("freedom", "p", "t"), [(1, 0.975, 12.706), (2, 0.975, 4.303), (4, 0.975, 2.776)])
def test_quantiles_of_few_nodes(freedom, p, t):
    """As every textbook prints them."""
    assert student_quantile(p, freedom) == pytest.approx(t, abs=5e-4)


@given(st.integers(1, 60), st.data())
def test_the_bound_of_a_probability_is_clopper_and_pearsons(of, data):
    """Against the beta distribution of scipy."""
    seen = data.draw(st.integers(0, of - 1))

    assert binomial_upper(seen, of, 0.95) == pytest.approx(tables.beta.ppf(0.95, seen + 1, of - seen), abs=1e-10)


def test_never_seen_is_not_never():
    """None of three nodes was bad: up to 63 % of all may be; none of ten: 26 %. All bad, or no node: 100 %."""
    assert binomial_upper(0, 3, 0.95) == pytest.approx(1 - 0.05 ** (1 / 3))
    assert binomial_upper(0, 10, 0.95) == pytest.approx(0.2589, abs=1e-4)
    assert binomial_upper(3, 3, 0.95) == binomial_upper(0, 0, 0.95) == 1.0


def test_the_ends_of_the_incomplete_beta():
    """0 at 0, 1 at 1."""
    assert (incomplete_beta(0.0, 2, 3), incomplete_beta(1.0, 2, 3)) == (0.0, 1.0)


def test_coefficient_of_variation():
    """Worked by hand; one value has none, and around 0 there is none."""
    assert coefficient_of_variation([90.0, 110.0]) == pytest.approx(0.1414, abs=1e-4)
    assert coefficient_of_variation([5.0]) == 0.0
    assert coefficient_of_variation([-1.0, 1.0]) is None
