"""Optimizers: what proposes the next config from the scores so far.

An optimizer is a pure function of its arguments: the same arguments give the same config, bit for bit, in any
process. It keeps nothing between calls, so a killed task loses nothing and a recorded run replays. It knows nothing
of nodes, retries or noise, and hears costs: lower is better, always.

One rule is shared by all kinds and lives here: the first asks walk through a random initial design, and no config is
proposed twice.
"""

import dataclasses
import importlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from albacore.errors import SpaceError, UserError
from albacore.space import Config, Space

if TYPE_CHECKING:
    import numpy as np

INITIAL = 10
"""Random designs before the surrogate is asked (TUNA's prototype; SMAC's multi-fidelity default has the same order)."""
DRAWS = 1000
"""Random draws without a new config after which the space counts as exhausted."""
ENUMERABLE = 100_000
"""Spaces up to this size are searched one by one before they are called exhausted."""
BUDGET = 100
"""Configs that a run is expected to ask for when nobody says otherwise."""
KINDS = {
    "annealing": "Annealing",
    "bestconfig": "BestConfig",
    "boosted_trees": "BoostedTrees",
    "dynamically_dimensioned_search": "DynamicallyDimensionedSearch",
    "genetic": "Genetic",
    "gp": "GaussianProcess",
    "grid": "Grid",
    "latin_hypercube": "LatinHypercube",
    "metis": "Metis",
    "particle_swarm": "ParticleSwarm",
    "random": "Random",
    "recursive_random_search": "RecursiveRandomSearch",
    "smac": "Smac",
    "stable_forest": "StableForest",
    "tpe": "Tpe",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One score that the optimizer was told.

    Attributes:
        rung: Index into the ladder's rungs; 0 is the cheapest.
        score: Lower is better; finite, also for a config that failed.
        is_failure: Whether the score is the crash score, not a measurement.
        is_unstable: Whether the detector found the config unstable at this rung; the score is penalised then.
        repeats: How often the config was measured again at this rung; the score is that of all its samples.
        ask_index: The `ask_index` that the config was suggested at; -1 when no ask gave it (the default config).
    """

    config: Config
    rung: int = 0
    score: float
    is_failure: bool = False
    is_unstable: bool = False
    ask_index: int = -1
    repeats: int = 0


class Optimizer(Protocol):
    """Propose the next config."""

    @property
    def name(self) -> str:
        """The name that campaigns use."""
        ...

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that is neither observed nor pending.

        Args:
            space: What may be proposed.
            observations: Everything told so far, in the order it was told: a config once per rung.
            pending: Configs proposed and not told yet, in the order they were asked for.
            seed: Seed of the campaign run.
            ask_index: 0, 1, 2 … per campaign run; below the number of initial designs the surrogate is not asked.

        Raises:
            SpaceError: When every config of the space was proposed already.
        """
        ...


@runtime_checkable
class Repeating(Protocol):
    """Ask for a second measurement of an old config when that is worth more than a new one (Metis §4.2.1).

    A power beside `Optimizer`: the optimizers that have it keep all promises of `suggest` too.
    """

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
        """Return a new config, or an observed one that is to be measured on one more node, at its highest rung.

        What is told then is either one more observation of the same config and rung, or, in campaigns, the score of
        all its samples in place of the old one, with `repeats` counted up.

        Args:
            pending: Also configs that are being measured again; never returned.
            settled: Ids of configs that cannot be measured again.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOnly:
    """Hide that an optimizer could ask for second measurements."""

    inner: Optimizer

    @property
    def name(self) -> str:
        """The wrapped optimizer's name."""
        return self.inner.name

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that is neither observed nor pending."""
        return self.inner.suggest(space, observations, pending, seed=seed, ask_index=ask_index)


@runtime_checkable
class Advising(Protocol):
    """Say what a campaign should know before it starts: a power beside `Optimizer`."""

    def advice(self, space: Space) -> str:
        """Return a warning (finding, evidence, remedy), or "" when all is well."""
        ...


def by_name(name: str, *, initial: int = INITIAL, budget: int = BUDGET, weighs_limits: bool = True) -> Optimizer:
    """Return an optimizer by the name that campaigns use.

    Args:
        initial: How many of the first asks are random designs; kinds with a design of their own do not read it.
        budget: How many configs the run is expected to ask for; kinds without a schedule do not read it.
        weighs_limits: Whether kinds that can weigh what they propose by how likely it is to keep the limits.

    Raises:
        UserError: When there is none of this name.
    """
    if name not in KINDS:
        raise UserError(
            f"optimizer: expected one of {', '.join(sorted(KINDS))}, got {name!r:.60}. Correct 'optimizer.name'."
        )
    kind = getattr(importlib.import_module(f"albacore.optimizers.{name}"), KINDS[name])
    known = {field.name for field in dataclasses.fields(kind)}
    given = {"initial": initial, "budget": budget, "weighs_limits": weighs_limits}
    return kind(**{key: value for key, value in given.items() if key in known})


def highest_rung(observations: Sequence[Observation]) -> list[Observation]:
    """Return the observations of the highest rung that has one, in their order.

    SMAC's multi-fidelity default with `min_trials=1`. Scores of different rungs never mix: the worst of one sample is
    optimistic beside the worst of ten, and a surrogate that sees both walks into the unstable region.
    """
    top = max((observation.rung for observation in observations), default=0)
    return [observation for observation in observations if observation.rung == top]


def taken_ids(observations: Sequence[Observation], pending: Sequence[Config]) -> set[str]:
    """Return the ids of the configs that must not be proposed again."""
    return {observation.config.id for observation in observations} | {config.id for config in pending}


def new_config(space: Space, points: "Iterable[np.ndarray]", taken: set[str]) -> Config | None:
    """Return the config of the first point of the unit cube whose config is not taken, or None."""
    for point in points:
        config = space.decode(point)
        if config.id not in taken:
            return config
    return None


def initial_design(space: Space, n: int, seed: int) -> list[Config]:
    """Return `n` different random configs, uniform in the unit cube; fewer only when the space has fewer.

    A longer design starts with the shorter one of the same seed.
    """
    design: dict[str, Config] = {}
    try:
        for index in range(n):
            config = untried(space, design, seed=seed, ask_index=index)
            design[config.id] = config
    except SpaceError:
        return list(design.values())
    return list(design.values())


def opening(space: Space, taken: Iterable[str], *, initial: int, seed: int, ask_index: int) -> Config | None:
    """Return the initial design of an early ask, or None once the surrogate has to be asked.

    A design that was proposed before (it is the default config, or an ask was lost) is drawn anew.
    """
    if ask_index >= initial:
        return None
    known = set(taken)
    design = initial_design(space, ask_index + 1, seed)
    if len(design) > ask_index and design[ask_index].id not in known:
        return design[ask_index]
    return untried(space, known | {config.id for config in design}, seed=seed, ask_index=ask_index)


def unmodelled(
    space: Space,
    observations: Sequence[Observation],
    taken: set[str],
    *,
    initial: int,
    share: float,
    stream: tuple[int, int],
) -> "tuple[Config | None, np.random.Generator]":
    """Return the config of an ask that needs no forest, or None, and the random stream of the ask.

    For forests, which say nothing of where they know nothing: the first designs, all asks without a score, and then a
    share of random configs.

    Args:
        share: Share of random configs among the asks after the first designs, 0 to 1.
        stream: Seed and ask index.
    """
    import numpy as np

    seed, ask_index = stream
    rng = np.random.default_rng([seed, ask_index, 1])  # not the stream of `untried`
    first = opening(space, taken, initial=initial, seed=seed, ask_index=ask_index)
    if first is None and (not observations or rng.random() < share):
        first = untried(space, taken, seed=seed, ask_index=ask_index)
    return first, rng


def untried(space: Space, taken: Iterable[str], *, seed: int, ask_index: int) -> Config:
    """Return a random config that is not taken; the same for the same arguments.

    Raises:
        SpaceError: When there is none left.
    """
    import numpy as np

    known = set(taken)
    rng = np.random.default_rng([seed, ask_index])
    for _ in range(DRAWS):
        config = space.decode(rng.random(len(space)))
        if config.id not in known:
            return config
    return _left_over(space, known, rng)


def _left_over(space: Space, known: set[str], rng: "np.random.Generator") -> Config:
    """Return one of the configs that random draws keep missing in a small space."""
    left = {}
    if space.size <= ENUMERABLE:
        left = {config.id: config for config in space.all_configs() if config.id not in known}
    if not left:
        raise SpaceError(
            f"space: all of its configs were proposed ({len(known)}). Add knobs, widen bounds, or lower limits.samples."
        )
    return left[sorted(left)[int(rng.integers(len(left)))]]
