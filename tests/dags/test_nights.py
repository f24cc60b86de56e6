"""What a schedule promises: one run per night, also in the two nights whose clocks are changed."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from small_campaigns import noop

BERLIN = ZoneInfo("Europe/Berlin")
SCHEDULE = 'schedule = "0 2 * * *"\ntimezone = "Europe/Berlin"\n'


@pytest.fixture(scope="module")
def dags(tmp_path_factory, parse):
    """A campaign with a schedule beside one without."""
    folder = tmp_path_factory.mktemp("campaigns")
    (folder / "nightly.toml").write_text(SCHEDULE + noop())
    (folder / "manual.toml").write_text(noop())
    return parse(folder)["dags"]


def test_the_schedule_of_the_file_is_that_of_the_dag(dags):
    """On the file's clock, without catchup; a campaign without a schedule has none."""
    nightly, manual = dags["nightly"], dags["manual"]

    assert (nightly["schedule"], nightly["timezone"], nightly["catchup"]) == ("0 2 * * *", "Europe/Berlin", False)
    assert manual["schedule"] is None
    assert dags["nightly.iteration"]["schedule"] is None


def test_a_campaign_with_a_schedule_is_off_until_somebody_switches_it_on(dags):
    """It is paused at creation, whatever the default of this Airflow is; its iterations are not."""
    assert dags["nightly"]["is_paused_upon_creation"] is True
    assert dags["nightly.iteration"]["is_paused_upon_creation"] is False


@pytest.mark.parametrize(
    ("first", "last", "nights"),
    [
        # 29 March 2026: 02:00 does not exist; the run begins at 03:00, the same moment.
        ("2026-03-27T12:00", "2026-03-30T12:00", ["28 02:00", "29 03:00", "30 02:00"]),
        # 25 October 2026: 02:00 comes twice; the run begins at the second.
        ("2026-10-23T12:00", "2026-10-26T12:00", ["24 02:00", "25 02:00", "26 02:00"]),
    ],
    ids=["the night without 02:00", "the night with 02:00 twice"],
)
def test_every_night_has_one_run_also_when_the_clocks_are_changed(in_airflow, first, last, nights):
    """Asked every five minutes as by the scheduler, the timetable gives each night exactly once, and not too early."""
    runs = in_airflow("nights.py", "0 2 * * *", "Europe/Berlin", first, last)

    due = [datetime.fromisoformat(run["due"]).astimezone(BERLIN) for run in runs]
    assert [f"{moment:%d %H:%M}" for moment in due[-3:]] == nights
    assert len(due) - 3 in (0, 1)  # the night before the first moment, which catchup=False creates too
    assert all(run["created"] == run["due"] for run in runs[-3:])


def test_the_second_two_o_clock_is_an_hour_after_the_first(in_airflow):
    """So the night of the change is 25 h after the one before it, in spring 23 h."""
    autumn = in_airflow("nights.py", "0 2 * * *", "Europe/Berlin", "2026-10-23T12:00", "2026-10-26T12:00")

    assert datetime.fromisoformat(autumn[-2]["due"]).astimezone(UTC).hour == 1
