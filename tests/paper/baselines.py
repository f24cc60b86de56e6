"""What the papers compare with, as configurations of our optimizers; for experiments, not for campaigns.

iTuned       Latin hypercube, then a Gaussian process with expected improvement (Metis Table 1)
CherryPick   random configs, then a Gaussian process with Matern 5/2 and expected improvement (Metis §6.1, Table 1)
TPE-20       20 random configs, then TPE (Metis §6.1)
Serial       one group of knobs after the other, or in the reverse order (microservices §3.3)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from albacore.fewer import narrowed
from albacore.optimizers import Observation, Optimizer, by_name, untried
from albacore.optimizers.gp import GaussianProcess
from albacore.space import Config, Space

BOOTSTRAP = 5
"""First configs of all but TPE (Metis §6.1)."""


def ituned() -> Optimizer:
    """Return iTuned."""
    return GaussianProcess(initial=BOOTSTRAP, design=by_name("latin_hypercube", initial=BOOTSTRAP), name="ituned")


def cherrypick() -> Optimizer:
    """Return CherryPick."""
    return GaussianProcess(initial=BOOTSTRAP, nu=2.5, name="cherrypick")


def tpe_20() -> Optimizer:
    """Return TPE after 20 random configs."""
    return by_name("tpe", initial=20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Serial:
    """Tune one group of knobs after the other; those before keep their best values, those after their defaults.

    Attributes:
        groups: Names of the knobs, group by group in the order they are tuned in.
        asks: Asks per group.
        inner: Who tunes a group.
    """

    groups: tuple[tuple[str, ...], ...]
    asks: int
    inner: Optimizer
    name: str = "serial"

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that differs from the best so far in the group's knobs only."""
        turn = min(ask_index // self.asks, len(self.groups) - 1)
        start = turn * self.asks
        before = [o for o in observations if 0 <= o.ask_index < start]
        base = min(before, key=lambda o: o.score).config if before else space.default()
        part = narrowed(space, self.groups[turn])
        own = [o for o in observations if o.ask_index >= start]
        seen = [
            replace(o, config=Config({n: o.config[n] for n in part.names}), ask_index=o.ask_index - start) for o in own
        ]
        found = self.inner.suggest(part, seen, [], seed=seed + turn, ask_index=ask_index - start)
        whole = space.repair({**base, **found})
        known = {o.config.id for o in observations} | {config.id for config in pending}
        return untried(space, known, seed=seed, ask_index=ask_index) if whole.id in known else whole


def reversed_order(serial: Serial) -> Serial:
    """Return the baseline that tunes the groups in the reverse order."""
    return replace(serial, groups=serial.groups[::-1])
