"""Print the lead of `albacore` over `tuna` with its settings chosen without the workload it is judged on.

For each workload the settings are those that do best on all others: the highest mean among those whose worst, unstable
and drop are no worse than `tuna`'s by more than 0.3 points there. Then the left out runs are pooled.

    PYTHONPATH=include python docs/figures/policy_left_out.py FILE...
"""

import itertools
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from albacore.history import read
from albacore.lab import comparison
from albacore.lab.protocol import FIGURES, Outcome, matrices
from albacore.lab.protocol import replay as replayed
from albacore.policies.albacore import Albacore
from albacore.policies.named import CHOICES

GRID = {"safe": (0.05, 0.1, 0.2, 0.3, 0.5), "worst": (0.0, 0.25, 0.5), "care": (0.5, 1.0, 2.0)}
SETTINGS = {
    ",".join(f"{name}={value}" for name, value in zip(GRID, values, strict=True)): Albacore(
        **dict(zip(GRID, values, strict=True))
    )
    for values in itertools.product(*GRID.values())
}
KS = (5, 7)
ALLOWED = 0.3
LEFT_OUT = "albacore"


def chosen(outcome: Outcome, others: NDArray[np.bool_]) -> str:
    """Return the settings that do best on some runs: mean over both k, where no risk is above `tuna`'s."""
    leads = {
        name: np.mean(
            [(outcome.figures[name, k] - outcome.figures["tuna", k])[others].mean(axis=0) for k in KS], axis=0
        )
        for name in SETTINGS
    }
    signs = np.array([1.0, 1.0, -1.0, -1.0])  # of FIGURES: mean, worst, unstable, drop
    safe = [name for name, lead in leads.items() if (signs * lead)[1:].min() >= -ALLOWED]
    return max(safe or leads, key=lambda name: leads[name][FIGURES.index("mean")])


def main(*files: str) -> None:
    """Print what was chosen for each workload, and the pooled differences to `tuna` in points."""
    runs = matrices(run for file in files for run in read(Path(file)))
    outcome = replayed(runs, {"tuna": CHOICES["tuna"], **SETTINGS}, KS, reference="tuna")
    figures = {("tuna", k): outcome.figures["tuna", k] for k in KS}
    figures |= {(LEFT_OUT, k): np.zeros_like(outcome.figures["tuna", k]) for k in KS}
    for workload, own in comparison.scopes(outcome).items():
        if workload == comparison.POOLED:
            continue
        name = chosen(outcome, ~own)
        print(f"{workload}: {name}")
        for k in KS:
            figures[LEFT_OUT, k][own] = outcome.figures[name, k][own]
    print("\n| k | mean | worst | unstable | drop |\n|---|---|---|---|---|")
    joined = replace(outcome, figures=figures)
    for k in KS:
        row = comparison.rows(joined, np.ones(len(runs), dtype=bool), (LEFT_OUT,), k=k, reference="tuna")[0]
        told = [f"{d.value:+.2f} [{d.low:+.2f}, {d.high:+.2f}]" for d in (row.differences[f] for f in FIGURES)]
        print(f"| {k} | {' | '.join(told)} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
