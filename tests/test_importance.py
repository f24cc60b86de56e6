"""Laws of the importance of knobs."""

import tomllib

import numpy as np
from stored_runs import opened

from albacore import cli
from albacore.cli.importance import lines
from albacore.importance import FEWEST, Importance, importance, important
from albacore.optimizers import Observation, initial_design
from albacore.space import Knob, Space

SPACE = Space(
    knobs=(
        *(Knob(name=f"x{i}", kind="real", low=0.0, high=1.0, default=0.5) for i in range(6)),
        Knob(name="mode", kind="choice", choices=("a", "b"), default="a"),
        Knob(name="one", kind="int", low=3, high=3, default=3),
    )
)


def observed(n: int, rung: int = 0) -> list[Observation]:
    """Return scores that depend on x2 most, on mode less, and on nothing else; the noise has a deviation of 0.05."""
    noise = np.random.default_rng(5).normal(0, 0.05, n)
    return [
        Observation(
            config=config, rung=rung, score=3 * float(config["x2"]) + 0.8 * (config["mode"] == "b") + float(noise[i])
        )
        for i, config in enumerate(initial_design(SPACE, n, seed=2))
    ]


def test_the_knobs_that_matter_come_first() -> None:
    """The two knobs that the scores depend on lead, in their order; the first one's interval is above zero.

    The variance of the score is 9/12 by x2, 0.16 by mode and 0.0025 of noise: mode has 0.18 of it. Shuffling a column
    doubles what it explains, so 0.36 is expected of it, and nothing of the others; 0.12 lies between.
    """
    found = importance(SPACE, observed(80), seed=1)
    assert found is not None
    assert important(found, 2) == ("x2", "mode")
    assert found.explained > 0.5
    assert found.knobs[0].low > 0
    assert found.knobs[1].mean > 0.12
    assert all(part.mean < 0.12 for part in found.knobs[2:])


def test_a_knob_with_one_value_has_no_importance() -> None:
    """There is nothing to shuffle, so it is left out."""
    found = importance(SPACE, observed(40), seed=1)
    assert found is not None
    assert "one" not in [part.knob for part in found.knobs]


def test_few_configs_say_nothing() -> None:
    """Below the fewest there is no answer instead of a wrong one."""
    assert importance(SPACE, observed(FEWEST - 1), seed=1) is None
    assert importance(SPACE, [], seed=1) is None


def test_crash_scores_do_not_hide_the_rest() -> None:
    """A few enormous scores change neither the order of the knobs nor make anything infinite."""
    seen = observed(80)
    crashed = [
        Observation(config=o.config, score=1e300, is_failure=True) if i % 20 == 0 else o for i, o in enumerate(seen)
    ]
    found = importance(SPACE, crashed, seed=1)
    assert found is not None and important(found, 1) == ("x2",)


def test_scores_of_higher_rungs_do_not_mix_in() -> None:
    """What was told of higher rungs changes nothing: only scores of one rung can be compared."""
    seen = observed(60)
    above = [Observation(config=o.config, rung=2, score=-100.0) for o in seen[:10]]
    assert importance(SPACE, [*seen, *above], seed=1) == importance(SPACE, seen, seed=1)


def test_the_command_line_ends_with_a_line_for_the_campaign_file() -> None:
    """One line per knob, the most important first, then the table that tunes only the first of them."""
    found = importance(SPACE, observed(40), seed=1)
    assert found is not None
    said = list(lines(found, keep=2))
    assert "40 configs" in said[0] and said[1].lstrip().startswith("x2:")
    assert tomllib.loads("\n".join(said[-2:])) == {"space": {"knobs": list(important(found, 2))}}


def test_a_forest_that_explains_nothing_says_so() -> None:
    """The order of the knobs is chance then, and the reader is told."""
    said = list(lines(Importance(knobs=(), explained=-0.2, configs=30)))
    assert "chance" in said[1]


def test_a_run_with_few_scores_is_refused(tmp_path, capsys) -> None:
    """Exit code 2, with how many are needed."""
    opened(tmp_path)
    store = f"sqlite:///{tmp_path / 'a store.db'}"
    assert cli.main(["importance", "run", "--store", store]) == 2
    assert f"at least {FEWEST} scored configs" in capsys.readouterr().err
