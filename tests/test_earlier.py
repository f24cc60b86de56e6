"""Laws of a run whose adjuster learns from earlier ones: it is judged by its own record alone, wherever that is."""

import dataclasses
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scenes import SPACE, sample
from stored_runs import opened
from taught_runs import NODES, TAUGHT, TOP, fixed, past, put_judgement, put_trial

from albacore import earlier, judging, recorded
from albacore.backfill import rescoring
from albacore.errors import HistoryError, PlatformError
from albacore.history import export
from albacore.importing import Wanted, bring_in
from albacore.policies import presets
from albacore.runs import audit, exclusion
from albacore.runs.showing import show_run
from albacore.store import Store, transcript
from albacore.store.run_log import RunLog
from albacore.trial import Judgement
from albacore_airflow import iteration_tasks, settings


@pytest.fixture
def made(tmp_path):
    """The run of tonight, before its first sample."""
    found = opened(tmp_path, **TAUGHT)
    yield found
    found.store.close()


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    """A run that was taught by 20 earlier trials and has judged four of its own; only to be read."""
    found = opened(tmp_path_factory.mktemp("taught"), **TAUGHT)
    past(found, trials=20)
    fixed(found)
    generator = random.Random(50)
    for index in range(4):
        config_id = put_trial(found.log, index, generator)
        scene = recorded.scene(found.store, found.store.run("run"), telemetry=True)
        found.log.append_judgement(judging.judge(scene, config_id, TOP))
    yield found
    found.store.close()


def uses_earlier_runs(judgement):
    return any("and earlier runs;" in reason for reason in judgement.reasons)


def test_a_taught_judgement_differs_from_a_cold_one_by_the_model_alone(taught):
    """Same samples, same verdict, same range; the reason says that earlier runs were used, and so does `show`."""
    warm = recorded.scene(taught.store, taught.store.run("run"), telemetry=True)
    used = next(j for j in warm.log.facts(Judgement) if uses_earlier_runs(j))
    warm = dataclasses.replace(warm, log=warm.log.until(used.read_n))

    again = judging.judge(warm, used.config_id, TOP)
    cold = judging.judge(dataclasses.replace(warm, earlier=()), used.config_id, TOP)

    assert again == used
    assert not uses_earlier_runs(cold)
    differing = {f.name for f in dataclasses.fields(again) if getattr(again, f.name) != getattr(cold, f.name)}
    assert differing == {"adjusted", "score", "reasons"}
    said = list(show_run(taught.store, "run"))
    assert "adjuster: 20 trial(s), 100 samples of run last to learn from; 5 of 5 nodes are the same machines" in said
    assert any("and earlier runs;" in line for line in said)


def test_the_task_of_an_iteration_adjusts_by_them(taught, monkeypatch):
    """Airflow's task gives what the judgement in the log says, out of the store alone."""
    file = taught.store.url.removeprefix("sqlite:///")
    monkeypatch.setenv("AIRFLOW_CONN_ALBACORE_STORE", json.dumps({"conn_type": "sqlite", "host": file}))
    settings.store.cache_clear()
    used = next(j for j in taught.log.read().facts(Judgement) if uses_earlier_runs(j))

    detected = {"stability": used.stability.value, "read_n": used.read_n}
    found = iteration_tasks.adjust_noise("run", {"config": used.config_id, "rung": TOP, "index": 0}, detected)

    assert found["values"] == used.adjusted
    assert set(found["reasons"]) <= set(used.reasons)
    settings.store().close()
    settings.store.cache_clear()


def test_a_taught_run_replays_in_a_fresh_process_without_the_earlier_runs(taught, tmp_path):
    """Exported and imported into a store that has never seen them, bit for bit, under another hash seed."""
    judged = taught.log.read().facts(Judgement)
    assert any(map(uses_earlier_runs, judged))
    _, whole = export.write(transcript.read(taught.store, "run"), None, tmp_path / "out", "csv")
    other = Store(f"sqlite:///{tmp_path / 'other.db'}")
    other.migrate()
    list(bring_in(other, [whole], Wanted()))

    assert [run.id for run in other.runs()] == ["run"]
    assert transcript.read(other, "run") == transcript.read(taught.store, "run")
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", FRESH, other.url], env=environment, capture_output=True)
    assert json.loads(done.stdout) == [dict(j.adjusted) for j in judged], done.stderr.decode()
    other.close()


FRESH = """
import json, sys
from dataclasses import replace
from albacore import judging, recorded
from albacore.store import Store
from albacore.trial import Judgement
store = Store(sys.argv[1])
scene = recorded.scene(store, store.run("run"), telemetry=True)
found = scene.log.facts(Judgement)
then = [replace(scene, log=scene.log.until(j.read_n)) for j in found]
print(json.dumps([dict(judging.judge(s, j.config_id, j.rung).adjusted) for s, j in zip(then, found)]))
"""


