"""Standing: one figure per config, for the methods that compare configs instead of learning a surface.

Under a ladder most configs have a score of the lowest rung only, and a few climb. The worst of ten samples looks worse
than the worst of one, so scores of two rungs must not be compared as they are. Every config counts with the score of
its own highest rung; scores of lower rungs are moved up by what climbing has usually cost: the median, over the
configs that have both, of upper minus lower score.

```
s(c, r)   score of config c at rung r, lower is better
m(r)      median of s(c, r + 1) - s(c, r) over all c that have both; 0 when none has
standing  s(c, top rung of c) + m(top rung of c) + ... + m(highest rung - 1)
```

A config that failed was told the worst figure seen until then. What fails first is told the default's, and would stay
ahead of every config that ran and was slower: a search would go on from where nothing runs. So it stands behind all
that ran.

Deviates: no paper runs these methods under a ladder; see docs/decisions/standing.md. With one rung nothing is moved.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from albacore.optimizers import Observation
from albacore.space import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One config and its figure.

    Attributes:
        cost: Lower is better; comparable over all configs of a run.
        ask_index: The ask that gave the config; -1 when none did.
        is_failure: Whether it failed; then it costs more than every config that did not.
    """

    config: Config
    cost: float
    ask_index: int
    is_failure: bool = False


def standings(observations: Sequence[Observation]) -> list[Standing]:
    """Return one standing per config, in the order of their asks; those that no ask gave come first."""
    scores: dict[str, dict[int, float]] = {}
    first: dict[str, Observation] = {}
    for observation in observations:
        scores.setdefault(observation.config.id, {})[observation.rung] = observation.score
        first.setdefault(observation.config.id, observation)
    highest = max((o.rung for o in observations), default=0)
    moves = [_move(list(scores.values()), rung) for rung in range(highest)]
    costs = {key: by_rung[max(by_rung)] + sum(moves[max(by_rung) :]) for key, by_rung in scores.items()}
    failed = {o.config.id for o in observations if o.is_failure}
    behind = math.nextafter(max((costs[key] for key in costs if key not in failed), default=-math.inf), math.inf)
    found = [
        Standing(
            config=first[key].config,
            cost=max(cost, behind) if key in failed else cost,
            ask_index=first[key].ask_index,
            is_failure=key in failed,
        )
        for key, cost in costs.items()
    ]
    return sorted(found, key=lambda standing: standing.ask_index)


def _move(scores: Sequence[dict[int, float]], rung: int) -> float:
    """Return m(rung)."""
    both = [by_rung[rung + 1] - by_rung[rung] for by_rung in scores if rung in by_rung and rung + 1 in by_rung]
    return statistics.median(both) if both else 0.0
