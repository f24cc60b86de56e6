"""Draw the trade between speed and stability: the curve of `albacore`, every other policy, and the ceiling.

    albacore replay *.samples.csv.gz --json > replay.json
    python docs/figures/policy_trade.py replay.json docs/figures/policy-trade.png

Needs matplotlib, which the product does not.
"""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

KS = ("5", "7")
NAMED = {
    "tuna",
    "albacore",
    "mean",
    "median",
    "p10",
    "min",
    "min-0.15",
    "mean-range",
    "median-0.30",
    "mean-0.30-adjusted",
}


def panel(axes: Any, found: dict[str, Any], k: str) -> None:
    """Draw one number of seen nodes."""
    curve = sorted(found["curve"][k], key=lambda p: p["unstable"])
    axes.plot([p["unstable"] for p in curve], [p["mean"] for p in curve], "-", color="#1b7837", label="albacore: care")
    for name, figures in found["pooled"].items():
        x, y = figures[k]["unstable"], figures[k]["mean"]
        colour = {"albacore": "#1b7837", "tuna": "#b2182b"}.get(name, "grey")
        axes.plot(x, y, "o", color=colour, markersize=7 if colour != "grey" else 4, zorder=3)
        if name in NAMED:
            axes.annotate(name, (x, y), textcoords="offset points", xytext=(5, -9), fontsize=7, color=colour)
    best = found["ceiling"][k]
    axes.plot(best["unstable"], best["mean"], "*", color="black", markersize=11, label="perfect knowledge")
    axes.set(title=f"{k} of 10 nodes seen", xlabel="unstable picks, %")
    axes.spines[["top", "right"]].set_visible(False)


def main(source: str, target: str) -> None:
    """Draw a panel per number of seen nodes."""
    found = json.loads(Path(source).read_text(encoding="utf-8"))
    figure, panels = plt.subplots(1, len(KS), figsize=(10, 4), dpi=150, sharey=True)
    for axes, k in zip(panels, KS, strict=True):
        panel(axes, found, k)
    panels[0].set_ylabel("mean on nodes not seen, % of the best")
    panels[0].legend(frameon=False, fontsize=8, loc="lower right")
    figure.tight_layout()
    figure.savefig(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
