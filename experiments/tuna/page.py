"""Bring docs/experiments/tuna.md up to what has been played: the blocks between its markers, and its pictures.

    python experiments/tuna/page.py

A block begins with `<!-- noise -->` and ends with `<!-- end -->`; the prose around it is a person's.
"""

import re
from collections.abc import Callable

import adjuster_sections
import sections
from studies import ROOT

PAGE = ROOT / "docs" / "experiments" / "tuna.md"
BLOCK = re.compile(r"<!-- (?P<name>[a-z-]+) -->\n.*?<!-- end -->", re.DOTALL)
SECTIONS: dict[str, Callable[[], list[str]]] = {
    "noise": sections.noise,
    "transfer": sections.transfer,
    "recorded": sections.recorded,
    "traditional": sections.traditional,
    "naive": sections.naive,
    "second-optimizer": sections.second_optimizer,
    "without-adjuster": sections.without_adjuster,
    "without-detector": sections.without_detector,
    "ladder": sections.ladder,
    "early": sections.early,
    "adjusters": adjuster_sections.four_worlds,
    "adjusters-real": adjuster_sections.real,
    "adjusters-warm": adjuster_sections.warm,
}


def block(found: re.Match[str]) -> str:
    """Return a block with the figures of now."""
    name = found["name"]
    lines = "\n".join(SECTIONS[name]()).strip()
    return f"<!-- {name} -->\n{lines}\n<!-- end -->"


if __name__ == "__main__":
    PAGE.write_text(BLOCK.sub(block, PAGE.read_text()))
