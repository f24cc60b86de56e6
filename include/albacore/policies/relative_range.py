"""RelativeRange: the detector of unstable configs.

J. Freischuetz, K. Kanellis, B. Kroth, S. Venkataraman, "TUNA: Tuning Unstable and Noisy Cloud Applications", EuroSys
2025, §4.2.

| symbol | meaning |
|---|---|
| x | the figures of one config, one per node, in the metric's unit |
| RR | (max(x) - min(x)) / E(x), without unit |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from albacore.errors import CampaignError
from albacore.policies import Detection


def relative_range(x: Sequence[float]) -> float:
    """Return (max - min) / |mean| of at least one value (§4.2).

    One value has a range of 0: nothing is known of its spread. Values around a mean of 0 that differ have an infinite
    one.
    """
    spread = max(x) - min(x)
    if spread == 0:
        return 0.0
    mean = abs(sum(x) / len(x))
    return spread / mean if mean > 0 else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeRange:
    """Call a config unstable when its relative range exceeds a threshold.

    Neither the number nor the size of outliers counts beyond that (§4.2). A range of exactly the threshold is stable.

    Attributes:
        threshold: 0.30 in the paper, which calls 0.15 to 0.30 sane. Real histograms have their trough elsewhere: plot
            yours.
    """

    threshold: float = 0.30

    def __post_init__(self) -> None:
        if not 0 < self.threshold < math.inf:
            raise CampaignError(f"threshold: expected a number above 0 such as 0.30, got {self.threshold!r}.")

    def detect(self, values: Sequence[float]) -> Detection:
        """Judge at least one value."""
        found = relative_range(values)
        is_unstable = found > self.threshold
        sign = ">" if is_unstable else "<="
        reason = f"relative range {found:.1%} {sign} {self.threshold:.0%} over {len(values)} node(s)"
        return Detection(relative_range=found, is_unstable=is_unstable, reason=reason)


@dataclass(frozen=True, slots=True)
class Never:
    """Call nothing unstable: the ablation of the detector (§6.6)."""

    def detect(self, values: Sequence[float]) -> Detection:
        """Report the range and let it pass."""
        found = relative_range(values)
        return Detection(relative_range=found, is_unstable=False, reason=f"relative range {found:.1%}, no detector")
