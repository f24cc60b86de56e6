"""A run in one line, and the fleet."""

import pytest
from recorded_runs import book_of, conclude, played
from scenes import Play

from albacore.charts import fleet, summary
from albacore.charts.summary import Outside, State
from albacore.sample import Purpose
from albacore.trial import Direction, Note

NOW = 3600.0


def at(play, dag_state="running", *, now=NOW, is_watched=False):
    return summary.line(book_of(play.now), Outside(now=now, dag_state=dag_state, is_watched=is_watched))


def test_the_state_follows_a_run_through_its_life():
    """Preparing, default, tuning, validating, then the verdict."""
    play = Play(lambda config, node: 100 + 10 * config["k0"])
    assert at(play)["state"] == "preparing"
    play.measured(play.now.default_id, "n1", 0, Purpose.DEFAULT)
    assert at(play)["state"] == "default"
    play = played(60)
    assert at(play)["state"] == "tuning"
    conclude(play)
    assert at(play)["state"] == "validating", "Airflow still runs the last tasks"
    done = at(play, "success")
    assert done["state"] in ("ship", "do not ship") and not done["is_live"]


@pytest.mark.parametrize(
    ("dag_state", "is_watched", "expected"),
    [
        ("failed", False, State.FAILED),
        ("", False, State.ENDED),
        ("", True, State.TUNE),
        ("success", False, State.ENDED),
        ("queued", False, State.TUNE),
    ],
)
def test_airflow_knows_whether_a_run_lives(dag_state, is_watched, expected):
    """The log alone cannot tell a run that goes on from one that was killed."""
    assert at(played(5), dag_state, is_watched=is_watched)["state"] == expected


def test_a_stopped_run_says_who_and_why():
    """The reason is that of the log."""
    play = played(5)
    play.add(Note(kind="stop", body={"reason": "stopped by me: enough"}))

    found = at(play, "")

    assert (found["state"], found["stop"]) == ("stopped", "stopped by me: enough")


@pytest.mark.parametrize("direction", Direction)
def test_a_gain_above_one_is_better_whatever_the_direction(direction):
    """The best of a run is compared with what the default's nodes showed."""
    play = Play(lambda config, node: 100 + 50 * config["k0"], direction=direction)
    play.default()
    play.iterate(150)

    found = at(play)

    assert found["gain"] > 1.0
    better = found["best"]["value"] < found["default"]["value"]
    assert better is (direction is Direction.MIN)


def test_what_is_not_known_is_none():
    """A run without a sample has no best, no gain and no time left."""
    found = at(Play(lambda config, node: 1.0))

    assert (found["best"], found["default"], found["gain"], found["left_s"]) == (None, None, None, None)


def test_time_left_is_bounded_by_the_hours():
    """The pace so far says when the samples are used up; the limit on hours may come before."""
    play = played(30)

    soon = at(play, now=60.0)
    late = at(play, now=8 * 3600 - 10.0)

    assert soon["left_s"] == pytest.approx(60 / soon["samples"] * (500 - soon["samples"]))
    assert late["left_s"] == pytest.approx(10.0)


def test_the_fleet_shows_what_lives_first():
    """Then the latest runs, then campaigns without one; a title is the campaign's."""

    def line(campaign, *, is_live, opened_at):
        return {"campaign": campaign, "title": "", "is_live": is_live, "opened_at": opened_at}

    latest = {
        "old": line("old", is_live=False, opened_at=1.0),
        "new": line("new", is_live=False, opened_at=9.0),
        "live": line("live", is_live=True, opened_at=2.0),
    }
    dags = [
        {"campaign": "old", "title": "Old one", "is_paused": False},
        {"campaign": "none", "title": "none", "is_paused": True},
    ]

    rows = fleet.page(latest, {"old": 3}, dags)["campaigns"]

    assert [row["campaign"] for row in rows] == ["live", "new", "old", "none"]
    assert [row["has_dag"] for row in rows] == [False, False, True, True]
    assert (rows[2]["title"], rows[2]["runs"]) == ("Old one", 3)