def without_asks(faults):
    """Leave out the asks, which these tests make by hand."""
    return [line for line in faults if not line.startswith("ask ")]


def test_what_is_judged_again_after_an_exclusion_has_the_same_readings(taught, tmp_path):
    """The judgements that take the place of others use them, and replay too."""
    taught.store.close()
    shutil.copytree(Path(taught.store.url.removeprefix("sqlite:///")).parent, tmp_path / "copy")
    store = Store(f"sqlite:///{tmp_path / 'copy' / 'a store.db'}")

    exclusion.exclude(store, "run", by="ann", span=exclusion.Span(node="n1", since=0.0, until=9e9))

    log = RunLog(store, "run").read()
    assert (len(log.recorded(Judgement)), len(log.facts(Judgement))) == (8, 4)
    assert any(map(uses_earlier_runs, log.facts(Judgement)))
    assert without_asks(audit.faults(store, "run")) == []
    store.close()


def test_re_scoring_has_the_same_readings_for_a_policy_that_can_use_them(taught):
    """By its own policy a run is judged as it was; the paper's forest does not look at them."""
    scene = recorded.scene(taught.store, taught.store.run("run"), telemetry=True)

    assert rescoring.judged_again(scene, scene.policy).log == scene.log
    forest = dataclasses.replace(scene.policy, adjuster=presets.ADJUSTERS["forest"])
    cold = dataclasses.replace(scene, earlier=())
    assert rescoring.judged_again(scene, forest).log == rescoring.judged_again(cold, forest).log


@pytest.mark.parametrize(
    "change",
    [
        lambda archives: archives.clear(),
        lambda archives: archives.update({"benchmark": "a folder of somebody else"}),
        lambda archives: archives.update(dict.fromkeys(archives, "[]")),
    ],
)
def test_an_export_with_other_readings_than_its_log_names_is_refused(made, tmp_path, change):
    """So nothing else comes into the archive under a digest that is not its own."""
    past(made)
    fixed(made)
    _, whole = export.write(transcript.read(made.store, "run"), None, tmp_path, "csv")
    data = json.loads(whole.read_text())
    change(data["archives"])
    whole.write_text(json.dumps(data))

    with pytest.raises(HistoryError, match="expected in 'archives' what the notes of kind 'earlier' name"):
        export.read_transcript(whole)


@pytest.mark.parametrize("part", ["machines", "samples"])
def test_an_export_whose_note_lacks_a_part_is_refused(made, tmp_path, part):
    """Whoever edits a file can make its digest too; what cannot be read must not come in."""
    past(made)
    fixed(made)
    _, whole = export.write(transcript.read(made.store, "run"), None, tmp_path, "csv")
    data = json.loads(whole.read_text())
    (row,) = (row for row in data["facts"]["note"] if row["kind"] == "earlier")
    del row["body"]["runs"][0][part]
    told = json.dumps({name: data[name] for name in ("configs", "events", "facts")}, sort_keys=True)
    whole.write_text(json.dumps({**data, "digest": hashlib.sha256(told.encode()).hexdigest()}))

    with pytest.raises(HistoryError, match=f"note 'earlier': expected per run .*{part}"):
        list(bring_in(made.store, [whole], Wanted(campaign="other", is_named=True)))
    assert [run.campaign for run in made.store.runs()].count("other") == 0


def test_readings_that_are_not_those_that_were_kept_are_an_error(made):
    """A judgement without them, or with others, would be another judgement."""
    digest, content = earlier.pack([])

    assert earlier.unpack(digest, content) == ()
    for other in (b"{}", b"no JSON", content + b" "):
        with pytest.raises(PlatformError, match=f"expected those kept under {digest}"):
            earlier.unpack(digest, other)
    with pytest.raises(PlatformError, match="expected those kept under"):
        earlier.unpack(earlier.digest_of(b"[1]"), b"[1]")


def test_a_metric_that_some_samples_lack_stays_lacking(made):
    """Nothing is made up for it."""
    log = past(made, trials=1)
    config_id = SPACE.config({"k0": 0.9, "k1": 0.25, "k2": 0.5}).id
    for slot, name in enumerate(NODES):
        log.append_sample(sample(config_id, name, 100.0 + slot, slot=slot, telemetry={"steal": 0.1 + 0.2}))
    put_judgement(log, config_id)
    fixed(made)

    found = recorded.scene(made.store, made.store.run("run"), telemetry=True).earlier
    assert {frozenset(r.telemetry) for r in found[0]} == {frozenset(("steal", "other"))}
    assert [dict(r.telemetry) for r in found[1]] == [{"steal": 0.1 + 0.2}] * 5
