"""How often a verdict ships what is no better, by long simulation (docs/decisions/verdict-interval.md).

The experiment is experiments/verdict; here it is drawn with other seeds, and held to bounds.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.paper

FOLDER = Path(__file__).resolve().parents[2] / "experiments" / "verdict"
DRAWS = 4000
DESIGNS = range(5)
"""Places in the experiment's designs."""


@pytest.fixture(scope="module")
def figures():
    """The experiment, which is no package."""
    sys.path.insert(0, str(FOLDER))
    import figures

    yield figures
    sys.path.remove(str(FOLDER))


def shares(figures, noise, design):
    """Return the shares of draws in which the best of some equal configs ships, and in which its interval covers."""
    rng = np.random.default_rng(7)
    found = figures.without_gain.counted(noise.draw(rng, DRAWS, figures.without_gain.DESIGNS[design]), rng)
    return found["shipped"] / DRAWS, found["covered"] / DRAWS


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("between", [0.01, 0.03, 0.10])
@pytest.mark.parametrize("shape", ["normal", "heavy"])
def test_under_symmetric_noise_the_level_is_kept(figures, shape, between, design):
    """At most 2.5 % ship without gain and at least 95 % are covered.

    4,000 draws have standard deviations of 0.25 and 0.34 points there; three of them, and 0.2 points because Sidak's
    bound is exact only for contenders that do not hang together, give 3.5 % and 93.8 %.
    """
    fresh = sys.modules["fresh_nodes"]
    noise = fresh.MadeUp(shape=getattr(fresh, shape), between=between, within=0.02)
    shipped, covered = shares(figures, noise, design)

    assert shipped <= 0.035
    assert covered >= 0.938


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("shared", [0.0, 0.5])
def test_under_strong_skew_it_is_not_and_by_how_much_is_known(figures, shared, design):
    """The limit that the page tells of: up to 11 % there; 13 % is three standard deviations more (0.5 points each)."""
    fresh = sys.modules["fresh_nodes"]
    shipped, _ = shares(figures, fresh.MadeUp(shape=fresh.slow, between=0.05, within=0.02, shared=shared), design)

    assert shipped <= 0.13


def test_the_figures_of_the_page_come_out_again(figures):
    """The first batch of every piece, those of recorded samples where they are at hand.

    Nine of ten to the digit: on another processor the last bit of an exponential may differ, and with it a draw that
    is on the edge.
    """
    known = figures.results()
    pieces = [p for p in figures.all_pieces() if is_at_hand(p)]
    same = [piece.make(0) == known[piece.name][0] for piece in pieces]

    assert len(same) >= 36
    assert sum(same) >= 0.9 * len(same)


def is_at_hand(piece):
    """Whether a piece can be computed here."""
    return sys.modules["recorded_nodes"].is_there() or not piece.name.startswith(("recorded", "unstable", "spread"))
