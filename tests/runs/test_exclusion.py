"""What a person may exclude or have measured again, and what that leaves in a run's log."""

from contextlib import contextmanager
from dataclasses import replace

import pytest
from scenes import failure
from stored_runs import asked, counting, default_of, judged, judged_run, put

from albacore import judging, recorded, replay
from albacore.errors import UserError
from albacore.fact import EXCLUDE, INCLUDE
from albacore.runs import audit, exclusion
from albacore.runs.exclusion import Span
from albacore.store.leases import Leases, run_resource
from albacore.trial import Ask, Judgement, Stability


@pytest.fixture
def made(tmp_path):
    """A run in a store with five judgements."""
    return judged_run(tmp_path)


def test_a_run_that_nobody_watches_is_judged_by_what_is_left(made):
    """A new judgement beside the old, capped; taken back, the old one counts again, and every decision audits."""
    best = counting(made).facts(Judgement)[-1]

    name = exclusion.exclude(made.store, "run", Span(node="n4", since=0.0, until=9e9), by="ann", reason="backup")

    after = counting(made).trial(best.config_id).judged(1)
    assert (after.revision, after.is_capped, set(after.raw)) == (1, True, {"n3", "n5"})
    assert "capped: 2 of 3 sample(s) count" in after.reasons
    default = counting(made).trial(default_of(made)).top
    assert set(default.raw) == {"n1", "n2", "n3", "n5"}

    exclusion.undo_exclude(made.store, "run", by="bob", exclusion=name)

    assert counting(made).trial(best.config_id).judged(1) == best
    assert len(counting(made).recorded(Judgement)) == 7
    assert [line for line in audit.faults(made.store, "run") if line.startswith("judgement")] == []


class EndedError(Exception):
    """The process that judges is ended."""


def test_what_was_left_half_way_goes_on_where_it_was(made):
    """The server is stopped after one of two judgements: the log says what is due, and undo is exact all the same."""
    before, turns = counting(made).facts(Judgement), []

    @contextmanager
    def once():
        if turns:
            raise EndedError
        turns.append(1)
        yield

    name = exclusion.leave_out(made.store, "run", Span(node="n4", since=0.0, until=9e9), by="ann")
    assert len(judging.overdue(recorded.scene(made.store, made.store.run("run")))) == 2
    with pytest.raises(EndedError):
        exclusion.settle_unwatched(made.store, "run", turn=once)
    assert len(judging.overdue(recorded.scene(made.store, made.store.run("run")))) == 1

    assert exclusion.settle(made.store, "run") == 1
    assert exclusion.settle(made.store, "run") == 0
    exclusion.take_back(made.store, "run", by="bob", exclusion=name)
    assert judging.overdue(recorded.scene(made.store, made.store.run("run"))) == []
    assert counting(made).facts(Judgement) == before
    assert [line for line in audit.faults(made.store, "run") if line.startswith("judgement")] == []


def test_a_live_run_leaves_judging_to_its_lanes(made):
    """The rung is open again, the missing slot is asked for as a new repeat; nothing is judged by fewer samples."""
    Leases(made.store).take_resource(run_resource("run"), "run")
    best = counting(made).facts(Judgement)[-1].config_id

    exclusion.exclude(made.store, "run", Span(node="n4", since=0.0, until=9e9), by="ann")

    scene = recorded.scene(made.store, made.store.run("run"))
    assert scene.log.trial(best).judged(1) is None
    (slot,), is_capped = replay.open_slots(scene, best, 1, ("n1", "n2", "n3", "n4", "n5"))
    assert (slot.index, slot.repeat, is_capped) == (1, 1, False)
    assert slot.nodes[-1] == "n4" and "n3" not in slot.nodes and "n5" not in slot.nodes
    exclusion.settle(made.store, "run", only=scene.default_id)
    assert [j.config_id for j in counting(made).recorded(Judgement)[5:]] == [scene.default_id]


