"""Laws of the SMAC optimizer that the contract does not know."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from albacore.errors import PlatformError
from albacore.optimizers import Observation, highest_rung, initial_design
from albacore.optimizers.smac import RANDOM_SHARE, Smac, column, in_child, place, scaled, value
from albacore.space import Config, Space
from albacore.space.knob import Knob

SPACE = Space(
    knobs=(
        Knob(name="memory", kind="int", low=16, high=2048, default=128, log=True, special=(-1,)),
        Knob(name="workers", kind="int", low=2, high=9, default=2),
        Knob(name="mode", kind="choice", choices=("a", "b", "c"), default="a"),
    )
)


def observed(n: int, rung: int = 0) -> list[Observation]:
    """Return `n` scores at a rung."""
    configs = initial_design(SPACE, n, seed=rung)
    return [Observation(config=config, rung=rung, score=float(i)) for i, config in enumerate(configs)]


class Recorder:
    """Stand where SMAC would run: keep the task, propose the given configs."""

    def __init__(self, *proposals: Config) -> None:
        self.tasks: list[dict[str, Any]] = []
        self.rows = [[place(knob, config[knob.name]) for knob in SPACE.knobs] for config in proposals]

    def __call__(self, task: dict[str, Any]) -> list[list[float]]:
        self.tasks.append(task)
        return self.rows


def ask(recorder: Recorder, seen: list[Observation], pending: list[Config], ask_index: int) -> Config:
    """Ask with the recorder in SMAC's place."""
    return Smac(run=recorder).suggest(SPACE, seen, pending, seed=1, ask_index=ask_index)


def surrogate_index(seen: list[Observation]) -> int:
    """Return the first ask index that is not a random one."""
    for index in range(10, 40):
        recorder = Recorder()
        ask(recorder, seen, [], index)
        if recorder.tasks:
            return index
    raise AssertionError("every ask was random")


def test_the_surrogate_sees_the_highest_rung_that_has_a_score() -> None:
    """One score on a higher rung hides all scores below it, as SMAC's multi-fidelity default does."""
    low, high = observed(20), observed(2, rung=2)
    assert highest_rung(low + high) == high
    recorder = Recorder()
    ask(recorder, [*low, *high, *observed(3, rung=1)], [], surrogate_index(low))
    assert len(recorder.tasks[0]["y"]) == 2


def test_the_best_proposal_that_is_new_is_taken() -> None:
    """Observed and pending configs are passed over, in the order of the proposals."""
    seen = observed(12)
    new = [c for c in initial_design(SPACE, 30, seed=77) if c not in {o.config for o in seen}][:3]
    recorder = Recorder(seen[0].config, new[0], new[1], new[2])
    assert ask(recorder, seen, [new[0]], surrogate_index(seen)) == new[1]


def test_known_proposals_only_end_in_a_random_config() -> None:
    """When the local search finds nothing new, a random config is proposed, the same each time."""
    seen = observed(12)
    index = surrogate_index(seen)
    found = [ask(Recorder(seen[0].config), seen, [], index) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0] not in {o.config for o in seen}


def test_a_fifth_of_the_asks_is_random() -> None:
    """Random configs are interleaved, by a coin that differs from ask to ask.

    400 asks: the standard error of a share of 0.2 is 0.02; four of them are 0.08.
    """
    seen, recorder = observed(12), Recorder()
    for index in range(10, 410):
        ask(recorder, seen, [], index)
    assert 1 - len(recorder.tasks) / 400 == pytest.approx(RANDOM_SHARE, abs=0.08)


@pytest.mark.parametrize("config", initial_design(SPACE, 12, seed=3))
def test_a_config_survives_the_way_to_smac_and_back(config: Config) -> None:
    """Each knob's number in X stands for its value."""
    for knob in SPACE.knobs:
        assert value(knob, place(knob, config[knob.name])) == config[knob.name]


def test_smac_sees_small_ranges_one_by_one() -> None:
    """Eight workers are ordered steps, choices are unordered, a wide range is an interval."""
    assert [column(knob).kind for knob in SPACE.knobs] == ["unit", "order", "choice"]


def test_scores_are_scaled_free_of_unit_and_sign() -> None:
    """A mirrored metric gives the surrogate the same figures as one that counts upwards from zero."""
    scores = [3.0, 1.0, 2.0, 8.0]
    assert scaled(scores) == pytest.approx(scaled([score * 1000 - 1e6 for score in scores]))
    assert np.argsort(scaled(scores)).tolist() == np.argsort(scores).tolist()
    for unusual in ([5.0], [5.0, 5.0], [1e300, -1e300], [0.0, 0.0, 1e-300]):
        assert np.isfinite(scaled(unusual)).all()


@pytest.mark.node
def test_a_child_that_dies_tells_its_last_words() -> None:
    """A task that SMAC cannot read is a PlatformError with the end of the traceback."""
    with pytest.raises(PlatformError, match="exit code 1") as caught:
        in_child({"columns": [{"kind": "nonsense", "n": 1}], "x": [[0.5]], "y": [0.0], "failed": [False], "seed": 1})
    assert "nonsense" in caught.value.facts["log"]


@pytest.mark.node
def test_an_installation_without_smac_is_told_so(tmp_path: Path) -> None:
    """The error of a missing package names the remedy."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'smac':\n"
        "            raise ModuleNotFoundError('smac is not installed', name=name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
    )
    include = Path(__file__).parents[2] / "include"
    code = "from albacore.optimizers.smac import in_child; in_child({})"
    env = {**os.environ, "PYTHONPATH": f"{include}{os.pathsep}{tmp_path}"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert "Install requirements.txt" in done.stderr
