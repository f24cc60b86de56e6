"""Sections: one per experiment of the paper; each returns the lines of the page and draws its figure.

A section whose runs have not been played says so.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import analysis
import drawing
import ledger
import numpy as np
import tables
from analysis import Row
from drawing import Axes, Curve
from studies import FIRST, ROOT, SYSTEMS

FIGURES = ROOT / "docs" / "figures"
EARLY = Path(__file__).with_name("runs") / "early.json"
RECORDED = Path(__file__).with_name("runs") / "recorded.json"
NOISES = {"no noise": "noise-0", "5 % noise": "noise-5", "10 % noise": "noise-10"}
SHOWN = (3, 5, 7, 9, 10, 15, 20, 25, 30, 40)
"""Numbers of nodes in the table of chances."""
NOT_YET = ["Not played yet.", ""]


def figure(name: str, svg: str, words: str) -> list[str]:
    """Write a figure and return the lines that show it."""
    (FIGURES / f"paper-{name}.svg").write_text(svg)
    return [f"![{words}](../figures/paper-{name}.svg)", ""]


def noise() -> list[str]:
    """Compare convergence under synthetic noise (Fig. 2)."""
    found = analysis.paired(*(ledger.of("traditional", study=study) for study in NOISES.values()))
    if not found[0]:
        return NOT_YET
    grid = list(range(1, 101))
    drawn = []
    for label, rows in zip(NOISES, found, strict=True):
        y, low, high = analysis.band(analysis.curve(rows, grid), 0.99)
        drawn.append(Curve(label=label, x=grid, y=y, low=low, high=high))
    axes = Axes(
        title=f"Best config so far, by the truth: {len(found[0])} runs each, 99 % bands",
        x="samples",
        y="% of the optimum",
        x_range=(0, 100),
        y_range=(30, 100),
    )
    lines = [
        "| noise | after 100 samples, % of optimum | samples of the noiseless tuner to there | slower by |",
        "|---|---|---|---|",
    ]
    for label, rows in zip(NOISES, found, strict=True):
        end = analysis.mean([float(s) for s in analysis.curve(rows, grid)[:, -1]])
        ratio = analysis.speed(found[0], rows, grid, 0.99)
        cells = f"{end.words(scale=100)} | {100 / max(ratio.value, 1e-9):.0f} | {ratio.words(2)} (99 %)"
        lines.append(f"| {label} | {cells if rows is not found[0] else f'{end.words(scale=100)} | | '} |")
    return [*lines, "", *figure("noise", drawing.curves(axes, drawn), "Convergence under 0, 5 and 10 % noise")]


def dots(name: str, title: str, found: dict[str, Sequence[Row]]) -> list[str]:
    """Draw a dot per run: the worst of ten new nodes, red where they disagree."""
    rows = [
        (n, [(100 * float(analysis.deployed(r).min()), analysis.is_torn(r)) for r in own]) for n, own in found.items()
    ]
    axes = Axes(title=title, x="worst of ten new nodes, % of the optimum", y="", x_range=(0, 110), y_range=(0, 1))
    return figure(name, drawing.dots(axes, rows), title)


def traditional() -> list[str]:
    """Compare with one sample per config at equal time and at equal cost (Fig. 11, 16)."""
    found = {name: ledger.of(name) for name in ("tuna", "traditional", "traditional-equal-cost")}
    if not found["tuna"] or not found["traditional"]:
        return NOT_YET
    title = "What a run ships, on its worst new node; red: the new nodes disagree by over 30 %"
    shown = {name: list(runs.values()) for name, runs in found.items() if runs}
    return [*tables.standing(found, "tuna"), "", *dots("traditional", title, shown)]


def naive() -> list[str]:
    """Compare with every config on every node (Fig. 17)."""
    tuna, other = analysis.paired(ledger.of("tuna"), ledger.of("naive"))
    if not tuna:
        return NOT_YET
    grid = list(range(10, 501, 5))
    drawn = [_band(name, rows, grid) for name, rows in (("tuna", tuna), ("naive", other))]
    axes = Axes(
        title=f"What would be shipped, by the truth: {len(tuna)} runs each, 95 % bands",
        x="samples",
        y="% of the optimum",
        x_range=(0, 500),
        y_range=(30, 100),
    )
    ratio = analysis.speed(tuna, other, grid)
    found = {name: ledger.of(name) for name in ("tuna", "naive")}
    return [
        f"`tuna` reaches what `naive` ends with {_after(ratio)}",
        "",
        *tables.standing(found, "tuna"),
        "",
        *figure("naive", drawing.curves(axes, drawn), "Convergence of tuna and naive distributed sampling"),
    ]


def _band(name: str, rows: Sequence[Row], grid: Sequence[float]) -> Curve:
    y, low, high = analysis.band(analysis.curve(rows, grid), 0.95)
    return Curve(label=name, x=grid, y=y, low=low, high=high)


def _after(ratio: analysis.Estimate) -> str:
    """Return after how many samples something is reached; a lower end of 0 says that some resamples never do."""
    when = f"after {500 / ratio.value:.0f} of 500 samples" if ratio.value else "not within 500 samples"
    return f"{when}: {ratio.words(2)} times as fast (0 is never)."


def second_optimizer() -> list[str]:
    """Compare with a Gaussian process as optimizer (Fig. 18)."""
    found = {name: ledger.of(name, study="second-optimizer") for name in ("tuna", "traditional")}
    return [*tables.standing(found, "tuna"), ""] if found["tuna"] and found["traditional"] else NOT_YET


def without_adjuster() -> list[str]:
    """Leave the noise adjuster out (Fig. 19)."""
    tuna, other = analysis.paired(ledger.of("tuna"), ledger.of("tuna-no-adjuster"))
    if not tuna:
        return NOT_YET
    ratio = analysis.speed(tuna, other, list(range(10, 501, 5)))
    found = {name: ledger.of(name) for name in ("tuna", "tuna-no-adjuster", "tuna-cross-validated")}
    return [
        f"With the adjuster `tuna` reaches what it ends with without {_after(ratio)}",
        "",
        *tables.standing(found, "tuna"),
        "",
    ]


def without_detector() -> list[str]:
    """Leave the outlier detector out (Fig. 20)."""
    found = {name: ledger.of(name) for name in ("tuna", "tuna-no-detector")}
    if not found["tuna-no-detector"]:
        return NOT_YET
    title = "With and without the detector, on the worst new node; red: the new nodes disagree by over 30 %"
    shown = {name: list(runs.values()) for name, runs in found.items()}
    return [*tables.standing(found, "tuna"), "", *dots("detector", title, shown)]


def transfer() -> list[str]:
    """Count unstable choices of single-node tuning (§3.2.1, Fig. 5)."""
    rows = ledger.of("traditional", study="transfer")
    systems = [[r for n, r in rows.items() if (n - FIRST) // 30 == s] for s in range(SYSTEMS)]
    whole = [own for own in systems if len(own) == 30]
    if not whole:
        return NOT_YET
    torn = [sum(analysis.is_torn(r) for r in own) for own in whole]
    unstable = [sum(r["is_unstable"] for r in own) for own in whole]
    worst = [100 * (1 - float(analysis.deployed(r).min() / analysis.deployed(r).max())) for own in whole for r in own]
    cov = [100 * tables.deviation(r) for own in whole for r in own]
    return [
        f"Of 30 runs, in {len(whole)} systems: {np.mean(unstable):.1f} ship an unstable config ({min(unstable)} to "
        f"{max(unstable)}), and of {np.mean(torn):.1f} ({min(torn)} to {max(torn)}) the ten new nodes disagree by over "
        f"30 %. The largest loss from the best to the worst new node is {max(worst):.0f} %, the largest coefficient of "
        f"variation {max(cov):.0f} %.",
        "",
    ]


def recorded() -> list[str]:
    """Show relative ranges and chances of detection of recorded runs (Fig. 8, 9)."""
    if not RECORDED.exists():
        return NOT_YET
    found = json.loads(RECORDED.read_text())
    counts, width = found["histogram"]["counts"], found["histogram"]["width"]
    ranges = Axes(
        title=f"Relative ranges of {found['configs']} configs on ten nodes",
        x="relative range; the last bar is all above",
        y="configs",
        x_range=(0, 1.5),
        y_range=(0, 1.1 * max(counts)),
        marks=((found["threshold"], "threshold"),),
    )
    nodes = [int(n) for n in found["one_unlimited"]]
    kinds = {
        "one config, these nodes": found["one"],
        "all of a run, these nodes": found["all_of_run"],
        "one config, any fleet": found["one_unlimited"],
        "all of a run, any fleet": found["all_unlimited"],
    }
    drawn = [
        Curve(label=label, x=[int(n) for n in chances], y=[100 * p for p in chances.values()], dash="these" in label)
        for label, chances in kinds.items()
    ]
    chance = Axes(
        title="Chance that unstable configs are found", x="nodes", y="%", x_range=(2, max(nodes)), y_range=(0, 100)
    )
    by = found["unstable_by_threshold"]
    return [
        f"{found['configs']} configs on ten nodes, {found['unstable']} unstable in {found['runs']} runs; an early "
        f"verdict would have saved {found['freed']} of {found['samples']} samples.",
        "",
        "| relative range over | " + " | ".join(by) + " |",
        "|---|" + "---|" * len(by),
        "| share of configs % | " + " | ".join(f"{100 * share:.1f}" for share in by.values()) + " |",
        "",
        "| chance % to find | " + " | ".join(f"{n} nodes" for n in SHOWN) + " |",
        "|---|" + "---|" * len(SHOWN),
        *(
            f"| {label} | " + " | ".join(f"{100 * c[str(n)]:.0f}" if str(n) in c else "" for n in SHOWN) + " |"
            for label, c in kinds.items()
        ),
        "",
        *figure("ranges", drawing.bars(ranges, counts, width), "Histogram of relative ranges"),
        *figure("detection", drawing.curves(chance, drawn), "Chance of detection by number of nodes"),
    ]


def early() -> list[str]:
    """Compare ladders on recorded runs: samples until the choice, and how good it is."""
    if not EARLY.exists():
        return NOT_YET
    found = json.loads(EARLY.read_text())
    lines = [
        "| ladder | samples per config | same choice as on ten nodes % | its score, % of that choice's |",
        "|---|---|---|---|",
    ]
    for name, rows in found.items():
        samples, same, worth = (analysis.mean(column) for column in zip(*rows, strict=True))
        lines.append(f"| {name} | {samples.words()} | {same.words(0, scale=100)} | {worth.words(scale=100)} |")
    return [*lines, ""]


def ladder() -> list[str]:
    """Compare ladders, surrogates and the veto with the simple baselines."""
    halving = ("tuna", "tuna-veto", "stable-forest", "asynchronous", "asynchronous-veto")
    names = (*halving, "racing", "racing-veto", "ocba", "ocba-veto", "rerun", "tpe-repeats")
    found = {name: ledger.of(name) for name in names}
    if not found["asynchronous-veto"]:
        return NOT_YET
    grid = list(range(10, 501, 5))
    shown = {n: list(found[n].values()) for n in ("tuna", "asynchronous", "rerun", "tpe-repeats") if found[n]}
    axes = Axes(
        title="What would be shipped, by the truth; 95 % bands",
        x="samples",
        y="% of the optimum",
        x_range=(0, 500),
        y_range=(30, 100),
    )
    return [
        *tables.race(found, "asynchronous-veto"),
        "",
        *tables.standing(found, "tuna"),
        "",
        *figure(
            "ladder", drawing.curves(axes, [_band(n, r, grid) for n, r in shown.items()]), "Convergence of ladders"
        ),
    ]
