"""Laws of the client of Airflow's REST API, against a real HTTP server."""

import socket
from contextlib import ExitStack

import pytest
from api_server import serving

from albacore_ops.rest import Airflow, ApiError, path


def client(url: str, **changes) -> Airflow:
    """Return a client that never really sleeps."""
    return Airflow(url=url, user="admin", **({"password": "right", "sleep": lambda _: None} | changes))


def test_a_run_id_with_colons_and_plus_signs_arrives_as_it_is(api):
    """Run ids are part of the path, and quoted."""
    api.answers["GET", "/api/v2/dags/demo/dagRuns/manual__2026-01-01T00:00:00+00:00"] = {"state": "running"}

    answer = client(api.url).call("GET", path("dags", "demo", "dagRuns", "manual__2026-01-01T00:00:00+00:00"))

    assert answer == {"state": "running"}


def test_the_login_is_done_once(api):
    """One token serves many requests."""
    api.answers["GET", "/api/v2/a"] = {}
    airflow = client(api.url)

    airflow.call("GET", path("a"))
    airflow.call("GET", path("a"))

    assert [method for method, _, _ in api.asked] == ["POST", "GET", "GET"]


def test_an_expired_login_is_renewed(api):
    """A campaign may take longer than a token lives."""
    api.answers["GET", "/api/v2/a"] = {"fine": True}
    airflow = client(api.url)
    airflow.call("GET", path("a"))
    api.valid_tokens.clear()

    assert airflow.call("GET", path("a")) == {"fine": True}


def test_a_wrong_password_is_told_and_not_repeated(api):
    """It does not become right by waiting."""
    with pytest.raises(ApiError, match="HTTP 401"):
        client(api.url, password="wrong").call("GET", path("a"))

    assert len(api.asked) == 1


def test_what_is_not_there_is_none(api):
    """Only 404 means absence."""
    assert client(api.url).find(path("dags", "nope")) is None


def test_a_refusal_says_which_request_failed(api):
    """Method, address and status."""
    with pytest.raises(ApiError, match=r"GET http://127\.0\.0\.1:\d+/api/v2/dags/nope: HTTP 404"):
        client(api.url).call("GET", path("dags", "nope"))


def test_a_server_that_is_restarted_is_waited_for():
    """The supervisor brings a killed API server back; the follower outlives that."""
    with ExitStack() as stack:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]

        def come_back(_: float) -> None:
            stack.enter_context(serving(port)).answers["GET", "/api/v2/a"] = {"fine": True}

        airflow = client(f"http://127.0.0.1:{port}", sleep=come_back)

        assert airflow.call("GET", path("a")) == {"fine": True}


def test_a_server_that_never_answers_is_given_up_with_the_time_waited():
    """Patience has an end."""
    with pytest.raises(ApiError, match=r"no answer for \d+ s"):
        client("http://127.0.0.1:1", patience_s=3.0).call("GET", path("a"))
