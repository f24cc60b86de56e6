"""Runs that were measured elsewhere come in whole or not at all, once, and are runs like any other."""

from datetime import timedelta

import pytest
import recorded_files as small

from albacore import recorded, replay
from albacore.cli import main
from albacore.errors import UserError
from albacore.importing import Wanted, bring_in, check, dates_of
from albacore.runs.audit import faults
from albacore.runs.showing import show_run
from albacore.sample import Failure, Sample
from albacore.store import Store, transcript
from albacore.trial import Ask, Direction, Judgement, Stability


@pytest.fixture
def store(tmp_path):
    made = Store(f"sqlite:///{tmp_path / 'a store.db'}", clock=lambda: 1_000_000.0)
    made.migrate()
    yield made
    made.close()


def imported(store, paths, **wanted):
    asked = Wanted(**wanted)
    check(store, paths, asked)
    return list(bring_in(store, paths, asked))


def test_every_sample_and_failure_of_a_file_is_in_the_log(tmp_path, store):
    """Ten rows, one of them a failure code; suggestions are asks, full rungs are judged, the default is known."""
    (found,) = imported(store, small.write(tmp_path))

    scene = recorded.scene(store, store.run(found.run_id))
    assert (found.samples, found.failures) == (9, 1)
    assert len(scene.log.facts(Sample)) == 9
    assert [f.message for f in scene.log.facts(Failure)] == ["recorded as failed: throughput 0.0 tps"]
    assert len(scene.log.facts(Ask)) == 5
    assert scene.policy.ladder.rungs == (1, 3)
    assert dict(scene.configs[scene.default_id]) == {"size": 8, "ratio": 0.5, "mode": "off"}
    assert [s.value("throughput") for s in scene.log.trial(scene.default_id).samples] == [100.0, 104.0, 96.0]


def test_configs_keep_their_values_and_types(tmp_path, store):
    """A real that is off the grid of its knob stays as it was recorded."""
    (found,) = imported(store, small.write(tmp_path))

    scene = recorded.scene(store, store.run(found.run_id))
    values = [tuple(config.values()) for config in scene.configs.values()]
    assert (16, 0.123456789, "on") in values
    assert [knob.kind.value for knob in scene.space.knobs] == ["int", "real", "choice"]
    assert (scene.space.knob("size").low, scene.space.knob("size").high) == (8, 64)


def test_the_shaky_config_is_unstable_and_the_steady_one_the_incumbent(tmp_path, store):
    """The judgements are the paper's."""
    (found,) = imported(store, small.write(tmp_path))

    scene = recorded.scene(store, store.run(found.run_id))
    chosen = replay.incumbent(scene)
    assert chosen is not None and scene.configs[chosen.config_id]["size"] == 16
    assert [j.stability for j in scene.log.facts(Judgement) if j.raw.get("w2") == 130.0] == [Stability.UNSTABLE]


def test_an_imported_run_is_shown_and_verified(tmp_path, store):
    """Its judgements replay bit for bit; who decided its asks cannot be asked again."""
    (found,) = imported(store, small.write(tmp_path))

    assert list(faults(store, found.run_id)) == []
    assert any("(best)" in line for line in show_run(store, found.run_id))


def test_importing_twice_adds_nothing(tmp_path, store):
    """The content counts: neither the file's name nor its label makes it another run."""
    (path,) = small.write(tmp_path)
    imported(store, [path])
    renamed = path.rename(tmp_path / "other-TUNA_run_7.csv")

    again = imported(store, [renamed], label="azure/postgres/tpcc", direction=Direction.MAX)

    assert [found.is_new for found in again] == [False]
    assert len(store.runs()) == 1
    assert len(imported(store, [renamed], campaign="second", direction=Direction.MAX)) == 1
    assert len(store.runs()) == 2


def test_dates_follow_in_the_order_of_the_files(tmp_path, store):
    """One run per date, and the same dates when some of them are there already."""
    paths = small.write(tmp_path, runs=3)
    dates = dates_of("2026-03-28", "1d", "UTC")
    imported(store, paths[:1], dates=dates)

    found = imported(store, paths, dates=dates)

    assert [(f.is_new, f.date[:10]) for f in found] == [
        (False, "2026-03-28"), (True, "2026-03-29"), (True, "2026-03-30"),
    ]  # fmt: skip


def test_a_date_begins_at_midnight_of_the_campaigns_zone():
    """New York's 1 March begins at 05:00 UTC."""
    first = dates_of("2026-03-01", "12h", "America/New_York").of(0)
    assert first is not None and first.utcoffset() == timedelta(hours=-5)


@pytest.mark.parametrize("every", ["", "0d", "-1d", "1", "d", "1y", "1d1h", "٣d", "1e3d", "1234567d"])
def test_a_step_that_is_none_is_refused(every):
    """`--every` is a whole number and a unit."""
    with pytest.raises(UserError, match="--every: expected"):
        dates_of("2026-01-01", every, "UTC")


@pytest.mark.parametrize("first", ["", "tomorrow", "2026-13-01", "01.02.2026"])
def test_a_date_that_is_none_is_refused(first):
    """`--first-date` is ISO 8601."""
    with pytest.raises(UserError, match="--first-date: expected"):
        dates_of(first, "1d", "UTC")


