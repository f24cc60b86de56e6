"""Drawing: curves with bands, bars and dots as SVG, without a library."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

WIDTH, HEIGHT = 860, 320
LEFT, RIGHT, TOP, FLOOR = 70, 620, 44, 262
GREEN, RED, BLUE, ORANGE, PURPLE, GREY = "#1b7837", "#b2182b", "#2166ac", "#e08214", "#762a83", "#777777"
COLOURS = (RED, GREEN, BLUE, ORANGE, PURPLE, GREY)


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A line, perhaps with a band around it."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    dash: bool = False


@dataclass(frozen=True, kw_only=True)
class Axes:
    """The ranges of a picture, and the words at its sides."""

    title: str
    x: str
    y: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    marks: Sequence[tuple[float, str]] = field(default_factory=tuple)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point lies on the page; outside of the ranges on their border."""
        (x0, x1), (y0, y1) = self.x_range, self.y_range
        across, up = (min(1.0, max(0.0, (v - a) / (b - a))) for v, a, b in ((x, x0, x1), (y, y0, y1)))
        return LEFT + (RIGHT - LEFT) * across, FLOOR - (FLOOR - TOP) * up


def text(x: float, y: float, words: str, *, anchor: str = "middle", colour: str = "#222222", size: int = 12) -> str:
    """Return a label."""
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{words}</text>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str = GREY, extra: str = "") -> str:
    """Return a line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" {extra}/>'


def ticks(low: float, high: float) -> list[float]:
    """Return four to eight round numbers in a range."""
    step = 10.0 ** math.floor(math.log10((high - low) / 4))
    step = next(s for s in (step, 2 * step, 5 * step, 10 * step) if (high - low) / s <= 8)
    return [step * i for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def frame(axes: Axes) -> Iterator[str]:
    """Yield title, axes, ticks and marks."""
    yield text(LEFT, 22, axes.title, anchor="start", size=14)
    yield line(LEFT, FLOOR, RIGHT, FLOOR)
    yield line(LEFT, TOP, LEFT, FLOOR)
    for value in ticks(*axes.x_range):
        x, _ = axes.at(value, 0)
        yield line(x, FLOOR, x, FLOOR + 4)
        yield text(x, FLOOR + 18, f"{value:g}", size=11)
    for value in ticks(*axes.y_range):
        _, y = axes.at(0, value)
        yield line(LEFT, y, RIGHT, y, "#e5e5e5")
        yield text(LEFT - 8, y + 4, f"{value:g}", anchor="end", size=11)
    yield text((LEFT + RIGHT) / 2, FLOOR + 40, axes.x)
    yield text(LEFT, TOP - 6, axes.y, anchor="start", size=11, colour=GREY)
    for place, words in axes.marks:
        x, _ = axes.at(place, 0)
        yield line(x, TOP, x, FLOOR, RED, 'stroke-dasharray="5 4"')
        yield text(x + 4, TOP + 10, words, anchor="start", size=11, colour=RED)


def curves(axes: Axes, found: Sequence[Curve]) -> str:
    """Return lines with their bands, and a legend."""
    parts = list(frame(axes))
    for i, curve in enumerate(found):
        colour = COLOURS[i % len(COLOURS)]
        if curve.low:
            edge = [*zip(curve.x, curve.high, strict=True), *reversed(list(zip(curve.x, curve.low, strict=True)))]
            parts.append(f'<polygon points="{_points(axes, edge)}" fill="{colour}" fill-opacity="0.15"/>')
        dash = 'stroke-dasharray="5 4"' if curve.dash else ""
        path = _points(axes, list(zip(curve.x, curve.y, strict=True)))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" {dash}/>')
        parts.append(line(RIGHT + 14, TOP + 20 * i, RIGHT + 34, TOP + 20 * i, colour, f'stroke-width="3" {dash}'))
        parts.append(text(RIGHT + 40, TOP + 4 + 20 * i, curve.label, anchor="start"))
    return page(parts)


def _points(axes: Axes, found: Sequence[tuple[float, float]]) -> str:
    places = [axes.at(x, y) for x, y in found]
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def bars(axes: Axes, counts: Sequence[float], width: float) -> str:
    """Return a histogram; what is right of the range is counted in its last bar."""
    parts = list(frame(axes))
    most = round(axes.x_range[1] / width)
    shown = [*counts[: most - 1], sum(counts[most - 1 :])]
    for i, count in enumerate(shown):
        (x0, y), (x1, _) = axes.at(i * width, count), axes.at((i + 1) * width, count)
        parts.append(
            f'<rect x="{x0 + 1:.1f}" y="{y:.1f}" width="{x1 - x0 - 2:.1f}" height="{FLOOR - y:.1f}" fill="{BLUE}"/>'
        )
    return page(parts)


def dots(axes: Axes, rows: Sequence[tuple[str, Sequence[tuple[float, bool]]]]) -> str:
    """Return a row of dots per label; those that are marked are red."""
    top = TOP + 10
    parts = [text(LEFT, 22, axes.title, anchor="start", size=14), text((LEFT + RIGHT) / 2, FLOOR + 40, axes.x)]
    for value in ticks(*axes.x_range):
        x, _ = axes.at(value, 0)
        parts += [line(x, TOP, x, FLOOR, "#e5e5e5"), text(x, FLOOR + 18, f"{value:g}", size=11)]
    for i, (label, found) in enumerate(rows):
        y = top + (FLOOR - top) * (i + 0.5) / len(rows)
        parts.append(text(RIGHT + 14, y + 4, label, anchor="start"))
        for j, (value, is_marked) in enumerate(found):
            x, _ = axes.at(value, 0)
            parts.append(_dot(x, y + 7 * math.sin(2.4 * j), RED if is_marked else GREEN))
    return page(parts)


def _dot(x: float, y: float, colour: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}" fill-opacity="0.5"/>'


def page(parts: Sequence[str]) -> str:
    """Return the whole picture."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">'
    body = "\n".join(parts)
    return f'{head}\n<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n{body}\n</svg>\n'
