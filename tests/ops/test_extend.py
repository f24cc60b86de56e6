"""Laws of `albacore extend` where it meets the running Airflow."""

import pytest

from albacore_ops import extend
from albacore_ops.layout import Layout
from albacore_ops.refusal import RefusalError
from albacore_ops.rest import Airflow

RUNS = "/api/v2/dags/my-demo/dagRuns"
RUN = "my-demo-20300101t020000-1a2b"


@pytest.fixture
def airflow(api) -> Airflow:
    for dag in ("my-demo", "my-demo.iteration"):
        api.answers["GET", f"/api/v2/dags/{dag}"] = {"dag_id": dag}
        api.answers["PATCH", f"/api/v2/dags/{dag}"] = {}
    api.answers["POST", RUNS] = {"dag_run_id": "again"}
    return Airflow(url=api.url, user="admin", password="right", sleep=lambda _: None)


def has_runs(api, *runs: dict) -> None:
    api.answers["GET", RUNS] = {"dag_runs": list(runs)}


def started(api) -> list[dict]:
    return [body for method, path, body in api.asked if (method, path) == ("POST", RUNS)]


def test_without_a_running_airflow_it_says_make_up_and_changes_nothing(tmp_path):
    """The limits are not touched either."""
    with pytest.raises(RefusalError, match="make up"):
        extend.run(Layout(root=tmp_path), [RUN, "--samples", "9"])


def test_a_run_that_has_ended_is_re_opened_by_a_dag_run_of_its_campaign(api, airflow):
    """The campaign's name may hold a dash; a run that ended and other runs that go on are not in the way."""
    has_runs(
        api,
        {"dag_run_id": "old", "state": "success", "conf": {}},
        {"dag_run_id": "new", "state": "running", "conf": {}},
    )

    said = extend.go_on(airflow, RUN)

    assert [body["conf"] for body in started(api)] == [{"extends": RUN}]
    assert "re-opened by DAG run again" in said


@pytest.mark.parametrize("conf", [{"extends": RUN}, {}])
def test_a_run_that_goes_on_is_not_started_again(api, airflow, conf):
    """It works on it since its opening, or was just asked to."""
    has_runs(api, {"dag_run_id": "live", "state": "running", "conf": conf})
    opened = f"{RUNS}/live/taskInstances/open/xcomEntries/return_value"
    api.answers["GET", opened] = {"value": RUN}

    assert "goes on" in extend.go_on(airflow, RUN)
    assert started(api) == []


def test_a_campaign_that_is_gone_is_refused(api, airflow):
    """Its file has to come back first."""
    with pytest.raises(RefusalError, match="no campaign 'other'"):
        extend.go_on(airflow, "other-20300101t020000-1a2b")
