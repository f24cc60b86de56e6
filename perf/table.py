"""Tables out of perf/results.json: all optimizers, how good, how quick, how large; what a judgement costs; the memory.

    python perf/table.py                                                           print them
    python perf/table.py docs/optimizers.md docs/decisions/iteration-cost.md       write them between the pages' marks

A must is kept when the second ask at 300 scores of 100 knobs, libraries loaded, is no slower; and when detector,
adjuster and aggregate together, libraries loaded, take no more seconds of a processor.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().with_name("results.json")
BEGIN, END = "<!-- made by perf/table.py -->", "<!-- end of what perf/table.py makes -->"
JUDGING_BEGIN, MEMORY_BEGIN = "<!-- judging, made by perf/table.py -->", "<!-- memory, made by perf/table.py -->"
COLUMNS = ("few 15", "few 60", "many 15", "many 60")
HISTORIES = (10, 100, 300, 1000)
QUICK, FOREST, MODEL = 0.05, 2.0, 3.0
JUDGED_S = 1.0
"""Of a processor, for detector, adjuster and aggregate of one trial, whatever the adjuster."""
MUSTS_S = {
    **dict.fromkeys(("random", "latin_hypercube", "bestconfig", "annealing", "particle_swarm", "genetic"), QUICK),
    "dynamically_dimensioned_search": QUICK,
    "smac": FOREST,
    **dict.fromkeys(("gp", "metis", "tpe", "boosted_trees"), MODEL),
}
Figures = dict[str, dict[str, Any]]


def table(figures: Figures) -> str:
    """Return the table as Markdown, what is best after 60 trials of many knobs first."""
    names = [key.removeprefix("suggest ").split(",")[0] for key in figures if key.endswith(", 300 scores, ask again")]
    quality = ["few, 15 trials", "few, 60", "many, 15", "many, 60"]
    head = ["optimizer", *quality, *(f"ask at {n:,}" for n in HISTORIES), "must at 300", "first ask at 300", "memory"]
    names.sort(key=lambda name: _value(figures, f"quality {name}, many 60 trials", 9.0))
    rows = [[f"`{name}`", *_quality(figures, name), *_cost(figures, name)] for name in names]
    return _markdown([head, ["---"] * len(head), *rows])


def judging(figures: Figures) -> str:
    """Return adjuster by adjuster what a judgement costs, as Markdown."""
    head = [
        "adjuster",
        "detect",
        "adjust",
        "aggregate",
        "processor, all three",
        "must",
        "first of a process",
        "reading the log",
    ]
    rows = []
    for name in _adjusters(figures):
        keys = ("detect", "adjust", "aggregate", "processor")
        cells = [_shown(_judged(figures, name, key)) for key in keys]
        verdict = "kept" if _judged(figures, name, "processor") <= JUDGED_S else "**missed**"
        rest = [_shown(_judged(figures, name, key)) for key in ("first", "read")]
        rows.append([f"`{name}`", *cells, f"{_shown(JUDGED_S)}: {verdict}", *rest])
    return _markdown([head, ["---"] * len(head), *rows])


def memory(figures: Figures) -> str:
    """Return optimizer by optimizer the peak of a process that asks and judges, by the number of lanes, as Markdown."""
    found: dict[str, dict[str, float]] = {}
    for key, figure in figures.items():
        if key.startswith("ask ") and key.endswith("lane(s), peak RSS"):
            found.setdefault(key.split()[1], {})[key.split(", ")[-2]] = figure["value"]
    head = ["ask and judge with", *next(iter(found.values()), {})]
    rows = [[f"`{name}`", *(f"{value:.0f} MB" for value in by_lanes.values())] for name, by_lanes in found.items()]
    return _markdown([head, ["---"] * len(head), *rows])


def missed(figures: Figures) -> list[str]:
    """Return the optimizers and the adjusters that miss their must."""
    slow = [name for name in _adjusters(figures) if _judged(figures, name, "processor") > JUDGED_S]
    return [*(name for name, must in MUSTS_S.items() if _value(figures, _again(name, 300), 0.0) > must), *slow]


def _adjusters(figures: Figures) -> list[str]:
    """Return the adjusters that were measured, in the order of their seconds."""
    names = [key.split(",")[0].removeprefix("judge ") for key in figures if key.startswith("judge ")]
    return sorted(dict.fromkeys(names), key=lambda name: _judged(figures, name, "processor"))


def _judged(figures: Figures, adjuster: str, part: str) -> float:
    """Return the seconds of a part of a judgement."""
    return next(
        (
            f["value"] / 1000
            for k, f in figures.items()
            if k.startswith(f"judge {adjuster},") and k.endswith(f", {part}")
        ),
        0.0,
    )


def _markdown(rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _quality(figures: Figures, name: str) -> list[str]:
    found = []
    for column in COLUMNS:
        key = f"quality {name}, {column} trials"
        has = key in figures
        found.append(f"{figures[key]['value']:.2f} ± {figures[f'{key}, ±']['value']:.2f}" if has else "")
    return found


def _cost(figures: Figures, name: str) -> list[str]:
    asks = [_shown(_value(figures, _again(name, n), 0.0)) for n in HISTORIES]
    must = MUSTS_S.get(name)
    is_kept = must is None or _value(figures, _again(name, 300), 0.0) <= must
    verdict = "" if must is None else f"{_shown(must)}: {'kept' if is_kept else '**missed**'}"
    first = _shown(_value(figures, f"suggest {name}, 300 scores, ask", 0.0))
    return [*asks, verdict, first, f"{_value(figures, f'suggest {name}, 300 scores, peak RSS', 0.0):.0f} MB"]


def _again(name: str, n: int) -> str:
    return f"suggest {name}, {n} scores, ask again"


def _shown(seconds: float) -> str:
    """Return seconds with two digits, below one as ms, down to a hundredth of one."""
    if seconds < 5e-6:
        return "< 0.01 ms"
    return f"{seconds:.2g} s" if seconds >= 0.9995 else f"{float(f'{1000 * seconds:.2g}'):g} ms"


def _value(figures: Figures, key: str, otherwise: float) -> float:
    return float(figures[key]["value"]) if key in figures else otherwise


def main(pages: list[str]) -> None:
    """Print the tables, or write them into pages."""
    figures = json.loads(RESULTS.read_text())
    made = {BEGIN: table(figures), JUDGING_BEGIN: judging(figures), MEMORY_BEGIN: memory(figures)}
    for page in map(Path, pages):
        page.write_text(filled(page.read_text(), made))
    if not pages:
        print("\n\n".join(made.values()))
    for name in missed(figures):
        print(f"{name} misses its must of {_shown(MUSTS_S.get(name, JUDGED_S))}", file=sys.stderr)


def filled(page: str, made: Mapping[str, str]) -> str:
    """Return a page with what stands between its marks made anew."""
    for begin, lines in made.items():
        if begin in page:
            before, rest = page.split(begin)
            page = f"{before}{begin}\n{lines}\n{END}{rest.split(END, 1)[1]}"
    return page


if __name__ == "__main__":
    main(sys.argv[1:])
