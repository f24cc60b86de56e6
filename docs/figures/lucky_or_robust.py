"""Draw the README's picture: a lucky choice against a robust one, on real samples.

The samples are those that the TUNA artifact published (github.com/uw-mad-dash/TUNA, MIT, Copyright (c) 2025 Johannes
Freischuetz): PostgreSQL under TPC-C on ten Azure nodes. Needs matplotlib, which the product does not.

    python docs/figures/lucky_or_robust.py azure__postgres__tpcc.samples.csv.gz docs/figures/lucky-or-robust.png
"""

import sys

import matplotlib as mpl
import pandas as pd

mpl.use("Agg")
import matplotlib.pyplot as plt

RUN = 0


def strips(path: str) -> tuple[pd.Series, pd.Series, float]:
    """Return the samples of the best first sample and of the best worst case, and the default's mean."""
    samples = pd.read_csv(path)
    samples = samples[(samples.method == "TUNA") & (samples.run == RUN) & (samples.failed == 0)]
    default = samples[samples.is_default == 1].performance.mean()
    tried = samples[samples.is_default == 0]
    full = tried.groupby("config_id").filter(lambda own: own.worker.nunique() == 10)
    first = full.sort_values("seq").groupby("config_id").performance.first()
    worst = full.groupby("config_id").performance.min()
    lucky, robust = (full[full.config_id == i].sort_values("seq").performance for i in (first.idxmax(), worst.idxmax()))
    return lucky, robust, default


def main(source: str, target: str) -> None:
    """Draw both configs as strips over their ten nodes, the first sample marked."""
    lucky, robust, default = strips(source)
    figure, axes = plt.subplots(figsize=(8, 2.6), dpi=150)
    for row, (own, colour) in enumerate(((robust, "#1b7837"), (lucky, "#b2182b"))):
        axes.plot(own, [row] * len(own), "o", color=colour, alpha=0.55, markersize=8)
        axes.plot(own.iloc[0], row, "o", color=colour, markersize=13, fillstyle="none", markeredgewidth=2)
        axes.text(own.min(), row - 0.34, f"worst node {own.min():.0f}", color=colour, ha="left", fontsize=8)
    axes.axvline(default, color="grey", linestyle="--", linewidth=1)
    axes.text(default, 1.52, f" default {default:.0f}", color="grey", fontsize=8)
    axes.set(yticks=[0, 1], ylim=(-0.6, 1.75), xlabel="transactions per second, a dot per node (ring: first sample)")
    axes.set_yticklabels(["robust choice:\nbest worst case", "lucky choice:\nbest first sample"])
    axes.spines[["top", "right", "left"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
