"""Laws of what counts: nothing is edited, and what an exclusion or a re-queue takes away follows from the log alone."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scenes import NODES, Counting, Play, ask, failure

from albacore import judging, replay, unjudged
from albacore.fact import EXCLUDE, INCLUDE, REQUEUE
from albacore.sample import Blame, Purpose, Sample
from albacore.trial import Ask, Judgement, Note


def uneven(config, node):
    return 100 + 50 * config["k0"] + 2 * NODES.index(node)


def played(count=40, lanes=2, **fields):
    run = Play(uneven, **fields)
    run.default()
    run.iterate(count, lanes)
    return run


def excluded(run, node, since=0.0, until=1e9, name="x1"):
    until = min(until, run.now.log.last_n)  # what comes later is not excluded: the time is the number of events
    run.add(Note(kind=EXCLUDE, body={"id": name, "node": node, "since": since, "until": until}))


def included(run, name="x1"):
    run.add(Note(kind=INCLUDE, body={"id": name}))


def decisions(scene):
    """Return all that anybody decides by the log as it is."""
    chosen = replay.incumbent(scene)
    decided = [replay.decide(scene, Counting(), lane=lane) for lane in (0, 1, 7)]
    return replay.costs(scene), replay.observations(scene), chosen, decided, unjudged.given_up(scene.log)


QUICK = (Phase.explicit, Phase.reuse, Phase.generate)  # an example that fails is read as it is: each is a whole run
spans = st.tuples(st.sampled_from(NODES), st.integers(0, 250), st.integers(0, 250))


@settings(max_examples=25, deadline=None, phases=QUICK)
@given(span=spans, lanes=st.integers(1, 4), count=st.integers(1, 45))
def test_an_exclusion_that_is_taken_back_never_was(span, lanes, count):
    """Every later decision is, bit for bit, that of the log without the two events."""
    run = played(count, lanes)
    before = decisions(run.now)

    excluded(run, span[0], min(span[1:]), max(span[1:]))
    included(run)

    assert decisions(run.now) == before


@settings(max_examples=25, deadline=None, phases=QUICK)
@given(span=spans, lanes=st.integers(1, 4), more=st.integers(1, 30))
def test_taking_back_brings_every_judgement_back_whatever_was_measured_meanwhile(span, lanes, more):
    """What replaced an excluded sample counts no longer, and with it every judgement that rested on it."""
    run = played(30, lanes)
    counted = {e.n for e in run.now.log.events if e.n not in run.now.log.void}

    excluded(run, span[0], min(span[1:]), max(span[1:]))
    run.iterate(more, lanes)
    included(run)

    assert not counted & run.now.log.void
    assert_one_of_each(run.now)


@settings(max_examples=20, deadline=None, phases=QUICK)
@given(span=spans, lanes=st.integers(1, 4))
def test_no_decision_rests_on_an_excluded_sample(span, lanes):
    """The rungs that lost one are open again, are filled on other nodes or repeats, and judged beside the old ones."""
    run = played(30, lanes)
    node, since, until = span[0], min(span[1:]), min(max(span[1:]), run.now.log.last_n)
    lost = {
        (s.config_id, s.slot) for s in run.now.log.facts(Sample) if s.node == node and since <= s.started_at <= until
    }
    tuned = {key for key in lost if key[0] != run.now.default_id}

    excluded(run, node, since, until)
    for key in judging.overdue(run.now):
        if key[0] == run.now.default_id:
            run.add(judging.rejudge(run.now, *key))
    run.iterate(60, lanes)

    left = run.now.log.facts(Sample)
    assert not [s for s in left if s.node == node and since <= s.started_at <= until]
    assert tuned <= {(s.config_id, s.slot) for s in left}
    assert not judging.overdue(run.now)
    assert_one_of_each(run.now)
    assert_replays(run.now)


def assert_one_of_each(now):
    """Expect no config, node and repeat twice, no slot with two samples that count, no rung with two judgements."""
    everything = [s for s in now.log.recorded(Sample) if s.purpose is not Purpose.VALIDATE]
    assert_once((s.config_id, s.node, s.repeat) for s in everything)
    assert_once((s.config_id, s.slot, s.repeat) for s in everything)
    counted = [s for s in now.log.facts(Sample) if s.purpose is not Purpose.VALIDATE]
    assert_once((s.config_id, s.slot) for s in counted)
    assert_once((s.config_id, s.node) for s in counted)
    assert_once((j.config_id, j.rung) for j in now.log.facts(Judgement))
    assert_once((j.config_id, j.rung, j.revision) for j in now.log.recorded(Judgement))


def assert_once(keys):
    assert [key for key, count in Counter(keys).items() if count > 1] == []


def assert_replays(now):
    """Expect every ask and every judgement again from the log that it read."""
    for fact in now.log.facts(Ask):
        then = replace(now, log=now.log.until(fact.read_n))
        decision = replay.decide(then, Counting(), lane=fact.lane)
        assert (decision.config.id, decision.rung, decision.bracket) == (fact.config_id, fact.rung, fact.bracket)
        assert decision.inputs_digest == fact.inputs_digest
    for j in now.log.recorded(Judgement):
        then = replace(now, log=now.log.until(j.read_n))
        assert judging.judge(then, j.config_id, j.rung, is_capped=j.is_capped) == j


@pytest.mark.parametrize(
    "note",
    [
        Note(kind=EXCLUDE, body={}),
        Note(kind=EXCLUDE, body={"id": "x1", "node": "n3", "since": "<img>", "until": 1e9}),
        Note(kind=EXCLUDE, body={"id": "x1", "node": "n3", "since": float("nan"), "until": 1e9}),
        Note(kind=EXCLUDE, body={"id": None, "node": ["n3"], "since": 0.0, "until": 1e9}),
        Note(kind=REQUEUE, body={"config": 7}),
        Note(kind=REQUEUE, body={"id": "r1", "config": {"a": 1}}),
        Note(kind=INCLUDE, body={"id": ["x1"]}),
    ],
)
def test_a_note_that_says_nothing_sensible_takes_nothing_away(note):
    """It may come out of a file that somebody edited: the run is read all the same."""
    run = played(10)
    before = decisions(run.now)

    run.add(note)

    assert decisions(run.now) == before
    assert run.now.log.void == frozenset()


def test_a_log_without_actions_counts_whole():
    """Nothing is void, and everything is a first repeat."""
    run = played()

    assert run.now.log.void == frozenset()
    assert {s.repeat for s in run.now.log.facts(Sample)} == {0}


def test_the_adjuster_learns_from_what_counts_only():
    """The history of later trials lacks the excluded samples."""
    run = played(60)
    before = judging.history(run.now)
    excluded(run, "n3")

    after = judging.history(run.now)
    assert any(r.node == "n3" for trial in before for r in trial)
    assert not any(r.node == "n3" for trial in after for r in trial)


def test_a_re_queued_config_is_measured_again_in_all_its_slots():
    """As a new repeat, before anything new is asked; its old samples stay in the log and do not count."""
    run = played(40)
    chosen = replay.incumbent(run.now)
    old = run.now.log.trial(chosen.config_id)

    run.add(Note(kind=REQUEUE, body={"id": "r1", "config": chosen.config_id}))
    run.iterate(3)

    new = run.now.log.trial(chosen.config_id)
    assert {s.repeat for s in new.samples} == {1}
    assert new.filled == old.filled
    assert {j.rung for j in new.judgements} == {j.rung for j in old.judgements}
    assert {j.revision for j in new.judgements} == {1}
    everything = [s for s in run.now.log.recorded(Sample) if s.config_id == chosen.config_id]
    assert len(everything) == 2 * len(old.samples)
    assert_one_of_each(run.now)
    assert_replays(run.now)


def test_a_re_queue_gives_a_failed_or_given_up_config_another_chance():
    """Its asks are counted anew, its own failure does not count any more."""
    config = played(1).now.log.facts(Ask)[0].config_id
    run = Play(uneven)
    run.add(ask(0, config))
    for _ in range(3):
        run.add(ask(len(run.now.log.facts(Ask)), config))
        run.add(failure(config, "n1", Blame.NODE))
        run.add(Note(kind="iteration", body={"key": run.now.log.facts(Ask)[-1].key, "lane": 0, "ok": False}))
    assert unjudged.given_up(run.now.log) == {(config, 0)}

    run.add(Note(kind=REQUEUE, body={"id": "r1", "config": config}))

    assert unjudged.given_up(run.now.log) == set()
    assert [a.config_id for a in unjudged.abandoned(run.now.log, lane=0)] == [config]
