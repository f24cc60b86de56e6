"""Laws of the optimizer that moves only the knobs that matter (B13)."""

import pytest

from albacore.campaign import parse
from albacore.fewer import Fewer, narrowed
from albacore.optimizers import Observation, by_name, initial_design
from albacore.space import AtMost, Config, Knob, MemorySum, Space

SPACE = Space(
    knobs=(
        *(Knob(name=f"x{i}", kind="real", low=0.0, high=1.0, default=0.5) for i in range(8)),
        Knob(name="low", kind="int", low=1, high=100, default=10, unit="MB"),
        Knob(name="high", kind="int", low=1, high=100, default=50, unit="MB"),
    ),
    relations=(AtMost(lower="low", upper="high"),),
    memory=(MemorySum(terms=(("low", 1.0), ("high", 1.0)), max_bytes=120 * 2**20),),
)


def score(config: Config) -> float:
    """Return a cost that follows from x3 and high alone."""
    return 3 * (float(config["x3"]) - 0.2) ** 2 + float(config["high"]) / 100


def asked(count: int, kind: str = "random", **limits: int) -> list[Observation]:
    """Return a run of some asks, one after the other."""
    optimizer = Fewer(inner=by_name(kind), **{"keep": 2, "after": 40, **limits})
    seen: list[Observation] = []
    for index in range(count):
        config = optimizer.suggest(SPACE, seen, [], seed=3, ask_index=index)
        assert SPACE.config(config) == config
        seen.append(Observation(config=config, score=score(config), ask_index=index))
    return seen


def test_after_a_while_only_the_knobs_that_matter_move() -> None:
    """The others keep their defaults, but for what a rule between knobs asks for; nothing comes twice."""
    seen = asked(42)
    later = [o.config for o in seen[40:]]
    assert all(config[f"x{i}"] == 0.5 for config in later for i in range(8) if i != 3)
    assert len({config["x3"] for config in later}) > 1
    assert len({o.config.id for o in seen}) == 42


def test_before_that_the_wrapped_optimizer_is_on_its_own() -> None:
    """The first asks are those of the optimizer without the wrapping."""
    assert [o.config for o in asked(25, after=30)] == [o.config for o in asked(25, after=9000)]


def test_where_nothing_is_explained_nothing_is_frozen() -> None:
    """Scores that are noise to the forest give no order of knobs to believe in."""
    noise = [
        Observation(config=c, score=float(i * 7919 % 101), ask_index=i)
        for i, c in enumerate(initial_design(SPACE, 40, seed=1))
    ]
    assert Fewer(inner=by_name("random"), keep=2, after=40).free(SPACE, noise, seed=1) is None


@pytest.mark.parametrize("names", [("x1", "low"), ("low", "high"), ("x0",)])
def test_a_part_of_a_space_keeps_the_rules_that_speak_of_it_only(names: tuple[str, ...]) -> None:
    """A relation or a sum over a knob that is left out is kept by the repair of the whole."""
    part = narrowed(SPACE, names)
    assert part.names == names
    assert bool(part.relations) == bool(part.memory) == (names == ("low", "high"))


def test_a_campaign_asks_for_it_by_one_key() -> None:
    """`keep` wraps the optimizer; without it nothing is wrapped."""
    least = {"name": "x", "system": "noop", "workload": "sleep"}
    assert isinstance(parse({**least, "optimizer": {"keep": 5}}, where="x").optimizer_of(), Fewer)
    assert not isinstance(parse(least, where="x").optimizer_of(), Fewer)
