"""Laws of what earlier runs teach an adjuster: which readings, of which machines, fixed when a run opens."""

import json
import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from nodes import places
from small_campaigns import noop
from stored_runs import opened
from taught_runs import LOWER, NODES, POLICY, TAUGHT, fixed, past, put_judgement, put_trial

from albacore import earlier, judging, recorded
from albacore.history import export
from albacore.importing import Wanted, bring_in
from albacore.nightly import teaching
from albacore.nightly.admission import Caller
from albacore.runs import exclusion
from albacore.runs.showing import show_run
from albacore.store import NodeRecord, transcript
from albacore.store.run_log import RunLog
from albacore.trial import Note, Stability
from albacore_airflow import opening


@pytest.fixture
def made(tmp_path):
    """The run of tonight: open, its nodes and its space fixed."""
    found = opened(tmp_path, **TAUGHT)
    yield found
    found.store.close()


def test_what_the_earlier_adjuster_learned_from_is_taken_over(made):
    """Stable trials of the highest rung; no others."""
    log, generator = past(made, trials=3), random.Random(2)
    put_judgement(log, put_trial(log, 3, generator), stability=Stability.UNSTABLE)
    put_judgement(log, put_trial(log, 4, generator, rung=LOWER), rung=LOWER)
    put_trial(log, 5, generator)

    (found,), passed_over = fixed(made)

    assert (found.run, found.trials, found.samples, found.machines) == ("last", 3, 15, NODES)
    assert passed_over == []
    theirs = judging.history(recorded.scene(made.store, made.store.run("last"), telemetry=True))
    mine = recorded.scene(made.store, made.store.run("run"), telemetry=True).earlier
    assert [list(trial) for trial in mine] == theirs


def test_of_the_last_runs_as_many_as_the_file_says_newest_first(tmp_path):
    """Of the same campaign and workload, and not imported or measured again."""
    made = opened(tmp_path, **(TAUGHT | {"warm_start": {"adjuster": True, "runs": 2}}))
    benchmark = dict(made.store.run("run").benchmark)
    past(made, "oldest", age_s=3e5)
    past(made, "old", age_s=2e5)
    past(made, "new", seed=2)
    past(made, "theirs", campaign="theirs")
    past(made, "brought", benchmark={**benchmark, "origin": "imported"})

    assert [one.run for one in fixed(made)[0]] == ["new", "old"]
    made.store.close()


def node(name, **changes):
    facts = {"cpu_model": "x", "cores": 4, "sku": "y"} | changes.pop("facts", {})
    address = {"directory": f"/var/{name}", "access": {"address": "a", "host_key": "k"}, **changes.pop("address", {})}
    return NodeRecord(**{"name": name, "host": "h", "role": "tuning", "address": address, "facts": facts, **changes})


def test_only_what_is_certain_to_be_the_same_machine_keeps_its_name(made):
    """Another address, another host key, other hardware, or another host: the run's id goes before the name."""
    past(made, trials=1)
    made.store.put_nodes("run", [node(name) for name in NODES[:4]])
    changed = [
        node("n2", address={"access": {"address": "a", "host_key": "another"}}),
        node("n3", facts={"cores": 8}),
        node("n4", host="another"),
        node("n5"),
    ]
    made.store.put_nodes("last", [node("n1", facts={"boot_id": "another", "ram_bytes": 7}), *changed])

    (found,), _ = fixed(made)

    assert (found.machines, found.nodes) == (("n1",), 5)
    (trial,) = recorded.scene(made.store, made.store.run("run"), telemetry=True).earlier
    assert [reading.node for reading in trial] == ["n1", "last/n2", "last/n3", "last/n4", "last/n5"]


def test_machines_that_were_made_for_a_run_are_never_the_same(made, monkeypatch):
    """They are gone with their run, whatever the next ones are called."""
    past(made)
    monkeypatch.setattr(type(recorded.campaign(made.store.run("run")).nodes), "is_rented", property(lambda _: True))

    assert fixed(made)[0][0].machines == ()


def test_of_a_run_from_another_store_it_is_not_known_where_it_was_measured(made, tmp_path):
    """Two clones under one path have nodes of the same names and directories."""
    (tmp_path / "there").mkdir()
    other = opened(tmp_path / "there")
    past(other, "brought")
    _, whole = export.write(transcript.read(other.store, "brought"), None, tmp_path / "out", "csv")
    list(bring_in(made.store, [whole], Wanted()))
    other.store.close()

    (found,), _ = fixed(made)

    assert (found.run, found.machines) == ("brought", ())


