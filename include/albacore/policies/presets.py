"""The named policies: the paper's, and the two it is compared with."""

from collections.abc import Mapping

from albacore.errors import CampaignError
from albacore.policies import Adjuster, Detector, Halve, Identity, Policy, Worst, WorstSeen
from albacore.policies.asynchronous import Asynchronous
from albacore.policies.brackets import Brackets
from albacore.policies.cross_validated import CrossValidated
from albacore.policies.extra_trees import ExtraTrees
from albacore.policies.forest import Forest
from albacore.policies.relative_range import Never, RelativeRange
from albacore.policies.ridge import Ridge

LADDERS = ("successive_halving", "hyperband", "asynchronous")
DETECTORS = ("relative_range", "never")
ADJUSTERS: Mapping[str, Adjuster] = {
    "forest": Forest(),
    "ridge": Ridge(),
    "extra_trees": ExtraTrees(),
    "cross_validated": CrossValidated(),
    "identity": Identity(),
}
PRESETS = ("tuna", "traditional", "naive")


def tuna(
    *,
    rungs: tuple[int, ...],
    ladder: str = "successive_halving",
    detector: str = "relative_range",
    adjuster: str = "forest",
    threshold: float = 0.30,
) -> Policy:
    """Return the paper's policy: 1, 3, 10 nodes, relative range over 0.30, forest adjuster, worst case (T03-T12)."""
    detectors: dict[str, Detector] = {"relative_range": RelativeRange(threshold=threshold), "never": Never()}
    for key, value, known in (
        ("ladder", ladder, LADDERS),
        ("detector", detector, DETECTORS),
        ("adjuster", adjuster, ADJUSTERS),
    ):
        if value not in known:
            raise CampaignError(f"policy.{key}: expected one of {', '.join(known)}, got {value!r}.")
    climbing = Brackets(rungs=rungs, is_hyperband=ladder == "hyperband")
    return Policy(
        name="tuna",
        ladder=Asynchronous(rungs=rungs) if ladder == "asynchronous" else climbing,
        detector=detectors[detector],
        adjuster=ADJUSTERS[adjuster],
        aggregate=Worst(),
        penalty=Halve(),
        crash=WorstSeen(),
    )


def one_rung(name: str, nodes: int) -> Policy:
    """Return a policy without ladder, detector and adjuster: every config on the same number of nodes."""
    return Policy(
        name=name,
        ladder=Brackets(rungs=(nodes,)),
        detector=Never(),
        adjuster=Identity(),
        aggregate=Worst(),
        penalty=Halve(),
        crash=WorstSeen(),
    )


def by_name(preset: str, *, nodes: int, rungs: tuple[int, ...], **parts: object) -> Policy:
    """Return the preset `tuna`, `traditional` (one node, T17) or `naive` (all nodes, T18).

    Args:
        nodes: Tuning nodes of the fleet.
        rungs: Rungs of the ladder, for `tuna`.
        **parts: `ladder`, `detector`, `adjuster`, `threshold` of `tuna`; ablations name the no-op kind.
    """
    if preset == "tuna":
        return tuna(rungs=rungs, **parts)  # type: ignore[arg-type]
    if preset in PRESETS:
        return one_rung(preset, 1 if preset == "traditional" else nodes)
    raise CampaignError(f"policy.preset: expected one of {', '.join(PRESETS)}, got {preset!r}.")
