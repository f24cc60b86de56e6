"""Laws of objectives and limits (B05, S01)."""

import math
from dataclasses import replace

import pytest
from scenes import Play, sample

from albacore import objective
from albacore.campaign import parse
from albacore.errors import CampaignError, ExpressionError
from albacore.expression import evaluate, names_in
from albacore.objective import Objective, applied
from albacore.replay import incumbent, observations
from albacore.sample import Failure, Metric, Sample
from albacore.trial import Direction, Event, Log

LEAST = {"name": "x", "system": "noop", "workload": "sleep"}
METRICS = {
    "tps": Metric(value=100.0, unit="1/s"),
    "mean_ms": Metric(value=12.0, unit="ms"),
    "p50_ms": Metric(value=10.0, unit="ms"),
    "p99_ms": Metric(value=40.0, unit="ms"),
}


def log_of(*samples: Sample) -> Log:
    return Log(tuple(Event(n=i + 1, at=0.0, fact=fact) for i, fact in enumerate(samples)))


def measured(config_id: str = "a", **metrics: Metric) -> Sample:
    return replace(sample(config_id, "n1", 0.0), metrics={**METRICS, **metrics})


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("tps", 100.0),
        ("tps / p99_ms", 2.5),
        ("0.75 * tps + 0.25 * p99_ms", 85.0),
        ("0.2 * mean_ms + 0.3 * p50_ms + 0.5 * p99_ms", 0.2 * 12 + 0.3 * 10 + 0.5 * 40),
        ("tps * sigmoid(50 - p99_ms - 5)", 100 / (1 + math.exp(-5))),
        ("tps * sigmoid(30 - p99_ms - 5)", 100 / (1 + math.exp(15))),
    ],
)
def test_an_objective_is_arithmetic_over_the_metrics_of_a_sample(expression: str, value: float) -> None:
    """Identity, ratio, weighted sums, and BestConfig's utility with a soft limit, kept and exceeded (§3.3).

    One sum is of mean, median and percentile (microservices §2.2).
    """
    wanted = Objective(expression=expression, direction=Direction.MAX, unit="u")
    (found,) = applied(log_of(measured()), wanted, "default").facts(Sample)
    assert found.metrics[objective.NAME].value == pytest.approx(value)
    assert found.metrics[objective.NAME].unit == "u"
    assert {name: found.metrics[name] for name in METRICS} == METRICS


def test_without_objective_and_limits_the_log_is_the_log() -> None:
    """Nothing is computed and nothing copied."""
    log = log_of(measured())
    assert applied(log, Objective(direction=Direction.MIN), "default") is log


def test_a_sample_beyond_a_limit_is_the_configs_own_failure() -> None:
    """It keeps its slot and says which limit; at the limit is within; the default is measured whatever it does."""
    wanted = Objective(direction=Direction.MAX, limits={"p99_ms": 40.0})
    over = measured("b", p99_ms=Metric(value=40.5, unit="ms"))
    log = applied(log_of(measured(), replace(over, slot=2), replace(over, config_id="default")), wanted, "default")
    assert [s.config_id for s in log.facts(Sample)] == ["a", "default"]
    (failure,) = log.facts(Failure)
    assert (failure.config_id, failure.slot, failure.blame.is_told) == ("b", 2, True)
    assert failure.message == "p99_ms = 40.5 ms exceeds its limit of 40"


def test_what_a_sample_lacks_is_named() -> None:
    """A metric that the workload does not report is an error with those that it does."""
    for wanted in (
        Objective(expression="p75_ms", direction=Direction.MIN),
        Objective(direction=Direction.MIN, limits={"p75_ms": 1.0}),
    ):
        with pytest.raises(ExpressionError, match=r"p75_ms.*p50_ms, p99_ms, tps"):
            applied(log_of(measured()), wanted, "default")


def test_an_objective_has_to_be_above_zero() -> None:
    """Gains are ratios, so zero and below have no meaning."""
    with pytest.raises(ExpressionError, match="above 0"):
        applied(log_of(measured()), Objective(expression="p99_ms - tps", direction=Direction.MIN), "default")


class Limited(Play):
    """A run whose log is read under an objective."""

    wanted = Objective(direction=Direction.MAX, limits={"tps": 104.1})

    def add(self, fact, config=None):
        one = Log((Event(n=1, at=0.0, fact=fact),))
        super().add(applied(one, self.wanted, self.now.default_id).events[0].fact, config)


def test_a_config_beyond_a_limit_is_scored_like_a_crash_and_never_the_incumbent() -> None:
    """The fastest configs exceed a limit: they are told the worst value seen, never climb, and another one is best."""
    run = Limited(lambda config, node: 100.0 + 5000 * float(config["k2"]))
    run.default()
    run.iterate(30)
    told = observations(run.now)
    beyond = [o for o in told if o.config["k2"] > 0.0008 and o.ask_index >= 0]
    assert beyond and all(o.is_failure and o.rung == 0 for o in beyond)
    assert {o.score for o in beyond} == {-100.0}  # the first ask, k2 = 0, has the worst value
    best = incumbent(run.now)
    assert best is not None and 0.0 < run.now.configs[best.config_id]["k2"] <= 0.0008


def test_the_campaign_says_what_is_wrong_with_an_objective() -> None:
    """A direction without expression, an expression without direction, one that names nothing, and a broken one."""
    for table, fault in (
        ({"direction": "min"}, "there is none"),
        ({"expression": "a + b"}, "objective.direction"),
        ({"expression": "1 + 2", "direction": "min"}, "names none"),
        ({"expression": "a +", "direction": "min"}, "not arithmetic"),
    ):
        with pytest.raises(CampaignError, match=fault):
            parse({**LEAST, "objective": table}, where="x")
    chosen = parse({**LEAST, "objective": {"expression": "a / b", "direction": "max", "limits": {"b": 3}}}, where="x")
    assert chosen.objective.limits == {"b": 3}


def test_a_sigmoid_is_safe_far_out() -> None:
    """No overflow at either end; one half in the middle."""
    assert [evaluate(f"sigmoid({x})", {}) for x in (-1e6, 0, 1e6)] == [0.0, 0.5, 1.0]
    assert names_in("min(a, b) * sigmoid(c)") == {"a", "b", "c"}
