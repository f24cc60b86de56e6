"""One table of all optimizers, out of perf/results.json: how good, how quick, how large, and what they must keep.

    python perf/table.py                     print it
    python perf/table.py docs/optimizers.md  write it between the page's two marks

A must is kept when the second ask at 300 scores of 100 knobs, libraries loaded, is no slower.
"""

import json
import sys
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().with_name("results.json")
BEGIN, END = "<!-- made by perf/table.py -->", "<!-- end of what perf/table.py makes -->"
COLUMNS = ("few 15", "few 60", "many 15", "many 60")
HISTORIES = (10, 100, 300, 1000)
QUICK, FOREST, MODEL = 0.05, 2.0, 3.0
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
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def missed(figures: Figures) -> list[str]:
    """Return the optimizers that miss their must."""
    return [name for name, must in MUSTS_S.items() if _value(figures, _again(name, 300), 0.0) > must]


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
    """Return seconds with two digits, below one as ms."""
    return f"{seconds:.2g} s" if seconds >= 0.9995 else f"{float(f'{1000 * seconds:.2g}'):g} ms"


def _value(figures: Figures, key: str, otherwise: float) -> float:
    return float(figures[key]["value"]) if key in figures else otherwise


def main(pages: list[str]) -> None:
    """Print the table, or write it into a page."""
    figures = json.loads(RESULTS.read_text())
    for page in map(Path, pages):
        before, rest = page.read_text().split(BEGIN)
        page.write_text(f"{before}{BEGIN}\n{table(figures)}\n{END}{rest.split(END)[1]}")
    print(table(figures) if not pages else "", end="\n" if not pages else "")
    for name in missed(figures):
        print(f"{name} misses its must of {_shown(MUSTS_S[name])} at 300 scores", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