def test_what_was_tuned_for_something_else_is_passed_over_with_its_reason(made):
    """Another metric, another direction, another objective."""
    run = made.store.run("run")
    load = dict(run.benchmark["workload"])
    past(made, "metric", benchmark={"workload": {**load, "metric": "p95_ms"}}, age_s=1.0)
    past(made, "direction", benchmark={"workload": {**load, "direction": "min"}}, age_s=2.0)
    objective = {"expression": "tps / 2", "direction": "max"}
    past(made, "objective", effective={**run.effective, "objective": objective}, age_s=3.0)

    found, passed_over = fixed(made)

    assert found == []
    assert passed_over == [
        "run metric is passed over: it tuned p95_ms (max), today it is tps (max)",
        "run direction is passed over: it tuned tps (min), today it is tps (max)",
        "run objective is passed over: it tuned tps / 2 (max), today it is tps (max)",
    ]


def test_a_run_without_a_full_stable_trial_is_passed_over(made):
    """And says so, in `albacore show` too."""
    past(made, trials=0)
    why = "run last is passed over: no stable trial on its highest rung has samples of several nodes"

    assert fixed(made) == ([], [why])
    said = list(show_run(made.store, "run"))
    assert said[1:3] == ["adjuster: no earlier run has anything to learn from", f"  {why}"]


def test_there_is_an_end_to_what_is_taken_over(made, monkeypatch):
    """Of the newest run all, of the next one its newest trials."""
    monkeypatch.setattr(teaching, "SAMPLES", 20)
    past(made, "old", trials=3, age_s=2e5)
    past(made, "new", trials=2, seed=2)

    found, passed_over = fixed(made)

    assert [(one.run, one.trials) for one in found] == [("new", 2), ("old", 2)]
    assert passed_over == ["1 trial(s) of run old are passed over: 20 samples are enough"]
    old = judging.history(recorded.scene(made.store, made.store.run("old"), telemetry=True))
    mine = recorded.scene(made.store, made.store.run("run"), telemetry=True).earlier
    assert [list(trial) for trial in mine[2:]] == old[1:]


def test_it_is_fixed_once(made):
    """Neither a retry of the task, nor another run, nor an exclusion in the earlier one changes it."""
    past(made)
    before = fixed(made)
    readings = recorded.scene(made.store, made.store.run("run"), telemetry=True).earlier

    past(made, "newer", age_s=1.0, seed=3)
    exclusion.exclude(made.store, "last", by="ann", span=exclusion.Span(node="n1", since=0.0, until=9e9))

    assert fixed(made) == before
    assert recorded.scene(made.store, made.store.run("run"), telemetry=True).earlier == readings


@pytest.mark.parametrize(
    "tables",
    [
        {"policy": POLICY},
        {"policy": POLICY, "warm_start": {"adjuster": False, "configs": 0}},
        {"policy": {**POLICY, "preset": "naive"}, "warm_start": {"adjuster": True}},
    ],
)
def test_without_the_key_or_without_an_adjuster_a_run_begins_cold(tmp_path, tables):
    """Nothing is written; so do all runs from before there was the key."""
    made = opened(tmp_path, **tables)
    past(made)

    assert teaching.fix(made.store, "run") is None
    assert made.log.read().events == ()
    assert recorded.scene(made.store, made.store.run("run"), telemetry=True).earlier == ()
    made.store.close()


def test_the_log_carries_no_reading(made):
    """Only the note; what reads the log often reads no more than before."""
    past(made)
    fixed(made)

    (event,) = made.log.read().events
    assert len(json.dumps(event.fact.body)) < 500
    assert recorded.scene(made.store, made.store.run("run")).earlier == ()


def test_nights_that_learn_from_one_run_share_its_readings(made):
    """By their digest."""
    past(made)
    before = fixed(made)[0][0].archive
    made.store.open_run(replace(made.store.run("run"), id="later", opened_at=made.opened_at + 1.0))
    made.store.put_nodes("later", made.store.nodes("run"))

    teaching.fix(made.store, "later")

    assert before in {one.archive for one in earlier.taken(RunLog(made.store, "later").read())}


def test_the_task_that_fixes_the_space_fixes_it_too(store, tmp_path, monkeypatch):
    """Before any sample; done again, the task finds what it wrote."""
    folder = tmp_path / "campaigns"
    folder.mkdir()
    policy = '{ rungs = [1, 3], adjuster = "cross_validated" }'
    (folder / "mine.toml").write_text(noop(policy=policy, warm_start="{ adjuster = true }"))
    for name, value in (("CAMPAIGNS", folder), ("BENCHMARKS", places.BENCHMARKS)):
        monkeypatch.setenv(f"ALBACORE_{name}", str(value))
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path))
    caller = Caller(dag_run_id="one", run_type="manual", run_after=datetime.now(UTC), is_over=lambda _: True)
    for run_id in ("mine-1", "mine-2"):
        opening.open_run("mine", run_id, {}, None, caller)
        opening.provision(run_id, "a test")

        before = RunLog(store, run_id).read()
        opening.provision(run_id, "a test")

        assert [note.kind for note in before.facts(Note)] == ["earlier"]
        assert RunLog(store, run_id).read() == before
    assert earlier.passed_over(before) == [
        "run mine-1 is passed over: no stable trial on its highest rung has samples of several nodes"
    ]
