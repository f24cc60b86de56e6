"""A log that grows answers as one that was read at once."""

from dataclasses import replace

import pytest
from scenes import ask, sample, scene

from albacore import judging
from albacore.sample import Purpose, Sample
from albacore.trial import Ask, Event, Judgement, Log, Note


def events():
    facts = [ask(0, "a"), sample("a", "n1", 5.0), ask(1, "b"), sample("b", "n2", 6.0), sample("a", "n3", 7.0, slot=1)]
    facts.append(Note(kind="requeue", body={"id": "r", "config": "a"}))
    facts.append(sample("a", "n1", 8.0, repeat=1))
    facts.append(sample("c", "n1", 9.0, purpose=Purpose.VALIDATE))
    return [Event(n=i + 1, at=float(i), fact=fact) for i, fact in enumerate(facts)]


@pytest.mark.parametrize("is_asked", [False, True])
def test_a_log_that_grew_is_the_log(is_asked):
    """Whether or not it was asked something on the way: nothing old is remembered."""
    grown = Log()
    for event in events():
        if is_asked:
            grown.trial("a"), grown.facts(Sample), grown.void, grown.renewals("a")
        grown = grown.plus(event)
    whole = Log(tuple(events()))

    assert grown == whole
    for kind in (Sample, Ask, Judgement, Note):
        assert grown.facts(kind) == whole.facts(kind)
        assert grown.recorded(kind) == whole.recorded(kind)
    assert [grown.trial(c) for c in "abc"] == [whole.trial(c) for c in "abc"]
    assert grown.void == whole.void != frozenset()


def test_growing_leaves_the_shorter_log_as_it_was():
    """A decision that was made on it can be made again."""
    start = scene([ask(0, "a"), sample("a", "n1", 5.0)])
    before = judging.judge(start, "a", 0)
    longer = replace(start, log=start.log.plus(Event(n=3, at=3.0, fact=before)))

    assert judging.judge(start, "a", 0) == before
    assert start.log.trial("a").judgements == ()
    assert longer.log.trial("a").judgements == (before,)
