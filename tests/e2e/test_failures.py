"""Failures decide what the optimizer hears: the config's own are scored, a node's go elsewhere, five in a row stop."""

import law
import pytest
from clone import wait_until

from albacore.sample import Blame, Failure, Purpose, Sample
from albacore.trial import Judgement, Stability

pytestmark = pytest.mark.e2e


def test_a_config_that_the_server_refuses_is_scored_and_never_tried_again(clone):
    """ConfigFailure: recorded once, told as failed with the worst figure seen; its task is green at the first try."""
    followed = clone.start("refused").wait()

    log = law.check(followed)
    (failure,) = log.facts(Failure)
    assert failure.blame is Blame.CONFIG
    (judgement,) = [j for j in log.facts(Judgement) if j.config_id == failure.config_id]
    assert judgement.stability is Stability.FAILED
    assert judgement.score == min(j.score for j in log.facts(Judgement) if j.score is not None)
    tasks = [task for run in followed.iterations() for task in followed.tasks(run["dag_run_id"])]
    assert {t["try_number"] for t in tasks if t["task_id"] == "benchmark" and t["state"] == "success"} == {1}


def test_a_node_that_loses_its_data_is_blamed_itself_and_its_sample_is_taken_elsewhere(clone):
    """NodeFailure: not told; the same slot gets another node, and the node gets no more after two."""
    followed = clone.start("lossy")
    wait_until(lambda: followed.xcom("judge_default"), 180, "the default is judged")
    (clone.nodes_root / "fleet" / "n2" / "golden" / "sleep" / "data.json").unlink()

    log = law.check(followed.wait())

    failures = log.facts(Failure)
    assert failures and {(f.node, f.blame) for f in failures} == {("n2", Blame.NODE)}
    assert len(failures) >= 2
    assert {s.node for s in log.facts(Sample) if s.purpose is Purpose.TUNE} <= {"n1", "n2", "n3"}
    filled = {(s.config_id, s.slot) for s in log.facts(Sample)}
    assert {(f.config_id, f.slot) for f in failures} & filled, "no slot that failed on n2 was filled elsewhere"


def test_five_failed_iterations_in_a_row_stop_the_campaign_run_with_the_reason(clone):
    """The iterations are red and their lanes went on; the run is red, says why, and holds nothing any more."""
    followed = clone.start("narrow").wait(state="failed")

    failed = [run for run in followed.iterations() if run["state"] == "failed"]
    assert len(failed) >= 5
    (awaited,) = [task for task in followed.seen.failed_tasks() if task["task_id"] == "await"]
    assert "5 iterations failed in a row" in str(followed.seen.log(awaited))
    law.assert_lanes_never_fork(followed)
    assert law.held(followed) == {}
