"""A plain space and its scores, for the laws of single optimizers."""

from albacore.optimizers import Observation
from albacore.space import Config, Knob, Space


def plain(d: int) -> Space:
    """Return d knobs in [0, 1]."""
    return Space(knobs=tuple(Knob(name=f"x{i}", kind="real", low=0.0, high=1.0, default=0.5) for i in range(d)))


def at(*places: float) -> Config:
    """Return the config at a point of a plain space."""
    return plain(len(places)).config({f"x{i}": place for i, place in enumerate(places)})


def scored(pairs: list[tuple[Config, float]], rung: int = 0) -> list[Observation]:
    """Return observations of the asks 0, 1, 2 and so on."""
    return [Observation(config=c, score=s, rung=rung, ask_index=i) for i, (c, s) in enumerate(pairs)]
