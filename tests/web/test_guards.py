"""Nobody sees or does anything without the permission: every route of the pages is walked."""

import re

import pytest

SAMPLE = {"dag_id": "demo", "run_id": "demo-1", "page": "convergence", "config_id": "x", "dag_run_id": "x"}
BODIES = {
    "stop": {},
    "extend": {"samples": 600},
    "exclude": {"node": "n1", "since": 1.0, "until": 2.0},
    "undo-exclude": {"exclusion": "x"},
    "requeue": {"config_id": "x"},
    "settle": {},
}


def filled(path: str) -> str:
    """Return a route's path with values in it."""
    return re.sub(r"\{(\w+)(:path)?\}", lambda m: SAMPLE.get(m[1], "x"), path)


def walk(server, *methods):
    return [(m, filled(r["path"])) for r in server.routes for m in r["methods"] if m in methods or not methods]


def body_of(path):
    return BODIES[path.rsplit("/", 1)[-1]]


def own_site(server):
    return {"Origin": server.url, "Sec_Fetch_Site": "same-origin"}


def test_every_route_is_one_that_this_test_can_walk(server):
    """A route of another kind (a mounted folder, a websocket) has no guard that FastAPI would call."""
    assert walk(server, "?") == []
    assert {m for m, _ in walk(server)} == {"GET", "POST"}
    assert len(walk(server, "GET")) > 8
    assert {path.rsplit("/", 1)[-1] for _, path in walk(server, "POST")} == set(BODIES)


def test_without_login_nothing_is_there(server):
    """Every route says 401 to somebody who is not signed in, with or without a body."""
    for method, path in walk(server):
        body = body_of(path) if method == "POST" else None
        answer = server.ask(path, user=None, method=method, body=body, **own_site(server))
        assert answer.status == 401, (method, path, answer.status)


def test_the_pages_about_the_pages_are_closed(server):
    """FastAPI's own documentation of the routes, open by default, is not served."""
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert server.ask(path).status == 404


def test_a_viewer_reads_and_writes_nothing(server):
    """A viewer's GET of a run is 200, every write is 403."""
    assert server.ask("/data/dags/demo/runs/demo-1/pages/trials", user="view").status == 200
    for method, path in walk(server, "POST"):
        answer = server.ask(path, user="view", method=method, body=body_of(path), **own_site(server))
        assert answer.status == 403, (path, answer.status, answer.body)
    assert server.ask("/data/dags/demo/runs/demo-1/line", user="view").json["may_edit"] is False
    assert server.ask("/data/dags/demo/runs/demo-1/line", user="adm").json["may_edit"] is True


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example", "Sec_Fetch_Site": "cross-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "none"},
        {},
    ],
    ids=str,
)
def test_a_write_from_another_site_is_refused(server, headers):
    """With an administrator's cookie alone no other page can make the browser write."""
    for method, path in walk(server, "POST"):
        answer = server.ask(path, cookie=True, method=method, body=body_of(path), **headers)
        assert answer.status == 403, (path, headers, answer.status)


def test_a_form_of_another_site_is_refused(server):
    """What a plain form can send is no JSON, and is not read."""
    for method, path in walk(server, "POST"):
        own = own_site(server) | {"Content_Type": "text/plain"}
        assert server.ask(path, cookie=True, method=method, body=body_of(path), **own).status == 415


def test_a_run_is_shown_under_its_own_campaign_only(server):
    """The permission for one campaign opens no run of another."""
    for path in ("line", "pages/trials", "importance", "trials/x"):
        assert server.ask(f"/data/dags/demo/runs/planted-1/{path}").status == 404
    for method, path in walk(server, "POST"):
        other = path.replace("demo-1", "planted-1")
        assert server.ask(other, method=method, body=body_of(path), **own_site(server)).status == 404


def test_every_answer_forbids_foreign_and_inline_content(server):
    """Pages, data, assets and errors carry the Content-Security-Policy."""
    for path in ("/", "/data/fleet", "/dags/demo/runs/demo-1/trials", "/static/x/style.css", "/no-such-page"):
        headers = server.ask(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy and "unsafe" not in policy, path
        assert "frame-ancestors 'self'" in policy
        assert headers["x-content-type-options"] == "nosniff"
    assert "content-security-policy" in server.ask("/", user=None).headers


def test_no_file_beside_the_assets_can_be_had(server):
    """A path that climbs finds nothing."""
    for name in ("../app.py", "..%2fapp.py", "%2e%2e/app.py", "/etc/passwd", "style.css/../../app.py"):
        assert server.ask(f"/static/x/{name}").status == 404
