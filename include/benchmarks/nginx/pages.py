"""Generate the pages of a small encyclopaedia, each with its media, and say how popular each one is.

Sizes follow a log-normal law, as those of files on the web do; text compresses, pictures do not.
Source: Downey, The structural cause of file size distributions, MASCOTS 2001.
"""

from __future__ import annotations

import csv
import math
import random
from dataclasses import dataclass
from pathlib import Path

from contract import NodeError

SEED = 500
TEXT_MEDIAN_BYTES, PICTURE_MEDIAN_BYTES, SIGMA = 20_000, 14_000, 0.9
SMALLEST_BYTES, LARGEST_BYTES = 500, 400_000
MOST_MEDIA = 6
SHEETS = 5
WORDS = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Be one page: its own address first, then those of its media, each with its size in bytes."""

    parts: tuple[tuple[str, int], ...]


def weights(path: Path) -> list[float]:
    """Read how popular each page is: one line per page, the page's number and its weight.

    Raises:
        NodeError: When the file is not such a list.
    """
    try:
        with path.open(newline="") as file:
            found = [float(row["weight"]) for row in csv.DictReader(file)]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise NodeError(
            f"{path}: expected the columns page,weight with numbers: {error!r}. Correct the file."
        ) from None
    if not found or min(found) < 0 or not math.isfinite(sum(found)) or not sum(found):
        raise NodeError(f"{path}: expected weights of at least 0, one of them above. Correct the file.")
    return found


def _size(draw: random.Random, median: int) -> int:
    """Draw a file's size in bytes."""
    return round(min(LARGEST_BYTES, max(SMALLEST_BYTES, draw.lognormvariate(math.log(median), SIGMA))))


def _text(draw: random.Random, words: list[str], size: int) -> bytes:
    """Write text of a size."""
    made = " ".join(draw.choices(words, k=size // 5 + 20))
    return made.encode()[:size].ljust(size, b".")


def generate(folder: Path, count: int) -> list[Page]:
    """Write the files of all pages; the same count gives the same bytes everywhere."""
    draw = random.Random(SEED)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    words = ["".join(draw.choices(letters, k=draw.randint(2, 11))) for _ in range(WORDS)]
    folder.mkdir(parents=True)
    sheets = []
    for number in range(SHEETS):
        sheets.append((f"/style{number}.css", _size(draw, TEXT_MEDIAN_BYTES)))
        (folder / f"style{number}.css").write_bytes(_text(draw, words, sheets[-1][1]))
    pages = []
    for number in range(count):
        parts = [(f"/{number}.html", _size(draw, TEXT_MEDIAN_BYTES))]
        (folder / f"{number}.html").write_bytes(_text(draw, words, parts[0][1]))
        parts.append(draw.choice(sheets))
        for picture in range(draw.randint(0, MOST_MEDIA - 1)):
            name = f"{number}-{picture}.jpg"
            parts.append((f"/{name}", _size(draw, PICTURE_MEDIAN_BYTES)))
            (folder / name).write_bytes(draw.randbytes(parts[-1][1]))
        pages.append(Page(parts=tuple(parts)))
    return pages
