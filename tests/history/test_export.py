"""A run that is exported and imported again is the run that it was; its table is one for pandas."""

import json
import math

import pandas as pd
import pytest
import recorded_files as small
from scenes import SPACE, ask, failure, sample
from stored_runs import opened

from albacore import recorded
from albacore.cli import main
from albacore.errors import HistoryError, UserError
from albacore.history import export, read
from albacore.importing import Wanted, bring_in, check, dates_of
from albacore.judging import judge
from albacore.runs.audit import faults
from albacore.sample import Blame, Purpose
from albacore.store import Store, transcript
from albacore.trial import Note


@pytest.fixture
def made(tmp_path):
    """Return a run with everything that a log can have."""
    found = opened(tmp_path)
    log, config = found.log, SPACE.config({"k0": 0.25, "k1": 0.5, "k2": 0.125})
    default = SPACE.default().id
    for i in range(1, 4):
        log.append_sample(sample(default, f"n{i}", 100.0 + i, slot=i, purpose=Purpose.DEFAULT))
    log.append_ask(ask(0, config.id, read_n=3), dict(config))
    log.append_failure(failure(config.id, "n1", Blame.NODE), attempt=2)
    log.append_sample(sample(config.id, "n2", 1 / 3, telemetry={"cpu.p50": 0.1}))
    log.append_judgement(judge(recorded.scene(found.store, found.store.run("run")), config.id, 0))
    log.append_note(Note(kind="verdict", body={"sentence": "<img src=x onerror=alert(1)>"}), key="verdict")
    yield found
    found.store.close()


@pytest.fixture
def other(tmp_path):
    """Return an empty store."""
    store = Store(f"sqlite:///{tmp_path / 'other.db'}")
    store.migrate()
    yield store
    store.close()


def written(made, folder, kind="csv"):
    return export.write(transcript.read(made.store, "run"), None, folder, kind)


def come_in(store, path, **wanted):
    check(store, [path], Wanted(**wanted))
    return list(bring_in(store, [path], Wanted(**wanted)))


def test_the_round_trip_loses_nothing(made, other, tmp_path):
    """Asks, samples with telemetry and notes, failures, judgements, verdict, configs, fleet, space, digests, times."""
    _, whole = written(made, tmp_path / "out")

    (found,) = come_in(other, whole)

    assert transcript.read(other, "run") == transcript.read(made.store, "run")
    assert found.is_new
    assert recorded.scene(other, other.run("run"), telemetry=True) == recorded.scene(
        made.store, made.store.run("run"), telemetry=True
    )
    assert list(faults(other, "run")) == list(faults(made.store, "run"))


def test_the_table_stands_for_the_file_beside_it(made, other, tmp_path):
    """Whoever names the table gets the run as well."""
    table, _ = written(made, tmp_path / "run.csv")
    assert [found.run_id for found in come_in(other, table)] == ["run"]


def test_a_run_comes_in_once_and_not_beside_itself(made, other, tmp_path):
    """Neither twice into another store, nor into the one that it was exported from."""
    _, whole = written(made, tmp_path)
    come_in(other, whole)

    assert [found.is_new for found in (*come_in(other, whole), *come_in(made.store, whole))] == [False, False]
    assert len(other.runs()) == len(made.store.runs()) == 1


def test_an_imported_run_keeps_where_it_came_from(other, tmp_path):
    """Exported and imported again it is the same content: it does not come in beside the raw file."""
    (raw,) = small.write(tmp_path)
    (first,) = come_in(other, raw)
    origin = transcript.origin(other, first.run_id)
    _, whole = export.write(transcript.read(other, first.run_id), origin, tmp_path, "csv")
    third = Store(f"sqlite:///{tmp_path / 'third.db'}")
    third.migrate()
    come_in(third, whole)

    assert transcript.origin(third, first.run_id) == origin
    assert [found.is_new for found in come_in(third, raw)] == [False]
    third.close()


def test_a_date_and_a_campaign_can_be_given_to_an_export(made, other, tmp_path):
    """The log is not touched by it."""
    _, whole = written(made, tmp_path)
    dates = dates_of("2026-05-01", "1d", "UTC")

    (found,) = come_in(other, whole, campaign="second", is_named=True, dates=dates)

    run = other.run("run")
    assert (run.campaign, found.date) == ("second", "2026-05-01T00:00:00+00:00")
    assert transcript.read(other, "run").facts == transcript.read(made.store, "run").facts


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_table_is_one_row_per_sample_with_knobs_and_metrics(made, tmp_path, kind):
    """Pandas reads it without help: numbers are numbers, units are in the names."""
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    table, _ = written(made, tmp_path, kind)
    frame = pd.read_csv(table) if kind == "csv" else pd.read_parquet(table)

    assert len(frame) == 5
    assert frame["is_default"].tolist() == [True, True, True, False, False]
    assert frame["knob.k0"].tolist() == [0.5, 0.5, 0.5, 0.25, 0.25]
    values = frame["tps [tps]"].tolist()
    assert values[:3] == [101.0, 102.0, 103.0] and values[4] == 1 / 3 and math.isnan(values[3])
    assert frame["failure"].tolist()[3] == "NodeFailure"


def test_an_export_is_a_recorded_run(made, tmp_path):
    """For whoever replays recorded samples: the config's own answers, without the validation."""
    made.log.append_sample(sample(SPACE.default().id, "n5", 99.0, purpose=Purpose.VALIDATE))
    table, whole = written(made, tmp_path)

    for path in (table, whole):
        (found,) = read(path)
        assert (found.workload, found.method, found.unit) == ("noop/sleep", "TUNA", "tps")
        assert found.samples.value.tolist() == [101.0, 102.0, 103.0, 1 / 3]
        assert found.samples.suggestion.tolist() == [0, 0, 0, 1]
        assert found.samples.is_default.tolist() == [True, True, True, False]


def test_nothing_is_overwritten(made, tmp_path):
    """A file that exists stays as it is; a folder that exists gets new files."""
    written(made, tmp_path)
    with pytest.raises(UserError, match="exists, and is not overwritten"):
        written(made, tmp_path)
    with pytest.raises(UserError, match=r"ends in \.csv"):
        written(made, tmp_path / "x.parquet")
    with pytest.raises(UserError, match="does not exist"):
        written(made, tmp_path / "no folder" / "x.csv")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data["facts"]["sample"][0]["metrics"].update(tps=[1.0, "tps"]), "changed by hand"),
        (lambda data: data.update(version=2), "expected version 1"),
        (lambda data: data.update(format="x"), "other JSON"),
        (lambda data: data.pop("facts"), "expected a part 'facts'"),
        (lambda data: data.pop("run"), "got something else"),
    ],
)
def test_a_file_that_was_changed_is_refused(made, other, tmp_path, change, message):
    """It is refused with its reason, and nothing comes in."""
    _, whole = written(made, tmp_path)
    data = json.loads(whole.read_text())
    change(data)
    whole.write_text(json.dumps(data))

    with pytest.raises(HistoryError, match=message):
        come_in(other, whole)
    assert other.runs() == []


def test_the_command_names_both_files(made, tmp_path, capsys, monkeypatch):
    """They are in the folder that one works in, named after the run."""
    monkeypatch.chdir(tmp_path)
    assert main(["export", "run", "--store", made.store.url]) == 0
    assert "4 samples and 1 failures: run.csv" in capsys.readouterr().out
    assert (tmp_path / "run.run.json").is_file()
    assert main(["export", "no run", "--store", made.store.url]) == 2
