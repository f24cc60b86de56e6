"""Tpe: tree-structured Parzen estimator, by Optuna.

J. Bergstra, R. Bardenet, Y. Bengio, B. Kégl: Algorithms for Hyper-Parameter Optimization, NIPS 2011, §4. A baseline of
Metis (ATC 2018, §6.1: 20 random configs first, `initial = 20`) and one of the six methods of the microservices paper
(§3.2.1). The door to Optuna: a study in memory is built anew at every ask, from the scores of the highest rung as
complete trials and the configs in flight as running ones. A running trial counts as a bad one (constant liar), so that
lanes do not ask for the same config.

```
l(x), g(x)   densities of the good and of the other configs, per knob; the config with the largest l/g of 24 is taken
```

Deviates: the densities know no limits; so what they draw is asked for again, `TRIES` times at most, until it is likely
to keep them (see `feasibility`), and otherwise the likeliest of the drawn is taken.

Numbers are floats in [0, 1], choices and switches are Optuna's categories.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from albacore.optimizers import INITIAL, Observation, highest_rung, opening, taken_ids, untried
from albacore.space import Config, Space
from albacore.space.knob import Knob

FEWEST = 4
"""Scores below which Optuna draws at random: two densities need something to differ in."""
TRIES = 5
"""Asks after which a random config is taken, should all have been known; or the likeliest to keep the limits."""
LIKELY = 0.5
"""Chance to keep the limits from which on a config is taken at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tpe:
    """Propose what is likelier among the good configs than among the others.

    Attributes:
        initial: How many of the first asks are random designs.
        weighs_limits: Whether a config that is likely to exceed a limit is drawn again.
    """

    initial: int = INITIAL
    weighs_limits: bool = True
    name: str = "tpe"

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that is neither observed nor pending."""
        import numpy as np

        taken = taken_ids(observations, pending)
        first = opening(space, taken, initial=self.initial, seed=seed, ask_index=ask_index)
        if first or not observations:
            return first or untried(space, taken, seed=seed, ask_index=ask_index)
        seen, drawn = highest_rung(observations), list[tuple[float, Config]]()
        of_optuna = int(np.random.default_rng([seed, ask_index, 1]).integers(2**31))
        study = _study(space, seen, pending, of_optuna)
        chance = _chance(space, seen) if self.weighs_limits else _certain
        distributions = {knob.name: _distribution(knob) for knob in space.knobs if knob.size > 1}
        for _ in range(TRIES):
            asked = study.ask(distributions).params
            config = space.repair({knob.name: _value(knob, asked.get(knob.name)) for knob in space.knobs})
            if config.id not in taken:
                drawn.append((chance(config), config))
                if drawn[-1][0] >= LIKELY:
                    return config
        if drawn:
            return max(drawn, key=lambda pair: pair[0])[1]
        return untried(space, taken, seed=seed, ask_index=ask_index)


def _certain(config: Config) -> float:
    """Return 1: nothing is known of limits."""
    return 1.0


def _chance(space: Space, seen: Sequence[Observation]) -> Callable[[Config], float]:
    """Return what gives the probability that a config keeps the limits."""
    failed = [o.is_failure for o in seen]
    if not any(failed):
        return _certain  # without the import of scikit-learn
    from albacore.optimizers import feasibility

    kept = feasibility.probability(space.encode_all([o.config for o in seen]), failed)
    return (lambda config: float(kept(space.encode(config)[None])[0])) if kept else _certain


def _study(space: Space, seen: Sequence[Observation], pending: Sequence[Config], seed: int) -> Any:
    """Return a study that has seen the scores and knows of the configs in flight."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)  # constant_liar, since 2021
        sampler = optuna.samplers.TPESampler(n_startup_trials=FEWEST, constant_liar=True, seed=seed)
    study = optuna.create_study(storage=optuna.storages.InMemoryStorage(), sampler=sampler)
    known = [knob for knob in space.knobs if knob.size > 1]
    distributions = {knob.name: _distribution(knob) for knob in known}
    for config, score in [*zip((o.config for o in seen), _ranked(seen), strict=True), *((c, None) for c in pending)]:
        state = optuna.trial.TrialState.RUNNING if score is None else optuna.trial.TrialState.COMPLETE
        params = {knob.name: _place(knob, config) for knob in known}
        study.add_trial(optuna.trial.create_trial(state=state, value=score, params=params, distributions=distributions))
    return study


def _ranked(seen: Sequence[Observation]) -> list[float]:
    """Return the scores; a config that failed stands behind all that ran, whatever it was told (see `standing`)."""
    behind = math.nextafter(max((o.score for o in seen if not o.is_failure), default=-math.inf), math.inf)
    return [max(o.score, behind) if o.is_failure else o.score for o in seen]


def _distribution(knob: Knob) -> Any:
    """Return how Optuna sees a knob."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    return FloatDistribution(0.0, 1.0) if knob.kind.is_numeric else CategoricalDistribution(range(len(knob.options)))


def _place(knob: Knob, config: Config) -> float | int:
    """Return Optuna's number for the value that a config has."""
    value = config[knob.name]
    return knob.encode(value) if knob.kind.is_numeric else knob.options.index(value)


def _value(knob: Knob, number: Any) -> Any:
    """Return the value that Optuna's number stands for; None is the only value of a knob."""
    if number is None:
        return knob.all_values()[0]
    return knob.decode(number) if knob.kind.is_numeric else knob.options[number]
