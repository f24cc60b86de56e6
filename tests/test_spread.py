"""Laws of the table that a survey ends in."""

import pytest

from albacore.cli.spread import lines
from albacore.sample import Metric, Sample
from albacore.spread import spreads


def sample(node: str, value: float, **others: float) -> Sample:
    """Return a sample with one metric in 1/s, and others in ms."""
    metrics = {"cpu": Metric(value=value, unit="1/s")} | {k: Metric(value=v, unit="ms") for k, v in others.items()}
    return Sample(
        config_id="c", node=node, host="h", metrics=metrics, started_at=0.0, duration_s=1.0, benchmark_digest="d"
    )


def test_nodes_that_differ_and_repeats_that_do_not_show_between_only():
    """Two nodes, each exactly itself: all of the spread is between them."""
    (found,) = spreads([sample("a", 10.0), sample("a", 10.0), sample("b", 20.0), sample("b", 20.0)])

    assert (found.nodes, found.samples, found.mean) == (2, 4, 15.0)
    assert found.within == 0.0
    assert found.between == pytest.approx(50**0.5 / 15.0)  # n - 1 in the standard deviation of 10 and 20


def test_one_figure_has_no_spread():
    """Nothing is claimed from a single figure."""
    (found,) = spreads([sample("a", 10.0)])

    assert (found.cov, found.between, found.within) == (None, None, None)
    assert "-" in list(lines([found]))[1]


def test_every_metric_has_a_line_with_its_unit():
    """A metric that only some samples have is counted where it is."""
    found = spreads([sample("a", 1.0, disk=2.0), sample("b", 1.0)])

    assert [(each.metric, each.unit, each.samples) for each in found] == [("cpu", "1/s", 2), ("disk", "ms", 1)]
    assert len(list(lines(found))) == 3
