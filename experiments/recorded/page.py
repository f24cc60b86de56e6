"""Bring the docs up to what decisions.json holds: the blocks in docs/decisions, and the picture.

python experiments/recorded/page.py
"""

import decisions
from blocks import fill

FOLDER = decisions.ROOT / "docs" / "decisions"
PAGES = tuple(FOLDER / name for name in ("ranking.md", "albacore-policy.md", "ladder.md"))
PICTURE = decisions.ROOT / "docs" / "figures" / "risk-calibration.svg"

if __name__ == "__main__":
    for page in PAGES:
        fill(page, "recorded", decisions.SECTIONS, decisions.results())
    decisions.risk.draw(decisions.results(), PICTURE)
