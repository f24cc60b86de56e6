"""Albacore: the default choice: the fastest config, where risk beyond that of TUNA's own pick has a price.

TUNA reports a config's worst node. That figure is the noisiest there is: one bad node of five decides, and which
nodes those are is luck. What the worst node stands for is risk, and risk is better estimated from all configs at once.

1. Speed: a robust location of the config's k figures (`spread.robust_location`).
2. Risk: the posterior probability that the config's relative range over the fleet exceeds `tolerance`. A range only
   grows with nodes; the config stays stable while every new node falls between the slowest that its fastest seen node
   allows, and the fastest that its slowest seen node allows. A range that exceeds already has risk 1.
3. Yardstick: TUNA's pick, the best worst node among the configs within `tolerance`. Risk up to the yardstick's, or up
   to `safe`, is free. A config that has exceeded the tolerance is never excused by it, but the yardstick itself is:
   where nothing is stable TUNA's pick remains.
4. Score: log(speed) + log(1 - care x risk beyond that). At `care` 1 what has exceeded has to be ten times as fast.

So by its own model it is no riskier than TUNA unless that is paid for in speed, whatever the workload, and it gains
where the worst node misled. docs/decisions/albacore-policy.md has what was measured, and what did not help.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from albacore.errors import UserError
from albacore.policies.choice import Seen, goodness, relative_range
from albacore.policies.rule import Rule
from albacore.policies.spread import Spread, robust_location
from albacore.trial import Direction

DEGREES = 3.0
"""Of the Student-t noise around a config's location: heavy tails, yet a slow node still counts for something."""
LEAST = 1e-12
"""Share of its speed that is left to a config at the highest price: 0 has no logarithm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Albacore:
    """Choose the fastest config, with a price on risk beyond that of TUNA's pick.

    Attributes:
        care: The one setting of risk. 0 looks at speed alone; up to 1 it is the share of its speed that a config loses
            for certain instability beyond the free risk; above 1 it also divides the free risk.
        safe: Risk that is free for every config.
        tolerance: Relative range over the fleet above which a config is unstable, as in the paper's detector.
        fleet: Nodes over which a config is to stay within the tolerance.
        worst: Share of the speed, in logarithms, that is the worst seen node's: 0 none, 1 all of it as in TUNA.
    """

    care: float = 1.0
    safe: float = 0.10
    tolerance: float = 0.30
    fleet: float = 10.0
    worst: float = 0.0

    def __post_init__(self) -> None:
        known = {"care": (0, 1e9), "safe": (0, 1), "tolerance": (0, 1e9), "fleet": (1, 1e9), "worst": (0, 1)}
        for name, (low, high) in known.items():
            if not low <= getattr(self, name) <= high:
                raise UserError(f"policy: {name}: expected a number from {low} to {high}, got {getattr(self, name)!r}.")

    def scores(self, seen: Seen) -> NDArray[np.float64]:
        """Return (S, C) log speeds less the price of risk."""
        beyond = np.maximum(self.risk(seen) - self.free(seen), 0)
        worst = np.log(goodness(seen.chosen_from, seen.direction)).min(axis=-1)
        speed = (1 - self.worst) * _speed(seen) + self.worst * worst
        return speed + np.log(np.maximum(1 - min(self.care, 1.0) * beyond, LEAST))

    def free(self, seen: Seen) -> NDArray[np.float64]:
        """Return (S, C) the risk that costs nothing."""
        risk, exceeded = self.risk(seen), relative_range(seen.chosen_from) > self.tolerance
        yardstick = Rule(threshold=self.tolerance).scores(seen).argmax(axis=1)[:, None]
        own = np.take_along_axis(np.where(exceeded, 0.0, risk), yardstick, axis=1)
        free = np.where(exceeded, self.safe, np.maximum(own, self.safe))
        np.put_along_axis(free, yardstick, np.maximum(np.take_along_axis(risk, yardstick, axis=1), self.safe), axis=1)
        return free / max(self.care, 1.0)

    def risk(self, seen: Seen) -> NDArray[np.float64]:
        """Return (S, C) the posterior probability that the range over the whole fleet exceeds the tolerance.

        With one node seen nothing is known of any range: 0.
        """
        key = ("risk", self.tolerance, self.fleet)
        if key not in seen.worked_out:
            seen.worked_out[key] = self._risk(seen.chosen_from, seen.direction)
        return seen.worked_out[key]

    def _risk(self, x: NDArray[np.float64], direction: Direction) -> NDArray[np.float64]:
        k = x.shape[-1]
        exceeded = relative_range(x) > self.tolerance
        if k < 2:
            return exceeded.astype(float)
        spread = Spread.of(np.log(goodness(x, direction)))
        room = self.tolerance * x.mean(axis=-1)
        low, high = np.log(np.maximum(x.max(axis=-1) - room, LEAST)), np.log(x.min(axis=-1) + room)
        if direction is Direction.MIN:
            low, high = -high, -low
        inside = spread.probability_inside(low, high)
        return np.where(exceeded, 1.0, 1 - inside ** max(self.fleet - k, 1))


def _speed(seen: Seen) -> NDArray[np.float64]:
    if ("speed",) not in seen.worked_out:
        log = np.log(goodness(seen.chosen_from, seen.direction))
        seen.worked_out["speed",] = robust_location(log, degrees=DEGREES)
    return seen.worked_out["speed",]
