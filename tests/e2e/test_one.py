"""One campaign from its start to its verdict on a real Airflow, read as a user reads it: over the REST API."""

import sqlite3

import law
import pytest
from clone import Clone, Followed, pretty, wait_until

from albacore.sample import Purpose, Sample
from albacore.trial import Judgement, Log

pytestmark = pytest.mark.e2e_one

TASKS = ["suggest", "pick_nodes", "benchmark", "detect_outliers", "adjust_noise", "aggregate", "report", "next"]
TUNING = {"n1", "n2", "n3", "n4", "n5"}
FRESH = {"n6", "n7"}


@pytest.fixture(scope="module")
def ladder(clone: Clone) -> Followed:
    """A campaign that climbs to its third rung; its first iteration is cleared while it runs."""
    followed = clone.start("ladder")
    first = f"{followed.id}.l0.0"
    wait_until(lambda: f"{followed.id}.l0.3" in names(followed), 180, "lane 0 is at its fourth iteration")
    followed.clear(first)
    return followed.wait(400)


@pytest.fixture(scope="module")
def log(ladder: Followed) -> Log:
    return law.log_of(ladder)


@pytest.fixture(scope="module")
def tasks(ladder: Followed) -> dict[str, list]:
    """Task instances by iteration; the cleared one measures nothing any more and says nothing of nodes."""
    return {name: ladder.tasks(name) for name in names(ladder) if not name.endswith(".l0.0")}


def names(followed: Followed) -> list[str]:
    return [run["dag_run_id"] for run in followed.iterations()]


def measured_on(instances: list) -> set[str]:
    """Return the labels of an iteration's mapped benchmarks: the names of their nodes."""
    return {t["rendered_map_index"] for t in instances if t["task_id"] == "benchmark" and t["state"] == "success"}


def test_every_iteration_has_the_eight_tasks_of_the_paper(tasks):
    """An iteration is suggest, pick_nodes, benchmark, detect_outliers, adjust_noise, aggregate, report, next."""
    for name, instances in tasks.items():
        assert {t["task_id"] for t in instances} == set(TASKS), f"{name}: {pretty(instances)}"


def test_no_iteration_is_lost(ladder):
    """Every iteration is green, the last one of each lane too."""
    assert {run["state"] for run in ladder.iterations()} == {"success"}


def test_the_default_config_is_measured_first_on_all_tuning_nodes(ladder, log):
    """The first five samples are the default's, each on a node of its own; the tasks carry the nodes' names."""
    samples = log.facts(Sample)[:5]
    assert {s.purpose for s in samples} == {Purpose.DEFAULT}
    assert {s.node for s in samples} == TUNING
    labels = {t["rendered_map_index"] for t in ladder.seen.tasks() if t["task_id"] == "default"}
    assert labels == TUNING


def test_benchmarks_run_on_distinct_nodes_at_all_three_rungs_and_reuse_the_samples_of_the_rung_below(
    ladder, log, tasks
):
    """A config told at 1, 3 and 5 nodes asked for 1, then 2, then 2 nodes, and never for one that it had used."""
    default = log.facts(Sample)[0].config_id
    tops = [j.config_id for j in log.facts(Judgement) if j.rung == 2 and j.config_id != default]
    assert tops, "no config reached the top rung"
    for config_id in tops:
        rungs = {}
        for name, instances in tasks.items():
            ask = asked(ladder, name)
            if ask and ask["config"] == config_id:
                rungs[ask["rung"]] = measured_on(instances)
        promoted = [rungs.get(rung, set()) for rung in (1, 2)]
        assert [len(nodes) for nodes in promoted] == [2, 2], pretty(rungs)
        assert not promoted[0] & promoted[1]
        assert {s.node for s in log.samples(config_id)} == TUNING


def asked(followed: Followed, iteration: str) -> dict | None:
    """Return what an iteration's `suggest` handed on."""
    where = f"/api/v2/dags/{followed.campaign}.iteration/dagRuns/{iteration}/taskInstances/suggest/xcomEntries/"
    return (followed.clone.airflow.find(where + "return_value", query={"deserialize": "true"}) or {}).get("value")


def test_clear_of_an_iteration_measures_nothing_twice_and_forks_no_lane(ladder, log):
    """Clear of the first iteration, while the run goes on and again after it, adds no event and no iteration."""
    first, known = f"{ladder.id}.l0.0", names(ladder)
    assert {t["try_number"] for t in ladder.tasks(first) if t["task_id"] == "suggest"} == {2}

    ladder.clear(first)
    wait_until(lambda: ladder.iteration_state(first) == "success", 90, "the cleared iteration has ended")

    assert {t["try_number"] for t in ladder.tasks(first) if t["task_id"] == "suggest"} == {3}
    assert not measured_on(ladder.tasks(first)), "a benchmark ran again"
    assert names(ladder) == known
    law.assert_lanes_never_fork(ladder)
    assert law.log_of(ladder) == log


def test_a_finished_run_keeps_every_law_of_its_log(ladder):
    """Numbers without gaps, each sample and judgement once, no lease held, and every decision replays."""
    law.check(ladder)


def test_a_store_that_was_edited_by_hand_does_not_replay(ladder, tmp_path):
    """A score that does not follow from the log is named, and the exit code is 1."""
    edited = tmp_path / "edited.db"
    with sqlite3.connect(ladder.clone.layout.store) as source, sqlite3.connect(edited) as copy:
        source.backup(copy)
        last = law.log_of(ladder).facts(Judgement)[-1]
        copy.execute(
            "UPDATE judgement SET score = score + 1 WHERE run_id = ? AND config_id = ? AND rung = ?",
            (ladder.id, last.config_id, last.rung),
        )

    said = ladder.clone.albacore("show", ladder.id, "--verify", "--store", f"sqlite:///{edited}", code=1)

    assert "score: recorded" in said


def test_the_verdict_compares_best_and_default_on_nodes_that_had_no_part_in_choosing(ladder, log):
    """The verdict in XCom names both, and was measured on the two fresh nodes only."""
    verdict = ladder.xcom("verdict", "verdict")
    assert set(verdict["best"]["by_node"]) == set(verdict["default"]["by_node"]) == FRESH
    assert verdict["best"]["config_id"] in {j.config_id for j in log.facts(Judgement) if j.rung == 2}
    assert verdict["fragment"]["text"]
    assert {s.node for s in log.facts(Sample) if s.purpose is Purpose.VALIDATE} == FRESH


def test_a_second_run_of_the_campaign_works_after_the_first_and_takes_the_values_of_its_form(clone, ladder):
    """Another run starts at once, has a log of its own, and stops at the samples that the form says."""
    second = clone.start("ladder", samples=6, seed=7).wait(180)
    log = law.check(second)
    assert second.id != ladder.id
    assert len([s for s in log.facts(Sample) if s.purpose is not Purpose.VALIDATE]) >= 6
    effective = clone.store().run(second.id).effective
    assert (effective["limits"]["samples"], effective["seed"]) == (6, 7)
