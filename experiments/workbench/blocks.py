"""Blocks: the parts of a page of the docs that an experiment's results make, each between two marks.

A block begins with `<!-- verdict: coverage -->`, `verdict` being the experiment, and ends with `<!-- end -->`.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from pieces import Results


def fill(page: Path, experiment: str, sections: Mapping[str, Callable[[Results], str]], results: Results) -> None:
    """Write the figures of now into the blocks of a page.

    Args:
        page: Markdown file.
        experiment: Name in the marks.
        sections: Name of a block -> what it holds, by the results.
        results: What is known.
    """
    mark = re.compile(rf"<!-- {experiment}: (?P<name>[a-z-]+) -->\n.*?<!-- end -->", re.DOTALL)

    def block(found: re.Match[str]) -> str:
        return f"<!-- {experiment}: {found['name']} -->\n{sections[found['name']](results)}\n<!-- end -->"

    page.write_text(mark.sub(block, page.read_text()))
