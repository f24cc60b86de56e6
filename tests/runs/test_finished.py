"""What may still happen to a run that has its verdict: samples are excluded, it is extended; without Airflow."""

from datetime import UTC, datetime

import pytest
from contenders import FIGURES, A, B, measure, tuned
from scenes import failure

from albacore import cli
from albacore.errors import UserError
from albacore.fact import VERDICT
from albacore.nightly.admission import Caller
from albacore.runs import action, audit
from albacore.sample import Blame, Purpose, Sample
from albacore.space import Config
from albacore.trial import Judgement, Note
from albacore_airflow import actions, campaign_tasks, lanes, opening, settings


@pytest.fixture
def log(store):
    """The log of a run that ends with a verdict for A, both lanes ended."""
    log = tuned(store)
    default = settings.scene("r1").space.default()
    for slot, node in enumerate(("n0", "n1", "n2")):
        measured(log, default, node, slot)
    campaign_tasks.judge_default("r1")
    for lane in range(campaign_tasks.lane_count("r1")):
        lanes.end_iteration("r1", lane, 0, key=f"r1.l{lane}.0", is_ok=True)
        lanes.end_lane("r1", lane, "limit reached: 1 samples")
    measure(log, campaign_tasks.plan_validation("r1"))
    campaign_tasks.conclude("r1")
    return log


def measured(log, config: Config, node: str, slot: int) -> None:
    from scenes import sample

    log.append_sample(sample(config.id, node, FIGURES[config.id], slot=slot, purpose=Purpose.DEFAULT))


def caller(dag_run_id: str = "again") -> Caller:
    return Caller(
        dag_run_id=dag_run_id, run_type="manual", run_after=datetime(2030, 1, 1, tzinfo=UTC), is_over=lambda _: False
    )


def verdicts(log) -> list[Note]:
    return log.read().notes(VERDICT)


def test_an_exclusion_that_concerns_the_verdict_writes_another_beside_it_and_undo_a_third(log):
    """One fresh node's samples are taken out, then back: the third verdict says what the first one said."""
    name = actions.exclude("r1", by="ann", node="f0", since=0.0, until=9e9)
    actions.settle("r1")
    actions.undo_exclude("r1", by="ann", exclusion=name)
    actions.settle("r1")

    first, second, third = (note.body for note in verdicts(log))
    assert set(first["best"]["by_node"]) == {"f0", "f1", "f2"}
    assert set(second["best"]["by_node"]) == {"f1", "f2"}
    assert {**third, "read_n": 0} == {**first, "read_n": 0}
    assert list(audit.faults(settings.store(), "r1")) == []


def test_the_terminal_concludes_anew_as_the_page_does(log, capsys):
    """And says so."""
    url = settings.store().url
    assert cli.main(["exclude", "r1", "--node", "f0", "--since", "0", "--store", url]) == 0

    assert "its verdict is another one now" in capsys.readouterr().out
    assert len(verdicts(log)) == 2


def test_an_exclusion_that_changes_nothing_of_the_verdict_writes_none(log):
    """One sample of the default on a tuning node: judged by what is left, the verdict stands."""
    actions.exclude("r1", by="ann", node="n2", since=0.0, until=9e9)
    actions.settle("r1")

    assert len(verdicts(log)) == 1
    default = settings.scene("r1").log.trial(settings.scene("r1").default_id).top
    assert default is not None and default.is_capped and set(default.raw) == {"n0", "n1"}


def test_a_verdict_whose_samples_are_all_excluded_ships_nothing_any_more(log):
    """The first one said to ship; what it rested on does not count."""
    for node in ("f0", "f1", "f2"):
        actions.exclude("r1", by="ann", node=node, since=0.0, until=9e9)
        actions.settle("r1")

    first, *_, last = (note.body for note in verdicts(log))
    assert first["ship"] and not last["ship"]
    assert list(audit.faults(settings.store(), "r1")) == []


def test_a_run_that_is_extended_goes_on_where_it_ended(log):
    """No default sample again, lanes at their next numbers, a validation with new repeats, a second verdict."""
    before = log.read()

    assert opening.reopen_run("mine", "r1", {"extends": "r1", "samples": 40}, caller(), by="ann") == "r1"
    assert opening.reopen_run("mine", "r1", {"extends": "r1", "samples": 40}, caller(), by="ann") == "r1"

    assert len(log.read().notes("reopen")) == 1
    assert campaign_tasks.stop_reason("r1") is None
    assert campaign_tasks.plan_default("r1") == []
    campaign_tasks.judge_default("r1")
    assert log.read().recorded(Judgement) == before.recorded(Judgement)
    started = campaign_tasks.lane_runs("r1")
    assert [run["trigger_run_id"] for run in started] == [f"r1.l{lane}.1" for lane in range(len(started))]
    assert not lanes.all_ended("r1")

    for lane in range(len(started)):
        lanes.end_lane("r1", lane, "limit reached: 40 samples")
    assert lanes.all_ended("r1")
    slots = campaign_tasks.plan_validation("r1")
    assert {slot["repeat"] for slot in slots}.isdisjoint(
        {s.repeat for s in before.facts(Sample) if s.purpose is Purpose.VALIDATE}
    )
    measure(log, slots)
    campaign_tasks.conclude("r1")
    assert len(verdicts(log)) == 2
    assert action.has_ended(log.read())


@pytest.mark.parametrize(
    ("name", "run_id", "conf", "said"),
    [
        ("other", "r1", {"samples": 40}, "is one of 'mine'"),
        ("mine", "r9", {"samples": 40}, "no campaign run 'r9'"),
        ("mine", "r1", {}, "samples 5 of 1"),
        ("mine", "r1", {"samples": "40"}, "samples: expected a whole number"),
        ("mine", "r1", {"samples": 40, "hours": -1}, "hours: expected a number above 0"),
    ],
)
def test_what_cannot_be_extended_is_refused_and_nothing_is_written(log, name, run_id, conf, said):
    """Another campaign's run, none, one with nothing left, or limits that are none."""
    before = log.read()

    with pytest.raises(UserError) as refused:
        opening.reopen_run(name, run_id, conf, caller(), by="ann")

    assert said in refused.value.message
    assert log.read() == before


def test_a_run_that_goes_on_is_not_re_opened_by_another_dag_run(log):
    """The campaign's lock is held by the one that works on it."""
    opening.reopen_run("mine", "r1", {"samples": 40}, caller("first"), by="ann")

    with pytest.raises(UserError, match="never two runs at once"):
        opening.reopen_run("mine", "r1", {"samples": 80}, caller("second"), by="bob")


def test_a_finished_run_re_queues_nothing(log):
    """There is no lane to measure it."""
    with pytest.raises(UserError, match="Extend it first"):
        actions.requeue("r1", by="ann", config_id=A.id)
    assert B.id in settings.scene("r1").configs


def test_a_default_that_failed_has_its_attempts_anew_when_its_run_is_opened_again(store):
    """The node may be well again; what failed before is said of the slot."""
    log = tuned(store)
    default = settings.scene("r1").default_id
    for attempt in range(3):
        log.append_failure(failure(default, "n1", Blame.NODE, slot=1, purpose=Purpose.DEFAULT), attempt=attempt)

    planned = {one["slot"]: one["failed"] for one in campaign_tasks.plan_default("r1")}

    assert planned == {0: 0, 1: 3, 2: 0}
