"""Sentence: what a verdict says to somebody who reads nothing else."""

from albacore.stats import Interval
from albacore.verdict import Contender, Previous, Terms
from albacore.verdict.validation import Deployment, Plan


def of(
    plan: Plan, terms: Terms, best: Contender | None, previous: Previous | None, *, ship: bool, default: Deployment
) -> str:
    """Return a verdict in one sentence: what to do, with which config, and why."""
    if best is None:
        other = "other " if previous else ""
        said = f"Do not ship: no {other}config was found stable, so there is nothing to compare with the default"
    elif ship:
        said = f"Ship {best.deployment.config_id}: {_measured(best)}{_bound(best, terms)}"
    else:
        said = f"Do not ship {best.deployment.config_id}: {_why_not(best, previous, plan, terms, default)}"
    return f"{said}{_about_incumbent(previous, ship=ship)}."


def size(gain: Interval) -> str:
    """Return a gain in words: '1.31 times as good as the default (95% interval 1.22 to 1.41)'."""
    return f"{gain.estimate:.2f} times as good as the default ({_interval(gain)})"


def _interval(gain: Interval) -> str:
    return f"{gain.confidence:.0%} interval {gain.low:.2f} to {gain.high:.2f}"


def _measured(best: Contender) -> str:
    """Return what the fresh nodes showed of a config whose interval is known."""
    nodes = len(best.deployment.by_node)
    chosen = f", chosen on {best.tuning_nodes} node(s)" if best.tuning_nodes else ""
    if best.gain is None:
        return f"on {nodes} fresh node(s) it could not be compared"
    return f"on {nodes} fresh nodes it is {size(best.gain)}{chosen}"


def _bound(best: Contender, terms: Terms) -> str:
    """Return what so few nodes leave open."""
    bound = best.instability_upper_bound
    if bound is None:
        return ""
    return f"; it is bad on at most {bound:.0%} of all nodes ({terms.confidence:.0%} confidence)"


def _why_not(best: Contender, previous: Previous | None, plan: Plan, terms: Terms, default: Deployment) -> str:
    """Return the first reason that keeps the best config from shipping."""
    if not plan.nodes:
        return "it was not validated, for the campaign has no fresh nodes ([nodes] validation)"
    if default.failures and not default.by_node:
        return f"the default itself failed on every fresh node ({default.failures[0]}), so nothing can be compared"
    if best.refused is not None:
        return best.refused + _showed(best)
    if best.gain is not None and best.gain.low <= terms.min_gain:
        return f"{_missed(terms)}; {_measured(best)}"
    return _not_over(previous, terms) + _showed(best)


def _missed(terms: Terms) -> str:
    """Return what the gain does not reach."""
    return "no significant gain" if terms.min_gain <= 1 else f"no gain that is surely above {terms.min_gain:g}"


def _showed(best: Contender) -> str:
    """Return the gain behind another reason, as far as it is known."""
    if best.gain is not None:
        return f"; it is {size(best.gain)}"
    return f"; there it was {best.estimate:.2f} times as good as the default" if best.estimate is not None else ""


def _not_over(previous: Previous | None, terms: Terms) -> str:
    """Return that the incumbent is not beaten."""
    if previous is None or previous.best_over_it is None:
        return "it could not be compared with the incumbent"
    over = previous.best_over_it
    return f"{_missed(terms)} over the incumbent ({over.estimate:.2f} times, {_interval(over)})"


def _about_incumbent(previous: Previous | None, *, ship: bool) -> str:
    """Return what becomes of the incumbent."""
    if previous is None:
        return ""
    if previous.lost is not None:
        return f"; the incumbent {previous.config_id} goes: {previous.lost}"
    if ship and previous.best_over_it is not None:
        over = previous.best_over_it
        return f"; it replaces {previous.config_id} ({over.estimate:.2f} times as good, {_interval(over)})"
    return f"; the incumbent {previous.config_id} stays"
