"""Metis: explore, exploit, or measure again, whichever is expected to move the predicted best most.

Z. Li et al.: Metis, Robustly Tuning Tail Latencies of Cloud Systems, USENIX ATC 2018, §4 and §5.

```
X, y     features and scaled scores of the highest rung; lower is better
k        covariance: amplitude x Matern(3/2) + white noise (§5)
m, s     mean and standard deviation that the process predicts; the interval is m ± 1.96 s (95 %)
P1, P2   Gaussian mixtures of the best scores and of the rest (§4.2.1)
pool     points that the three sub-acquisition functions choose from, and that the predicted best is looked for in
```
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from albacore.optimizers import Observation, highest_rung, new_config, taken_ids, untried
from albacore.space import Config, Space

if TYPE_CHECKING:
    import numpy as np
    from sklearn.mixture import GaussianMixture

    from albacore.optimizers.gaussian import Process

BOOTSTRAP = 5
"""Points of the hypercube, whatever the dimension (§4.1, §6.2)."""
RESAMPLE_AFTER = 10
"""Scores below which nothing counts as an outlier (§6.2, Fig. 7)."""
REACH = 1.96
POOL = 1500
CENTRES = 5
MOST_SCORES = 3
"""Scores of one config after which it is not suspected any more; the paper names no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metis:
    """Propose a new config, or ask for a second measurement of an old one.

    Attributes:
        weighs_limits: Whether new configs are weighed by the probability that they keep all limits.
    """

    weighs_limits: bool = True
    name: str = "metis"

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that is neither observed nor pending: the better of exploration and exploitation."""
        return self._choose(space, observations, pending, [seed, ask_index])

    def suggest_or_repeat(
        self,
        space: Space,
        observations: Sequence[Observation],
        pending: Sequence[Config],
        *,
        seed: int,
        ask_index: int,
        settled: Collection[str] = (),
    ) -> Config:
        """Return a new config, or an observed one whose score is doubtful, to be measured once more."""
        return self._choose(space, observations, pending, [seed, ask_index], settled=settled)

    def best(self, space: Space, observations: Sequence[Observation]) -> Config:
        """Return the observed config with the lowest predicted mean, which need not have the lowest score (§4.2.2)."""
        from albacore.optimizers import cube

        seen = highest_rung(observations)
        process = _learned(space, cube.points_of(space, [o.config for o in seen]), seen)
        return seen[int(process.predict(process.x)[0].astype("float32").argmin())].config

    def _choose(
        self,
        space: Space,
        observations: Sequence[Observation],
        pending: Sequence[Config],
        stream: list[int],
        *,
        settled: Collection[str] | None = None,
    ) -> Config:
        """Return the candidate with the largest sum of improvements (§4.2.2); an old one unless `settled` is None."""
        from albacore.optimizers import cube

        (seed, ask_index), taken = stream, taken_ids(observations, pending)
        if ask_index < BOOTSTRAP or not observations:
            point = cube.latin_hypercube(BOOTSTRAP, len(space), [seed, 2])[ask_index % BOOTSTRAP]
            return new_config(space, [point], taken) or untried(space, taken, seed=seed, ask_index=ask_index)
        model = Model.of(space, observations, pending, [seed, ask_index, 1], weighs_limits=self.weighs_limits)
        doubts = list[tuple[float, Config]]()
        if settled is not None:
            doubts = doubtful(space, observations, pending, model, settled=settled, stream=[seed, ask_index, 3])
        hope = model.without(doubts[0][1]).hope if doubts else model.hope
        goals = (hope, model.likeness, model.spread)
        found = [cube.most_promising(space, model.pool, goal, taken) for goal in goals]
        choice = [(model.chance(config) * model.gain(config), config) for config in found if config is not None]
        if not choice + doubts:
            return untried(space, taken, seed=seed, ask_index=ask_index)
        return max(choice + doubts, key=lambda pair: pair[0])[1]  # of equal ones the first


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What Metis knows at one ask.

    Attributes:
        groups: Mixtures P1 and P2, and the lowest ln P1 of the best scores; None below four scores.
        pool: (n, d) points of the cube.
        expected: Mean at the pool, then at the scores.
        kept: P(kept) of (m, d) points, see `feasibility`; None while nothing is known of it. Deviates: the paper has no
            limits, so candidates and gains of new configs are weighed as expected improvement is.
    """

    space: Space
    process: "Process"
    groups: "tuple[GaussianMixture, GaussianMixture, float] | None"
    pool: "np.ndarray"
    expected: "np.ndarray"
    kept: "Callable[[np.ndarray], np.ndarray] | None" = None

    @classmethod
    def of(
        cls,
        space: Space,
        observations: Sequence[Observation],
        pending: Sequence[Config],
        stream: list[int],
        *,
        weighs_limits: bool = False,
    ) -> "Model":
        """Return the model of the highest rung; pending configs count as measured where they are expected."""
        import numpy as np

        from albacore.optimizers import cube, feasibility, gaussian, mixtures

        seen, rng = highest_rung(observations), np.random.default_rng(stream)
        points = cube.points_of(space, [o.config for o in seen])
        kept = feasibility.probability(points, [o.is_failure for o in seen]) if weighs_limits else None
        process = _learned(space, points, seen)
        x, y = process.x, process.y
        process = gaussian.extended(process, cube.features(space, cube.points_of(space, pending)))
        best = np.argsort(process.predict(x)[0].astype(np.float32), kind="stable")[:CENTRES]
        pool = cube.candidates(space, points[best], POOL, rng)
        expected = process.predict(np.vstack([cube.features(space, pool), process.x]))[0]
        return cls(space=space, process=process, groups=mixtures.fitted(x, y), pool=pool, expected=expected, kept=kept)

    def without(self, config: Config) -> "Model":
        """Return the model as if a doubtful config had not been measured: hope must not rest on it."""
        from albacore.optimizers import cube, gaussian

        x, y = self.process.x, self.process.y
        others = (x != cube.features(self.space, cube.points_of(self.space, [config]))).any(axis=1)
        return replace(self, process=gaussian.given(self.process.model.kernel_, x[others], y[others]))

    def chance(self, config: Config) -> float:
        """Return P(kept) of a config; 1 while nothing is known."""
        return float(self.kept(self.space.encode(config)[None])[0]) if self.kept else 1.0

    def spread(self, points: "np.ndarray") -> "np.ndarray":
        """Return (m,) what exploration maximises: the width of the interval (§4.2.1)."""
        from albacore.optimizers import cube

        width = self.process.predict(cube.features(self.space, points))[1]
        return width * self.kept(points) if self.kept else width

    def hope(self, points: "np.ndarray") -> "np.ndarray":
        """Return (m,) what the process itself expects to be best: less its mean.

        Deviates: the paper's two new candidates are `likeness` and `spread`; the authors' tuner in NNI has this one too
        (metis_tuner.py, "exploitation_gp"). docs/decisions/metis-exploits-its-process.md has the measurement.
        """
        from albacore.optimizers import cube

        mean = self.process.predict(cube.features(self.space, points))[0]
        return self._log_chance(points) - mean

    def _log_chance(self, points: "np.ndarray") -> "np.ndarray":
        """Return (m,) ln P(kept)."""
        import numpy as np

        return np.log(np.maximum(self.kept(points), 1e-300)) if self.kept else np.zeros(len(points))

    def likeness(self, points: "np.ndarray") -> "np.ndarray":
        """Return (m,) what exploitation maximises: ln P1(c) / P2(c) (§4.2.1).

        Only where P1 is no lower than at the best scores themselves: far from all scores both are nothing, and their
        ratio is the rounding of nothing. TPE, which the paper follows here, draws its candidates from P1 instead.
        """
        import numpy as np

        from albacore.optimizers import cube

        if self.groups is None:
            return self.hope(points)
        x = cube.features(self.space, points)
        best, rest, floor = self.groups
        inside = best.score_samples(x)
        ratio = inside - rest.score_samples(x) + self._log_chance(points)
        return np.where(inside >= floor, ratio, -np.inf)

    def suspect(
        self, seen: Sequence[Observation], pending: Sequence[Config], settled: Collection[str] = ()
    ) -> Config | None:
        """Return the config whose score is farthest outside the interval that all others predict, if any (§4.2.1)."""
        import numpy as np

        if len(seen) < RESAMPLE_AFTER:
            return None
        mean, deviation = (part[: len(seen)] for part in self.process.left_out())
        outside = np.abs(self.process.y[: len(seen)] - mean) - REACH * deviation
        scores = [o.config.id for o in seen]
        waiting = {config.id for config in pending} | set(settled)
        for i in np.argsort(-outside.astype(np.float32), kind="stable"):
            key = seen[i].config.id
            is_known_well = seen[i].is_failure or key in waiting or scores.count(key) + seen[i].repeats >= MOST_SCORES
            if outside[i] > 0 and not is_known_well:
                return seen[i].config
        return None

    def gain(self, config: Config) -> float:
        """Return the sum of what the predicted best improves by, should the config measure its lower or upper bound.

        §4.2.2. Adding one score y to a process with a fixed covariance moves the mean at x by cov(x, c) (y - m(c)) /
        (s(c)^2 + noise), so no second fit is needed (GPML, eq. 2.25 for one more point).
        """
        import numpy as np

        from albacore.optimizers import cube

        at = cube.features(self.space, cube.points_of(self.space, [config]))
        deviation = self.process.predict(at)[1][0]
        x = np.vstack([cube.features(self.space, self.pool), self.process.x])
        slope = self.process.covariance(x, at[0]) / (deviation**2 + self.process.noise)
        current = self.expected.min()
        bounds = (-REACH * deviation, REACH * deviation)
        return float(np.float32(sum(max(0.0, current - (self.expected + slope * bound).min()) for bound in bounds)))


