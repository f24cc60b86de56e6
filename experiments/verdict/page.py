"""Bring the docs up to what figures.json holds: the blocks between their marks in docs/.

    python experiments/verdict/page.py

A block begins with `<!-- verdict: coverage -->` and ends with `<!-- end -->`.
"""

import re

import figures

PAGES = (figures.ROOT / "docs" / "decisions" / "verdict-interval.md", figures.ROOT / "docs" / "campaign-file.md")
BLOCK = re.compile(r"<!-- verdict: (?P<name>[a-z-]+) -->\n.*?<!-- end -->", re.DOTALL)


def block(found: re.Match[str]) -> str:
    """Return a block with the figures of now."""
    name = found["name"]
    return f"<!-- verdict: {name} -->\n{figures.SECTIONS[name](figures.results())}\n<!-- end -->"


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(BLOCK.sub(block, page.read_text()))
