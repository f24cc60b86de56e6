"""Smac: proposals of SMAC's random forest, expected improvement and local search, through its public classes.

Only proposals: no facade, intensifier, runhistory or scenario on disk. The ladder is ours, as SMAC's own successive
halving cannot be restored from a history. The door to SMAC is `propose`, and it runs in a short child process of this
module, for two reasons:

- SMAC's local search walks through a set of configs, so its result depends on PYTHONHASHSEED, which only a new
  process can fix;
- the 150 MB that SMAC, scikit-learn and SciPy take are given back at once.

```
X   (n, d)  one row per observation; a real or int as its place in [0, 1], an option as its index
y   (n,)    logarithms of scaled costs, see `scaled`
z   (n,)    whether a config failed: expected improvement is weighed by P(kept), see `feasibility`
```
"""

import importlib.util
import json
import os
import subprocess
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from albacore.errors import PlatformError
from albacore.optimizers import INITIAL, Observation, highest_rung, taken_ids, unmodelled, untried
from albacore.space import Config, Space
from albacore.space.knob import Kind, Knob, Value

if TYPE_CHECKING:
    import numpy as np

RANDOM_SHARE = 0.2
"""Share of random configs among the proposals: the default of SMAC's multi-fidelity facade."""
FEW = 20
"""Whole numbers in so small a range are neighbours one by one; SMAC's steps of 0.05 hardly ever reach the next."""
TIMEOUT_S = 600
SMALLEST = 1e-5
"""Stands for a scaled cost of zero: the best of a few equal ones."""
FOREST = {"n_trees": 10, "ratio_features": 1.0, "min_samples_split": 2, "min_samples_leaf": 1, "log_y": True}
"""The forest of SMAC's multi-fidelity facade."""
CHALLENGERS = 5000
SEARCHES = 5
PLATEAU = 1
"""Full neighbourhoods without a gain before a local search ends.

At 300 scores, 100 knobs and leaves of 3, SMAC's own 10 searches with 10 such steps took 4.3 s and found an EI of 0.034;
5 searches with 1 took 0.8 s and found 0.031.
"""
Task = dict[str, Any]
"""Arguments of `propose`, as JSON data."""
OPTIONAL = frozenset({"pandas", "pyarrow", "polars"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """How SMAC sees one knob: `unit` interval, unordered `choice`, or `order` of `n` values."""

    kind: str
    n: int = 0


def column(knob: Knob) -> Column:
    """Return how SMAC sees a knob."""
    if not knob.kind.is_numeric:
        return Column(kind="choice", n=len(knob.options))
    is_few = knob.kind is Kind.INT and not knob.special and 1 < knob.size <= FEW
    return Column(kind="order", n=int(knob.size)) if is_few else Column(kind="unit")


def place(knob: Knob, value: Value) -> float:
    """Return the number that stands for a value in X."""
    kind = column(knob).kind
    if kind == "unit":
        return knob.encode(value)
    return float(knob.all_values().index(value))


def value(knob: Knob, number: float) -> Value:
    """Return the value that a number in X stands for."""
    return knob.decode(number) if column(knob).kind == "unit" else knob.all_values()[round(number)]


def in_child(task: Task) -> list[list[float]]:
    """Return what `propose` returns in a process with a fixed hash seed and one thread.

    Raises:
        PlatformError: When the process fails or takes too long.
    """
    library = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(part for part in (library, os.environ.get("PYTHONPATH")) if part)
    fixed = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": path}
    command = [sys.executable, "-P", "-m", "albacore.optimizers.smac"]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(task),
            capture_output=True,
            text=True,
            env={**os.environ, **fixed},
            timeout=TIMEOUT_S,
            check=True,
        )
        return json.loads(done.stdout)
    except subprocess.CalledProcessError as error:
        last = "\n".join(error.stderr.strip().splitlines()[-20:])
        remedy = (
            "Install requirements.txt" if "ModuleNotFoundError" in last else "Use optimizer 'random' and report this"
        )
        raise PlatformError(
            f"smac: its process ended with exit code {error.returncode}. {remedy}.\n{last}", log=last
        ) from error
    except subprocess.TimeoutExpired as error:
        raise PlatformError(
            f"smac: no proposal within {TIMEOUT_S} s. Use optimizer 'random' or free the machine."
        ) from error
    except (OSError, ValueError) as error:
        raise PlatformError(
            f"smac: its process {' '.join(command)} gave no proposal: {error}. Check memory and disk."
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Smac:
    """Propose where the forest of the highest rung expects the largest improvement.

    Attributes:
        initial: How many of the first asks are random designs.
        weighs_limits: Whether expected improvement is weighed by the probability that a config keeps all limits.
        run: Where `propose` runs; `in_process` saves simulations the start of a process per ask.
    """

    initial: int = INITIAL
    weighs_limits: bool = True
    run: Callable[[Task], list[list[float]]] = field(default=in_child, repr=False)
    name: str = "smac"

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that is neither observed nor pending."""
        taken = taken_ids(observations, pending)
        first, rng = unmodelled(
            space, observations, taken, initial=self.initial, share=RANDOM_SHARE, stream=(seed, ask_index)
        )
        if first:
            return first
        task = _task(space, highest_rung(observations), int(rng.integers(2**31)), weighs_limits=self.weighs_limits)
        for row in self.run(task):
            config = space.repair(
                {knob.name: value(knob, number) for knob, number in zip(space.knobs, row, strict=True)}
            )
            if config.id not in taken:
                return config
        return untried(space, taken, seed=seed, ask_index=ask_index)


def _task(space: Space, observations: Sequence[Observation], seed: int, *, weighs_limits: bool) -> Task:
    """Return the arguments of `propose` as JSON data."""
    return {
        "columns": [asdict(column(knob)) for knob in space.knobs],
        "x": [[place(knob, o.config[knob.name]) for knob in space.knobs] for o in observations],
        "y": scaled([o.score for o in observations]),
        "failed": [weighs_limits and o.is_failure for o in observations],
        "seed": seed,
    }


def scaled(scores: Sequence[float]) -> list[float]:
    """Return the logarithm of costs scaled to (0, 1], as SMAC's RunHistoryLogScaledEncoder does.

    Zero lies as far below the best cost as the 5th percentile lies above it. Free of the metric's unit, offset and
    sign.
    """
    import numpy as np

    y = np.asarray(scores, dtype=np.float64)
    y = y / max(float(np.abs(y).max()), 1e-300)  # so that no difference overflows
    zero = 2 * y.min() - np.percentile(y, 5)
    width = y.max() - zero
    return np.log(np.clip((y - zero) / width, SMALLEST, 1.0)).tolist() if width > 0 else [0.0] * len(y)


# The rest runs in the child process.


class _Without:
    """Hide packages that scikit-learn imports only when they are there: 1 s and 30 MB, unused here."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Refuse a hidden package; leave every other name to the next finder."""
        if name in OPTIONAL:
            raise ModuleNotFoundError(f"{name} is hidden", name=name)


def _open_package() -> None:
    """Make SMAC's modules importable without `smac/__init__.py`, which imports Dask: 1 s and 30 MB, unused here."""
    spec: ModuleSpec | None = importlib.util.find_spec("smac")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("smac is not installed", name="smac")
    package = types.ModuleType("smac")
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules["smac"] = package
    sys.meta_path.insert(0, _Without())


def propose(
    columns: list[dict[str, Any]], x: list[list[float]], y: list[float], failed: list[bool], seed: int
) -> list[list[float]]:
    """Return rows like those of X, the most promising first."""
    import numpy as np
    from ConfigSpace import Configuration
    from smac.acquisition.maximizer import LocalAndSortedRandomSearch
    from smac.model.random_forest import RandomForest

    space = _space(columns, seed)
    # SMAC's own limit of 2^20 leaves makes scikit-learn reserve 130 MB per tree; no tree has more leaves than rows.
    forest = RandomForest(space, **FOREST, seed=seed, n_jobs=1, max_leaf_nodes=max(2, len(y)))
    forest.train(np.array(x), np.array(y).reshape(-1, 1))
    improvement = _improvement(columns, np.array(x), failed)
    improvement.update(model=forest, eta=min(y))
    search = LocalAndSortedRandomSearch(
        space,
        acquisition_function=improvement,
        challengers=CHALLENGERS,
        local_search_iterations=SEARCHES,
        n_steps_plateau_walk=PLATEAU,
        seed=seed,
    )
    known = [Configuration(space, vector=np.array(row)) for row in x]
    return [config.get_array().tolist() for config in search.maximize(known, random_design=None)]


def _improvement(columns: list[dict[str, Any]], x: "np.ndarray", failed: list[bool]) -> Any:
    """Return SMAC's expected improvement, times the probability that the limits are kept once enough configs failed."""
    from smac.acquisition.function import EI

    from albacore.optimizers import feasibility

    kept = feasibility.probability(_unit(columns, x), failed) if any(failed) else None
    if kept is None:
        return EI(log=True)

    class Weighed(EI):
        """Expected improvement times P(kept)."""

        def _compute(self, X: "np.ndarray") -> "np.ndarray":  # noqa: N803 - SMAC's name
            return super()._compute(X) * kept(_unit(columns, X))[:, None]

    return Weighed(log=True)


def _unit(columns: list[dict[str, Any]], x: "np.ndarray") -> "np.ndarray":
    """Return rows of X as points of the unit cube: an option is the middle of its cell."""
    import numpy as np

    cells = np.array([part["n"] for part in columns])
    return np.where(cells > 0, (x + 0.5) / np.maximum(cells, 1), x)


def _space(columns: list[dict[str, Any]], seed: int) -> Any:
    """Return SMAC's space; names keep the order, which ConfigSpace sorts by."""
    from ConfigSpace import (
        CategoricalHyperparameter,
        ConfigurationSpace,
        OrdinalHyperparameter,
        UniformFloatHyperparameter,
    )

    space = ConfigurationSpace(seed=seed)
    kinds = {
        "unit": lambda name, n: UniformFloatHyperparameter(name, 0.0, 1.0),
        "choice": lambda name, n: CategoricalHyperparameter(name, list(range(n))),
        "order": lambda name, n: OrdinalHyperparameter(name, list(range(n))),
    }
    space.add([kinds[part["kind"]](f"k{index:06}", part["n"]) for index, part in enumerate(columns)])
    return space


def in_process(task: Task) -> list[list[float]]:
    """Return what `propose` returns, computed here; the same in another process only under the same PYTHONHASHSEED."""
    if "smac" not in sys.modules:
        _open_package()
    return propose(**task)


def main() -> None:
    """Read a task from standard input, write proposals to standard output; what SMAC prints goes to standard error."""
    answer, sys.stdout = sys.stdout, sys.stderr
    json.dump(in_process(json.load(sys.stdin)), answer)


if __name__ == "__main__":
    main()
