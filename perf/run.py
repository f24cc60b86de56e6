"""Measure Albacore itself: every figure of perf/*.py as a table, and as perf/results.json.

A module here joins by a function `figures() -> {"name": {"value": number, "unit": text}}`. These are figures to read,
not tests: nothing fails because a machine is slow. `python perf/run.py suggest` measures one module only and keeps
the other figures of the file.
"""

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results.json"
Figures = dict[str, dict[str, Any]]


def modules(names: list[str]) -> list[Path]:
    """Return the files that have figures: the named ones, or all."""
    files = {path.stem: path for path in sorted(FOLDER.glob("*.py")) if path != Path(__file__).resolve()}
    unknown = [name for name in names if name not in files]
    if unknown:
        raise SystemExit(f"perf: expected some of {', '.join(files)}, got {unknown[0]!r}. Correct the name.")
    return [files[name] for name in names] or list(files.values())


def measured(path: Path) -> Figures:
    """Return the figures of one file; none for a file without `figures`."""
    spec = importlib.util.spec_from_file_location(f"perf_{path.stem}", path)
    if spec is None or spec.loader is None:
        return {}
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.figures() if hasattr(module, "figures") else {}


def table(figures: Figures) -> Table:
    """Return the figures for people."""
    found = Table("figure", "value", "unit", title="Albacore's own speed and memory")
    for name, figure in figures.items():
        found.add_row(name, f"{figure['value']:g}", figure["unit"])
    return found


def main(names: list[str]) -> None:
    """Measure, print, and write; figures measured before a fault are kept."""
    include = str(FOLDER.parent / "include")
    sys.path.insert(0, include)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [include, os.environ.get("PYTHONPATH")]))
    figures: Figures = json.loads(RESULTS.read_text()) if names and RESULTS.exists() else {}
    for path in modules(names):
        print(f"perf: {path.stem} …", file=sys.stderr, flush=True)
        figures |= measured(path)
        RESULTS.write_text(json.dumps(figures, indent=2) + "\n")
    Console().print(table(figures))


if __name__ == "__main__":
    main(sys.argv[1:])
