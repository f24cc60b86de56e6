"""The contract that every Optimizer keeps; a new kind joins by its name in KINDS.

SMAC takes 3 s to import, so its part of the contract runs in processes of its own (`asking.py`) and is marked `node`.
"""

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from albacore.errors import SpaceError, UserError
from albacore.optimizers import INITIAL, Observation, by_name, initial_design, opening
from albacore.space import Config, Knob, Space

KINDS = ["random", pytest.param("smac", marks=pytest.mark.node)]
ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("asking.py")
asking = runpy.run_path(str(PROGRAM))
SPACE: Space = asking["SPACE"]
told: Callable[[int], list[Observation]] = asking["told"]
Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def asked() -> Ask:
    """Return a function that runs `asking.py`; the same question is asked once."""
    answers: dict[tuple[str, str, str], Any] = {}

    def answer(kind: str, question: str, *, hash_seed: str = "0") -> Any:
        key = (kind, question, hash_seed)
        if key not in answers:
            command = [sys.executable, str(PROGRAM), kind, question]
            env = {
                **os.environ,
                "PYTHONHASHSEED": hash_seed,
                "PYTHONPATH": str(ROOT / "include"),
                "OMP_NUM_THREADS": "1",
            }
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            answers[key] = json.loads(done.stdout)
        return answers[key]

    return answer


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_arguments_give_the_same_config_in_any_process(asked: Ask, kind: str) -> None:
    """After 300 scores, bit for bit, whatever PYTHONHASHSEED says."""
    first, second = (asked(kind, "once", hash_seed=seed) for seed in ("1", "4242"))
    assert first == second
    assert SPACE.config(first).id == Config(second).id


@pytest.mark.parametrize("kind", KINDS)
def test_ten_pending_asks_never_give_a_duplicate(asked: Ask, kind: str) -> None:
    """Eighty asks with ten pending are eighty different configs."""
    assert len(set(asked(kind, "loop")["ids"])) == 80


@pytest.mark.parametrize("kind", KINDS)
def test_every_proposal_is_legal(asked: Ask, kind: str) -> None:
    """Log, special, bool, choice and one-value knobs keep their bounds; relations and sums hold."""
    assert asked(kind, "loop")["illegal"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_asks_are_the_initial_design(asked: Ask, kind: str) -> None:
    """All kinds start from the same random designs of a seed, so that they can be compared."""
    assert asked(kind, "loop")["ids"][:INITIAL] == [config.id for config in initial_design(SPACE, INITIAL, seed=4)]


@pytest.mark.parametrize("kind", KINDS)
def test_unusual_histories_are_accepted(asked: Ask, kind: str) -> None:
    """None, one, two, equal, failed, and enormous scores, and a single one on top, each give a new legal config."""
    assert asked(kind, "edges") == 7


@pytest.mark.node
def test_smac_climbs_where_random_search_does_not(asked: Ask) -> None:
    """What SMAC proposes late is far better than what random search draws.

    Median true cost of asks 40 to 59, mean of three seeds. A random config has the median 1.41 with a quartile
    distance of 0.75; the median of 20 has a standard error near 1.25 * (0.75 / 1.35) / sqrt(20) = 0.16, the mean of
    three 0.09. The bound asks for a lead of 0.4, more than three standard errors of the difference (0.13).
    """
    assert asked("smac", "climb") < asked("random", "climb") - 0.4


@pytest.mark.parametrize("kind", ["random", "smac"])
def test_every_config_of_a_small_space_is_proposed_once(kind: str) -> None:
    """Six configs are six asks; the seventh says that the space is exhausted."""
    space = Space(
        knobs=(Knob(name="a", kind="int", low=1, high=3, default=1), Knob(name="b", kind="bool", default=True)),
    )
    seen: list[Observation] = []
    for index in range(6):
        config = by_name(kind).suggest(space, seen, [], seed=1, ask_index=index)
        seen.append(Observation(config=config, score=1.0))
    assert len({o.config.id for o in seen}) == 6
    with pytest.raises(SpaceError, match="all of its configs"):
        by_name(kind).suggest(space, seen, [], seed=1, ask_index=6)


def test_a_rare_config_of_a_small_space_is_found() -> None:
    """What random draws would miss for long is found by walking through the space."""
    space = Space(knobs=(Knob(name="a", kind="int", low=1, high=50_000, default=1),))
    taken = {config.id for config in space.all_configs()} - {Config({"a": 31_415}).id}
    config = opening(space, taken, initial=1, seed=1, ask_index=0)
    assert config == Config({"a": 31_415})


def test_a_longer_design_starts_with_the_shorter_one() -> None:
    """The designs of a seed do not depend on how many are taken; another seed gives others."""
    long, short = initial_design(SPACE, 30, seed=1), initial_design(SPACE, 10, seed=1)
    assert long[:10] == short
    assert len({config.id for config in long}) == 30
    assert not {config.id for config in long} & {config.id for config in initial_design(SPACE, 30, seed=2)}


def test_a_design_that_is_taken_is_drawn_anew() -> None:
    """A lost ask whose config is known does not come back, and the new draw is the same each time."""
    design = initial_design(SPACE, 3, seed=1)
    taken = {config.id for config in design}
    again = [opening(SPACE, taken, initial=10, seed=1, ask_index=2) for _ in range(2)]
    assert again[0] == again[1]
    assert again[0] is not None and again[0].id not in taken


def test_arguments_stay_as_they_are() -> None:
    """A suggestion changes neither the scores nor the pending configs."""
    seen, pending = told(12), [SPACE.default()]
    before = (list(seen), list(pending))
    by_name("random").suggest(SPACE, seen, pending, seed=1, ask_index=12)
    assert (seen, pending) == before


def test_an_unknown_optimizer_is_refused() -> None:
    """The error lists those that exist."""
    with pytest.raises(UserError, match="random, smac"):
        by_name("gradient")
