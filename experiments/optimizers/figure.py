"""Draw what the experiments found as SVG: distance to the best by trials, and improvement of every method.

PYTHONPATH=include python experiments/optimizers/figure.py docs/figures/optimizers.svg
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import contest
import intervals
import metis
import numpy as np

HERE = contest.HERE
COLOURS = {"metis": "#b2182b", "ituned": "#1b7837", "cherrypick": "#2166ac", "tpe_20": "#e08214", "random": "#777777"}
WIDTH, HEIGHT, TOP, FLOOR = 900, 360, 50, 310
LEFT, SPLIT, NAMES, RIGHT = 60, 400, 690, 880
HIGHEST = 50.0
"""Per cent above the best that the left panel ends at."""


def text(x: float, y: float, words: str, *, anchor: str = "middle", colour: str = "#222222", size: int = 12) -> str:
    """Return a label."""
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{words}</text>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str = "#777777", width: float = 1) -> str:
    """Return a line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'


def paths() -> Iterator[str]:
    """Yield the mean distance to the best known config of the Zipf trace after each number of trials."""
    results = json.loads((HERE / "metis.json").read_text())
    least = metis.least(results, "kvcache-zipf")
    yield text((LEFT + SPLIT) / 2, 20, "kvcache-zipf, clean: per cent above the best known", size=13)
    yield text((LEFT + SPLIT) / 2, FLOOR + 36, "trials")
    for share in range(0, int(HIGHEST) + 1, 10):
        yield line(LEFT, _height(share), SPLIT, _height(share), "#dddddd")
        yield text(LEFT - 8, _height(share) + 4, str(share), anchor="end", size=11)
    for number in metis.SHOWN:
        yield text(_place(number), FLOOR + 18, str(number), size=11)
    for row, (name, colour) in enumerate(COLOURS.items()):
        means = [
            100 * (metis.costs(results, "kvcache-zipf", "clean", (name,), at=at).mean() / least - 1)
            for at in range(len(metis.SHOWN))
        ]
        points = " ".join(f"{_place(n):.1f},{_height(m):.1f}" for n, m in zip(metis.SHOWN, means, strict=True))
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        yield text(SPLIT - 80, TOP + 14 + 16 * row, name, anchor="start", colour=colour)


def _place(trials: float) -> float:
    return LEFT + 10 + (SPLIT - LEFT - 20) * (trials - 5) / 20


def _height(share: float) -> float:
    return FLOOR - (FLOOR - TOP) * min(share, HIGHEST) / HIGHEST


def bars() -> Iterator[str]:
    """Yield the improvement of every method after 15 trials of the services, with its interval."""
    results = json.loads((HERE / "microservices.json").read_text())
    found = {
        name.split(" | ")[2]: intervals.interval(np.array(rows)[:, -2])
        for name, rows in results.items()
        if "services | 15 |" in name
    }
    order = sorted(found, key=lambda name: -found[name][0])
    top = 1.05 * max(high for _, _, high in found.values())
    yield text((SPLIT + RIGHT) / 2 + 60, 20, "services: improvement after 15 trials, per cent", size=13)
    for row, name in enumerate(order):
        mean, low, high = found[name]
        y, wide = TOP + (FLOOR - TOP) * (row + 0.5) / len(order), (RIGHT - NAMES) / top
        yield text(NAMES - 8, y + 4, name, anchor="end", size=11)
        yield f'<rect x="{NAMES}" y="{y - 5:.1f}" width="{wide * mean:.1f}" height="10" fill="#92c5de"/>'
        yield line(NAMES + wide * low, y, NAMES + wide * high, y, "#222222", 1.5)
    for share in range(0, int(top) + 1, 5):
        yield text(NAMES + (RIGHT - NAMES) * share / top, FLOOR + 18, str(share), size=11)


def main(target: str) -> None:
    """Draw the figure."""
    parts = "\n".join([*paths(), *bars()])
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">'
    Path(target).write_text(f'{head}\n<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n{parts}\n</svg>\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
