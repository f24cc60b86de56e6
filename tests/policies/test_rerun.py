"""Laws of the simple baseline: many once, the best again on all nodes."""

from scenes import ask

from albacore.policies.rerun import Rerun

LADDER = Rerun(rungs=(1, 10), first=20, best=3)


def walked(steps):
    """Return what is asked for, every sample being there before the next ask; config i costs i."""
    asks, costs = [], {}
    for index in range(steps):
        step = LADDER.step(asks, costs)
        name = step.config_id or f"c{index}"
        asks.append(ask(index, name, step.rung, step.bracket))
        costs[name, step.rung] = float(name[1:])
    return asks


def test_the_best_are_measured_again_in_their_order():
    """Twenty once, then the best three on ten nodes, then new ones."""
    asks = walked(24)

    assert [a.rung for a in asks] == [0] * 20 + [1] * 3 + [0]
    assert [a.config_id for a in asks[20:23]] == ["c0", "c1", "c2"]


def test_nobody_waits_for_the_last_samples():
    """While one of the first pass is awaited, a lane asks for a new config."""
    asks = walked(20)
    costs = {(a.config_id, 0): 1.0 for a in asks[:-1]}

    assert LADDER.step(asks, costs).config_id is None
