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


def judged(processor_ms: float):
    """Return figures of one adjuster and of one optimizer's memory."""
    parts = {"detect": 0.06, "adjust": 900.0, "aggregate": 0.001, "processor": processor_ms, "first": 3000, "read": 50}
    name = "judge forest, 500 samples x 150 metrics"
    found = {f"{name}, {part}": {"value": value, "unit": "ms"} for part, value in parts.items()}
    peaks = {f"ask gp and judge, 500 samples, {n} lane(s), peak RSS": {"value": 250 + n, "unit": "MB"} for n in (1, 12)}
    return found | peaks


def test_a_judgement_has_its_must():
    """Seconds of a processor for detector, adjuster and aggregate together."""
    assert table.judging(judged(900)).splitlines()[2] == (
        "| `forest` | 0.06 ms | 900 ms | < 0.01 ms | 900 ms | 1 s: kept | 3 s | 50 ms |"
    )
    assert "**missed**" in table.judging(judged(1100))
    assert table.missed(judged(1100)) == ["forest"]
    assert table.missed(judged(900)) == []


def test_memory_has_a_column_per_number_of_lanes():
    """And a row per optimizer."""
    assert table.memory(judged(1)).splitlines() == [
        "| ask and judge with | 1 lane(s) | 12 lane(s) |",
        "| --- | --- | --- |",
        "| `gp` | 251 MB | 262 MB |",
    ]


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
    found = figures(0.2) | judged(900)
    results.write_text(json.dumps(found))
    made = {table.MEMORY_BEGIN: table.memory(found), table.JUDGING_BEGIN: table.judging(found)}
    page.write_text("".join(f"before\n{begin}\nold\n{table.END}\nafter\n" for begin in made))
    monkeypatch.setattr(table, "RESULTS", results)
    table.main([str(page)])
    assert page.read_text() == "".join(
        f"before\n{begin}\n{lines}\n{table.END}\nafter\n" for begin, lines in made.items()
    )
