"""The best so far, and what it came from."""

import itertools

import pytest
from recorded_runs import book_of, played
from scenes import Play, sample

from albacore import replay, stopping
from albacore.charts import convergence
from albacore.sample import Blame, Purpose, Sample
from albacore.trial import Direction, Judgement, Note, Stability


@pytest.fixture(scope="module")
def play():
    return played(90)


def test_the_last_of_the_best_is_the_incumbent(play):
    """The line ends at the config that the validation would be given."""
    best = convergence.page(book_of(play.now))["best"]

    incumbent = replay.incumbent(play.now)
    assert best["config"][-1] == incumbent.config_id
    assert best["score"][-1] == pytest.approx(incumbent.score, rel=1e-5)


@pytest.mark.parametrize("direction", Direction)
def test_the_best_only_gets_better_on_one_rung(direction):
    """It may step back only where a higher rung takes over."""
    run = Play(lambda config, node: 100 + 50 * config["k0"] + len(node), direction=direction)
    run.default()
    run.iterate(40)

    best = convergence.page(book_of(run.now))["best"]

    steps = list(zip(best["nodes"], best["score"], strict=True))
    assert len(steps) > 3
    for (rung, score), (next_rung, next_score) in itertools.pairwise(steps):
        assert next_rung > rung or direction.cost(next_score) < direction.cost(score)


def test_every_sample_of_the_tuning_is_there_once(play):
    """Raw samples are those of the default and the trials, over the samples spent."""
    raw = convergence.page(book_of(play.now))["raw"]

    tuned = [s for s in play.now.log.facts(Sample) if s.purpose is not Purpose.VALIDATE]
    assert len(raw["value"]) == len(tuned)
    assert raw["samples"][-1] == stopping.spent(play.now.log)
    assert raw["samples"] == sorted(raw["samples"])


def test_a_failed_config_counts_and_is_told(play):
    """A crash score is a point of its own; it is never the best."""
    run = Play(lambda config, node: Blame.CONFIG if config["k0"] > 0.1 else 50.0)
    run.add(sample(run.now.default_id, "n1", 40.0, purpose=Purpose.DEFAULT))
    run.iterate(30)

    page = convergence.page(book_of(run.now))

    failed = {c for c, s in zip(page["told"]["config"], page["told"]["stability"], strict=True) if s == "failed"}
    assert failed and not failed & set(page["best"]["config"])


def test_the_penalty_of_an_unstable_default_does_not_move_its_line():
    """The line is what its nodes showed: the penalty would flatter the best."""
    run = Play(lambda config, node: 50.0 if node == "n1" else 100.0)
    run.default()
    (judged,) = run.now.log.facts(Judgement)

    line = convergence.page(book_of(run.now))["default"]

    assert judged.stability is Stability.UNSTABLE and judged.score == 25.0
    assert (line["shown"], line["low"], line["high"]) == (50.0, 50.0, 100.0)


def test_an_excluded_sample_is_shown_as_one(play):
    """It stays on the chart, marked; a judgement that rested on it is gone."""
    run = played(20)
    where = {"id": "x", "node": "n1", "since": 0.0, "until": 1e9, "by": "me", "reason": ""}
    before = convergence.page(book_of(run.now))
    run.add(Note(kind="exclude", body=where))

    page = convergence.page(book_of(run.now))

    hit = {n for n, is_out in zip(page["raw"]["node"], page["raw"]["is_excluded"], strict=True) if is_out}
    assert hit == {"n1"}
    assert len(page["told"]["score"]) < len(before["told"]["score"])


def test_a_run_without_nodes_has_an_empty_page():
    """Before the fleet is there, nothing is known."""
    from dataclasses import replace

    book = replace(book_of(played(1).now), scene=None)

    assert convergence.page(book) == {"best": None, "told": None, "raw": None, "default": None}
