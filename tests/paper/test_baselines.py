"""The baselines of the papers are what the papers say they are."""

import runpy
from pathlib import Path

from squares import plain

from albacore.optimizers import Observation, by_name, initial_design

baselines = runpy.run_path(str(Path(__file__).with_name("baselines.py")))
SPACE = plain(4)


def test_ituned_starts_with_a_hypercube_and_cherrypick_at_random() -> None:
    """Five first configs each; iTuned's hit every fifth of every knob (Metis §6.1)."""
    ituned = [baselines["ituned"]().suggest(SPACE, [], [], seed=1, ask_index=i) for i in range(5)]
    assert all(sorted(int(float(c[name]) * 5) for c in ituned) == [0, 1, 2, 3, 4] for name in SPACE.names)
    cherrypick = [baselines["cherrypick"]().suggest(SPACE, [], [], seed=1, ask_index=i) for i in range(5)]
    assert cherrypick == initial_design(SPACE, 5, seed=1)
    assert baselines["cherrypick"]().nu == 2.5


def test_serial_moves_one_group_of_knobs_at_a_time() -> None:
    """The second group starts from the best of the first one's asks; reversed, the last group comes first (S09)."""
    groups = (("x0", "x1"), ("x2", "x3"))
    serial = baselines["Serial"](groups=groups, asks=8, inner=by_name("random"))
    seen: list[Observation] = []
    for index in range(16):
        config = serial.suggest(SPACE, seen, [], seed=2, ask_index=index)
        seen.append(Observation(config=config, score=float(sum(config.values())), ask_index=index))
    first, second = [o.config for o in seen[:8]], [o.config for o in seen[8:]]
    assert {(c["x2"], c["x3"]) for c in first} == {(0.5, 0.5)}
    best = min(seen[:8], key=lambda o: o.score).config
    assert {(c["x0"], c["x1"]) for c in second} == {(best["x0"], best["x1"])}
    turned = baselines["reversed_order"](serial).suggest(SPACE, [], [], seed=2, ask_index=0)
    assert (turned["x0"], turned["x1"]) == (0.5, 0.5)
