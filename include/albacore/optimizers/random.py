"""Random: uniform search, the baseline that every optimizer has to beat."""

from collections.abc import Sequence
from dataclasses import dataclass

from albacore.optimizers import INITIAL, Observation, taken_ids, untried
from albacore.space import Config, Space


@dataclass(frozen=True, slots=True, kw_only=True)
class Random:
    """Draw uniformly from the unit cube; scores are ignored.

    Attributes:
        initial: Taken and ignored, as every ask is one of the initial design; the same draws as other optimizers make
            first.
    """

    initial: int = INITIAL
    name: str = "random"

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that is neither observed nor pending."""
        return untried(space, taken_ids(observations, pending), seed=seed, ask_index=ask_index)
