"""Bring the docs up to what figures.json holds: the blocks in docs/.

python experiments/verdict/page.py
"""

import figures
from blocks import fill

PAGES = (figures.ROOT / "docs" / "decisions" / "verdict-interval.md", figures.ROOT / "docs" / "campaign-file.md")

if __name__ == "__main__":
    for page in PAGES:
        fill(page, "verdict", figures.SECTIONS, figures.results())
