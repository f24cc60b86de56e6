"""Draw the plan flip as SVG: what each node measured, and how often so many nodes see that something is wrong.

PYTHONPATH=include python experiments/plan_flip/figure.py experiments/plan_flip/samples.json docs/figures/plan-flip.svg
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from judge import DEFAULT, TIPPING, Recorded, bad_nodes, detected

METRIC = "txn_per_cpu_s"
GOOD, BAD, GREY = "#1b7837", "#b2182b", "#777777"
WIDTH, HEIGHT = 900, 270
LEFT, SPLIT, RIGHT, TOP, FLOOR = 110, 520, 870, 56, 206


def text(x: float, y: float, words: str, *, anchor: str = "middle", colour: str = "#222222", size: int = 12) -> str:
    """Return a label."""
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{words}</text>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str = GREY, width: float = 1) -> str:
    """Return a line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'


def dot(x: float, y: float, colour: str) -> str:
    """Return a node's dot."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{colour}" fill-opacity="0.6" stroke="{colour}"/>'


def strips(recorded: Recorded) -> Iterator[str]:
    """Yield both configs as strips over their nodes; the colour is the plan's."""
    bad = bad_nodes(recorded)
    top = 1.05 * max(max(recorded.values(name, METRIC).values()) for name in (DEFAULT, TIPPING))
    yield text((LEFT + SPLIT) / 2 - 20, 24, "What each of ten nodes measured, a dot per node", size=13)
    for row, name in enumerate((DEFAULT, TIPPING)):
        y = TOP + 40 + row * 70
        yield text(LEFT - 16, y + 4, name, anchor="end")
        for node, value in recorded.values(name, METRIC).items():
            is_bad = name == TIPPING and node in bad
            yield dot(LEFT + (SPLIT - 60 - LEFT) * value / top, y, BAD if is_bad else GOOD)
    yield line(LEFT, FLOOR, SPLIT - 60, FLOOR)
    for tick in range(0, int(top) + 1, 250):
        x = LEFT + (SPLIT - 60 - LEFT) * tick / top
        yield line(x, FLOOR, x, FLOOR + 4)
        yield text(x, FLOOR + 18, str(tick), size=11)
    yield text((LEFT + SPLIT - 60) / 2, FLOOR + 38, "transactions per second of processor time")
    yield text((LEFT + SPLIT - 60) / 2, FLOOR + 56, "red: the join reads the whole table", colour=BAD, size=11)


def chances(recorded: Recorded) -> Iterator[str]:
    """Yield the share of all sets of k nodes whose range is over the threshold, for both configs."""
    yield text((SPLIT + RIGHT) / 2, 24, "How often k nodes call it unstable", size=13)
    for name, colour in ((DEFAULT, GREY), (TIPPING, BAD)):
        values = list(recorded.values(name, METRIC).values())
        points = [(k, *detected(values, k)) for k in range(1, len(values) + 1)]
        yield from _curve([(k, hit / sets) for k, hit, sets in points], name, colour)
    yield line(SPLIT, FLOOR, RIGHT, FLOOR)
    yield line(SPLIT, TOP, SPLIT, FLOOR)
    for share in (0, 0.5, 1):
        yield text(SPLIT - 8, _height(share) + 4, f"{share:.0%}", anchor="end", size=11)
    for k in (1, 3, 5, 10):
        yield text(_place(k), FLOOR + 18, str(k), size=11)
    yield text((SPLIT + RIGHT) / 2, FLOOR + 38, "nodes measured")


def _place(k: int) -> float:
    return SPLIT + 14 + (RIGHT - SPLIT - 40) * (k - 1) / 9


def _height(share: float) -> float:
    return FLOOR - (FLOOR - TOP) * share


def _curve(points: Sequence[tuple[int, float]], name: str, colour: str) -> Iterator[str]:
    path = " ".join(f"{_place(k):.1f},{_height(share):.1f}" for k, share in points)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    yield from (dot(_place(k), _height(share), colour).replace('r="6"', 'r="3.5"') for k, share in points)
    k, share = points[2]
    below = 14 if share > 0.5 else -10
    yield text(_place(k) + 10, _height(share) + below, name, anchor="start", colour=colour)


def main(source: str, target: str) -> None:
    """Draw the figure."""
    recorded = Recorded.read(Path(source))
    parts = "\n".join([*strips(recorded), *chances(recorded)])
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">'
    Path(target).write_text(f'{head}\n<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n{parts}\n</svg>\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
