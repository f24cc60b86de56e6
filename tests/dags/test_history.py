"""What the DAGs of histories promise: Airflow can back-fill them, and nothing else makes them work."""

import pytest
from small_campaigns import noop


@pytest.fixture(scope="module")
def dags(tmp_path_factory, in_airflow):
    """A campaign with a schedule, one without, and two history files, one of them broken."""
    folder = tmp_path_factory.mktemp("moved")
    campaigns, histories = folder / "campaigns", folder / "histories"
    campaigns.mkdir()
    histories.mkdir()
    (campaigns / "nightly.toml").write_text('schedule = "0 2 * * *"\ntimezone = "Europe/Berlin"\n' + noop())
    (campaigns / "manual.toml").write_text(noop())
    (histories / "old.toml").write_text('timezone = "America/New_York"\n')
    (histories / "broken.toml").write_text("system = 1\n")
    return in_airflow("parsing.py", ALBACORE_CAMPAIGNS=str(campaigns), ALBACORE_HISTORIES=str(histories))


def test_a_history_has_the_schedule_of_its_campaign(dags):
    """On its clock; midnight where there is none, since Airflow back-fills nothing without a schedule."""
    schedules = {name: (d["schedule"], d["timezone"]) for name, d in dags["dags"].items() if name.endswith(".history")}
    assert schedules == {
        "nightly.history": ("0 2 * * *", "Europe/Berlin"),
        "manual.history": ("0 0 * * *", "UTC"),
        "old.history": ("0 0 * * *", "America/New_York"),
    }


@pytest.mark.parametrize("name", ["nightly.history", "manual.history", "old.history"])
def test_a_history_is_on_and_catches_nothing_up(dags, name):
    """A back-fill of a paused DAG would only be queued."""
    found = dags["dags"][name]
    assert (found["is_paused_upon_creation"], found["catchup"]) == (False, False)
    assert found["labels"]["rescore"] == "{{ campaign_run }}"


@pytest.mark.parametrize("name", ["nightly.history", "manual.history", "old.history"])
def test_no_run_is_made_by_the_schedule(dags, name):
    """It would keep its date from being back-filled; a back-fill of three days has its three moments."""
    found = dags["dags"][name]
    assert found["next"] is None
    assert len(found["moments"]) == 3


def test_a_campaign_with_a_schedule_runs_by_it(dags):
    """What holds for histories holds for them alone."""
    assert dags["dags"]["nightly"]["next"] is not None


def test_only_a_campaign_can_measure_again(dags):
    """A history file has nothing to measure with."""
    assert dags["dags"]["manual.history"]["tasks"] == ["find", "rescore", "retune"]
    assert dags["dags"]["old.history"]["tasks"] == ["find", "rescore"]


def test_a_broken_history_file_breaks_no_other(dags):
    """Its fault is that of campaign_errors.py alone, with file and key."""
    (error,) = dags["errors"].values()
    assert "histories/broken.toml: system: unknown key" in error
