"""Laws of measuring a past run again, without Airflow."""

from datetime import UTC, datetime

import pytest

from albacore_airflow import retuning

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("queued", retuning.GOES_ON),
        ("running", retuning.GOES_ON),
        ("success", retuning.DONE),
        ("failed", retuning.FAILED),
        (None, None),
    ],
)
def test_a_retry_knows_what_became_of_the_run_that_it_started(state, expected):
    """So it waits for it, or says how it ended; it neither starts another one nor passes it over."""
    asked = []

    def count(*, dag_id, run_ids, states):
        asked.append((dag_id, tuple(run_ids)))
        return int(state in states)

    assert retuning.state_of(count, "demo", "retune__x") == expected
    assert set(asked) == {("demo", ("retune__x",))}


def test_every_try_within_one_back_fill_names_the_same_run():
    """Another back-fill of the same date names another."""
    first, again = (retuning.dag_run_id("demo-1", "backfill__2026", MOMENT) for _ in range(2))

    assert first == again != retuning.dag_run_id("demo-1", "backfill__2026", MOMENT.replace(hour=1))
