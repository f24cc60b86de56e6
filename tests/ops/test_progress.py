"""Laws of the follower's text: what is known is said, what is not known stops nothing."""

import pytest

from albacore_ops import progress

FACTS = {
    "samples": 12,
    "limit": 48,
    "best": 10.0,
    "default": 14.2,
    "unit": "ms",
    "direction": "min",
    "unstable": 2,
    "failed": 1,
    "trials": 9,
    "elapsed_s": 100.0,
    "left_s": 300.0,
    "phase": "tune",
}


def test_one_line_says_everything():
    """Phase, samples, best against default, unstable and failed, time left."""
    expected = "tuning | 12/48 samples | best 10 ms, default 14.2 ms, 1.42x | 2 unstable, 1 failed | 5 min left"

    assert progress.line(FACTS) == expected


@pytest.mark.parametrize(("direction", "expected"), [("min", 1.42), ("max", 10.0 / 14.2)])
def test_a_gain_above_one_is_better_in_either_direction(direction, expected):
    """Latency and throughput read alike."""
    assert progress.gain(FACTS | {"direction": direction}) == pytest.approx(expected)


@pytest.mark.parametrize("key", sorted(FACTS))
def test_no_missing_fact_stops_the_follower(key):
    """Every key may be absent or null."""
    without = {name: value for name, value in FACTS.items() if name != key}

    assert progress.line(without)
    assert progress.line(FACTS | {key: None} if key in ("best", "default", "unit", "left_s") else without)


def test_nothing_known_is_still_a_line():
    """Before the first task has spoken, nodes are being prepared."""
    assert progress.line({}) == "preparing nodes"


@pytest.mark.parametrize(("seconds", "expected"), [(0, "0 s left"), (89, "89 s left"), (90, "2 min left")])
def test_time_left_is_rounded_for_people(seconds, expected):
    """Seconds below a minute and a half, minutes above."""
    assert progress.time_left({"left_s": seconds}) == expected


def test_running_tasks_are_named_with_their_counts():
    """A mapped task shows how many of its nodes are done; ended and waiting tasks are not named."""
    tasks = [{"task_id": "prepare", "state": state} for state in ("success", "success", "running")]
    tasks += [{"task_id": "open", "state": "success"}, {"task_id": "verdict", "state": None}]

    assert progress.preparing(tasks) == "prepare 2/3"


def test_the_conclusion_has_sentence_knobs_and_fragment():
    """In this order: what it means, what differs, what to copy."""
    verdict = {
        "sentence": "Ship it: 1.4x.",
        "knobs": [{"name": "random_page_cost", "default": 4.0, "best": 1.1, "unit": "", "doc": "cost"}],
        "fragment": {"file": "postgresql.auto.conf", "text": "random_page_cost = 1.1\n"},
    }

    text = progress.conclusion(verdict)

    assert text.startswith("Ship it: 1.4x.\n\nknob ")
    assert "random_page_cost  4.0" in text
    assert text.endswith("postgresql.auto.conf:\n\nrandom_page_cost = 1.1")


def test_a_config_that_does_not_ship_is_not_offered_for_copying():
    """Its lines are there to be looked at; what else is to be known comes right after the sentence."""
    verdict = {"sentence": "Do not ship.", "ship": False, "warnings": ["n6 is slow."], "fragment": {"text": "a = 1"}}

    text = progress.conclusion(verdict)

    assert text.startswith("Do not ship.\n\nNote: n6 is slow.")
    assert text.endswith("were it deployed all the same:\n\na = 1")


def test_no_knob_differs_is_said_in_words():
    """An empty table would look like an error."""
    assert "no knob differs" in progress.conclusion({"sentence": "Keep the default."})


def test_columns_are_aligned():
    """Cells of a column begin below each other."""
    lines = progress.table([("a", "1"), ("long name", "22")], header=("x", "y")).splitlines()

    assert [line.index(last) for line, last in zip(lines, ("y", "1", "22"), strict=True)] == [11, 11, 11]


def test_the_end_of_a_log_has_no_grouping_marks():
    """Structured entries and plain strings, the last lines only."""
    answer = {"content": [{"event": "::group::x"}, {"event": "one\ntwo"}, "three", {"event": ""}]}

    assert progress.log_tail(answer, 2) == ["two", "three"]
