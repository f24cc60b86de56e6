"""Laws of health: what a canary may be, and what becomes of a node that fails."""

import json

import pytest
from scenes import failure, sample, scene
from stored_runs import WORKLOAD, default_of, opened, put

from albacore import health, resampling, sentinel
from albacore.benchmark import Workload
from albacore.charts import nodes as nodes_page
from albacore.charts.book import opened as book_of_run
from albacore.errors import CampaignError
from albacore.fact import READMIT, STILL_OUT
from albacore.nodes import fake
from albacore.nodes.blame import Placement, find, sample_or_failure
from albacore.nodes.job import JobOutcome, Status
from albacore.sample import Blame, Failure, Purpose
from albacore.trial import Direction, Note
from albacore_airflow import fitness, settings

HOSTS = {f"n{i}": f"h{i}" for i in range(1, 6)}
WELL = {"scheduler_ms": 0.1, "cpu_ms": 1.0, "memory_ms": 3.0, "disk_ms": 0.5}


def songs(node, count, **changed):
    return [(node, {**WELL, **changed})] * count


def test_a_canary_without_history_and_peers_is_never_out_of_bounds():
    """The first samples of a fleet take its figures; there is nothing to hold them against."""
    assert health.bounds("n1", [], HOSTS) == {}
    assert health.bounds("n1", [*songs("n1", 4), *songs("n2", 9), *songs("n3", 9)], HOSTS) == {}


def test_a_node_is_held_against_its_own_history():
    """A machine that is three times as slow as it was is sick, however fast the others are."""
    most = health.bounds("n1", songs("n1", 5, cpu_ms=2.0), HOSTS)

    assert most["cpu_ms"] == {"own": 2.0, "most": 6.0}
    assert health.exceeded({**WELL, "cpu_ms": 6.1}, most) == ["cpu_ms"]
    assert health.exceeded({**WELL, "cpu_ms": 5.9}, most) == []


def test_a_node_is_held_against_its_peers():
    """One that was slow from the start has no better history; other machines say what is usual."""
    peers = [song for node in ("n2", "n3", "n4") for song in songs(node, 1)]
    most = health.bounds("n1", [*songs("n1", 5, memory_ms=30.0), *peers], HOSTS)

    assert most["memory_ms"] == {"own": 30.0, "peers": 3.0, "most": 18.0}


def test_nodes_of_one_machine_are_no_peers():
    """They share what the canary looks at."""
    together = dict.fromkeys(HOSTS, "h")
    assert health.bounds("n1", [song for node in HOSTS for song in songs(node, 1)], together) == {}


def test_what_is_fast_enough_for_anything_is_never_out_of_bounds():
    """A disk that is ten times slower than a very fast one is a fast disk."""
    most = health.bounds("n1", songs("n1", 5, disk_ms=0.01, scheduler_ms=0.001), HOSTS)
    assert (most["disk_ms"]["most"], most["scheduler_ms"]["most"]) == (25.0, 5.0)


def test_a_canary_out_of_bounds_blames_the_node_with_its_evidence():
    """The message says the figure, the bound and what it rests on; the log has all figures."""
    song = {"figures": {**WELL, "cpu_ms": 9.0}, "out": ["cpu_ms"], "bounds": {"cpu_ms": {"own": 1.0, "most": 3.0}}}
    outcome = JobOutcome(job_id="one", status=Status(state="done"), canary=song)

    found = find(outcome, fake_workload())

    assert found is not None and found.blame is Blame.NODE
    assert "cpu 9 ms, at most 3 expected (1 ms before)" in found.message
    assert json.loads(found.log)["figures"]["disk_ms"] == 0.5


def test_what_the_canary_sang_stays_with_the_sample():
    """Later samples are held against it, and so may whoever asks why a figure is odd."""
    done = fake.finished("d", {"tps": (1.0, "tps")})
    result = {**json.loads(done["result.json"]), "canary": {"figures": WELL, "out": []}}
    outcome = JobOutcome(
        job_id="one",
        status=Status(state="done"),
        digest="d",
        canary=result["canary"],
        metrics=json.loads(done["metrics.json"]),
    )

    taken = sample_or_failure(outcome, fake_workload(), Placement.on(fake.FakeNode(), config_id="c", started_at=0.0))

    assert not isinstance(taken, Failure) and taken.notes["canary"] == WELL


def fake_workload():
    return Workload(**{**WORKLOAD, "direction": Direction.MAX})


