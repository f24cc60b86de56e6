"""Laws of the measurement under neighbours: what is measured when, and beside whom."""

import sys
from collections import Counter
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "experiments" / "neighbours"
CONFIGS = [0, 1, 3, 4, 7]


@pytest.fixture(scope="module")
def neighbours():
    """The modules of the measurement, which are no package."""
    sys.path.insert(0, str(FOLDER))
    import measure
    import noisy_samples
    import weather

    yield {"measure": measure, "samples": noisy_samples, "weather": weather}
    sys.path.remove(str(FOLDER))


def test_each_config_is_measured_once_on_each_node_and_in_each_quiet_round(neighbours):
    """In another order on each node."""
    weather, found = neighbours["weather"], list(neighbours["measure"].turns(1, CONFIGS))
    rounds = len(neighbours["measure"].ROUNDS_BEFORE)

    assert len({turn.key for turn in found}) == len(found) == len(CONFIGS) * (len(weather.NODES) + rounds)
    assert Counter(turn.config for turn in found) == dict.fromkeys(CONFIGS, len(weather.NODES) + rounds)
    assert len({tuple(t.config for t in found if t.node == node) for node in weather.NODES}) > 1


def test_nobody_else_is_at_work_in_a_quiet_round_alone(neighbours):
    """The truth is undisturbed."""
    for turn in neighbours["measure"].turns(1, CONFIGS):
        assert bool(turn.strengths) == (turn.node != neighbours["measure"].QUIET)


def test_configs_that_fail_or_are_hopeless_are_not_measured_again(neighbours):
    """Under half of the default's figure."""
    tps = {0: 1000.0, 1: 499.0, 2: 500.0, 4: 3000.0}
    rows = [{"config": c, "node": "quiet", "round": 0, "metrics": {"tps": value}} for c, value in tps.items()]
    rows.insert(3, {"config": 3, "node": "quiet", "round": 0, "failure": "ConfigFailure: it ended"})

    assert neighbours["measure"].worth(rows) == [0, 2, 4]


def test_neighbours_follow_from_seed_and_node(neighbours):
    """Bit for bit; other nodes and seeds have others, and no strength leaves [0, 1]."""
    weather = neighbours["weather"]
    series = {node: weather.strengths(1, node, 200) for node in weather.NODES}

    assert all(series[node] == weather.strengths(1, node, 200) for node in weather.NODES)
    assert len({str(one) for one in series.values()}) == len(weather.NODES)
    assert series["n1"] != weather.strengths(2, "n1", 200)
    assert all(0 <= s <= 1 for one in series.values() for moment in one for s in moment.values())


def test_a_passing_neighbour_is_there_for_its_share_of_the_time(neighbours):
    """Within 0.06: 3,000 samples are 300 to 600 spells of a mean of 3, whose deviation of the share is under 0.02."""
    weather = neighbours["weather"]
    for node in weather.NODES:
        about, series = weather.profile(1, node), weather.strengths(1, node, 3000)
        for kind in weather.KINDS:
            share = sum(moment[kind] > about.base[kind] + 0.01 for moment in series) / 3000
            assert abs(share - about.time[kind]) < 0.06


def test_samples_come_back_as_they_were_written(neighbours, tmp_path):
    """Appended one by one or packed."""
    samples, path = neighbours["samples"], tmp_path / "samples.jsonl.gz"
    rows = [{"config": i, "telemetry": {"a": 0.5 * i}} for i in range(4)]
    for row in rows:
        samples.append(path, row)
    before = samples.read(path)
    samples.pack(path)

    assert before == samples.read(path) == rows
