"""Write the tables of the results into the docs, each between its two marks, and their repeats.

PYTHONPATH=include python experiments/optimizers/page.py
"""

import importlib
import json
import re
import sys

import contest

HERE = contest.HERE
PAGES = (
    contest.ROOT / "docs" / "experiments" / "optimizers.md",
    contest.ROOT / "docs" / "decisions" / "metis-exploits-its-process.md",
)
MARKS = re.compile(r"(<!-- table: (\w+)\.(\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
REPEATS = re.compile(r"`(\w+)\.py`: (\d+) repeats")


def filled(page: str) -> str:
    """Return a page with its tables made anew, and the number of repeats that they are of."""
    page = REPEATS.sub(lambda found: f"`{found[1]}.py`: {repeats(found[1]) or found[2]} repeats", page)
    return MARKS.sub(lambda found: f"{found[1]}{table(found[2], found[3])}\n{found[4]}", page)


def repeats(experiment: str) -> int:
    """Return how often an experiment was computed; 0 while it has no results."""
    results = HERE / f"{experiment}.json"
    return max(map(len, json.loads(results.read_text()).values())) if results.exists() else 0


def table(experiment: str, name: str) -> str:
    """Return a table of an experiment; nothing while it has no results."""
    results = HERE / f"{experiment}.json"
    if not results.exists():
        return "Not computed yet."
    return getattr(importlib.import_module(experiment), name)(json.loads(results.read_text()))


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    for page in PAGES:
        page.write_text(filled(page.read_text()))