def test_dates_after_the_last_year_are_refused(tmp_path, store):
    """The calendar ends, the message says what to change."""
    with pytest.raises(UserError, match="after the year 9999"):
        imported(store, small.write(tmp_path, runs=2), dates=dates_of("9999-01-01", "900000d", "UTC"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("3,1,", "3,x,", "line 5: .*Suggestion"),
        ("'size': 32", "'size': __import__('os')", "line 6: .*Config"),
        (small.STEADY, "[1, 2]", "line 5: .*Config"),
        (",2,96.0", ",0,96.0", "each config once per node.*sample 2"),
        (',0,"', ',6,"', "expected one default config"),
        (small.HEADER, "a,b\n", "line 1: expected the columns"),
        (small.HEADER, "", "expected|columns"),
    ],
)
def test_a_fault_rejects_the_file_and_every_other(tmp_path, store, old, new, message):
    """The message says where; nothing of any file has come in."""
    good, bad = small.write(tmp_path, runs=2)
    bad.write_text(small.text().replace(old, new))

    with pytest.raises(UserError, match=message):
        imported(store, [good, bad])

    assert store.runs() == []


def test_figures_that_are_no_numbers_are_failures(tmp_path, store):
    """NaN and inf are recorded as the config's failures, never as figures."""
    (path,) = small.write(tmp_path)
    path.write_text(small.text().replace("119.0", "nan").replace("121.0", "inf"))

    (found,) = imported(store, [path])

    assert (found.samples, found.failures) == (7, 3)


def test_the_other_direction_is_another_campaign(tmp_path, store):
    """Runs of one workload in one campaign agree on which way is better."""
    first, second = small.write(tmp_path, runs=2)
    imported(store, [first])

    with pytest.raises(UserError, match=r"has runs of postgres/tpcc where max is better, these say min"):
        imported(store, [second], direction=Direction.MIN)


def test_a_campaign_that_measures_something_else_is_refused(tmp_path, store):
    """A night warm-starts from the runs of its campaign: they are of one workload."""
    with pytest.raises(UserError, match=r"campaign demo measures postgres/reporting, these runs are of postgres/tpcc"):
        imported(store, small.write(tmp_path), campaign="demo", only=("postgres", "reporting"))


def test_a_config_measured_again_on_its_node_is_a_repeat(tmp_path, store):
    """Single-node methods may do that: the second figure is kept, and not judged again."""
    rows = [(0, small.DEFAULT, 0, 100.0), (1, small.STEADY, 0, 120.0), (2, small.STEADY, 0, 121.0)]
    path = tmp_path / "azure-postgres-tpcc-traditional_run_0.csv"
    path.write_text(small.text(rows))

    (found,) = imported(store, [path])

    scene = recorded.scene(store, store.run(found.run_id))
    assert [s.repeat for s in scene.log.facts(Sample) if s.config_id != scene.default_id] == [0, 1]
    assert len(scene.log.facts(Judgement)) == 2
    assert list(faults(store, found.run_id)) == []


def test_where_a_run_comes_from_is_kept(tmp_path, store):
    """File, label, method, and the licence beside the file; all of it is data."""
    (tmp_path / "LICENSE").write_text("MIT License\n\nCopyright (c) 2025 <img src=x onerror=alert(1)>\n")
    (found,) = imported(store, small.write(tmp_path), label="<b>cloud</b>/my sys/loa\td", direction=Direction.MAX)

    origin = transcript.origin(store, found.run_id)
    assert origin is not None
    assert origin.label == "<b>cloud</b>/my sys/loa\td"
    assert origin.licence.startswith("MIT License, Copyright")
    run = store.run(found.run_id)
    assert (run.effective["system"], run.effective["workload"]) == ("my-sys", "loa-d")
    assert run.benchmark["origin"] == "imported"


def test_the_command_says_how_many_came_in(tmp_path, capsys):
    """Runs, samples, failures, and what was there before."""
    paths = [str(path) for path in small.write(tmp_path, runs=2)]
    command = ["import", *paths, "--first-date", "2026-01-01", "--store", f"sqlite:///{tmp_path / 's.db'}"]

    assert main(command) == 0
    first = capsys.readouterr().out
    assert main(command) == 0

    assert "2 run(s) came in with 18 samples and 2 failures; 0 were there before" in first
    assert "on 2026-01-02: 9 samples, 1 failures" in first
    assert "0 run(s) came in with 0 samples and 0 failures; 2 were there before" in capsys.readouterr().out


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe", b"{}", b"\x1f\x8b broken"])
def test_what_is_no_csv_is_one_line_and_exit_code_2(tmp_path, capsys, content):
    """No traceback, whatever the file is."""
    path = tmp_path / "x.csv"
    path.write_bytes(content)

    assert main(["import", str(path), "--store", f"sqlite:///{tmp_path / 's.db'}"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_method_that_no_run_has_is_refused(tmp_path, capsys):
    """Nothing came in, and the exit code says so."""
    (path,) = small.write(tmp_path)
    assert main(["import", str(path), "--method", "grid", "--store", f"sqlite:///{tmp_path / 's.db'}"]) == 2
    assert "expected runs of method 'grid'" in capsys.readouterr().err