@pytest.mark.parametrize(
    ("span", "said"),
    [
        ({"node": "n9"}, "got 'n9'"),
        ({"since": 0.0, "until": 5.0}, "its samples started from 10000"),
        ({"since": 9.0, "until": 5.0}, "not after until"),
        ({"since": float("nan")}, "expected seconds since the epoch"),
        ({"until": float("inf")}, "expected seconds since the epoch"),
        ({"until": "now"}, "expected seconds since the epoch"),
        ({"node": None}, "expected its name"),
        ({"node": "n1'; DROP TABLE sample; --"}, "expected a node"),
    ],
)
def test_an_exclusion_of_nothing_is_refused_with_its_remedy(made, span, said):
    """And nothing is logged."""
    before = made.log.read()

    with pytest.raises(UserError) as refused:
        given = {"node": "n4", "since": 0.0, "until": 9e9, **span}
        exclusion.exclude(made.store, "run", Span(**given), by="ann")

    assert said in refused.value.message
    assert made.log.read() == before


def test_what_is_measured_after_an_exclusion_counts(made):
    """An end in the future is cut: the exclusion speaks of what is known."""
    exclusion.exclude(made.store, "run", Span(node="n4", since=0.0, until=9e9), by="ann")
    config_id = asked(made, 4, config=7)
    put(made, config_id, "n4", 140.0)

    assert [s.node for s in counting(made).samples(config_id)] == ["n4"]


def test_excluding_or_taking_back_twice_is_once(made):
    """The same id, one event."""
    span = Span(node="n4", since=0.0, until=made.clock.now)
    names = {exclusion.exclude(made.store, "run", span, by="ann") for _ in range(2)}
    for _ in range(2):
        exclusion.undo_exclude(made.store, "run", by="ann", exclusion=next(iter(names)))

    assert len(names) == 1
    log = made.log.read()
    assert (len(log.notes(EXCLUDE)), len(log.notes(INCLUDE))) == (1, 1)


def test_an_unknown_exclusion_is_not_taken_back(made):
    """The ids in force are named."""
    name = exclusion.exclude(made.store, "run", Span(node="n4", since=0.0, until=9e9), by="ann")

    with pytest.raises(UserError, match=f"In force: {name}"):
        exclusion.undo_exclude(made.store, "run", by="ann", exclusion="x")


@pytest.mark.parametrize(
    ("config", "said"), [("default", "the default is measured"), ("nope", "asked for"), (None, "asked for")]
)
def test_what_no_lane_can_measure_is_not_re_queued(made, config, said):
    """The default belongs to the opening; unknown configs to nobody."""
    wanted = default_of(made) if config == "default" else config

    with pytest.raises(UserError, match=said):
        exclusion.requeue(made.store, "run", by="ann", config_id=wanted)


def test_a_config_is_re_queued_once_at_a_time_and_lapses_with_its_run(made):
    """It waits for its samples; when the run ends before, its old ones count again."""
    best = counting(made).facts(Judgement)[-1]
    exclusion.requeue(made.store, "run", by="ann", config_id=best.config_id)
    assert counting(made).trial(best.config_id).samples == ()

    with pytest.raises(UserError, match="waits for it"):
        exclusion.requeue(made.store, "run", by="ann", config_id=best.config_id)
    exclusion.settle(made.store, "run")

    assert counting(made).trial(best.config_id).judged(1) == best
    assert counting(made).notes(INCLUDE)[-1].body["reason"] == exclusion.LAPSED


def test_a_run_that_asks_no_more_re_queues_nothing(made):
    """Its hours are over: extend it first."""
    made.clock.now += 2 * 3600

    with pytest.raises(UserError, match="Extend it first"):
        exclusion.requeue(made.store, "run", by="ann", config_id=asked_config(made))


def asked_config(made):
    return counting(made).facts(Ask)[0].config_id


def test_a_failure_of_the_config_itself_is_excluded_with_its_node(made):
    """Its trial is not failed any more; a NodeFailure stays what it is: the node's."""
    config_id = asked(made, 4, config=8)
    made.log.append_failure(replace(failure(config_id, "n2"), started_at=made.clock.now), attempt=0)
    failed = judged(made, config_id, 0)
    assert failed.stability is Stability.FAILED

    exclusion.exclude(made.store, "run", Span(node="n2", since=made.clock.now, until=made.clock.now), by="ann")

    assert counting(made).trial(config_id).config_failures == ()
    assert counting(made).trial(config_id).judged(0) is None
