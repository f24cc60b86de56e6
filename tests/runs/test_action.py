"""What a person may do to a campaign run, and what each act leaves in its log."""

import pytest
from scenes import ask, sample
from stored_runs import opened

from albacore import recorded, stopping
from albacore.errors import UserError
from albacore.runs import action
from albacore.trial import Note


@pytest.fixture
def made(tmp_path):
    """A run in a store, with its clock."""
    return opened(tmp_path)


def scene_of(made):
    return recorded.scene(made.store, made.store.run("run"))


def test_a_stop_ends_the_asking_and_keeps_who_and_why(made):
    """The reason is the one that the run shows; a second stop changes nothing."""
    action.stop(made.store, "run", by="ann", reason="disk\nis full")
    action.stop(made.store, "run", by="bob", reason="me too")

    assert stopping.stop_reason(scene_of(made), elapsed_s=0.0) == "stopped by ann: disk is full"
    assert len(made.log.read().notes("stop")) == 1


def test_new_totals_are_in_force_and_logged(made):
    """Only what is given changes."""
    in_force = action.extend(made.store, "run", by="ann", samples=70)

    assert in_force == {"samples": 70.0, "hours": 1.0}
    (note,) = made.log.read().notes("limits")
    assert note.body == {"samples": 70.0, "by": "ann"}


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({}, "got none"),
        ({"samples": 0}, "samples: expected a whole number above 0"),
        ({"samples": 1.5}, "samples: expected a whole number"),
        ({"samples": True}, "samples: expected a whole number"),
        ({"samples": "9"}, "samples: expected a whole number"),
        ({"samples": 10**9}, "up to 1e+06"),
        ({"hours": float("nan")}, "hours: expected a number"),
        ({"hours": float("inf")}, "hours: expected a number"),
        ({"hours": -1}, "hours: expected a number"),
        ({"samples": 1}, "above the 1 used so far"),
        ({"hours": 0.01}, "hours: expected a total above the"),
        ({"cost": 5.0}, "no price per hour"),
    ],
)
def test_a_limit_that_is_none_is_refused_with_its_remedy(made, limits, said):
    """Nothing is logged then."""
    made.log.append_ask(ask(0, "c"), {"k0": 0.1, "k1": 0.1, "k2": 0.1})
    made.log.append_sample(sample("c", "n1", 1.0))
    made.clock.now += 600

    with pytest.raises(UserError) as refused:
        action.extend(made.store, "run", by="ann", **limits)

    assert said in refused.value.message
    assert made.log.read().notes("limits") == []


@pytest.mark.parametrize(("by", "reason"), [("", ""), (" \n", ""), ("x" * 201, ""), ("ann", "y" * 1001), (None, "")])
def test_nobody_acts_without_a_name_or_with_a_novel(made, by, reason):
    """The log says who did it."""
    with pytest.raises(UserError):
        action.stop(made.store, "run", by=by, reason=reason)


def test_a_run_that_has_its_verdict_is_not_stopped_any_more(made):
    """There is nothing left to stop."""
    made.log.append_note(Note(kind="verdict", body={}))

    with pytest.raises(UserError, match="has its verdict"):
        action.stop(made.store, "run", by="ann")


def test_a_re_opened_run_forgets_why_it_had_stopped_and_does_not_count_the_night_between(made):
    """B08: stops and failures of before are over, hours between its end and its re-opening are not used."""
    action.stop(made.store, "run", by="ann")
    made.clock.now += 1800
    made.log.append_note(Note(kind="verdict", body={}))
    made.clock.now += 10 * 3600

    action.reopen(made.store, "run", by="bob", key="dag run 2", limits={"samples": 9.0})
    action.reopen(made.store, "run", by="bob", key="dag run 2", limits={"samples": 10.0})

    scene = scene_of(made)
    elapsed_s = stopping.elapsed_s(scene.log, now=made.clock.now, opened_at=made.opened_at)
    assert elapsed_s == 1800
    assert stopping.stop_reason(scene, elapsed_s=elapsed_s) is None
    assert stopping.limits_of(scene) == {"samples": 500.0, "hours": 1.0}
    assert not action.has_ended(scene.log)


def test_a_run_without_anything_left_to_use_is_not_re_opened(made):
    """Its hours are used up: more samples alone would not help."""
    made.clock.now += 2 * 3600
    made.log.append_note(Note(kind="verdict", body={}))

    with pytest.raises(UserError, match="hours 2 of 1"):
        action.reopen(made.store, "run", by="bob", key="again", limits={"samples": 900.0})


def test_no_action_on_a_run_that_is_not_there(made):
    """The known ones are named."""
    for act in (action.stop, action.extend):
        with pytest.raises(UserError, match="no campaign run 'rum'"):
            act(made.store, "rum", by="ann")