def doubtful(
    space: Space,
    observations: Sequence[Observation],
    pending: Sequence[Config],
    model: Model,
    *,
    settled: Collection[str],
    stream: list[int],
) -> list[tuple[float, Config]]:
    """Return the gain and the config of the score that fits its rung least, of the highest rung that has such a one.

    Deviation: the paper has one kind of score. Under a ladder most doubtful ones are of a low rung and stay there, so
    rungs below the model's are looked at too, each by a model of its own scores; a config belongs to its highest rung.
    """
    top = {o.config.id: o.rung for o in sorted(observations, key=lambda o: o.rung)}
    for rung in sorted({o.rung for o in observations}, reverse=True):
        seen = [o for o in observations if o.rung == rung]
        if len(seen) < RESAMPLE_AFTER:
            continue
        own = model if seen == highest_rung(observations) else Model.of(space, seen, pending, [*stream, rung])
        risen = {config_id for config_id, highest in top.items() if highest > rung}
        if (found := own.suspect(seen, pending, risen | set(settled))) is not None:
            return [(own.gain(found), found)]
    return []


def _learned(space: Space, points: "np.ndarray", seen: Sequence[Observation]) -> "Process":
    """Return the process of scores at their points (n, d): Matern 3/2 and white noise (§5)."""
    from albacore.optimizers import cube, gaussian

    is_per_dimension = len(space) < gaussian.PER_DIMENSION_BELOW
    y = cube.scaled([o.score for o in seen])
    return gaussian.learn(cube.features(space, points), y, nu=1.5, is_per_dimension=is_per_dimension)
