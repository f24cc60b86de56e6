"""A date's runs, found by the moment they are recorded under, sent through a policy by name."""

from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
import recorded_files as small
from croniter import croniter

from albacore import recorded
from albacore.backfill import dates
from albacore.backfill.calendar import Calendar, of_campaign, read
from albacore.backfill.comparing import compare, lines, plain
from albacore.backfill.dates import Request
from albacore.campaign import parse
from albacore.errors import CampaignError, UserError
from albacore.importing import Wanted, bring_in, check, dates_of
from albacore.store import Store, rescorings, transcript

IMPORTED = Calendar(name="imported")
RESCORE = Request(mode="rescore", policy="tuna")


def moment(text, zone=UTC):
    return datetime.fromisoformat(text).replace(tzinfo=zone)


@pytest.fixture
def store(tmp_path):
    """Return a store with runs on the first three days of 2026."""
    made = Store(f"sqlite:///{tmp_path / 's.db'}", clock=lambda: 5.0)
    made.migrate()
    wanted = Wanted(dates=dates_of("2026-01-01", "1d", "UTC"))
    paths = small.write(tmp_path, runs=3)
    check(made, paths, wanted)
    list(bring_in(made, paths, wanted))
    yield made
    made.close()


def test_a_date_has_the_runs_that_are_recorded_on_it(store):
    """No other date's, and each date its own."""
    plans = [dates.plan(store, IMPORTED, moment(f"2026-01-0{day}"), RESCORE) for day in (1, 2, 3)]
    assert [len(plan.runs) for plan in plans] == [1, 1, 1]
    assert len({plan.runs for plan in plans}) == 3


def test_a_date_without_a_record_says_so(store):
    """With the span that was looked at."""
    plan = dates.plan(store, IMPORTED, moment("2026-01-04"), RESCORE)
    assert plan.runs == ()
    assert plan.reasons == (
        "no run of campaign imported is recorded from 2026-01-04 00:00 up to 2026-01-05 00:00 (UTC)",
    )


@pytest.mark.parametrize(
    ("cron", "zone", "at", "start", "end"),
    [
        ("0 0 * * *", "UTC", "2026-01-05T00:00+00:00", "2026-01-05T00:00+00:00", "2026-01-06T00:00+00:00"),
        ("0 2 * * *", "UTC", "2026-01-05T02:00+00:00", "2026-01-05T00:00+00:00", "2026-01-06T00:00+00:00"),
        ("0 * * * *", "UTC", "2026-01-05T23:00+00:00", "2026-01-05T23:00+00:00", "2026-01-06T00:00+00:00"),
        ("0 2 * * 0", "UTC", "2026-01-04T02:00+00:00", "2026-01-04T00:00+00:00", "2026-01-11T00:00+00:00"),
        ("0 2 * * *", "Europe/Berlin", "2026-03-28T01:00+00:00", "2026-03-27T23:00+00:00", "2026-03-28T23:00+00:00"),
        ("0 2 * * *", "Europe/Berlin", "2026-03-29T01:00+00:00", "2026-03-28T23:00+00:00", "2026-03-29T22:00+00:00"),
        ("0 2 * * *", "Europe/Berlin", "2026-10-25T00:00+00:00", "2026-10-24T22:00+00:00", "2026-10-25T23:00+00:00"),
        ("0 0 * * *", "America/New_York", "2026-01-05T05:00+00:00", "2026-01-05T05:00+00:00", "2026-01-06T05:00+00:00"),
    ],
)
def test_the_window_of_a_moment(cron, zone, at, start, end):
    """Days by the clock of the campaign's zone, also when it changes; hours where the cron has hours."""
    found = Calendar(name="a", schedule=cron, timezone=zone).window(datetime.fromisoformat(at))
    assert tuple(m.astimezone(UTC) for m in found) == (datetime.fromisoformat(start), datetime.fromisoformat(end))


@pytest.mark.parametrize("cron", ["0 2 * * *", "*/7 * * * *", "30 1 * * 1-5", "0 0 1 * *", "15 3,15 * * *"])
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York"])
def test_windows_leave_no_gap(cron, zone):
    """Whatever the schedule, also over both nights when the clocks change, a run belongs to some moment."""
    calendar = Calendar(name="a", schedule=cron, timezone=zone)
    for begin in ("2026-03-27", "2026-10-23"):
        ticks = croniter(cron, moment(begin, ZoneInfo(zone)))
        spans = [calendar.window(ticks.get_next(datetime)) for _ in range(60)]
        gaps = [(a[1], b[0]) for a, b in pairwise(spans) if a[1].timestamp() < b[0].timestamp()]
        assert gaps == []


def test_results_are_kept_by_run_and_policy(store):
    """The second back-fill of a policy gives what is there; another policy stands beside it; the log is untouched."""
    (run_id,) = dates.plan(store, IMPORTED, moment("2026-01-01"), RESCORE).runs
    before = transcript.read(store, run_id)

    first = dates.rescore_run(store, run_id, "tuna", IMPORTED)
    store.clock = lambda: 6.0
    again = dates.rescore_run(store, run_id, "tuna", IMPORTED)
    other = dates.rescore_run(store, run_id, "naive", IMPORTED)

    assert (first.at, again) == (5.0, first)
    assert other.body["incumbent"] != first.body["incumbent"]
    assert rescorings.policies_of(store, "imported") == {"naive": 1, "tuna": 1}
    assert transcript.read(store, run_id) == before