def test_a_look_ends_the_quarantine_until_the_node_fails_twice_again():
    """Failures before the look are forgiven, and one after it is not yet two."""
    lost = [failure("c", "n1", Blame.NODE), failure("d", "n1", Blame.NODE)]
    well = Note(kind=READMIT, body={"node": "n1"})

    assert resampling.quarantined(scene(lost).log) == {"n1"}
    assert resampling.quarantined(scene([*lost, Note(kind=STILL_OUT, body={"node": "n1"})]).log) == {"n1"}
    assert resampling.quarantined(scene([*lost, well]).log) == set()
    assert resampling.quarantined(scene([*lost, well, failure("e", "n1", Blame.NODE)]).log) == set()
    assert resampling.quarantined(scene([*lost, well, *lost]).log) == {"n1"}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A run in a store whose nodes are fakes."""
    made = opened(tmp_path, nodes={"tuning": 5, "validation": 1, "sentinel_every": 2})
    monkeypatch.setattr(settings, "store", lambda: made.store)
    return made


def put_out(made, *nodes):
    for node in nodes:
        for attempt in (0, 1):
            made.log.append_failure(failure(f"c{attempt}", node, Blame.NODE), attempt=attempt)


def test_a_node_in_quarantine_is_looked_at_later_and_later(made, monkeypatch):
    """A minute after its last failure; while it cannot be reached each wait is twice as long; then it is used again."""
    node = fake.FakeNode(name="n1", answers={("python3", "-E", "-s", "-c"): json.dumps(WELL)}, is_reachable=False)
    node.answers["python3", "-E", "-s", "agent/agent.py", "sweep"] = '{"ended": [], "leftovers": []}'
    monkeypatch.setattr(settings, "node", lambda run, record: node)
    put_out(made, "n1")
    assert fitness.look_again("run") == []

    made.clock.now += 61
    assert fitness.look_again("run") == ["node n1 stays in quarantine: node n1: cannot be reached."]
    made.clock.now += 61
    assert fitness.look_again("run") == []
    node.is_reachable = True
    made.clock.now += 61
    assert fitness.look_again("run") == ["node n1 is used again: its canary is as usual"]

    assert resampling.quarantined(made.log.read()) == set()
    assert [n.body["canary"] for n in made.log.read().notes(READMIT)] == [WELL]


def test_a_node_that_somebody_uses_is_not_looked_at(made, monkeypatch):
    """Another campaign's sample is not disturbed."""
    put_out(made, "n1")
    made.clock.now += 61
    settings.leases().take_node("n1", "h", 1, "another")

    assert fitness.look_again("run") == []


def test_the_default_is_measured_again_after_every_so_many_samples_of_a_node(made):
    """Once per turn, by one iteration, however often it asks; such samples are not of the search."""
    for i in range(4):
        put(made, f"c{i}", "n2", 1.0)
    put(made, "c9", "n3", 1.0)
    scene_now = settings.scene("run")

    first = fitness.sentinels("run", scene_now, 7)
    again = fitness.sentinels("run", settings.scene("run"), 7)
    other = fitness.sentinels("run", settings.scene("run"), 8)

    assert [(s["nodes"], s["purpose"], s["repeat"], s["config"]) for s in first] == [
        (["n2"], "sentinel", 2, default_of(made))
    ]
    assert (again, other) == (first, [])
    assert not Purpose.SENTINEL.is_tuning


def test_a_lease_that_a_killed_task_could_not_renew_in_time_is_refused(monkeypatch):
    """Another slot would take its node meanwhile: heartbeat timeout, retry and restart have to fit in."""
    monkeypatch.setattr("airflow.sdk.configuration.conf.getint", lambda section, key: 300)

    settings.check_lease(365.5)
    with pytest.raises(CampaignError, match=r"expected more than 365 s, got 365: .* Raise nodes.lease_s"):
        settings.check_lease(365.0)


def test_a_node_is_doubtful_while_its_last_attempt_gave_no_answer():
    """What was lost there may still run; a sample, or a config's own failure, says that it has ended."""
    lost, answered = failure("c", "n1", Blame.NODE), failure("d", "n1", Blame.CONFIG)

    assert health.doubtful(scene([sample("a", "n1", 1.0), lost, sample("b", "n2", 1.0)]).log) == {"n1"}
    assert health.doubtful(scene([lost, answered]).log) == set()


def test_a_sentinel_changes_no_decision(made):
    """The default's trial has the same samples; only the node's page shows the others."""
    put(made, default_of(made), "n1", 100.0, purpose=Purpose.DEFAULT)
    before = made.log.read().trial(default_of(made))
    put(made, default_of(made), "n1", 50.0, slot=0, purpose=Purpose.SENTINEL)

    assert made.log.read().trial(default_of(made)) == before
    assert sentinel.due(made.log.read(), ["n1"], 1) == []


def test_the_page_of_the_nodes_shows_failures_with_their_evidence_and_the_looks(made):
    """Why a node is out, and what was found when somebody looked."""
    put_out(made, "n1")
    made.log.append_note(Note(kind=STILL_OUT, body={"node": "n1", "why": "cpu 9 ms"}))
    run = made.store.run("run")

    rows = nodes_page.page(book_of_run(run, settings.scene("run"), made.store.nodes("run")))["nodes"]

    row = next(r for r in rows if r["node"] == "n1")
    assert row["is_quarantined"] and [e["why"] for e in row["looks"]] == ["cpu 9 ms"]
    assert [e["message"] for e in row["evidence"]] == ["it broke", "it broke"]
