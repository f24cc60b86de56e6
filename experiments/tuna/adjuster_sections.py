"""Sections on noise adjusters: three simulated worlds, the real one, and what a warm start adds.

| symbol | shape | meaning |
|---|---|---|
| E, N | (units, configs) | error of each config's samples, adjusted and not; what is resampled are units, or configs |
| gone | | 1 - sum E / sum N: the part of the error that an adjuster removed |
"""

from collections.abc import Sequence
from dataclasses import dataclass

import adjusters
import analysis
import neighbours
import numpy as np
from analysis import Estimate
from numpy.typing import NDArray
from sections import NOT_YET

REAL = "real"
MOVED_BY_MORE_THAN = 0.30
"""The relative range over which the detector would call a trial unstable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """Errors of one adjuster in one world, by what is resampled.

    Attributes:
        own, none: Sum of the errors of each unit, adjusted and not.
        samples: How many errors of a config each unit has.
    """

    own: NDArray[np.float64]
    none: NDArray[np.float64]
    samples: NDArray[np.float64]

    @property
    def gone(self) -> Estimate:
        """The part that is gone, with its interval over units."""
        return analysis.estimate(lambda pick: 1.0 - float(self.own[pick].sum() / self.none[pick].sum()), len(self.own))

    @property
    def is_worse(self) -> bool:
        """Whether it is worse than none by more than noise; one or two units tell nothing."""
        return len(self.own) > 2 and self.gone.high < 0

    @property
    def level(self) -> float:
        """The mean error that is left, in per cent."""
        return float(100 * self.own.sum() / self.samples.sum())


def simulated(world: str, kind: str, *, half: bool, base: str = "none") -> Errors | None:
    """Return the errors in a simulated world; units are fleets. None where there is none.

    Args:
        world: Of `adjusters.WORLDS`.
        kind: The adjuster.
        half: Of the second half of a run only.
        base: What it is compared with.
    """
    found = [row["truth"] for row in adjusters.rows() if row["world"] == world]
    found = [truth for truth in found if kind in truth and base in truth]
    if not found:
        return None
    start = adjusters.CONFIGS // 2 if half else 0
    own, none = (np.array([truth[k][start:] for truth in found]).sum(axis=1) for k in (kind, base))
    return Errors(own=own, none=none, samples=np.full(len(own), adjusters.CONFIGS - start, dtype=float))


def measured(protocol: str, kind: str, target: str, *, half: bool = False, base: str = "") -> Errors | None:
    """Return the errors on real samples; units are configs, over all orders of them.

    Args:
        protocol: order, calm, left-out, cold, warm; all numbers of it.
        kind: The adjuster.
        target: quiet, common: what errors are against.
        half: Of the second half of each order only.
        base: The protocol whose figures of the same kind it is compared with, in place of no adjuster.
    """
    rows = {(row["protocol"], row["kind"]): row for row in neighbours.rows()}
    names = sorted({name for name, of in rows if name.startswith(protocol) and of == kind})
    against = {name: (name.replace(protocol, base), kind) if base else (name, "none") for name in names}
    if not names or any(against[name] not in rows for name in names):
        return None
    pairs = [(rows[name, kind], rows[against[name]]) for name in names]
    return _by_config([(a["configs"], a[target], b[target]) for a, b in pairs], half=half)


def _by_config(found: Sequence[tuple[list[int], list[float], list[float]]], *, half: bool) -> Errors:
    """Sum errors by config over several orders."""
    index = {config: i for i, config in enumerate(sorted({c for configs, _, _ in found for c in configs}))}
    own, none, samples = np.zeros((3, len(index)))
    for configs, adjusted, raw in found:
        start = len(configs) // 2 if half else 0
        for config, a, b in list(zip(configs, adjusted, raw, strict=True))[start:]:
            own[index[config]] += a
            none[index[config]] += b
            samples[index[config]] += 1
    seen = samples > 0
    return Errors(own=own[seen], none=none[seen], samples=samples[seen])


def _both(world: str, kind: str) -> tuple[Errors, Errors] | None:
    """Return the errors of the second half and of the whole run."""
    if world == REAL:
        found = [measured("order", kind, "common", half=half) for half in (True, False)]
    else:
        found = [simulated(world, kind, half=half) for half in (True, False)]
    late, every = found
    return None if late is None or every is None else (late, every)


def four_worlds() -> list[str]:
    """Compare the adjusters in three simulated worlds and in the real one."""
    worlds = (REAL, *adjusters.WORLDS)
    kinds = [kind for kind in adjusters.KINDS if any(_both(world, kind) for world in worlds)]
    if not kinds:
        return NOT_YET
    lines = ["| adjuster | " + " | ".join(f"{w}: error %, gone %" for w in worlds) + " | shown to be worse than none |"]
    lines.append("|---|" + "---|" * (len(worlds) + 1))
    for kind in kinds:
        found = {world: _both(world, kind) for world in worlds}
        worse = [w for w, both in found.items() if both and kind != "none" and any(e.is_worse for e in both)]
        verdict = "" if kind == "none" else ", ".join(worse) or "in none"
        lines.append(f"| {kind} | " + " | ".join(_cell(found[w], kind, w) for w in worlds) + f" | {verdict} |")
    configs = len(neighbours.fleet())
    about = f"Real: {configs} configs on 8 nodes. Made up: in brackets the number of fleets; *gone* is paired by fleet."
    return [about, "", *lines, ""]


def _cell(both: tuple[Errors, Errors] | None, kind: str, world: str) -> str:
    if both is None:
        return ""
    late, every = both
    fleets = "" if world == REAL else f" ({len(late.own)})"
    if kind == "none":
        return f"{late.level:.2f}{fleets}"
    return f"{late.level:.2f}, {late.gone.words(0, scale=100)}; whole run {every.gone.words(0, scale=100)}{fleets}"


def real() -> list[str]:
    """Show the real samples, and every adjuster and attempt on them."""
    found = neighbours.fleet()
    if not found or measured("left-out", "none", "common") is None:
        return NOT_YET
    lines = [
        "| adjuster | second half: error %, gone % | whole run: gone % | config left out: gone % "
        "| calmer half of the samples: error %, gone % "
        "| against the quiet machine itself, second half: error %, gone % | config left out: gone % |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in neighbours.KINDS:
        late = measured("order", kind, "common", half=True)
        others = [measured("order", kind, "common"), measured("left-out", kind, "common")]
        quiet = measured("order", kind, "quiet", half=True)
        last = measured("left-out", kind, "quiet")
        if late is None:
            continue
        calmer = measured("calm", kind, "common", half=True)
        cells = [_level(late, kind), *(_gone(e, kind) for e in others), _level(calmer, kind)]
        cells += [_level(quiet, kind), _gone(last, kind)]
        lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    return [*_about(found), "", *lines, ""]


def _level(found: Errors | None, kind: str) -> str:
    if found is None:
        return ""
    return f"{found.level:.2f}" + ("" if kind == "none" else f", {found.gone.words(0, scale=100)}")


def _gone(found: Errors | None, kind: str) -> str:
    return "" if found is None or kind == "none" else found.gone.words(0, scale=100)


def _about(found: Sequence[neighbours.Measured]) -> list[str]:
    """Say what was measured: how different the configs are, how quiet a quiet round, how loud the neighbours."""
    values = np.array([[r.value for r in m.trial] for m in found])
    truth, quiet = np.array([m.truth for m in found]), np.array([m.quiet for m in found])
    ratio = values / truth[:, None]
    torn = int((np.ptp(values, axis=1) > MOVED_BY_MORE_THAN * values.mean(axis=1)).sum())
    repeats = 100 * float(np.mean(quiet.std(axis=1, ddof=1) / quiet.mean(axis=1)))
    spread = 100 * float(np.mean(values.std(axis=1, ddof=1) / values.mean(axis=1)))
    by_node = ratio.mean(axis=0)
    return [
        f"{len(found)} configs, undisturbed {truth.min():.0f} to {truth.max():.0f} transactions/s. Quiet samples of a "
        f"config vary by {repeats:.1f} % (mean coefficient of variation of {quiet.shape[1]}), those under "
        f"neighbours by {spread:.1f} %. The fleet is at {100 * ratio.mean():.0f} % of a quiet machine, its nodes at "
        f"{100 * by_node.min():.0f} to {100 * by_node.max():.0f} %. The detector would call {torn} of the configs "
        "unstable.",
    ]


def warm() -> list[str]:
    """Compare the chosen adjuster with itself started on the samples of an earlier run."""
    lines = [
        "| world | start | second half: gone % | whole run: gone % | whole run, of the error of a cold start: gone % |",
        "|---|---|---|---|---|",
    ]
    for world in adjusters.WORLDS:
        for kind in ("cross_validated", *adjusters.WARM):
            both, cold = _both(world, kind), simulated(world, kind, half=False, base="cross_validated")
            if both is not None and cold is not None:
                lines.append(f"| {world} | {_start(kind)} | {_cells(*both, cold)} |")
    for start in neighbours.HALVES:
        late, every = (measured(start, "cross_validated", "common", half=half) for half in (True, False))
        against = measured(start, "cross_validated", "common", base="cold")
        if late is not None and every is not None and against is not None:
            lines.append(f"| {REAL} | {start} | {_cells(late, every, against)} |")
    return [*lines, ""] if len(lines) > 2 else NOT_YET


def _start(kind: str) -> str:
    return kind.partition(", ")[2] or "cold"


def _cells(late: Errors, every: Errors, against: Errors) -> str:
    return " | ".join(e.gone.words(0, scale=100) for e in (late, every, against))