def test_the_policy_of_the_file_is_one_of_them():
    """Its versions are told apart, so that a changed threshold has results of its own."""
    least = {"name": "demo", "system": "noop", "workload": "sleep", "policy": {"rungs": [1, 3]}}
    calendar = of_campaign(parse(least, where="here"))
    assert dates.policies(calendar)[0] == "campaign"
    assert "campaign" not in dates.policies(IMPORTED)
    assert dates.request_of({}, calendar) == Request(mode="rescore", policy="campaign")
    assert dates.request_of({}, IMPORTED).policy == "tuna"


@pytest.mark.parametrize("policy", ["albacore", "mean", "min:threshold=0.2", "albacore:care=1"])
def test_the_choices_of_the_replay_lab_are_policies_too(store, policy):
    """They compare the configs that all nodes have measured; the held-out node has no part in the choice."""
    (run_id,) = dates.plan(store, IMPORTED, moment("2026-01-01"), RESCORE).runs
    assert dates.request_of({"policy": policy}, IMPORTED).policy == policy

    found = dates.rescore_run(store, run_id, policy, IMPORTED)

    scene = recorded.scene(store, store.run(run_id))
    assert scene.configs[found.body["incumbent"]]["size"] in (16, 32)
    assert found.body["chosen_on"] == found.body["held_out"]["nodes"] == 3
    if policy == "mean":
        assert scene.configs[found.body["incumbent"]]["size"] == 32
        expected = (190 / 104 * 189 / 100 * 130 / 96) ** (1 / 3)
        assert found.body["held_out"]["gain"]["estimate"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("conf", "message"),
    [
        ({"policy": "best"}, r"conf: policy: expected one of tuna, traditional, naive.*, got 'best'"),
        ({"policy": "min:size=1"}, r"expected KEY=VALUE with one of statistic"),
        ({"policy": "campaign:x=1"}, r"conf: policy: expected one of"),
        ({"policy": ["tuna"]}, r"conf: policy: expected one of"),
        ({"mode": "measure"}, r"conf: mode: expected one of rescore, retune, got 'measure'"),
        ({"polcy": "tuna"}, r"conf: expected the keys policy and mode, got 'polcy'"),
    ],
)
def test_a_conf_that_is_none_fails_with_what_is_known(conf, message):
    """A misspelt policy never passes for the default one."""
    with pytest.raises(UserError, match=message):
        dates.request_of(conf, IMPORTED)


def test_a_run_whose_benchmark_is_not_archived_is_not_measured_again(store):
    """It is left out with its reason."""
    plan = dates.plan(store, IMPORTED, moment("2026-01-01"), Request(mode="retune", policy="tuna"))
    assert plan.runs == ()
    assert "is not archived, so it cannot be measured again" in plan.reasons[0]


def test_two_policies_are_compared_run_by_run_and_in_sum(store):
    """Where the incumbent changes, and by how much; runs that one of them has not judged are named."""
    runs = [r.id for r in store.runs()]
    for run_id in runs:
        dates.rescore_run(store, run_id, "tuna", IMPORTED)
    for run_id in runs[:2]:
        dates.rescore_run(store, run_id, "naive", IMPORTED)

    found = compare(store, "imported", "tuna", "naive")

    assert (len(found.pairs), found.changed) == (2, 2)
    assert [len(found.missing[p]) for p in ("tuna", "naive")] == [0, 1]
    assert [pair.date[:10] for pair in found.pairs] == ["2026-01-01", "2026-01-02"]
    for pair in found.pairs:
        assert pair.change == pytest.approx(pair.b.held_out / pair.a.held_out)
    assert plain(found)["pairs"][0]["is_changed"] is True
    assert any("the incumbent changes in 2 of 2 run(s)" in line for line in lines(found))


def test_what_was_not_back_filled_cannot_be_compared(store):
    """The message has the command that does it."""
    with pytest.raises(UserError, match=r"policy 'tuna' has judged no run of imported .*airflow backfill create"):
        compare(store, "imported", "tuna", "naive")
    with pytest.raises(UserError, match=r"no run of campaign 'x'\. The store has: imported"):
        compare(store, "x", "tuna", "naive")


def test_a_history_file_has_a_title_a_schedule_and_a_zone(tmp_path):
    """An empty one is midnight UTC."""
    path = tmp_path / "mine.toml"
    path.write_text("")
    assert read(path) == Calendar(name="mine")
    path.write_text('title = "x"\nschedule = "0 2 * * *"\ntimezone = "Europe/Berlin"\n')
    assert read(path).window(moment("2026-01-05T01:00"))[0].isoformat() == "2026-01-05T00:00:00+01:00"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system = 'noop'\n", "system: unknown key"),
        ("schedule = '@daily'\n", "five fields"),
        ("timezone = 'Mars'\n", "IANA"),
        ("title = 3\n", "expected a text"),
        ("a = ", "not TOML"),
    ],
)
def test_a_fault_in_a_history_file_names_its_key(tmp_path, text, message):
    """The DAG list shows it."""
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(CampaignError, match=message):
        read(path)
