"""The other pages of a run."""

import json
from dataclasses import replace

import pytest
from recorded_runs import PLANT, book_of, conclude, played
from scenes import Play, ask, sample

from albacore import replay, resampling
from albacore.charts import adjuster, convergence, knobs, night, nodes, readiness, spread, trials, verdict_card
from albacore.errors import UserError
from albacore.policies import presets
from albacore.sample import Blame, Failure, Purpose, Sample
from albacore.trial import Judgement, Note, Stability

PAGES = (convergence, trials, spread, nodes, night, adjuster, knobs, readiness, verdict_card)


@pytest.fixture(scope="module")
def book():
    play = played(90)
    conclude(play)
    return book_of(play.now)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.__name__.rpartition(".")[2])
def test_a_page_is_json_at_any_time(book, page):
    """A run that has ended, one whose nodes are not there, and one with nothing in its log."""
    empty = replace(book, scene=replace(book.scene, log=type(book.scene.log)()))
    for moment in (book, replace(book, scene=None), empty):
        json.dumps(page.page(moment), allow_nan=False)


def test_there_is_a_row_for_every_config(book):
    """Default included; the best and the default are marked once each."""
    rows = trials.page(book)["trials"]

    assert {row["config"] for row in rows} == {s.config_id for s in book.scene.log.facts(Sample)}
    (best,) = [row for row in rows if row["is_best"]]
    assert best["config"] == replay.incumbent(book.scene).config_id
    assert [row["index"] for row in rows if row["is_default"]] == [None]


def test_a_trial_that_is_being_measured_says_so():
    """An open ask is running, whatever was concluded on a lower rung."""
    play = played(12)
    config = play.now.log.facts(Judgement)[-1].config_id
    play.add(ask(99, config, rung=2))

    state = {row["config"]: row["state"] for row in trials.page(book_of(play.now))["trials"]}

    assert state[config] == "running"


def test_a_trial_tells_every_reason_of_its_scores(book):
    """And what differs from the default; an unknown config is refused with its name."""
    best = replay.incumbent(book.scene)

    found = trials.one(book, best.config_id)

    assert [j["rung"] for j in found["judgements"]] == [1, 3, 10]
    assert tuple(found["judgements"][-1]["reasons"]) == best.reasons
    assert {k["name"] for k in found["knobs"]} <= {"k0", "k1", "k2"} and found["knobs"]
    with pytest.raises(UserError, match="no config 'nothing'"):
        trials.one(book, "nothing")


def test_a_strip_needs_two_nodes_and_the_widest_comes_first(book):
    """The range on the page is the detector's."""
    strips = spread.page(book)["strips"]

    ranges = [strip["relative_range"] for strip in strips]
    assert ranges == sorted(ranges, reverse=True) and len(strips) > 5
    assert all(len(strip["values"]) == len(strip["nodes"]) >= 2 for strip in strips)
    judged = {j.config_id: j.relative_range for j in book.scene.log.facts(Judgement) if j.rung > 0}
    for strip in strips:
        assert strip["relative_range"] == pytest.approx(judged[strip["config"]])


def test_a_range_around_nothing_comes_first():
    """Values around a mean of 0 have an infinite range, which JSON does not know: it is None, and the widest."""
    play = Play(lambda config, node: 1.0 if node in ("n1", "n2", "n3", "n4", "n5") else -1.0)
    play.default()
    play.iterate(3)

    first = spread.page(book_of(play.now))["strips"][0]

    assert (first["name"], first["relative_range"]) == ("default", None)


def test_a_slow_node_is_seen_as_slow():
    """A node that loses 8 % has an effect of 9/10 of that: it pulls the mean that it is compared with."""
    play = Play(lambda config, node: (100 + 10 * config["k0"]) * (0.92 if node == "n4" else 1.0))
    play.default()
    play.iterate(60)

    rows = {row["node"]: row for row in nodes.page(book_of(play.now))["nodes"]}

    # The configs are measured on ten nodes (the default) or on three and more: the share is 1 - 1/nodes.
    assert -0.08 <= rows["n4"]["effect"] <= -0.05
    assert all(abs(rows[n]["effect"]) < 0.03 for n in rows if n != "n4")
    assert list(rows) == [f"n{i}" for i in range(1, 11)], "the order of nodes is that of their numbers"


def test_quarantine_shows_its_evidence():
    """The failures of a node stand beside its quarantine, as they were written."""
    play = Play(lambda config, node: Blame.NODE if node == "n2" else 100.0)
    play.default()
    play.iterate(20)

    row = next(r for r in nodes.page(book_of(play.now))["nodes"] if r["node"] == "n2")

    assert row["is_quarantined"] and row["node_failures"] >= resampling.QUARANTINE_AFTER
    assert row["effect"] is None, "nothing was measured there, so nothing is known"
    assert {e["message"] for e in row["evidence"]} == {"it broke"}


