"""Laws of the samplers that read no scores."""

from squares import plain

from albacore.optimizers.grid import Grid, coarsest, place_in_walk
from albacore.optimizers.latin_hypercube import LatinHypercube


def test_each_interval_of_each_knob_is_hit_once_per_cube() -> None:
    """Of ten points one lies in every tenth of every knob, in the first cube and in the second (M01)."""
    space = plain(4)
    asked = [LatinHypercube(initial=10).suggest(space, [], [], seed=3, ask_index=i) for i in range(20)]
    for cube in (asked[:10], asked[10:]):
        for name in space.names:
            assert sorted(int(float(config[name]) * 10) for config in cube) == list(range(10))


def test_a_walk_over_a_grid_meets_every_cell_once() -> None:
    """For any number of cells, prime or not."""
    for cells in (1, 2, 9, 97, 1000):
        assert sorted(place_in_walk(i, cells, seed=5) for i in range(cells)) == list(range(cells))


def test_a_grid_has_as_many_intervals_as_the_budget_covers() -> None:
    """100 configs of two knobs are 10 x 10 cells; of ten knobs two intervals each, which no budget covers."""
    assert coarsest(plain(2), 100) == 10
    assert coarsest(plain(10), 100) == 2
    asked = [Grid(budget=100).suggest(plain(2), [], [], seed=1, ask_index=i) for i in range(100)]
    assert len({(int(float(c["x0"]) * 10), int(float(c["x1"]) * 10)) for c in asked}) == 100


def test_a_finished_grid_is_refined() -> None:
    """After all cells of two intervals each the next proposals lie in cells half as wide."""
    asked = [Grid(budget=4).suggest(plain(2), [], [], seed=1, ask_index=i) for i in range(4 + 16)]
    assert len({config.id for config in asked}) == 20
    assert {float(config["x0"]) for config in asked[4:]} == {0.125, 0.375, 0.625, 0.875}
