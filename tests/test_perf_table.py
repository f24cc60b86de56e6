"""The table of docs/optimizers.md is made of what `make perf` measured, and says which musts are kept."""

import importlib.util
from pathlib import Path

from albacore.optimizers import KINDS

ROOT = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location("perf_table", ROOT / "perf" / "table.py")
assert spec is not None and spec.loader is not None
table = importlib.util.module_from_spec(spec)
spec.loader.exec_module(table)


def figures(gp_s: float):
    """Return figures of two optimizers, `gp` with so many seconds per ask."""
    found = {}
    for name, seconds, cost in (("gp", gp_s, 0.2), ("random", 0.003, 0.3)):
        for n in table.HISTORIES:
            found[f"suggest {name}, {n} scores, ask again"] = {"value": seconds, "unit": "s"}
        found[f"suggest {name}, 300 scores, ask"] = {"value": 2 * seconds, "unit": "s"}
        found[f"suggest {name}, 300 scores, peak RSS"] = {"value": 40, "unit": "MB"}
        for column in table.COLUMNS:
            found[f"quality {name}, {column} trials"] = {"value": cost, "unit": "cost"}
            found[f"quality {name}, {column} trials, ±"] = {"value": 0.05, "unit": "cost"}
    return found


def test_a_must_is_kept_or_missed():
    """The row says so, and so does the list of those that miss theirs."""
    rows = table.table(figures(0.2)).splitlines()
    assert rows[2] == (
        "| `gp` | 0.20 ± 0.05 | 0.20 ± 0.05 | 0.20 ± 0.05 | 0.20 ± 0.05 "
        "| 200 ms | 200 ms | 200 ms | 200 ms | 3 s: kept | 400 ms | 40 MB |"
    )
    assert table.missed(figures(0.2)) == []
    assert "**missed**" in table.table(figures(3.1)).splitlines()[2]
    assert table.missed(figures(3.1)) == ["gp"]


def test_every_optimizer_that_the_issue_gives_a_must_exists():
    """And the page has a row for each kind."""
    assert set(table.MUSTS_S) <= set(KINDS)
    page = (ROOT / "docs" / "optimizers.md").read_text()
    made = page.split(table.BEGIN)[1].split(table.END)[0]
    assert {line.split("`")[1] for line in made.splitlines() if line.startswith("| `")} == set(KINDS)


def test_the_table_is_written_between_the_marks(tmp_path, monkeypatch):
    """What stands around them stays."""
    import json

    results, page = tmp_path / "results.json", tmp_path / "page.md"
    results.write_text(json.dumps(figures(0.2)))
    page.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
    monkeypatch.setattr(table, "RESULTS", results)
    table.main([str(page)])
    assert page.read_text() == f"before\n{table.BEGIN}\n{table.table(figures(0.2))}\n{table.END}\nafter\n"
