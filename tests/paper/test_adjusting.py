"""Laws of how adjusters are compared: predict before fit, leave a config out, errors against the truth."""

import sys
from pathlib import Path

import pytest

from albacore.policies import Identity, Reading

FOLDER = Path(__file__).resolve().parents[2] / "experiments" / "tuna"
TRUTH = [100.0, 200.0, 50.0]
TRIALS = [[Reading(node=n, value=t * f, telemetry={"load": f}) for n, f in (("a", 0.8), ("b", 1.0))] for t in TRUTH]


@pytest.fixture(scope="module")
def experiments():
    """The modules of the experiments, which are no package."""
    sys.path.insert(0, str(FOLDER))
    import adjuster_sections
    import adjusters
    import adjusting
    import attempts

    yield {"adjusting": adjusting, "attempts": attempts, "sections": adjuster_sections, "adjusters": adjusters}
    sys.path.remove(str(FOLDER))


class Watched:
    """An adjuster that keeps what it was shown, and adjusts nothing."""

    def __init__(self):
        self.seen = []

    def adjust(self, readings, history, *, seed):
        self.seen.append((readings, list(history)))
        return [r.value for r in readings], ""


def test_a_trial_is_adjusted_by_those_before_it(experiments):
    """Never by itself or by later ones."""
    watched = Watched()
    experiments["adjusting"].prequential(watched, TRIALS, seed=1)

    assert [history for _, history in watched.seen] == [TRIALS[:0], TRIALS[:1], TRIALS[:2]]


def test_a_config_that_is_left_out_teaches_nobody_who_judges_it(experiments):
    """Also among thirty configs, in groups; every other group teaches."""
    watched, many = Watched(), TRIALS * 10
    trials = [[Reading(node=r.node, value=r.value + i, telemetry={}) for r in one] for i, one in enumerate(many)]
    experiments["adjusting"].left_out(watched, trials, seed=1)

    for readings, history in watched.seen:
        assert readings not in history
        assert len(history) == 27


def test_errors_are_relative_to_the_truth(experiments):
    """A fifth too low on one of two nodes is a tenth; the common factor is what the fleet does as a whole."""
    adjusting = experiments["adjusting"]
    raw = adjusting.prequential(Identity(), TRIALS, seed=1)

    assert adjusting.errors(raw, TRUTH) == [0.1, 0.1, 0.1]
    assert adjusting.common_factor(TRIALS, TRUTH) == pytest.approx(0.9)


@pytest.mark.parametrize("name", ["RelativeToTrial", "RelativeToNode", "TaughtWithinTrials", "QuietLevel"])
def test_an_attempt_is_a_function_of_its_readings(experiments, name):
    """Without a history figures stay; the same readings give the same values."""
    from albacore.policies.ridge import Ridge

    kind = getattr(experiments["attempts"], name)(inner=Ridge())

    assert kind.adjust(TRIALS[0], [], seed=1)[0] == [80.0, 100.0]
    assert kind.adjust(TRIALS[0], TRIALS[1:], seed=1) == kind.adjust(TRIALS[0], TRIALS[1:], seed=1)


def test_the_part_that_is_gone_is_paired_by_config(experiments):
    """An adjuster that halves every error has an interval of no width."""
    found = experiments["sections"]._by_config([([3, 1, 2], [0.1, 0.2, 0.3], [0.2, 0.4, 0.6])], half=False)

    assert (found.gone.low, found.gone.value, found.gone.high) == pytest.approx((0.5, 0.5, 0.5))
    assert found.level == pytest.approx(20.0)


def test_rows_of_one_fleet_are_one(experiments, tmp_path, monkeypatch):
    """Kinds that are computed later join the others, and only what is missing is computed."""
    adjusters, path = experiments["adjusters"], tmp_path / "rows.jsonl"
    path.write_text(
        '{"world":"plain","seed":1000,"truth":{"none":[1]},"mean":{"none":[2]}}\n'
        '{"world":"plain","seed":1000,"truth":{"ridge":[3]},"mean":{"ridge":[4]}}\n'
    )
    monkeypatch.setattr(adjusters, "FILE", path)

    (row,) = adjusters.rows()
    assert row["truth"] == {"none": [1], "ridge": [3]}
    kinds = next(kinds for world, seed, kinds in adjusters.missing() if (world, seed) == ("plain", 1000))
    assert "forest" in kinds and "none" not in kinds
