"""Fewer: an optimizer that, after a while, moves only the knobs that the scores depend on.

With many knobs and few samples most of a search is spent on knobs that do nothing (BestConfig §5.6, §7; microservices
§3.2.2). After the first configs, importance by permutation is computed from their scores, and from then on the wrapped
optimizer sees the most important knobs only; the others keep their defaults.

```
after   configs asked for before anything is frozen, and that importance is computed from
keep    knobs that stay free
```

Importance is computed from the same scores at every ask: those of the first `after` asks. It changes only while some
of them are still being measured. Where the forest explains nothing of configs it has not seen, nothing is frozen.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from albacore.importance import importance, important
from albacore.optimizers import Observation, Optimizer, taken_ids, untried
from albacore.space import Config, Space

TRIES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Fewer:
    """Ask another optimizer, after a while for the most important knobs only."""

    inner: Optimizer
    keep: int
    after: int

    @property
    def name(self) -> str:
        """The wrapped optimizer's name."""
        return self.inner.name

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that is neither observed nor pending."""
        free = self.free(space, observations, seed) if ask_index >= self.after else None
        if free is None:
            return self.inner.suggest(space, observations, pending, seed=seed, ask_index=ask_index)
        part, taken = narrowed(space, free), taken_ids(observations, pending)
        seen = [replace(o, config=_projected(part, o.config)) for o in observations]
        waiting = [_projected(part, config) for config in pending]
        for _ in range(TRIES):
            if part.size <= len({config.id for config in (*waiting, *(o.config for o in seen))}):
                break
            found = self.inner.suggest(part, seen, waiting, seed=seed, ask_index=ask_index)
            whole = space.repair({**space.default(), **found})
            if whole.id not in taken:
                return whole
            waiting.append(found)  # repair led to a known config: ask as if it were in flight
        return untried(space, taken, seed=seed, ask_index=ask_index)

    def free(self, space: Space, observations: Sequence[Observation], seed: int) -> tuple[str, ...] | None:
        """Return the knobs that stay free, in the order of the space; None when none is to be frozen (yet)."""
        if len(space) <= self.keep:
            return None
        found = importance(space, [o for o in observations if 0 <= o.ask_index < self.after], seed=seed)
        if found is None or found.explained <= 0:
            return None
        kept = set(important(found, self.keep))
        return tuple(name for name in space.names if name in kept)


def narrowed(space: Space, names: Sequence[str]) -> Space:
    """Return the space of some of the knobs, with the rules that speak of them only."""
    known = set(names)
    return Space(
        knobs=tuple(knob for knob in space.knobs if knob.name in known),
        relations=tuple(r for r in space.relations if {r.lower, r.upper} <= known),
        memory=tuple(m for m in space.memory if {name for name, _ in m.terms} <= known),
        values=space.values,
    )


def _projected(part: Space, config: Config) -> Config:
    """Return a config's values of the knobs of a part."""
    return Config({name: config[name] for name in part.names})
