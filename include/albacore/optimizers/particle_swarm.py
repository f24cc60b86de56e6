"""ParticleSwarm: particles drawn to their own best and to the swarm's.

J. Kennedy, R. Eberhart: Particle Swarm Optimization, ICNN 1995; the constants of M. Clerc, J. Kennedy: IEEE
Transactions on Evolutionary Computation 6, 2002. One of the six methods of the microservices paper (§3.2.1).

Ask number i moves particle i mod S. Where a particle was is read off the scores by the numbers of their asks, so scores
may come in any order, and a position without a score is skipped.

```
S     particles
x     last scored position of the particle; x_ the one before, so x - x_ is its velocity
p     best position of the particle; g best position of the swarm
w     0.7298: inertia; c 1.49618: pull of p and of g, each times a uniform number per knob
```
"""

from collections.abc import Sequence
from dataclasses import dataclass

from albacore.optimizers import INITIAL, Observation, new_config, opening, taken_ids, untried
from albacore.optimizers.standing import standings
from albacore.space import Config, Space

PARTICLES = 10
W, C = 0.7298, 1.49618
SPEED = 0.5
"""Longest step of a knob, in shares of its range: without a limit swarms fly out of the cube (Clerc, Kennedy, §VI)."""
SHAKE = 0.02
"""Standard deviation of a shake when a step leads to a known config."""
TRIES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ParticleSwarm:
    """Move one particle.

    Attributes:
        initial: How many of the first asks are random designs: the first positions.
    """

    initial: int = INITIAL
    name: str = "particle_swarm"

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that is neither observed nor pending."""
        import numpy as np

        from albacore.optimizers.cube import reflected

        taken = taken_ids(observations, pending)
        first = opening(space, taken, initial=self.initial, seed=seed, ask_index=ask_index)
        if first or not observations:
            return first or untried(space, taken, seed=seed, ask_index=ask_index)
        swarm = standings(observations)
        if all(s.is_failure for s in swarm):
            return untried(space, taken, seed=seed, ask_index=ask_index)
        path = [s for s in swarm if s.ask_index >= 0 and s.ask_index % PARTICLES == ask_index % PARTICLES] or swarm[:1]
        x, before = space.encode(path[-1].config), space.encode(path[-2 if len(path) > 1 else -1].config)
        p = space.encode(min(path, key=lambda s: s.cost).config)
        g = space.encode(min(swarm, key=lambda s: s.cost).config)
        rng = np.random.default_rng([seed, ask_index, 1])
        u1, u2 = rng.random(len(space)), rng.random(len(space))
        velocity = W * (x - before) + C * u1 * (p - x) + C * u2 * (g - x)  # Clerc, Kennedy: eq. 4 with their constants
        ahead = x + np.clip(velocity, -SPEED, SPEED)
        shakes = (rng.normal(0.0, SHAKE * (k > 0) * (1 + k), len(space)) for k in range(TRIES))
        found = new_config(space, (reflected(ahead + shake) for shake in shakes), taken)
        return found or untried(space, taken, seed=seed, ask_index=ask_index)
