"""Plans: which statement has another plan on another node, read off what the workload has noted (T26).

A workload that asks its system for plans writes two tables into notes.json: `plans`, statement -> hash, and
`plan_shapes`, hash -> the plan as one line. A statement that was planned for several draws of values is there once per
draw, as `name[draw]`. Whatever else is in the notes is passed over: they come from a node.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from albacore.sample import Sample

Counts = Mapping[str, Counter[str]]
"""Node -> plan -> for how many draws."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A statement whose plan is not the same on all nodes.

    Attributes:
        nodes: Node -> hash of a plan -> how many draws have it there.
        shapes: Hash -> the plan as one line; only of those that differ.
    """

    statement: str
    nodes: Counts
    shapes: Mapping[str, str]

    def lines(self) -> Iterator[str]:
        """Yield which nodes have which plan, the most frequent first, and what the plans are."""
        total = sum((counts for counts in self.nodes.values()), Counter[str]())
        said = "; ".join(f"{plan} on {', '.join(self._places(plan))}" for plan, _ in total.most_common())
        yield f"plan of {self.statement} differs: {said}"
        yield from (f"  {plan} = {self.shapes[plan]}" for plan, _ in total.most_common() if plan in self.shapes)

    def _places(self, plan: str) -> list[str]:
        """Return the nodes that have a plan, and for how many of their draws when not for all."""
        found = []
        for node, counts in self.nodes.items():
            if counts[plan]:
                draws = counts.total()
                found.append(node if counts[plan] == draws else f"{node} ({counts[plan]} of {draws})")
        return found


def flips(samples: Sequence[Sample]) -> list[Flip]:
    """Return the statements of one config whose plan differs between its nodes, by name; the last sample of a node."""
    by_statement: dict[str, dict[str, Counter[str]]] = {}
    shapes: dict[str, str] = {}
    for sample in {sample.node: sample for sample in samples}.values():
        shapes |= _texts(sample.notes, "plan_shapes")
        for key, plan in _texts(sample.notes, "plans").items():
            nodes = by_statement.setdefault(key.partition("[")[0], {})
            nodes.setdefault(sample.node, Counter())[plan] += 1
    return [
        Flip(statement=name, nodes=nodes, shapes=shapes)
        for name, nodes in sorted(by_statement.items())
        if any(counts != next(iter(nodes.values())) for counts in nodes.values())
    ]


def said(samples: Sequence[Sample]) -> list[str]:
    """Return the lines of all flips of one config's samples; nothing when no workload has noted a plan."""
    return [line for flip in flips(samples) for line in flip.lines()]


def _texts(notes: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return a table of texts out of notes, without what is none."""
    table = notes.get(name)
    found = table.items() if isinstance(table, Mapping) else ()
    return {key: value for key, value in found if isinstance(key, str) and isinstance(value, str)}
