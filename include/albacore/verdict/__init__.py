"""Verdict: ship or do not ship, from samples on nodes that had no part in choosing (TUNA §6, T16).

Its shape as data is documented in docs/verdict.md. How it comes about is in `concluding.py`, how it is said in one
sentence in `sentence.py`.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from albacore.stats import Interval
from albacore.verdict.validation import Deployment

VERSION = 2
"""Of the verdict's shape. The first had no version, no contenders and no incumbent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a config has to show before it ships.

    Attributes:
        unit: Of the metric.
        min_gain: The lower end of the interval has to be above it.
        confidence: Of the interval (two-sided) and of the bound on instability (one-sided).
    """

    unit: str
    min_gain: float = 1.0
    confidence: float = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One of the few configs that were validated.

    Attributes:
        rank: 1 for the most promising of the tuning.
        tuning_nodes: How many nodes it was tuned on; `expected` what that promised of a new node, in the metric's
            unit. None when the log does not say.
        deployment: How it did on the fresh nodes.
        estimate: How many times as good as the default there; None when it could not be compared.
        gain: The same with its interval; None with fewer than two nodes in common with the default.
        probability_beats_default: How sure one may be, 0 to 1; None without an interval.
        instability_upper_bound: Upper bound of the share of nodes on which it is bad.
        unstable: What the detector said, None when the fresh nodes agree.
        refused: Why it cannot ship whatever its gain, None when it can.
    """

    rank: int
    tuning_nodes: int | None
    expected: float | None
    deployment: Deployment
    estimate: float | None
    gain: Interval | None
    probability_beats_default: float | None
    instability_upper_bound: float | None
    unstable: str | None
    refused: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Previous:
    """The incumbent that earlier runs left, on the same fresh nodes.

    Attributes:
        run_id: The run that left it.
        gain: Its gain over the default; `best_over_it` the gain of the best config over it.
        lost: Why it cannot stay whatever the best config is worth, None when it can.
    """

    config_id: str
    run_id: str | None
    deployment: Deployment
    gain: Interval | None
    best_over_it: Interval | None
    lost: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the campaign run concludes.

    Attributes:
        sentence: The conclusion in one sentence for people.
        ship: Whether the best config is worth deploying.
        best: The contender that the fresh nodes prefer; when none can ship, the most promising one.
        gain: How many times better than the default it is; None when there is no interval.
        incumbent: Id of the config in place after this verdict; None is the system's default.
        cost: `node_seconds` spent, those of `tuning` and `validation`, `samples`, `rented_node_seconds`,
            `price_per_hour`, `money`.
        read_n: Number of the last event that was read; `round` which validation of the run it was.
    """

    version: int = VERSION
    sentence: str
    ship: bool
    metric: str
    unit: str
    direction: str
    best: Deployment | None
    default: Deployment
    gain: Interval | None
    min_gain: float
    confidence: float
    probability_beats_default: float | None
    instability_upper_bound: float | None
    contenders: tuple[Contender, ...]
    incumbent: str | None
    previous_incumbent: Previous | None
    cost: Mapping[str, float | None]
    round: int
    read_n: int

    def body(self) -> dict[str, Any]:
        """Return the verdict as plain data for the log: lists in place of tuples, as JSON gives them back."""
        return _plain(asdict(self))


def _plain(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    return [_plain(value) for value in data] if isinstance(data, list | tuple) else data
