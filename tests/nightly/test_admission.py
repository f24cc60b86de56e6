"""Laws of admission: one run of a campaign at a time, and no scheduled run that is too late."""

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest

from albacore.campaign import parse
from albacore.errors import UserError
from albacore.nightly import admission
from albacore.nightly.admission import Caller, NotTonightError
from albacore.store import CampaignRun, Store
from albacore.store.leases import Leases

DUE = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
CAMPAIGN = parse({"name": "nightly", "system": "noop", "workload": "sleep", "schedule": "0 2 * * *"}, where="test")


class Clock:
    """A clock that the test sets."""

    def __init__(self):
        self.now = DUE.timestamp()

    def __call__(self):
        return self.now

    def forward(self, **how_far):
        self.now += timedelta(**how_far).total_seconds()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    made = Store(f"sqlite:///{tmp_path / 'store.db'}", clock=clock)
    made.migrate()
    yield made
    made.close()


def caller(run_type="scheduled", name="first", **fields):
    known = {"dag_run_id": name, "run_type": run_type, "run_after": DUE, "is_over": lambda dag_run_id: False}
    return Caller(**{**known, **fields})


def opened(store, run_id):
    """Record a campaign run."""
    plain = dict.fromkeys(("benchmark_digest", "policy_digest", "library"), "")
    fields = {"effective": {}, "benchmark": {}, **plain}
    run = CampaignRun(id=run_id, campaign="nightly", logical_date=None, opened_at=0.0, **fields)
    store.open_run(run)


def test_a_run_in_time_takes_the_lock_and_its_retry_takes_it_again(store):
    """The owner is a name that a retry computes again."""
    for _ in range(2):
        admission.admit(store, CAMPAIGN, "r1", caller())

    assert Leases(store).holder("campaign:nightly") == "r1/dag/first"


def test_a_scheduled_run_older_than_start_within_is_skipped_with_its_reason(store, clock):
    """An hour late is in time, a second more is not; the lock is not taken."""
    clock.forward(hours=1)
    admission.admit(store, CAMPAIGN, "r1", caller())
    Leases(store).release("r1/dag/first")

    clock.forward(seconds=1)
    with pytest.raises(NotTonightError, match=r"due at 2026-11-21 02:00 UTC, 1 h 0 min ago; start_within is 1 h"):
        admission.admit(store, CAMPAIGN, "r1", caller())

    assert Leases(store).holder("campaign:nightly") is None


@pytest.mark.parametrize("run_type", ["manual", "backfill", "operator_triggered", "asset_triggered"])
def test_only_scheduled_runs_can_be_too_late(store, clock, run_type):
    """A manual or backfill run is never too late, whatever it calls itself: its id says nothing."""
    clock.forward(days=400)

    admission.admit(store, CAMPAIGN, "r1", caller(run_type, name="scheduled__2026-11-21T02:00:00+00:00"))

    assert Leases(store).holder("campaign:nightly")


def test_a_scheduled_run_is_too_late_whatever_its_id_says(store, clock):
    """An id that looks manual does not help."""
    clock.forward(hours=2)

    with pytest.raises(NotTonightError):
        admission.admit(store, CAMPAIGN, "r1", caller(name="manual__2026-11-21T02:00:00+00:00"))


def test_clear_of_a_night_that_began_in_time_is_never_too_late(store, clock):
    """Its campaign run is in the store."""
    opened(store, "r1")
    clock.forward(days=3)

    admission.admit(store, CAMPAIGN, "r1", caller())

    assert Leases(store).holder("campaign:nightly") == "r1/dag/first"


def test_the_second_run_is_skipped_or_fails_and_names_the_holder(store):
    """A scheduled one is skipped, any other fails for good."""
    admission.admit(store, CAMPAIGN, "r1", caller("manual"))

    with pytest.raises(NotTonightError, match=r"r1 \(DAG run first\) goes on"):
        admission.admit(store, CAMPAIGN, "r2", caller(name="second"))
    for run_type in ("manual", "backfill"):
        with pytest.raises(UserError, match=r"r1 \(DAG run first\) goes on.*clear its task 'release'"):
            admission.admit(store, CAMPAIGN, "r2", caller(run_type, name="second"))


def test_a_second_dag_run_of_the_same_campaign_run_is_a_second_run(store):
    """A run that is continued by another DAG run has to have ended."""
    admission.admit(store, CAMPAIGN, "r1", caller())

    with pytest.raises(UserError, match="goes on"):
        admission.admit(store, CAMPAIGN, "r1", caller("manual", name="second"))


def test_campaigns_do_not_keep_each_other_out(store):
    """The lock is the campaign's own."""
    admission.admit(store, CAMPAIGN, "r1", caller())
    admission.admit(store, CAMPAIGN.model_copy(update={"name": "other"}), "r2", caller(name="second"))


def test_release_gives_the_lock_back(store):
    """By the prefix that `release` gives back everything of a run with."""
    admission.admit(store, CAMPAIGN, "r1", caller())
    Leases(store).release_prefix("r1/")

    admission.admit(store, CAMPAIGN, "r2", caller(name="second"))


def test_a_holder_that_ended_without_its_release_loses_the_lock(store):
    """Airflow says that its DAG run is over."""
    admission.admit(store, CAMPAIGN, "r1", caller())
    ended = {"first"}

    admission.admit(store, CAMPAIGN, "r2", caller(name="second", is_over=ended.__contains__))

    assert Leases(store).holder("campaign:nightly") == "r2/dag/second"


def test_a_lock_that_is_renewed_outlives_a_long_night_and_one_that_is_not_ends(store, clock):
    """Renewing by the campaign run is enough: the tasks do not know the DAG run."""
    opened(store, "r1")
    admission.admit(store, CAMPAIGN, "r1", caller())
    second = dataclasses.replace(caller("manual", name="second"))
    for _ in range(3):
        clock.forward(seconds=admission.LOCK_S - 1)
        admission.renew(store, "r1")
    with pytest.raises(UserError):
        admission.admit(store, CAMPAIGN, "r2", second)

    clock.forward(seconds=admission.LOCK_S + 1)
    admission.admit(store, CAMPAIGN, "r2", second)