def test_exclusions_are_listed_with_what_they_hit():
    """Also those that were taken back."""
    play = played(10)
    where = {"id": "x", "node": "n1", "since": 0.0, "until": 1e9, "by": "me", "reason": PLANT}
    play.add(Note(kind="exclude", body=where))
    hit = sum(s.node == "n1" for s in play.now.log.recorded(Sample))
    (found,) = nodes.page(book_of(play.now))["exclusions"]
    assert (found["samples"], found["is_in_force"], found["reason"]) == (hit, True, PLANT)

    play.add(Note(kind="include", body={"id": "x", "by": "me"}))

    (found,) = nodes.page(book_of(play.now))["exclusions"]
    assert not found["is_in_force"]


def test_an_adjuster_that_knows_the_nodes_takes_most_of_the_error(book):
    """It knows 70 % of each node's effect: what is left is the rest and the noise that no node explains."""
    page = adjuster.page(book)

    assert page["over_the_run"]["trials"] == len(page["trials"]["config"]) > 3
    assert 0.3 < page["over_the_run"]["reduction"] < 0.7
    assert page["trials"]["before"] != page["trials"]["after"]


def test_without_an_adjuster_no_error_is_gone():
    """Before and after are the same, and the page says why."""
    policy = presets.by_name("tuna", nodes=10, rungs=(1, 3, 10), adjuster="identity")
    play = Play(played(1).measure, policy=policy)
    play.default()
    play.iterate(40)

    page = adjuster.page(book_of(play.now))

    assert page["has_adjuster"] is False
    assert page["over_the_run"]["reduction"] == 0.0
    assert page["once_trained"] is None


def test_what_is_no_ground_truth_is_left_out(book):
    """Unstable trials and lower rungs have no mean to compare with."""
    known = {j.config_id for j in book.scene.log.facts(Judgement) if j.rung == 2 and j.stability is Stability.STABLE}

    assert set(adjuster.page(book)["trials"]["config"]) == known


def test_no_verdict_is_none():
    """A run that goes on has no card."""
    assert verdict_card.page(book_of(played(2).now)) == {"verdict": None, "earlier": []}


def test_a_figure_that_was_not_measured_is_none_and_never_0():
    """A note without a figure, or with a config that has no sample, says nothing about it."""
    play = played(2)
    best = {"config_id": "b", "mean": None, "worst": None, "cov": 0.0, "by_node": {}, "failures": []}
    play.add(Note(kind="verdict", body={"sentence": "Do not ship: x.", "ship": False, "best": best}))

    found = verdict_card.page(book_of(play.now))["verdict"]

    assert found["probability_beats_default"] is None and found["cost"] is None
    assert found["instability_upper_bound"] is None and found["gain"] is None
    assert found["best"]["cov"] is None and found["default"] is None


def test_the_last_verdict_stands_and_the_earlier_ones_are_kept(book):
    """A run that was extended has more than one."""
    play = played(2)
    for word in ("first", "second"):
        play.add(Note(kind="verdict", body={"sentence": word, "ship": True}))

    found = verdict_card.page(book_of(play.now))

    assert (found["verdict"]["sentence"], found["earlier"]) == ("second", ["first"])


def test_knobs_show_best_against_default_in_the_words_of_the_system(book):
    """Only what differs, with everything that the table needs."""
    page = knobs.page(book)

    assert page["best"] == replay.incumbent(book.scene).config_id
    assert [k["name"] for k in page["space"]] == ["k0", "k1", "k2"]
    config = book.scene.configs[page["best"]]
    assert {k["name"]: k["value"] for k in page["differences"]} == {
        name: text for name, text in book.scene.space.text(config).items() if config[name] != 0.5
    }


def test_failures_are_in_a_trial_with_the_end_of_their_log():
    """Markup stays what it is: text."""
    play = played(1)
    config = play.now.log.facts(Judgement)[-1].config_id
    play.add(sample(config, "n9", 1.0, slot=9, purpose=Purpose.DEFAULT))
    log = "x" * 10_000 + PLANT
    play.add(
        Failure(config_id=config, node="n8", blame=Blame.LOAD, message=PLANT, log=log, started_at=0.0, duration_s=1.0)
    )

    (found,) = trials.one(book_of(play.now), config)["failures"]

    assert found["message"] == PLANT and found["log"].endswith(PLANT)
    assert len(found["log"]) == trials.LOG_TAIL and found["is_told"] is False
