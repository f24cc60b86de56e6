"""Laws of the one figure that a config has over all rungs."""

from squares import at

from albacore.optimizers import Observation
from albacore.optimizers.standing import standings

A, B, C, D = (at(place) for place in (0.1, 0.2, 0.3, 0.4))


def seen(config, rung, score, ask_index=0, is_failure=False):
    return Observation(config=config, rung=rung, score=score, ask_index=ask_index, is_failure=is_failure)


def test_with_one_rung_the_figure_is_the_score() -> None:
    """Nothing is moved; the order is that of the asks, whatever the order of the scores."""
    found = standings([seen(B, 0, 2.0, 1), seen(A, 0, 5.0, 0)])
    assert [(s.config, s.cost) for s in found] == [(A, 5.0), (B, 2.0)]


def test_a_config_that_never_climbed_is_moved_by_what_climbing_costs() -> None:
    """A and B lost 1 and 3 on the way up, so C, which did not climb, counts with the median of 2 more."""
    found = standings([seen(A, 0, 1.0), seen(B, 0, 2.0, 1), seen(C, 0, 4.0, 2), seen(A, 1, 2.0), seen(B, 1, 5.0, 1)])
    assert {s.config: s.cost for s in found} == {A: 2.0, B: 5.0, C: 6.0}


def test_two_moves_add_up() -> None:
    """From the lowest of three rungs both moves count."""
    found = standings([seen(A, 0, 1.0), seen(A, 1, 2.0), seen(A, 2, 12.0), seen(B, 0, 1.5, 1), seen(C, 1, 3.0, 2)])
    assert {s.config: s.cost for s in found} == {A: 12.0, B: 1.5 + 1 + 10, C: 3.0 + 10}


def test_a_lone_score_on_top_moves_nothing() -> None:
    """The default config has a score of the top rung only: there is no pair to learn a move from."""
    found = standings([seen(D, 2, 9.0, -1), seen(A, 0, 1.0)])
    assert [(s.config, s.cost) for s in found] == [(D, 9.0), (A, 1.0)]


def test_a_config_that_failed_stands_behind_all_that_ran() -> None:
    """The first one to fail was told the default's figure; what ran later and was slower is still better than it."""
    found = {s.config: s for s in standings([seen(A, 0, 1.0, is_failure=True), seen(B, 0, 4.0, 1), seen(C, 0, 2.0, 2)])}
    assert found[A].cost > found[B].cost == 4.0
    assert [c for c, s in found.items() if s.is_failure] == [A]


def test_where_everything_failed_nobody_is_moved() -> None:
    """There is nothing to stand behind."""
    assert [s.cost for s in standings([seen(A, 0, 1.0, is_failure=True), seen(B, 0, 4.0, 1, is_failure=True)])] == [
        1.0,
        4.0,
    ]
