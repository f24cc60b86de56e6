"""Drift: whether the machine, the workload or the config has moved since the last nights, by the sentinels.

Default and incumbent are measured on every tuning node at the beginning of each night. Four streams follow from them:

| stream | one night is, per node | moves when |
|---|---|---|
| level | log figure of the default | machine or workload moved |
| config | log figure of the incumbent less that of the default | the config moved; node and night cancel |
| node | both, less the night's common shift | one machine moved |
| probe | log speed of a small fixed program | the machine moved |

`level` alone cannot tell machine from workload. What can is told apart by the probe and by what is known to have
changed (kernel, benchmark folder, parameters, versions); what cannot is called "machine or workload". A change is found
when it exceeds `Z` standard errors and `SMALLEST`. Once found, the baseline begins anew with that night.
"""

import dataclasses
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from albacore.nightly.shift import Noise, Shift, clearest, shift

HISTORY = 14
"""Nights that are looked back at."""
Z = 3.0
SMALLEST = math.log(1.05)
NODE_Z = 3.0
NODE_SMALLEST = math.log(1.12)
FEWEST = 3
"""Nodes among which one can be told from the others: of two it is not known which of them moved."""
ENOUGH = 5
"""Tuning nodes with which at least 90 % of the drifts of 10 % are found within two nights, at most 5 % false alarms."""
FOUND_WITH = {2: 0.44, 3: 0.76, 4: 0.90}
"""Fewer nodes -> share of configs that lost 10 % and are found in two nights; simulated, docs/decisions/drift.md."""
OTHER_CONFIG = 1.5
"""How much less is known of a node's effect on a config by its effect on another one."""
STEAL_POINTS = 2.0
"""Percent points of stolen CPU time that speak of the machine."""
LEVEL, CONFIG, NODE, PROBE = "level", "config", "node", "probe"
PRIORS = {
    LEVEL: Noise(sigma=0.04, tau=0.01),
    CONFIG: Noise(sigma=0.055, tau=0.005),
    PROBE: Noise(sigma=0.05, tau=0.02),
}
"""sigma: the residual sd of one sample on the TUNA samples is 1.4 to 3.8 %; a difference of two has sqrt(2) of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What the sentinels of one run showed.

    Attributes:
        default, incumbent: Node -> log of the figure, up is better; empty when it was not measured.
        default_id, incumbent_id: Ids of the two configs.
        probe: Node -> log of the speed of the probe.
        steal: Percent of CPU time that was stolen from the nodes, None when not known.
        machine, workload: What is known of either, by name; a value that differs from night to night is evidence.
        moved: The streams in which this night was found to have moved.
    """

    run_id: str
    default_id: str
    default: Mapping[str, float]
    incumbent_id: str | None = None
    incumbent: Mapping[str, float]
    probe: Mapping[str, float]
    steal: float | None = None
    machine: Mapping[str, str]
    workload: Mapping[str, str]
    moved: tuple[str, ...] = ()

    @property
    def ratio(self) -> dict[str, float]:
        """Node -> log of incumbent over default."""
        return {node: x - self.default[node] for node, x in self.incumbent.items() if node in self.default}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that has moved.

    Attributes:
        what: "machine", "workload", "config", or "machine or workload" when it cannot be told.
        stream: Where it was seen.
        change: Relative change of the figure, below 0 is worse; `low` to `high` is its 95 % interval.
        nodes: The nodes, when it is not all of them.
        evidence: Why it is this and not the other.
    """

    what: str
    stream: str
    change: float
    low: float
    high: float
    nodes: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    sentence: str


def examine(earlier: Sequence[Night], tonight: Night) -> list[Finding]:
    """Return what has moved since earlier nights (oldest first); nothing while there are none to compare with."""
    nights = [night for night in earlier if night.default_id == tonight.default_id][-HISTORY:]
    streams = shifts(nights, tonight)
    return [*_level(nights, tonight, streams), *_config(tonight, streams), *_nodes(nights, tonight, streams)]


def advice(nodes: int) -> str | None:
    """Return what so many tuning nodes cannot show, by which figures, and what to do; None for enough of them."""
    if nodes >= ENOUGH:
        return None
    share = FOUND_WITH.get(nodes)
    seen = f"found in {share:.0%} of simulated cases" if share else "hardly ever found"
    return (
        f"{nodes} tuning node(s) are few to see what has moved: a config that lost 10 % is {seen} within two nights, "
        f"with {ENOUGH} nodes in 98 %. Set nodes.tuning to {ENOUGH} or more."
    )


def shifts(nights: Sequence[Night], tonight: Night) -> dict[str, Shift | None]:
    """Return the clearest shift of each stream; None where there is nothing to compare with."""
    alike = [night for night in nights if night.incumbent_id == tonight.incumbent_id and night.incumbent]
    return {
        LEVEL: clearest([n.default for n in (*_since(nights, LEVEL), tonight)], PRIORS[LEVEL]),
        CONFIG: clearest([n.ratio for n in (*_since(alike, CONFIG), tonight)], PRIORS[CONFIG]),
        PROBE: clearest([n.probe for n in (*_since(nights, LEVEL), tonight) if n.probe], PRIORS[PROBE]),
    }


def _since(nights: Sequence[Night], stream: str) -> Sequence[Night]:
    """Return the nights since the stream moved last, that night included."""
    for i in range(len(nights) - 1, -1, -1):
        if stream in nights[i].moved:
            return nights[i:]
    return nights


def is_clear(found: Shift | None) -> bool:
    """Whether a shift is more than noise, and large enough to matter."""
    return found is not None and abs(found.z) > Z and abs(found.size) > SMALLEST


def _level(nights: Sequence[Night], tonight: Night, streams: Mapping[str, Shift | None]) -> Iterator[Finding]:
    """Yield what moved the default on all nodes alike."""
    found = streams[LEVEL]
    if found is None or not is_clear(found):
        return
    last = nights[-found.window]
    machine = [*_changed(last, tonight, "machine"), *_stolen(nights, tonight), *_probed(streams, found)]
    workload = [*_changed(last, tonight, "workload")]
    unmoved = _unmoved(streams[PROBE], found)
    if machine and not workload:
        what, evidence = "machine", machine
    elif workload and not machine:
        what, evidence = "workload", workload
    elif not machine and unmoved:
        what, evidence = "workload", [unmoved]
    else:
        what = "machine or workload"
        evidence = [*machine, *workload] or ["the probe of the machines is too noisy, or too new, to tell which"]
    agreeing = sum(x * found.size > 0 for x in found.by_node.values())
    said = f"the default is {{size}}, on {agreeing} of {len(found.by_node)} nodes"
    yield _finding(what, LEVEL, found, said, evidence)


def _config(tonight: Night, streams: Mapping[str, Shift | None]) -> Iterator[Finding]:
    """Yield whether the incumbent moved relative to the default."""
    found = streams[CONFIG]
    if found is None or not is_clear(found):
        return
    said = f"the incumbent {tonight.incumbent_id} is {{size}} against the default measured beside it"
    yield _finding("config", CONFIG, found, said, [])


def _nodes(nights: Sequence[Night], tonight: Night, streams: Mapping[str, Shift | None]) -> Iterator[Finding]:
    """Yield the machines that moved by themselves: every sentinel sample there says so, and there are at least two."""
    level = _since(nights, NODE)
    own = _own_shifts(level, tonight)
    for node, zs, size in own:
        side = 1 if size > 0 else -1
        if len(zs) < 2 or abs(size) < NODE_SMALLEST or min(side * z for z in zs) < NODE_Z:
            continue
        error = abs(size) / statistics.fmean(abs(z) for z in zs) / math.sqrt(len(zs))
        found = Shift(size=size, error=error, window=1, nights=len(level), by_node={node: size}, sigma=error)
        said = f"node {node} is {{size}}, beside the other nodes, with {len(zs)} samples of the sentinels"
        yield _finding("machine", NODE, found, said, [], nodes=(node,))


def _own_shifts(nights: Sequence[Night], tonight: Night) -> Iterator[tuple[str, list[float], float]]:
    """Yield per node: its z of each sentinel sample, and its mean shift, the common shift of all nodes taken off.

    Two samples of tonight, else the default's of the last two nights. An incumbent without a history is compared with
    the default's: between nodes the two differ by little but a constant, which goes with the common shift.
    """
    alike = [night for night in nights if night.incumbent_id == tonight.incumbent_id and night.incumbent]
    looks = [shift([n.default for n in (*nights, tonight)], PRIORS[LEVEL])]
    if tonight.incumbent and alike:
        looks.append(shift([n.incumbent for n in (*alike, tonight)], PRIORS[LEVEL]))
    elif tonight.incumbent:
        looks.append(_wider(shift([*(n.default for n in nights), tonight.incumbent], PRIORS[LEVEL])))
    elif len(nights) > 1:
        looks.append(shift([*(n.default for n in nights[:-1]), nights[-1].default], PRIORS[LEVEL]))
    known = [(look, statistics.median(look.by_node.values())) for look in looks if look and len(look.by_node) >= FEWEST]
    for node in sorted(tonight.default):
        own = [(look.by_node[node] - common, look.sigma) for look, common in known if node in look.by_node]
        if own:
            yield node, [size / sigma for size, sigma in own], statistics.fmean(size for size, _ in own)


def _wider(look: Shift | None) -> Shift | None:
    """Return a look at one config by the history of another: nodes do not treat all configs quite alike."""
    return None if look is None else dataclasses.replace(look, sigma=look.sigma * OTHER_CONFIG)


def _changed(last: Night, tonight: Night, kind: str) -> Iterator[str]:
    """Yield what is known to differ from the last night of the baseline."""
    before, now = getattr(last, kind), getattr(tonight, kind)
    for name in sorted(before.keys() & now.keys()):
        if before[name] != now[name]:
            yield f"{name} changed from {before[name]:.60} to {now[name]:.60}"


def _stolen(nights: Sequence[Night], tonight: Night) -> Iterator[str]:
    """Yield whether more CPU time was stolen than before."""
    known = [night.steal for night in nights if night.steal is not None]
    if known and tonight.steal is not None and tonight.steal - statistics.median(known) > STEAL_POINTS:
        yield f"stolen CPU time rose from {statistics.median(known):.1f} % to {tonight.steal:.1f} %"


def _probed(streams: Mapping[str, Shift | None], level: Shift) -> Iterator[str]:
    """Yield whether the probe moved the same way."""
    probe = streams[PROBE]
    if probe is not None and is_clear(probe) and probe.size * level.size > 0:
        yield f"the probe of the machines moved too, by {percent(probe.size)}"


def _unmoved(probe: Shift | None, level: Shift) -> str | None:
    """Return that the probe did not move, if it would have shown a shift of the level's size."""
    if probe is None or is_clear(probe) or Z * probe.error > abs(level.size):
        return None
    return f"the probe of the machines did not move ({percent(probe.size)}, it shows {percent(Z * probe.error)})"


def _finding(
    what: str, stream: str, found: Shift, said: str, evidence: Sequence[str], *, nodes: tuple[str, ...] = ()
) -> Finding:
    low, high = (math.expm1(found.size + side * 1.96 * found.error) for side in (-1, 1))
    way = "worse" if found.size < 0 else "better"
    interval = f"({low:+.0%} to {high:+.0%})"
    size = f"{abs(math.expm1(found.size)):.0%} {way} {interval} than in the {found.nights} night(s) before"
    why = f": {'; '.join(evidence)}" if evidence else ""
    verb = "moved" if " or " not in what else "moved, and which cannot be told"
    return Finding(
        what=what,
        stream=stream,
        change=math.expm1(found.size),
        low=low,
        high=high,
        nodes=nodes,
        evidence=tuple(evidence),
        sentence=f"The {what} {verb}: {said.format(size=size)}{why}.",
    )


def percent(size: float) -> str:
    """Return a logarithm of a ratio as a signed percentage."""
    return f"{math.expm1(size):+.1%}"
