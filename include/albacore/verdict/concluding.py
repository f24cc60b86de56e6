"""Concluding: from the samples on fresh nodes to the verdict, a pure function of the log.

The contender that the fresh nodes prefer ships when the lower end of its gain over the default is above `min_gain`,
and when it beats the incumbent by as much; the intervals know how many contenders there were.
"""

from albacore import ledger, stopping
from albacore.replay import Scene
from albacore.sample import Failure, Purpose, Sample
from albacore.stats import Interval
from albacore.verdict import Contender, Previous, Terms, Verdict, sentence, validation
from albacore.verdict.comparison import Comparison, compare
from albacore.verdict.ranking import Standing, ranked
from albacore.verdict.validation import Deployment, Plan


def conclude(scene: Scene, terms: Terms) -> Verdict:
    """Return the verdict of the newest round of validation."""
    plan = validation.planned(scene)
    standings = {standing.config_id: standing for standing in ranked(scene)}
    default = validation.deployment(scene, plan, scene.default_id)
    found = [_contender(scene, plan, terms, i, standings.get(c)) for i, c in enumerate(plan.contenders)]
    best = best_of(found)
    previous = _previous(scene, plan, terms, best)
    ship = best is not None and ships(best, previous, terms)
    return Verdict(
        sentence=sentence.of(plan, terms, best, previous, ship=ship, default=default),
        ship=ship,
        metric=scene.metric,
        unit=terms.unit,
        direction=scene.direction.value,
        best=best.deployment if best else None,
        default=default,
        gain=best.gain if best else None,
        min_gain=terms.min_gain,
        confidence=terms.confidence,
        probability_beats_default=best.probability_beats_default if best else None,
        instability_upper_bound=best.instability_upper_bound if best else None,
        contenders=tuple(found),
        incumbent=_left(best, previous, ship=ship),
        previous_incumbent=previous,
        cost=cost(scene),
        round=plan.round,
        read_n=scene.log.last_n,
    )


def _contender(scene: Scene, plan: Plan, terms: Terms, index: int, standing: Standing | None) -> Contender:
    """Return how a contender did against the default."""
    config_id = plan.contenders[index]
    found = validation.deployment(scene, plan, config_id)
    against = _compare(scene, plan, terms, config_id, scene.default_id)
    unstable = validation.unstable_reason(scene, found)
    return Contender(
        rank=index + 1,
        tuning_nodes=standing.nodes if standing else None,
        expected=standing.expected if standing else None,
        deployment=found,
        estimate=against.estimate,
        gain=against.interval,
        probability_beats_default=against.probability,
        instability_upper_bound=validation.instability_bound(scene, plan, found, terms.confidence),
        unstable=unstable,
        refused=_refused(found, unstable, against),
    )


def _compare(scene: Scene, plan: Plan, terms: Terms, config_id: str, reference: str) -> Comparison:
    """Return a contender against another config; picked from all contenders that ran."""
    return compare(
        validation.figures(scene, plan, config_id),
        validation.figures(scene, plan, reference),
        scene.direction,
        confidence=terms.confidence,
        among=max(1, len(plan.contenders)) if config_id in plan.contenders else 1,
    )


def _refused(found: Deployment, unstable: str | None, against: Comparison) -> str | None:
    """Return why a contender cannot ship whatever its gain, or None."""
    if found.failures:
        return f"it failed on a fresh node ({found.failures[0]})"
    if not found.by_node:
        return "no fresh node measured it"
    if unstable:
        return f"it is unstable on fresh nodes ({unstable})"
    return against.reason or None


def best_of(found: list[Contender]) -> Contender | None:
    """Return the contender with the highest gain of those that can ship; without one, the most promising."""
    able = [one for one in found if one.refused is None and one.estimate is not None]
    return max(able, key=lambda one: (one.estimate or 0.0, -one.rank)) if able else next(iter(found), None)


def _previous(scene: Scene, plan: Plan, terms: Terms, best: Contender | None) -> Previous | None:
    """Return how the incumbent did against the default and against the best contender."""
    if plan.previous is None:
        return None
    found = validation.deployment(scene, plan, plan.previous)
    own = compare(
        validation.figures(scene, plan, plan.previous),
        validation.figures(scene, plan, scene.default_id),
        scene.direction,
        confidence=terms.confidence,
    )
    over = _compare(scene, plan, terms, best.deployment.config_id, plan.previous) if best else None
    lost = f"it failed on a fresh node ({found.failures[0]})" if found.failures else None
    if lost is None and own.interval is not None and own.interval.high < 1:
        lost = "it is worse than the default"
    return Previous(
        config_id=plan.previous,
        run_id=plan.previous_run,
        deployment=found,
        gain=own.interval,
        best_over_it=over.interval if over else None,
        lost=lost,
    )


def _is_surely(gain: Interval | None, more_than: float) -> bool:
    return gain is not None and gain.low > more_than


def ships(best: Contender, previous: Previous | None, terms: Terms) -> bool:
    """Whether the best config is to be deployed: it beats the default, and what is in place."""
    is_good = best.refused is None and _is_surely(best.gain, terms.min_gain)
    return is_good and (previous is None or _replaces(previous, terms))


def _replaces(previous: Previous, terms: Terms) -> bool:
    """Whether the best config may take the incumbent's place (Metis §9)."""
    return previous.lost is not None or _is_surely(previous.best_over_it, terms.min_gain)


def _left(best: Contender | None, previous: Previous | None, *, ship: bool) -> str | None:
    """Return the id of the config in place after this run; None is the system's default."""
    if ship and best is not None:
        return best.deployment.config_id
    return previous.config_id if previous is not None and previous.lost is None else None


def cost(scene: Scene) -> dict[str, float | None]:
    """Return what measuring has cost: seconds on nodes, samples, and money when a node's hour has a price."""
    facts = [*scene.log.recorded(Sample), *scene.log.recorded(Failure)]
    spent = dict.fromkeys((False, True), 0.0)
    for fact in facts:
        spent[fact.purpose is Purpose.VALIDATE] += fact.duration_s
    return {
        "node_seconds": sum(spent.values()),
        "tuning_node_seconds": spent[False],
        "validation_node_seconds": spent[True],
        "samples": len(scene.log.recorded(Sample)),
        "rented_node_seconds": ledger.rented_s(scene.log),
        "price_per_hour": scene.price_per_hour,
        "money": None if scene.price_per_hour is None else stopping.cost(scene),
    }
