"""Ranking: which configs deserve validation, by what they are expected to do on nodes that nobody has seen.

The best score is partly luck: of many configs the luckiest leads, most of all where it was measured once (winner's
curse). So the figures are shrunk towards the field before they are compared, node effects are taken out by the nodes
that configs share, and a config pays for its spread from node to node.

| symbol | meaning |
|---|---|
| y | log of a figure, higher is better; the figure itself where one is not positive |
| nu_n | effect of node n, shrunk by PRIOR_SAMPLES |
| m_c, k_c | mean of y - nu_n over the nodes of config c, and their number |
| s^2 | residual variance of one sample, pooled over all configs on two nodes or more |
| m, tau^2 | centre and variance of the configs' true means, by the upper half of the m_c |
| e_c | m + (m_c - m) tau^2 / (tau^2 + s_c^2 / k_c): what is expected of c on a new node |
| s_c^2 | its own residual variance, shrunk towards s^2 by PRIOR_SAMPLES |
| d_c | sqrt(s_c^2 + tau^2 (s_c^2 / k_c) / (tau^2 + s_c^2 / k_c)): deviation of a new node from e_c |
| v_c | e_c - d_c: a new node that is one deviation bad |
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from albacore.replay import Scene
from albacore.trial import Direction, Judgement, Stability
from albacore.verdict import veto

PRIOR_SAMPLES = 2
"""Weight of what all configs show against one config's or one node's own samples: between worker and residual the
variances of recorded runs stand as 1 to 0.5 up to 1 to 4."""
ROUNDS = 20
"""Passes of fitting configs and nodes in turn; five are enough for three digits."""

Readings = Mapping[str, Mapping[str, float]]
"""Config id -> node -> y."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a config is expected to do on a new node, in the metric's unit.

    Attributes:
        nodes: How many nodes it was measured on.
        expected: Its figure on a usual new node.
        cautious: Its figure on a new node that is one standard deviation bad; the order of the ranking.
    """

    config_id: str
    nodes: int
    expected: float
    cautious: float


def contenders(scene: Scene, count: int, *, but: str | None = None, has_veto: bool = True) -> list[Standing]:
    """Return the configs to validate, best first: at most `count`, fewer when fewer were found stable.

    Args:
        scene: The run.
        count: At most so many.
        but: Id of the incumbent, which runs anyway: it takes nobody's place.
        has_veto: Whether finalists with unstable neighbours come after the others (`veto.py`).
    """
    able = [standing for standing in ranked(scene) if standing.config_id != but]
    return (_with_veto(scene, able) if has_veto else able)[:count]


def _with_veto(scene: Scene, able: Sequence[Standing]) -> list[Standing]:
    """Return the same, finalists with unstable neighbours after the others; those on fewer nodes are no finalists."""
    finalists = list(takewhile(lambda s: s.nodes == able[0].nodes, able[: veto.FINALISTS]))
    sound = set(veto.sound(scene, [s.config_id for s in finalists]))
    return [*sorted(finalists, key=lambda s: s.config_id not in sound), *able[len(finalists) :]]


def ranked(scene: Scene) -> list[Standing]:
    """Return every config whose last judgement found it stable, the default excepted, in the order of trust.

    First those of the highest rung that has any, for instability hides on few nodes (three nodes show half of it);
    on one rung by the cautious figure.
    """
    last = {j.config_id: j for j in sorted(scene.log.facts(Judgement), key=lambda j: j.rung)}
    stable = {c: j.adjusted for c, j in last.items() if j.stability is Stability.STABLE and j.adjusted}
    is_log = all(value > 0 for values in stable.values() for value in values.values())
    scale = Scale(direction=scene.direction, is_log=is_log)
    found = standings({c: {n: scale.up(v) for n, v in values.items()} for c, values in stable.items()})
    told = [
        Standing(config_id=s.config_id, nodes=s.nodes, expected=scale.down(s.expected), cautious=scale.down(s.cautious))
        for s in found
        if s.config_id != scene.default_id
    ]
    return sorted(told, key=lambda s: -last[s.config_id].rung)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The way from figures to y and back."""

    direction: Direction
    is_log: bool

    def up(self, value: float) -> float:
        """Return y of a figure."""
        return -self.direction.cost(math.log(value) if self.is_log else value)

    def down(self, y: float) -> float:
        """Return the figure of a y."""
        figure = -self.direction.cost(y)
        return math.exp(figure) if self.is_log else figure


def standings(y: Readings) -> list[Standing]:
    """Return what each config is expected to do, in units of y, the most cautious figure first; ties as given."""
    means, residuals = _fitted(y)
    pooled = _pooled_variance(residuals)
    centre, tau2 = _shape(means, y, pooled)
    field = Field(pooled=pooled, centre=centre, tau2=tau2)
    return sorted((_standing(c, means[c], residuals[c], field) for c in y), key=lambda s: -s.cautious)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """What all configs together show: s^2, m and tau^2 of the table above."""

    pooled: float
    centre: float
    tau2: float


def _fitted(y: Readings) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Return each config's mean without the effects of its nodes, and what is left of its samples."""
    nodes: dict[str, list[str]] = {}
    for config_id, values in y.items():
        for node in values if len(values) > 1 else ():
            nodes.setdefault(node, []).append(config_id)
    effect = {node: 0.0 for values in y.values() for node in values}
    means: dict[str, float] = {}
    for _ in range(ROUNDS):
        means = {c: statistics.fmean(v - effect[n] for n, v in values.items()) for c, values in y.items()}
        for node, configs in nodes.items():
            effect[node] = sum(y[c][node] - means[c] for c in configs) / (len(configs) + PRIOR_SAMPLES)
    return means, {c: [v - effect[n] - means[c] for n, v in values.items()] for c, values in y.items()}


def _pooled_variance(residuals: Mapping[str, Sequence[float]]) -> float:
    """Return the residual variance of a sample; 0 when no config was seen twice."""
    freedom = sum(len(values) - 1 for values in residuals.values())
    return _squares(value for values in residuals.values() for value in values) / freedom if freedom else 0.0


def _shape(means: Mapping[str, float], y: Readings, pooled: float) -> tuple[float, float]:
    """Return centre and variance of the configs' true means.

    By the upper half: the bad half has a long tail that says nothing of how far apart the good ones are.
    """
    if not means:
        return 0.0, 0.0
    centre = statistics.median(means.values())
    upper = [(c, m - centre) for c, m in means.items() if m >= centre]
    seen = _squares(m for _, m in upper) / len(upper)
    noise = statistics.fmean(pooled / len(y[c]) for c, _ in upper)
    return centre, max(0.0, seen - noise)


def _standing(config_id: str, mean: float, residuals: Sequence[float], field: Field) -> Standing:
    """Return the standing of one config."""
    k = len(residuals)
    own = (PRIOR_SAMPLES * field.pooled + _squares(residuals)) / (PRIOR_SAMPLES + k - 1)
    noise = own / k
    trust = field.tau2 / (field.tau2 + noise) if field.tau2 + noise > 0 else 1.0
    expected = field.centre + (mean - field.centre) * trust
    deviation = math.sqrt(own + trust * noise)
    return Standing(config_id=config_id, nodes=k, expected=expected, cautious=expected - deviation)


def _squares(values: Iterable[float]) -> float:
    return math.fsum(value * value for value in values)
