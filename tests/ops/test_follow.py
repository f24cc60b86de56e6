"""Laws of the follower: it shows a run until its end, and starts one only when none goes on."""

import io
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from rich.console import Console

from albacore_ops import campaign, follow, night
from albacore_ops.campaign import CampaignRun
from albacore_ops.layout import Layout
from albacore_ops.refusal import RefusalError
from albacore_ops.rest import Airflow

RUN = "/api/v2/dags/demo/dagRuns/r1"
ITERATIONS = "/api/v2/dags/demo.iteration/dagRuns"
OWN_ENTRIES = f"{RUN}/taskInstances/~/xcomEntries"
LANE_ENTRIES = f"{ITERATIONS}/~/taskInstances/~/xcomEntries"
VERDICT = {"sentence": "Ship it: 1.4x.", "ship": True, "knobs": [], "fragment": {"file": "x.conf", "text": "a = 1"}}


@pytest.fixture
def airflow(api) -> Airflow:
    return Airflow(url=api.url, user="admin", password="right", sleep=lambda _: None)


@pytest.fixture
def run(airflow) -> CampaignRun:
    return CampaignRun(airflow=airflow, campaign="demo", run_id="r1")


def entry(dag: str, run_id: str, task: str, second: int) -> dict:
    """Return where an XCom lies, as the API lists it."""
    stamp = datetime(2026, 1, 1, second=second, tzinfo=UTC).isoformat()
    return {"dag_id": dag, "run_id": run_id, "task_id": task, "timestamp": stamp}


def tell(api, dag: str, run_id: str, task: str, value, key: str = "progress") -> None:
    """Let a task have pushed a value."""
    where = f"/api/v2/dags/{dag}/dagRuns/{run_id}/taskInstances/{task}/xcomEntries/{key}"
    api.answers["GET", where] = {"key": key, "value": value}


def opened(api, albacore_run: str = "demo-1") -> None:
    """Let the run be open, under a name of its own."""
    tell(api, "demo", "r1", "open", albacore_run, key="return_value")


def test_the_newest_progress_wins_wherever_it_was_left(api, run):
    """Iterations and the campaign's own tasks both speak; the later one knows more."""
    opened(api)
    api.answers["GET", OWN_ENTRIES] = {"xcom_entries": [entry("demo", "r1", "plan_default", 1)]}
    api.answers["GET", LANE_ENTRIES] = {"xcom_entries": [entry("demo.iteration", "i7", "report", 2)]}
    tell(api, "demo", "r1", "plan_default", {"campaign_run": "demo-1", "phase": "default"})
    tell(api, "demo.iteration", "i7", "report", {"campaign_run": "demo-1", "phase": "tune", "samples": 9})

    assert run.progress()["samples"] == 9

    api.answers["GET", OWN_ENTRIES] = {"xcom_entries": [entry("demo", "r1", "verdict", 3)]}
    tell(api, "demo", "r1", "verdict", {"campaign_run": "demo-1", "phase": "done", "samples": 12})

    assert run.progress()["phase"] == "done"


def test_a_lane_of_an_earlier_run_is_not_listened_to(api, run):
    """It may still be ending while the next run has begun."""
    opened(api, "demo-2")
    lanes = [entry("demo.iteration", "old", "report", 2), entry("demo.iteration", "new", "report", 1)]
    api.answers["GET", LANE_ENTRIES] = {"xcom_entries": lanes}
    tell(api, "demo.iteration", "old", "report", {"campaign_run": "demo-1", "samples": 99})
    tell(api, "demo.iteration", "new", "report", {"campaign_run": "demo-2", "samples": 1})

    assert run.progress()["samples"] == 1


def test_without_any_progress_the_follower_goes_on(run):
    """Before `open` has ended there is nothing to read."""
    assert run.progress() == {}
    assert run.verdict() == {}


def test_starting_switches_both_dags_on_first(api, airflow):
    """A run of a paused DAG would wait for ever."""
    for dag in ("demo", "demo.iteration"):
        api.answers["PATCH", f"/api/v2/dags/{dag}"] = {"is_paused": False}
    api.answers["POST", "/api/v2/dags/demo/dagRuns"] = {"dag_run_id": "demo-20260102-030405"}

    campaign.switch_on(airflow, "demo")
    started = campaign.start(airflow, "demo", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))

    sent = [(method, where, body) for method, where, body in api.asked if where != "/auth/token"]
    assert sent == [
        ("PATCH", "/api/v2/dags/demo", {"is_paused": False}),
        ("PATCH", "/api/v2/dags/demo.iteration", {"is_paused": False}),
        (
            "POST",
            "/api/v2/dags/demo/dagRuns",
            {"dag_run_id": "demo-20260102-030405", "logical_date": None, "conf": {}},
        ),
    ]
    assert started.run_id == "demo-20260102-030405"


