"""Laws of the nights: what the sentinels showed is read off the store, and a drift is written down once."""

from dataclasses import replace

import pytest
from scenes import SPACE, sample
from stored_runs import opened

from albacore import sentinel
from albacore.nightly import nights
from albacore.runs import audit
from albacore.runs.showing import show_run
from albacore.sample import Purpose
from albacore.store.run_log import RunLog
from albacore.trial import Note

KEPT = SPACE.config({"k0": 0.9, "k1": 0.5, "k2": 0.5})
NODES = [f"n{i}" for i in range(1, 6)]


@pytest.fixture
def made(tmp_path):
    found = opened(tmp_path, schedule="0 2 * * *")
    yield found
    found.store.close()


def night(made, name, *, default=100.0, incumbent=150.0, slow=(), factor=0.5, probe_s=0.02, versions="16.2"):
    """Record a run whose sentinels showed these figures, and compare it with the nights before."""
    made.clock.now += 86400.0
    run = replace(made.store.run("run"), id=name, opened_at=made.clock.now)
    made.store.open_run(run)
    made.store.put_nodes(name, made.store.nodes("run"))
    log = RunLog(made.store, name)
    entry = {"config_id": KEPT.id, "run": "before", "is_incumbent": True}
    log.put_config(KEPT.id, dict(KEPT))
    log.append_note(Note(kind=sentinel.WARM_START, body={"configs": [entry]}), key="warm_start")
    for i, node in enumerate(NODES):
        body = {"node": node, "versions": {"server": versions}, "probe_s": probe_s}
        log.append_note(Note(kind=nights.PREPARED, body=body), key=node)
        times = factor if node in slow else 1.0
        figures = {SPACE.default().id: (default, Purpose.DEFAULT), KEPT.id: (incumbent, Purpose.TUNE)}
        for config_id, (figure, purpose) in figures.items():
            log.append_sample(sample(config_id, node, figure * times, slot=i, purpose=purpose))
    nights.note_drift(made.store, name)
    return nights.findings(log.read())


def test_quiet_nights_are_silent_and_a_machine_that_moved_is_named(made):
    """Three nights as a user has them: the third finds what was planted."""
    assert night(made, "first") == []
    assert night(made, "second") == []
    (found,) = night(made, "third", slow=("n2",))

    assert (found.what, found.nodes) == ("machine", ("n2",))


def test_a_level_that_moved_is_told_once_and_is_the_baseline_then(made):
    """The next night is compared with the new level, read off the note of the night before."""
    for name in ("first", "second"):
        night(made, name)

    (found,) = night(made, "third", default=70.0, incumbent=105.0, versions="16.3")

    assert found.what == "workload"
    assert "versions changed" in found.sentence
    assert night(made, "fourth", default=70.0, incumbent=105.0, versions="16.3") == []


def test_a_config_that_moved_is_named(made):
    """The incumbent against the default beside it."""
    for name in ("first", "second"):
        night(made, name)

    (found,) = night(made, "third", incumbent=110.0)

    assert found.what == "config"
    assert KEPT.id in found.sentence


def test_the_note_is_written_once_and_its_findings_follow_from_it_alone(made):
    """`--verify` computes them again from the nights in the note, and names a note that was edited."""
    for name in ("first", "second"):
        night(made, name)
    found = night(made, "third", default=70.0, incumbent=105.0)

    assert found and list(audit.faults(made.store, "third")) == []
    again = nights.note_drift(made.store, "third")
    assert nights.again(again) == found
    edited = Note(kind=nights.DRIFT, body={**again.body, "tonight": {**again.body["tonight"], "default": {"n1": 0.0}}})
    assert nights.again(edited) != found


def test_show_tells_what_moved(made):
    """In the same words as the verdict's warnings."""
    for name in ("first", "second"):
        night(made, name)
    (found,) = night(made, "third", slow=("n2",))

    assert found.sentence in list(show_run(made.store, "third"))


def test_a_figure_to_be_minimised_counts_the_other_way(made):
    """Slower is worse when the figure is a time."""
    run = made.store.run("run")
    workload = {**run.benchmark["workload"], "direction": "min"}
    made.store.open_run(replace(run, id="run min", benchmark={"workload": workload}))
    first = replace(run, id="a", benchmark={"workload": workload})
    made.store.open_run(first)
    RunLog(made.store, "a").append_sample(sample(SPACE.default().id, "n1", 10.0, purpose=Purpose.DEFAULT))

    assert nights.of_run(made.store, first).default == {"n1": pytest.approx(-2.302585, abs=1e-6)}


def test_a_run_recorded_before_there_were_drift_notes_is_a_night_too(made):
    """Its sentinels are read off its samples."""
    made.clock.now += 1.0
    run = replace(made.store.run("run"), id="old", opened_at=made.clock.now)
    made.store.open_run(run)
    log = RunLog(made.store, "old")
    for i, node in enumerate(NODES):
        log.append_sample(sample(SPACE.default().id, node, 100.0, slot=i, purpose=Purpose.DEFAULT))

    (found,) = night(made, "tonight", default=50.0)

    assert found.stream == "level"
