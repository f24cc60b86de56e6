"""What is done to a campaign run: it is stopped, extended, loses samples; Airflow goes down in its middle."""

import subprocess
import sys

import law
import pytest
from clone import Followed, wait_until

from albacore.sample import Purpose, Sample
from albacore.store.leases import Leases
from albacore.store.run_log import RunLog
from albacore.trial import Ask, Judgement
from albacore_ops import campaign

pytestmark = pytest.mark.e2e


def judged(followed: Followed, at_least: int) -> list[Judgement]:
    """Wait until so many judgements are in the log."""
    wait_until(lambda: followed.xcom("judge_default"), 180, "the default is judged")
    return wait_until(
        lambda: len(found := law.log_of(followed).recorded(Judgement)) >= at_least and found,
        180,
        f"{at_least} judgements",
    )


def test_a_run_that_is_stopped_ends_with_its_reason_and_a_verdict(clone):
    """What is in flight is finished; the verdict says who stopped it and why."""
    followed = clone.start("steered")
    judged(followed, 3)

    clone.albacore("stop", followed.id, "--reason", "seen enough")

    log = law.check(followed.wait())
    stopped = followed.xcom("verdict", "verdict")["stopped"]
    assert stopped.startswith("stopped by ") and stopped.endswith(": seen enough")
    assert {note.body["reason"] for note in log.notes("lane_end")} == {stopped}


def test_a_finished_run_that_is_extended_goes_on_to_a_second_verdict(clone):
    """Same log, same lanes, more samples; the default is not measured again; the old verdict stays."""
    first = clone.start("small", samples=6).wait()
    before = law.check(first)

    extend(clone, first.id, "--samples", "12")
    run = wait_until(
        lambda: (new := campaign.latest(clone.airflow, "small")) and new.run_id != first.dag_run_id and new, 30, "a run"
    )
    second = Followed(clone=clone, campaign="small", dag_run_id=run.run_id)
    log = law.check(second.wait())

    assert second.id == first.id
    assert log.events[: len(before.events)] == before.events
    assert len([s for s in log.facts(Sample) if s.purpose is not Purpose.VALIDATE]) >= 12
    assert len([s for s in log.facts(Sample) if s.purpose is Purpose.DEFAULT]) == 3
    assert len(log.notes("verdict")) == 2
    repeats = [{s.repeat for s in found.facts(Sample) if s.purpose is Purpose.VALIDATE} for found in (before, log)]
    assert max(repeats[1]) > max(repeats[0])
    said = extend(clone, first.id, "--samples", "7", code=2)
    assert "expected a total above" in said


def extend(clone, *arguments: str, code: int = 0) -> str:
    """Run `albacore extend` as the clone's own command does."""
    done = subprocess.run(
        [sys.executable, str(clone.root / "ops" / "run.py"), "extend", *arguments],
        env=clone.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_an_exclusion_scores_a_live_run_again(clone):
    """Configs that lost a sample get it on another node or as a repeat, and a new judgement beside the old one."""
    followed = clone.start("steered")
    rested = [j for j in judged(followed, 5)[1:] if "n2" in j.raw] or judged(followed, 12)[1:]
    node = next(iter(rested[0].raw))

    clone.albacore("exclude", followed.id, "--node", node, "--since", "0", "--reason", "a backup ran")
    wait_until(
        lambda: [j for j in law.log_of(followed).facts(Judgement) if j.revision and j.config_id == rested[0].config_id],
        120,
        "a config is judged again",
    )
    clone.albacore("stop", followed.id)

    log = law.check(followed.wait())
    assert rested[0] in log.recorded(Judgement) and rested[0] not in log.facts(Judgement)
    (exclusion,) = log.exclusions
    assert not [s for s in log.facts(Sample) if exclusion.hits(s)]
    clone.albacore("exclude", followed.id, "--undo", exclusion.id)
    assert rested[0] in law.log_of(followed).facts(Judgement)
    law.assert_replays(followed)


def test_a_run_goes_on_after_airflow_was_down_for_longer_than_its_lease(clone):
    """Its lanes pause while nobody watches, and go on from the same log to the verdict."""
    followed = clone.start("steered", samples=14)
    judged(followed, 3)
    run_id = followed.id

    clone.make("down")
    before = RunLog(clone.store(), run_id).read()
    Leases(clone.store()).release(run_id)  # as if it had run out: 180 s
    clone.make("up")

    log = law.check(followed.wait(300))
    assert log.events[: len(before.events)] == before.events
    assert len(log.facts(Ask)) > len(before.facts(Ask))
    assert followed.xcom("verdict", "verdict")["stopped"] == "limit reached: 14 samples"
