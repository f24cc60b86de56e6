"""The query-plan flip of TUNA §3.2.1, on the samples that experiments/plan_flip recorded, and measured anew."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from albacore.runs import plans
from albacore.trial import Direction

HERE = Path(__file__).parents[2] / "experiments" / "plan_flip"
METRIC = "txn_per_cpu_s"


@pytest.fixture
def judge(monkeypatch):
    """The experiment's own module, for one test."""
    monkeypatch.syspath_prepend(str(HERE))
    import judge

    yield judge
    sys.modules.pop("judge")


@pytest.fixture
def recorded(judge):
    """The samples in the repository."""
    return judge.Recorded.read(HERE / "samples.json")


def test_good_and_bad_nodes_do_not_overlap(judge, recorded):
    """Every node with the good plan is faster than every node with the bad one; both kinds are among ten."""
    values, bad = recorded.values(judge.TIPPING, METRIC), judge.bad_nodes(recorded)
    good = values.keys() - bad

    assert len(values) == 10
    assert min(values[node] for node in good) > 2 * max(values[node] for node in bad)


def test_ten_nodes_catch_it_and_three_often(judge, recorded):
    """All ten are surely over the threshold; of all sets of three, those of one kind only are not."""
    values = list(recorded.values(judge.TIPPING, METRIC).values())

    assert judge.detected(values, 10) == (1, 1)
    caught, sets = judge.detected(values, 3)
    assert sets == 120
    assert caught > sets / 2
    assert judge.SINGLE.detector.detect(values[:1]).is_unstable is False


def test_one_node_promotes_it_wherever_its_plan_is_good(judge, recorded):
    """Among nine configs by one sample each the ladder promotes it on most nodes, and no detector can object."""
    good = len(recorded.samples[judge.TIPPING]) - len(judge.bad_nodes(recorded))
    promoted, _, nodes = judge.promotions(recorded, METRIC)

    assert good <= promoted < nodes


def test_the_default_is_not_suspected(judge, recorded):
    """The same nodes agree about the default, so that it is the config that is unstable and not the machine."""
    values = list(recorded.values(judge.DEFAULT, METRIC).values())

    assert judge.detected(values, 3) == (0, 120)
    assert judge.detected(values, 10) == (0, 1)


def test_the_penalised_score_is_worse_than_the_defaults(judge, recorded):
    """What the policy tells of all ten nodes is below what one good node had told."""
    values = list(recorded.values(judge.TIPPING, METRIC).values())
    told = judge.POLICY.penalty.penalise(judge.POLICY.aggregate.score(values, Direction.MAX), Direction.MAX)

    assert told < min(recorded.values(judge.DEFAULT, METRIC).values()) < max(values)


def test_the_plans_name_the_join(judge, recorded):
    """The one statement that flips is the join, and the bad nodes are those that read the whole table (T26)."""
    flips = {flip.statement: flip for flip in plans.flips(list(recorded.samples[judge.TIPPING].values()))}
    whole = {plan for plan, shape in flips["stock_level"].shapes.items() if "Seq Scan on stock" in shape}

    assert flips.keys() == {"stock_level"}
    for node in judge.bad_nodes(recorded):
        assert sum(flips["stock_level"].nodes[node][plan] for plan in whole) > 0


@pytest.mark.paper
def test_it_happens_again_on_fresh_clusters(judge, tmp_path):
    """Measured anew, some of six nodes are bad and some are not; about six minutes."""
    target = tmp_path / "samples.json"
    command = [sys.executable, str(HERE / "measure.py"), str(target), "--nodes", "6", "--others", "0"]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1] / "include")}
    subprocess.run(command, env=environment, check=True)
    fresh = judge.Recorded.read(target)

    assert 0 < len(judge.bad_nodes(fresh)) < 6  # all of a kind by chance: one time in twenty
