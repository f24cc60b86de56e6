"""Pieces: an experiment cut into what can be computed alone, so that it may be ended at any time and goes on there.

```
piece     one method on one function: a name, and what makes the figures of one repeat
state     folder with a JSON file per piece, written after every repeat; uncommitted
results   one JSON file per experiment, of all pieces, written when none is left; committed, what tables are made of;
          repeats that are in it are not computed again: take it away, and the state, to begin from scratch
```

    python experiments/optimizers/metis.py [--repeats 30] [--seconds 540] [--state DIR] [--results FILE] [--print]

Exit code 3: the seconds are over, the same command goes on. Repeat n has seed n. Everything but seconds comes out the
same again, which needs a fixed PYTHONHASHSEED (SMAC) and one thread (sums): the command starts itself anew with them.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FIXED = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
Results = dict[str, list[Any]]
UNFINISHED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What one piece is.

    Attributes:
        name: For people, and as the name of its file.
        make: Returns the figures of a repeat, as JSON data, by its seed.
        repeats: At most so many of the experiment's repeats.
    """

    name: str
    make: Callable[[int], Any]
    repeats: int = 1000


class OverError(Exception):
    """Say that the seconds are over."""


def compute(pieces: list[Piece], state: Path, known: Results, *, repeats: int, seconds: float) -> Results:
    """Return piece -> figures per repeat; what is known or in the state is not computed again.

    Raises:
        OverError: When the seconds were over before all was there.
    """
    begun, counts = time.monotonic(), {piece.name: min(piece.repeats, repeats) for piece in pieces}
    both = {piece.name: (_read(state / f"{_file(piece.name)}.json"), known.get(piece.name, [])) for piece in pieces}
    found = {name: max(rows, key=len)[: counts[name]] for name, rows in both.items()}
    before = sum(len(figures) for figures in found.values())
    total, done = sum(counts.values()), before
    for number in range(repeats):  # repeat by repeat, so that an unfinished experiment has some of all
        for piece in pieces:
            if number >= counts[piece.name] or len(found[piece.name]) > number:
                continue
            spent = time.monotonic() - begun
            if spent > seconds:
                raise OverError(f"{done} of {total} repeats of pieces are there")
            found[piece.name].append(piece.make(number))
            _write(state / f"{_file(piece.name)}.json", found[piece.name])
            done += 1
            _show(done, total, (time.monotonic() - begun) / (done - before), piece.name)
    return found


def _show(done: int, total: int, seconds_each: float, name: str) -> None:
    """Write how far it is to standard error."""
    left = (total - done) * seconds_each / 60
    print(f"{done:>6} of {total}, {left:5.1f} min left: {name}", file=sys.stderr, flush=True)


def _file(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)


def _read(path: Path) -> Any:
    """Return what is in a file of JSON, or an empty list."""
    return json.loads(path.read_text()) if path.exists() else []


def _write(path: Path, figures: Any) -> None:
    """Write JSON so that a killed process leaves the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(figures) + "\n")
    part.replace(path)


def written(results: Mapping[str, list[Any]], path: Path) -> None:
    """Write the results, a line per piece."""
    lines = [f" {json.dumps(name)}: {json.dumps(results[name])}" for name in sorted(results)]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def rounded(value: float) -> float:
    """Return a figure with six digits, as more are noise of the last bit."""
    return float(f"{value:.6g}")


def main(
    name: str,
    pieces: Callable[[], list[Piece]],
    tables: Callable[[Results], str],
    arguments: list[str],
    *,
    home: Path,
) -> int:
    """Compute what is missing, write the results, print the tables; return the exit code.

    Args:
        name: Of the experiment, its results and its state.
        pieces: What there is to compute; not asked with `--print`.
        tables: Makes the tables of the results.
        arguments: Those of the command line.
        home: The experiment's folder, for results and state.
    """
    if {key: os.environ.get(key) for key in FIXED} != FIXED:
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **FIXED})
    parser = argparse.ArgumentParser(prog=f"{name}.py")
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after so many; the next run goes on")
    parser.add_argument("--state", type=Path, default=home / "state" / name)
    parser.add_argument("--results", type=Path, default=home / f"{name}.json")
    parser.add_argument("--print", action="store_true", help="print the tables of the results; compute nothing")
    given = parser.parse_args(arguments)
    if not given.print:
        try:
            known = dict(_read(given.results))
            results = compute(pieces(), given.state, known, repeats=given.repeats, seconds=given.seconds)
        except OverError as over:
            print(f"{name}: {over}; the same command goes on.", file=sys.stderr)
            return UNFINISHED
        written(results, given.results)
    print(tables(json.loads(given.results.read_text())))
    return 0