def known(api) -> None:
    """Let Airflow have read both DAGs."""
    for dag in ("demo", "demo.iteration"):
        api.answers["GET", f"/api/v2/dags/{dag}"] = {"dag_id": dag}


def test_a_run_that_goes_on_is_followed_instead_of_starting_another(api, airflow):
    """Ctrl-C and `make tune` again comes back to the same run."""
    known(api)
    api.answers["GET", "/api/v2/dags/demo/dagRuns"] = {"dag_runs": [{"dag_run_id": "r1"}]}
    api.answers["GET", RUN] = {"state": "running"}

    assert follow.choose(airflow, "demo", is_start=True).run_id == "r1"
    assert not [where for method, where, _ in api.asked if method == "POST" and where.endswith("dagRuns")]


def test_after_a_run_has_ended_another_one_is_started(api, airflow):
    """Run twice, it works twice."""
    known(api)
    api.answers["GET", "/api/v2/dags/demo/dagRuns"] = {"dag_runs": [{"dag_run_id": "r1"}]}
    api.answers["GET", RUN] = {"state": "success"}
    for dag in ("demo", "demo.iteration"):
        api.answers["PATCH", f"/api/v2/dags/{dag}"] = {}
    api.answers["POST", "/api/v2/dags/demo/dagRuns"] = {"dag_run_id": "r2"}

    assert follow.choose(airflow, "demo", is_start=True).run_id == "r2"


def test_following_starts_nothing(api, airflow):
    """`make follow` without a run says how to start one."""
    known(api)
    api.answers["GET", "/api/v2/dags/demo/dagRuns"] = {"dag_runs": []}

    with pytest.raises(RefusalError, match="make tune"):
        follow.choose(airflow, "demo", is_start=False)


def test_a_campaign_that_airflow_cannot_read_is_refused_with_the_import_error(api, airflow):
    """The reason is in the DAG file's import error, and it is shown."""
    error = {"filename": "dags/campaigns.py", "stack_trace": "Traceback\nCampaignError: demo.toml: 'seed' is missing"}
    api.answers["GET", "/api/v2/importErrors"] = {"import_errors": [error]}

    with pytest.raises(RefusalError, match=r"demo\.toml: 'seed' is missing"):
        follow.wait_known(airflow, "demo", sleep=lambda _: None)


def test_on_a_pipe_a_line_is_printed_when_there_is_news(api, run, capsys):
    """No bar, no escape codes, no line twice, and the last word at the end."""
    opened(api)
    api.answers["GET", RUN] = [{"state": "running"}, {"state": "running"}, {"state": "success"}]
    api.answers["GET", f"{RUN}/taskInstances"] = {"task_instances": []}
    api.answers["GET", LANE_ENTRIES] = {"xcom_entries": [entry("demo.iteration", "i1", "report", 1)]}
    where = "/api/v2/dags/demo.iteration/dagRuns/i1/taskInstances/report/xcomEntries/progress"
    told = {"campaign_run": "demo-1", "phase": "tune", "limit": 2}
    api.answers["GET", where] = [{"value": told | {"samples": samples}} for samples in (1, 1, 2)]

    state = follow.watch(run, Console(file=io.StringIO()), sleep=lambda _: None)

    printed = capsys.readouterr().out.splitlines()
    assert state == "success"
    assert [line.split(" | ")[1] for line in printed] == ["1/2 samples", "2/2 samples"]


def test_on_a_terminal_a_bar_is_drawn(api, run):
    """Counts, comparison and phase stand beside the bar."""
    opened(api)
    api.answers["GET", RUN] = {"state": "success"}
    api.answers["GET", f"{RUN}/taskInstances"] = {"task_instances": [{"task_id": "validate", "state": "running"}]}
    api.answers["GET", OWN_ENTRIES] = {"xcom_entries": [entry("demo", "r1", "plan_validation", 1)]}
    facts = {"campaign_run": "demo-1", "phase": "validate", "samples": 3, "limit": 4, "best": 1.0, "default": 2.0}
    tell(api, "demo", "r1", "plan_validation", facts)
    screen = io.StringIO()

    follow.watch(run, Console(file=screen, force_terminal=True, width=110), sleep=lambda _: None)

    for expected in ("validating on fresh nodes", "3/4 samples", "2.00x", "validate"):
        assert expected in screen.getvalue()


def test_a_verdict_is_printed_and_ends_with_0(api, run, capsys):
    """Sentence and fragment, on stdout."""
    tell(api, "demo", "r1", "verdict", VERDICT, key="verdict")

    assert follow.report(run, "success") == 0
    assert "Ship it: 1.4x." in capsys.readouterr().out


