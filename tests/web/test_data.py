"""What the data routes say."""

import time

from albacore.runs.showing import show_run
from albacore.store import Store

PAGES = ("convergence", "trials", "spread", "nodes", "night", "adjuster", "knobs", "readiness", "verdict")


def test_every_page_has_html_and_data(server):
    """All pages of a run are there, and their assets too."""
    for page in PAGES:
        html = server.ask(f"/dags/demo/runs/demo-1/{page}")
        assert html.status == 200 and html.headers["content-type"].startswith("text/html")
        assert server.ask(f"/data/dags/demo/runs/demo-1/pages/{page}").status == 200
    assert server.ask("/dags/demo/runs/demo-1/secrets").status == 404
    assert server.ask("/data/dags/demo/runs/demo-1/pages/secrets").status == 404


def test_a_flipped_plan_is_told_from_the_store(server):
    """By the dialog and by `albacore show`: both read what the workload noted, which no other page needs (T26)."""
    rows = server.ask("/data/dags/demo/runs/demo-1/pages/trials").json["trials"]
    unstable = next(row["config"] for row in rows if row["state"] == "unstable")
    plans = server.ask(f"/data/dags/demo/runs/demo-1/trials/{unstable}").json["plans"]
    shown = list(show_run(Store(f"sqlite:///{server.home / 'albacore.db'}"), "demo-1"))

    assert plans[0].startswith("plan of stock_level differs: good on")
    assert f"  {plans[0]}" in shown


def test_the_plotting_library_comes_from_this_server(server):
    """It is the file of the installed package, kept by the browser for good."""
    html = server.ask("/dags/demo/runs/demo-1/spread").body.decode()
    address = html.split('<script src="')[2].split('"')[0]

    answer = server.ask(address.removeprefix("/albacore"))

    assert answer.status == 200 and b"plotly.js" in answer.body[:200]
    assert "immutable" in answer.headers["cache-control"]
    assert "http://" not in html and "https://" not in html


def test_the_fleet_lists_every_campaign_that_has_a_run_or_a_dag(server):
    """A campaign without a run is there too, and says so."""
    rows = {row["campaign"]: row for row in server.ask("/data/fleet", user="view").json["campaigns"]}

    assert set(rows) == {"demo", "planted", "imported", "nightly", "asleep"}
    assert rows["asleep"]["last"] is None and rows["asleep"]["is_paused"]
    demo = rows["demo"]["last"]
    assert demo["best"]["value"] > demo["default"]["value"] > 0
    assert (demo["state"], demo["is_live"]) == ("ship", False)
    assert demo["unstable"] > 0 and demo["verdict"].startswith("Ship")


def test_what_has_moved_is_on_the_fleet_and_on_the_page_of_the_nights(server):
    """The sentence of the log, the nights that it rests on, and the run that the incumbent is from."""
    (row,) = [row for row in server.ask("/data/fleet").json["campaigns"] if row["campaign"] == "nightly"]
    page = server.ask("/data/dags/nightly/runs/nightly-4/pages/night").json

    assert [one["what"] for one in row["last"]["moved"]] == ["machine"]
    assert row["last"]["moved"][0]["sentence"] == page["moved"][0]["sentence"]
    assert page["moved"][0]["nodes"] == ["n2"]
    assert [night["run"] for night in page["nights"]] == ["nightly-1", "nightly-2", "nightly-3", "nightly-4"]
    assert [night["moved"] for night in page["nights"]] == [[], [], [], ["node"]]
    assert page["nights"][1]["incumbent"] > page["nights"][1]["default"] > 90
    assert page["taken_over"] == [
        {"config_id": page["taken_over"][0]["config_id"], "run_id": "nightly-1", "is_incumbent": True}
    ]
    assert page["advice"].startswith("3 tuning node(s) are few")


def test_a_trial_says_why_its_score_is_what_it_is(server):
    """Samples, judgement by judgement, with every reason."""
    trials = server.ask("/data/dags/demo/runs/demo-1/pages/trials").json["trials"]
    best = next(row for row in trials if row["is_best"])

    found = server.ask(f"/data/dags/demo/runs/demo-1/trials/{best['config']}").json

    assert [j["rung"] for j in found["judgements"]] == [1, 3, 10]
    assert all(j["reasons"] for j in found["judgements"])
    assert len(found["samples"]) == 10
    assert server.ask("/data/dags/demo/runs/demo-1/trials/nothing").status == 404


def test_the_importance_of_knobs_is_computed_beside_the_request(server):
    """The first answer comes at once; a later one has the ranking."""
    path = "/data/dags/demo/runs/demo-1/importance"
    begun = time.monotonic()
    first = server.ask(path).json
    assert time.monotonic() - begun < 2.0

    deadline = time.monotonic() + 60
    while not (found := server.ask(path).json)["is_current"]:
        assert time.monotonic() < deadline
        time.sleep(0.2)

    assert first["state"] in ("computing", "ready")
    assert found["state"] == "ready" and found["knobs"][0]["knob"] == "k0"


def test_scores_follow_an_exclusion_beside_the_request(server):
    """The answer comes at once; the head says how many are left; taken back, every score is what it was."""
    run, own = "/dags/planted/runs/planted-1", {"Origin": server.url, "Sec_Fetch_Site": "same-origin"}
    before = server.ask(f"/data{run}/pages/convergence").json["told"]
    body = {"node": "n4", "since": 0.0, "until": 9e9, "reason": "a test"}

    begun = time.monotonic()
    name = server.ask(f"{run}/actions/exclude", method="POST", body=body, **own).json["done"]
    took = time.monotonic() - begun
    first = server.ask(f"/data{run}/line").json
    settled = settle(server, run)
    server.ask(f"{run}/actions/undo-exclude", method="POST", body={"exclusion": name}, **own)
    last = settle(server, run)

    assert took < 2.0, "an action waits for no forest"
    assert first["is_settling"]
    assert settled["due"] == 0 and settled["fault"] is None
    assert last["due"] == 0 and server.ask(f"/data{run}/pages/convergence").json["told"] == before
    assert server.ask(f"{run}/actions/settle", method="POST", body={}, **own).status == 200


def settle(server, run):
    """Wait until a run is scored again; return its line."""
    deadline = time.monotonic() + 120
    while (found := server.ask(f"/data{run}/line").json)["is_settling"]:
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
    return found


def test_the_tab_on_a_dag_leads_to_its_latest_run(server):
    """So do the tabs on its iterations; a DAG without a run says what to do."""
    for dag in ("demo", "demo.iteration"):
        answer = server.ask(f"/dags/{dag}")
        assert (answer.status, answer.headers["location"]) == (307, f"/albacore/dags/{dag}/runs/demo-1/convergence")
    empty = server.ask("/dags/asleep")
    assert empty.status == 200 and b"Trigger" in empty.body


def test_a_dag_run_that_is_not_known_says_so(server):
    """Its id is shown as text."""
    answer = server.ask("/dags/demo/dag-runs/%3Cimg%20src=x%3E")

    assert answer.status == 200
    assert b"<img" not in answer.body and b"&lt;img src=x&gt;" in answer.body


def test_markup_in_the_data_reaches_no_html(server):
    """Templates hold ids only, escaped; what others wrote goes as JSON with a type that no browser renders."""
    page = server.ask("/dags/planted/runs/planted-1/trials")
    data = server.ask("/data/dags/planted/runs/planted-1/pages/nodes")

    assert b"<img" not in page.body
    assert data.headers["content-type"] == "application/json" and b"<img" in data.body
