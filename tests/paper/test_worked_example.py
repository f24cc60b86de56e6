"""The worked example of the TUNA paper, §5.2 and Fig. 10: 450, 500, 530 become 460."""

from dataclasses import replace

import pytest
from scenes import FixedErrors, ask, sample, scene

from albacore import judging
from albacore.policies import presets
from albacore.policies.relative_range import relative_range
from albacore.trial import Direction, Stability

RAW = {"n1": 450.0, "n2": 500.0, "n3": 530.0}
PREDICTED = {"n1": 450 / 460 - 1, "n2": 0.0, "n3": 530 / 520 - 1}


def judged(raw, direction=Direction.MAX):
    tuna = presets.by_name("tuna", nodes=10, rungs=(1, 3, 10))
    policy = replace(tuna, adjuster=FixedErrors(PREDICTED))
    events = [ask(0, "c", rung=1), *(sample("c", n, v, slot=i) for i, (n, v) in enumerate(raw.items()))]
    return judging.judge(scene(events, policy=policy, direction=direction), "c", 1)


def test_the_relative_range_is_16_2_percent():
    """(530 - 450) / 493.3 = 16.2 %: under 30 %, stable."""
    assert relative_range(list(RAW.values())) == pytest.approx(0.162, abs=0.0005)
    assert judged(RAW).stability is Stability.STABLE


def test_the_adjuster_makes_460_500_520_and_the_worst_is_reported():
    """Detect, adjust, aggregate, in this order: the optimizer hears 460."""
    judgement = judged(RAW)

    assert list(judgement.adjusted.values()) == pytest.approx([460, 500, 520])
    assert judgement.score == pytest.approx(460)
    assert judgement.raw == RAW


def test_an_unstable_config_bypasses_the_adjuster_and_is_halved():
    """Algorithm 2, o = True: raw values, the worst of them, half (§4.2)."""
    judgement = judged({"n1": 200.0, "n2": 500.0, "n3": 530.0})

    assert judgement.stability is Stability.UNSTABLE
    assert judgement.adjusted == judgement.raw
    assert judgement.score == pytest.approx(100)


def test_a_runtime_that_is_unstable_is_doubled():
    """The mirror image when the metric is minimised: the worst is the largest, the penalty twice it."""
    judgement = judged({"n1": 200.0, "n2": 500.0, "n3": 530.0}, Direction.MIN)

    assert judgement.score == pytest.approx(1060)