def test_a_failed_run_names_the_first_failed_task_with_the_end_of_its_log(api, run, capsys):
    """Tasks that failed only because another one did are not named first; exit code 1."""
    tasks = [
        {"task_id": "later", "state": "failed", "try_number": 1, "map_index": -1, "end_date": "2026-01-01T00:02:00Z"},
        {"task_id": "prepare", "state": "failed", "try_number": 2, "map_index": 3, "end_date": "2026-01-01T00:01:00Z"},
        {"task_id": "verdict", "state": "upstream_failed", "try_number": 0, "end_date": None},
    ]
    api.answers["GET", f"{RUN}/taskInstances"] = {"task_instances": tasks}
    api.answers["GET", f"{RUN}/taskInstances/prepare/logs/2"] = {"content": [{"event": "initdb: no space"}]}

    assert follow.report(run, "failed") == 1

    said = capsys.readouterr().err
    assert said.index("task prepare failed") < said.index("task later failed")
    assert "initdb: no space" in said
    assert "verdict failed" not in said


def test_closing_the_follower_says_how_to_come_back(api, tmp_path, monkeypatch, capsys):
    """Ctrl-C ends the follower, not the campaign."""
    layout = Layout(root=tmp_path)
    layout.secrets.mkdir(parents=True)
    layout.passwords.write_text(json.dumps({"admin": "right"}))

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(follow, "choose", interrupted)

    assert follow.run(replace(layout, port=18080), "demo", is_start=True) == 130
    assert "make follow" in capsys.readouterr().out
    assert api.asked == []


NIGHTLY = {
    "timetable_summary": "0 2 * * *",
    "is_paused": True,
    "next_dagrun_run_after": "2026-01-02T01:00:00Z",
}


def test_a_run_that_goes_on_is_looked_at_rather_than_a_night_that_was_skipped_since(api, airflow):
    """Nights that fall into a long run are skipped; neither they nor runs that have ended hide it."""
    runs = [("skipped", "success"), ("going", "running"), ("old", "success")]
    api.answers["GET", "/api/v2/dags/demo/dagRuns"] = {
        "dag_runs": [{"dag_run_id": name, "state": state} for name, state in runs]
    }
    tell(api, "demo", "skipped", "open", "too late", key="skipped")

    assert campaign.latest(airflow, "demo").run_id == "going"

    api.answers["GET", "/api/v2/dags/demo/dagRuns"]["dag_runs"].pop(1)
    assert campaign.latest(airflow, "demo").run_id == "old"


def test_switching_a_schedule_on_follows_the_night_that_was_just_missed(api, airflow):
    """A run by hand would find its lock held."""
    known(api)
    api.answers["GET", "/api/v2/dags/demo"] = {"dag_id": "demo", **NIGHTLY}
    api.answers["GET", "/api/v2/dags/demo/dagRuns"] = [{"dag_runs": []}, {"dag_runs": [{"dag_run_id": "night"}]}]
    for dag in ("demo", "demo.iteration"):
        api.answers["PATCH", f"/api/v2/dags/{dag}"] = {}
    tell(api, "demo", "night", "open", "demo-1", key="return_value")

    assert follow.choose(airflow, "demo", is_start=True).run_id == "night"
    assert not [where for method, where, _ in api.asked if method == "POST" and where.endswith("dagRuns")]


def test_a_missed_night_that_is_skipped_leaves_the_way_free(api, airflow):
    """It was too late: a run is started as without a schedule."""
    known(api)
    api.answers["GET", "/api/v2/dags/demo"] = {"dag_id": "demo", **NIGHTLY}
    api.answers["GET", "/api/v2/dags/demo/dagRuns"] = [{"dag_runs": []}, {"dag_runs": [{"dag_run_id": "night"}]}]
    for dag in ("demo", "demo.iteration"):
        api.answers["PATCH", f"/api/v2/dags/{dag}"] = {}
    tell(api, "demo", "night", "open", "too late", key="skipped")
    api.answers["POST", "/api/v2/dags/demo/dagRuns"] = {"dag_run_id": "mine"}

    assert follow.choose(airflow, "demo", is_start=True).run_id == "mine"


def test_a_schedule_is_told_in_words():
    """When the next run begins, or how it is switched on; nothing for a campaign without one."""
    assert night.sentence("demo", {"timetable_summary": None}) == ""
    assert "`make tune CAMPAIGN=demo` switches it on" in night.sentence("demo", NIGHTLY)
    said = night.sentence("demo", NIGHTLY | {"is_paused": False})
    assert said.startswith("demo: schedule '0 2 * * *', next run 2026-01-0")


def test_following_a_campaign_that_waits_for_its_first_night_says_when_it_is(api, airflow):
    """Instead of telling people to start one."""
    known(api)
    api.answers["GET", "/api/v2/dags/demo"] = {"dag_id": "demo", **NIGHTLY, "is_paused": False}
    api.answers["GET", "/api/v2/dags/demo/dagRuns"] = {"dag_runs": []}

    with pytest.raises(RefusalError, match="next run 2026-01-0"):
        follow.choose(airflow, "demo", is_start=False)
