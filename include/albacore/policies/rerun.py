"""Rerun: many configs once, then the best of them on all nodes: the simple baseline that a ladder has to beat."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from albacore.policies import Step
from albacore.policies.brackets import Brackets, Shape
from albacore.trial import Ask


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """One bracket of two stages; what is asked for while the last samples are awaited opens another.

    Attributes:
        rungs: Nodes of the first pass and of the second.
        first: Configs that are measured in the first pass.
        best: Configs of these that are measured again, on more nodes.
    """

    rungs: tuple[int, int] = (1, 10)
    first: int = 400
    best: int = 10

    def step(self, asks: Sequence[Ask], costs: Mapping[tuple[str, int], float]) -> Step:
        """Return the next config of the first pass, then the best of it one after the other, then new ones."""
        return _TwoStages(rungs=self.rungs, stages=((0, self.first), (1, self.best))).step(asks, costs)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TwoStages(Brackets):
    stages: Shape = ()

    def shape(self, bracket: int) -> Shape:
        """Return the same stages for every bracket."""
        return self.stages
