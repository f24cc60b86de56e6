"""Bring the docs up to what decisions.json holds: the blocks between their marks in docs/decisions, and the picture.

    python experiments/recorded/page.py

A block begins with `<!-- recorded: drawn -->` and ends with `<!-- end -->`.
"""

import re

import decisions

FOLDER = decisions.ROOT / "docs" / "decisions"
PAGES = tuple(FOLDER / name for name in ("ranking.md", "albacore-policy.md", "ladder.md"))
PICTURE = decisions.ROOT / "docs" / "figures" / "risk-calibration.svg"
BLOCK = re.compile(r"<!-- recorded: (?P<name>[a-z-]+) -->\n.*?<!-- end -->", re.DOTALL)


def block(found: re.Match[str]) -> str:
    """Return a block with the figures of now."""
    name = found["name"]
    return f"<!-- recorded: {name} -->\n{decisions.SECTIONS[name](decisions.results())}\n<!-- end -->"


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(BLOCK.sub(block, page.read_text()))
    decisions.risk.draw(decisions.results(), PICTURE)
