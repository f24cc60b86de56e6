"""Readiness: what the noise of a fleet means for a campaign, before any money is spent.

A pilot measures one config (the default) on every node several times, round by round. From it follow the components
of the noise, and from these what the detector can see and how many samples a comparison takes.

| symbol | shape | meaning |
|---|---|---|
| I, J | | nodes, rounds |
| y | (I, J) | log of the figures |
| a_i, b_j, e_ij | | effects of node and round, and the rest: y_ij = mu + a_i + b_j + e_ij, all normal |
| MS_a, MS_b, MS_e | | mean squares of the two-way layout (Searle, Casella, McCulloch 1992, §4.3) |
| n | | nodes that a config is measured on |

The intervals are of a parametric bootstrap: pilots with the estimated components, estimated again. What the detector
sees is simulated with the same components, in the paper's own terms (TUNA §5.1, Fig. 9: the chance to see an unstable
config, by the number of nodes).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from albacore.errors import UserError
from albacore.stats import Interval

Table = NDArray[np.float64]
RESAMPLES = 2_000
DRAWS = 20_000
"""Simulated configs per number of nodes: a probability near 0.95 is off by 0.0015."""
MOST_NODES = 60
FALSE_ALARMS = 0.01
"""Share of stable configs that the suggested threshold may call unstable."""
THRESHOLDS = tuple(round(0.05 + 0.01 * i, 2) for i in range(96))
Z_CONFIDENT, Z_POWER = 1.96, 0.84
"""Of a two-sided comparison at 95 % that finds a true difference in 80 % of the cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unstable:
    """The unstable config that has to be found: slow by `loss` on a `share` of all nodes."""

    share: float = 0.3
    loss: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """Standard deviations of the log of a figure: 0.05 is about 5 %."""

    node: float
    time: float
    residual: float

    @property
    def total(self) -> float:
        """Deviation of one sample on some node at some time."""
        return math.sqrt(self.node**2 + self.time**2 + self.residual**2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """What a pilot says.

    Attributes:
        nodes, rounds: Its size.
        components: The estimates; `intervals` has name -> the same with its 95 % interval, `total` too.
        needed: Nodes that find the unstable config with 95 %; None when even `MOST_NODES` do not.
        found: Number of nodes -> chance that the unstable config is found at the threshold.
        alarms: Number of nodes -> chance that a stable config is called unstable.
        threshold: The one that `found`, `needed` and `alarms` are of.
        suggested: Smallest threshold with at most 1 % false alarms on the highest rung.
        repeats: Samples per node that a comparison of two configs on the fleet takes to find `gain`.
    """

    nodes: int
    rounds: int
    components: Components
    intervals: dict[str, Interval] = field(default_factory=dict)
    unstable: Unstable
    threshold: float
    needed: int | None
    found: dict[int, float]
    alarms: dict[int, float]
    suggested: float
    gain: float
    repeats: int


def table(values: Sequence[tuple[str, int, float]]) -> Table:
    """Return y (I, J) of (node, round, figure); a round that not every node has, and a node without any, are left out.

    Raises:
        UserError: When fewer than three nodes and two rounds are left, or a figure is not positive.
    """
    if bad := [v for *_, v in values if not (math.isfinite(v) and v > 0)]:
        raise UserError(f"pilot: expected positive figures, got {bad[0]!r}. Leave failed samples out.")
    nodes = sorted({node for node, *_ in values})
    found = {(node, round_): math.log(value) for node, round_, value in values}
    rounds = sorted({round_ for _, round_, _ in values})
    whole = [j for j in rounds if all((node, j) in found for node in nodes)]
    if len(nodes) < 3 or len(whole) < 2:
        raise UserError(
            f"pilot: expected at least 3 nodes with 2 rounds that all of them have, got {len(nodes)} node(s) and "
            f"{len(whole)} such round(s). Measure the default on every node at least twice."
        )
    return np.array([[found[node, j] for j in whole] for node in nodes])


def components(y: Table) -> Components:
    """Return the estimates from the mean squares; what would be below 0 is 0."""
    i, j = y.shape
    rows, columns = y.mean(axis=1), y.mean(axis=0)
    rest = y - rows[:, None] - columns[None, :] + y.mean()
    ms_e = float((rest**2).sum()) / ((i - 1) * (j - 1))
    ms_a, ms_b = j * float(rows.var(ddof=1)), i * float(columns.var(ddof=1))
    return Components(
        node=math.sqrt(max(0.0, ms_a - ms_e) / j),
        time=math.sqrt(max(0.0, ms_b - ms_e) / i),
        residual=math.sqrt(ms_e),
    )


def _intervals(found: Components, shape: tuple[int, int], rng: np.random.Generator) -> dict[str, Interval]:
    """Return name -> estimate with its 95 % interval."""
    again = [components(_drawn(found, shape, rng)) for _ in range(RESAMPLES)]
    intervals = {}
    for name in ("node", "time", "residual", "total"):
        low, high = np.quantile([getattr(c, name) for c in again], [0.025, 0.975])
        intervals[name] = Interval(estimate=getattr(found, name), low=float(low), high=float(high), confidence=0.95)
    return intervals


def _drawn(c: Components, shape: tuple[int, int], rng: np.random.Generator) -> Table:
    """Return a pilot with these components."""
    i, j = shape
    nodes, rounds = rng.normal(0.0, c.node, (i, 1)), rng.normal(0.0, c.time, (1, j))
    return nodes + rounds + rng.normal(0.0, c.residual, shape)


class Detector:
    """What the relative range sees of stable and unstable configs on 2 to `MOST_NODES` nodes.

    The same draws serve every number of nodes, so that the chances rise smoothly.
    """

    def __init__(self, c: Components, unstable: Unstable, rng: np.random.Generator) -> None:
        spread = math.hypot(c.node, c.residual, c.time)  # samples of one rung are at different times
        self._noise = np.exp(rng.normal(0.0, spread, (DRAWS, MOST_NODES)))
        hit = rng.random((DRAWS, MOST_NODES)) < unstable.share
        self._flipped = self._noise * np.where(hit, 1.0 - unstable.loss, 1.0)

    def found(self, nodes: int, threshold: float) -> float:
        """Return the chance that the unstable config exceeds the threshold."""
        return float((_relative_range(self._flipped[:, :nodes]) > threshold).mean())

    def alarms(self, nodes: int, threshold: float) -> float:
        """Return the chance that a stable config does."""
        return float((_relative_range(self._noise[:, :nodes]) > threshold).mean())

    def needed(self, threshold: float, chance: float = 0.95) -> int | None:
        """Return the fewest nodes that find the unstable config with this chance."""
        return next((n for n in range(2, MOST_NODES + 1) if self.found(n, threshold) >= chance), None)

    def suggested(self, nodes: int) -> float:
        """Return the smallest threshold with few enough false alarms."""
        ranges = _relative_range(self._noise[:, :nodes])
        return next((t for t in THRESHOLDS if (ranges > t).mean() <= FALSE_ALARMS), THRESHOLDS[-1])


def _relative_range(x: Table) -> NDArray[np.float64]:
    """Return (max - min) / mean of every row (TUNA §4.2)."""
    return (x.max(axis=1) - x.min(axis=1)) / x.mean(axis=1)


def readiness(
    y: Table,
    *,
    rungs: Sequence[int] = (1, 3, 10),
    threshold: float = 0.30,
    gain: float = 0.05,
    unstable: Unstable | None = None,
    seed: int = 0,
) -> Readiness:
    """Return what a pilot says of a campaign.

    Args:
        y: Logs of its figures, from `table`.
        rungs: Nodes per rung of the ladder to be used.
        threshold: Of the detector.
        gain: Relative difference between two configs that a comparison has to find.
        unstable: The unstable config that has to be found.
        seed: Seeds bootstrap and simulation.
    """
    target = unstable or Unstable()
    rng = np.random.default_rng(seed)
    found = components(y)
    intervals = _intervals(found, (y.shape[0], y.shape[1]), rng)
    detector = Detector(found, target, rng)
    sizes = sorted({n for n in (*rungs, y.shape[0]) if n > 1})
    within = found.time**2 + found.residual**2  # both run on the same nodes: their effects cancel
    pairs = 2.0 * within * (Z_CONFIDENT + Z_POWER) ** 2 / math.log1p(gain) ** 2
    return Readiness(
        nodes=y.shape[0],
        rounds=y.shape[1],
        components=found,
        intervals=intervals,
        unstable=target,
        threshold=threshold,
        needed=detector.needed(threshold),
        found={n: detector.found(n, threshold) for n in sizes},
        alarms={n: detector.alarms(n, threshold) for n in sizes},
        suggested=detector.suggested(max(rungs)),
        gain=gain,
        repeats=max(1, math.ceil(pairs / max(rungs))),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a campaign of so many samples costs.

    Attributes:
        hours: Of the whole fleet at work; `node_hours` of all nodes together.
        cost: In the unit of the price; None without one.
    """

    samples: int
    hours: Interval
    node_hours: Interval
    cost: Interval | None


def bill(
    durations_s: Sequence[float], *, samples: int, nodes: int, overhead_s: float = 15.0, price: float | None = None
) -> Bill:
    """Return time and cost of a campaign, from how long the pilot's samples took.

    Args:
        durations_s: Seconds of at least two samples, start and stop included.
        samples: The campaign's limit.
        nodes: Nodes that work at the same time.
        overhead_s: Seconds between two samples of a node.
        price: Of an hour of one node.

    Raises:
        UserError: With fewer than two durations, or a price below 0.
    """
    if len(durations_s) < 2:
        raise UserError(f"pilot: expected the durations of at least two samples, got {len(durations_s)}.")
    if price is not None and price < 0:
        raise UserError(f"price: expected a number of at least 0 per hour of a node, got {price!r}.")
    array = np.asarray(durations_s, dtype=np.float64)
    error = 1.96 * float(array.std(ddof=1)) * math.sqrt(1 / samples + 1 / len(array))
    each = np.array([float(array.mean()), max(0.0, float(array.mean()) - error), float(array.mean()) + error])
    node_hours = (each + overhead_s) * samples / 3600

    def interval(values: NDArray[np.float64]) -> Interval:
        return Interval(estimate=float(values[0]), low=float(values[1]), high=float(values[2]), confidence=0.95)

    return Bill(
        samples=samples,
        hours=interval(node_hours / nodes),
        node_hours=interval(node_hours),
        cost=None if price is None else interval(node_hours * price),
    )
