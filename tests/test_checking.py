"""A campaign is checked against its benchmark: here, whether it may tune what risks data."""

import shutil
from pathlib import Path

import pytest

from albacore.benchmark import Benchmark
from albacore.campaign import parse
from albacore.checking import check_campaign, space_of
from albacore.errors import SpaceError

NOOP = Path(__file__).parents[1] / "include" / "benchmarks" / "noop"


@pytest.fixture
def benchmark(tmp_path):
    """The benchmark `noop` with a `cache` that risks data."""
    folder = tmp_path / "noop"
    shutil.copytree(NOOP, folder)
    knobs = folder / "knobs.toml"
    knobs.write_text(knobs.read_text().replace("[deny]", '[deny]\ncache = "what it holds is lost in a crash"'))
    return Benchmark.read(tmp_path, "noop")


def campaign(**space):
    return parse({"name": "c", "system": "noop", "workload": "sleep", "space": space}, where="a test")


def test_what_risks_data_is_not_tuned_unless_a_campaign_names_it_and_says_so(benchmark):
    """Left out by default; named, it needs `allow_denied`, and is marked for the verdict's caveats."""
    assert "cache" not in {knob.name for knob in space_of(campaign(), benchmark).knobs}

    with pytest.raises(SpaceError, match=r"what it holds is lost in a crash.*space\.allow_denied = true"):
        space_of(campaign(knobs=["size", "cache"]), benchmark)

    space = space_of(campaign(knobs=["size", "cache"], allow_denied=True), benchmark)
    assert {knob.name: knob.safety for knob in space.knobs} == {"size": "durable", "cache": "denied"}


def test_allowing_it_lets_in_only_what_is_named(benchmark):
    """`allow_denied` alone tunes nothing more."""
    assert space_of(campaign(allow_denied=True), benchmark) == space_of(campaign(), benchmark)


@pytest.mark.parametrize(("nodes", "schedule", "is_warned"), [(3, True, True), (5, True, False), (3, False, False)])
def test_too_few_nodes_to_see_what_moves_are_warned_of(tmp_path, nodes, schedule, is_warned):
    """Only where nights are compared: finding, evidence, remedy."""
    path = tmp_path / "campaigns" / "nightly.toml"
    path.parent.mkdir()
    (tmp_path / "benchmarks").symlink_to(NOOP.parent)
    text = f'system = "noop"\nworkload = "sleep"\n[policy]\nrungs = [1, 3]\n[nodes]\ntuning = {nodes}\n'
    path.write_text('schedule = "0 2 * * *"\n' + text if schedule else text)

    said = [line for line in check_campaign(path) if "warning" in line]

    assert bool(said) is is_warned
    if said:
        assert "3 tuning node(s) are few" in said[0] and "Set nodes.tuning to 5" in said[0]


def test_a_budget_too_small_for_the_optimizer_is_warned_of(tmp_path):
    """BestConfig with fewer tests per round than knobs: a line of the check, and none when the budget is enough."""
    text = 'system = "noop"\nworkload = "sleep"\n[policy]\npreset = "traditional"\n[nodes]\ntuning = 1\n'
    text += '[optimizer]\nname = "bestconfig"\n[limits]\nsamples = {}\n'
    said = {}
    for samples in (6, 500):
        path = tmp_path / f"n{samples}" / "campaigns" / "small.toml"
        path.parent.mkdir(parents=True)
        (path.parent.parent / "benchmarks").symlink_to(NOOP.parent)
        path.write_text(text.format(samples))
        said[samples] = [line for line in check_campaign(path) if "warning" in line]
    assert "5 tests per round for 8 knobs" in said[6][0]
    assert said[500] == []


def test_a_campaign_whose_adjuster_learns_from_earlier_runs_says_so(tmp_path):
    """And from how many; one that begins cold says nothing of it."""
    path = tmp_path / "campaigns" / "mine.toml"
    path.parent.mkdir()
    (tmp_path / "benchmarks").symlink_to(NOOP.parent)
    text = 'system = "noop"\nworkload = "sleep"\n[policy]\nadjuster = "cross_validated"\n'

    path.write_text(text)
    assert not any("earlier" in line or "learn" in line for line in check_campaign(path))
    path.write_text(text + "[warm_start]\nruns = 2\nadjuster = true\n")
    assert "  its adjuster may learn from the stable trials of the last 2 run(s) too" in list(check_campaign(path))
