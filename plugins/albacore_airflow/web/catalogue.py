"""Catalogue: the pages of a campaign run. A new page is an entry here, a template and a script of its name.

See docs/pages.md, "Add a page".
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from albacore.charts import adjuster, convergence, knobs, night, nodes, readiness, spread, trials, verdict_card
from albacore.charts.book import Book


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a run.

    Attributes:
        name: In the address, and of its files: `templates/<name>.html`, `static/<name>.js`.
        title: On its tab.
        make: Returns what the page shows, as plain values.
    """

    name: str
    title: str
    make: Callable[[Book], dict[str, Any]]


PAGES = (
    Page(name="convergence", title="Convergence", make=convergence.page),
    Page(name="trials", title="Trials", make=trials.page),
    Page(name="spread", title="Spread", make=spread.page),
    Page(name="nodes", title="Nodes", make=nodes.page),
    Page(name="night", title="Nights", make=night.page),
    Page(name="adjuster", title="Noise adjuster", make=adjuster.page),
    Page(name="knobs", title="Knobs", make=knobs.page),
    Page(name="readiness", title="Readiness", make=readiness.page),
    Page(name="verdict", title="Verdict", make=verdict_card.page),
)
BY_NAME = {page.name: page for page in PAGES}
