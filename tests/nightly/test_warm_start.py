"""Laws of the warm start: what a run takes over is fixed when it opens, legal today, and measured today."""

from dataclasses import replace

import pytest
from scenes import SPACE, Play, ask, scene
from stored_runs import opened

from albacore import judging, recorded, replay, sentinel
from albacore.nightly import warm_start
from albacore.optimizers import by_name
from albacore.runs import audit
from albacore.space import Knob, Space
from albacore.store.run_log import RunLog
from albacore.trial import Ask, Judgement, Note, Stability

NIGHTLY = {"schedule": "0 2 * * *", "warm_start": {"configs": 3}}


@pytest.fixture
def made(tmp_path):
    """The run of tonight: open, its space fixed."""
    found = opened(tmp_path, **NIGHTLY)
    yield found
    found.store.close()


def config(value):
    return SPACE.config({"k0": value, "k1": 0.5, "k2": 0.5})


def earlier(made, name, scores, *, age_s=86400.0, space=SPACE, **fields):
    """Record an earlier run; `scores` are (knob value, rung, stability, score)."""
    run = made.store.run("run")
    made.store.open_run(replace(run, id=name, opened_at=made.opened_at - age_s, space=space.to_json(), **fields))
    log = RunLog(made.store, name)
    for value, rung, stability, score in scores:
        one = space.config({**dict(space.default()), "k0": value})
        log.put_config(one.id, dict(one))
        made_of = {"raw": {"n1": score or 0.0}, "adjusted": {"n1": score or 0.0}, "relative_range": 0.0}
        log.append_judgement(
            Judgement(config_id=one.id, rung=rung, stability=stability, score=score, reasons=(), read_n=0, **made_of)
        )
    return log


def conclude(made, log, value):
    """Let a run's verdict leave a config in place."""
    log.append_note(Note(kind="verdict", body={"ship": True, "best": {"config_id": config(value).id}}), key="verdict")


def taken(made):
    """Return what tonight's run takes over, as its log says."""
    warm_start.fix(made.store, "run")
    return sentinel.taken_over(made.log.read())


def test_the_first_night_has_nothing_to_take_over(made):
    """It says so in its log."""
    assert taken(made) == []
    assert [note.kind for note in made.log.read().facts(Note)] == ["warm_start"]


def test_the_best_stable_configs_are_taken_over_highest_rung_first(made):
    """Unstable ones, failed ones and the default are not; `tps` is maximised."""
    scores = [
        (0.1, 0, Stability.STABLE, 900.0),
        (0.2, 0, Stability.STABLE, 300.0),
        (0.2, 1, Stability.STABLE, 200.0),
        (0.3, 1, Stability.UNSTABLE, 800.0),
        (0.4, 0, Stability.FAILED, None),
        (0.5, 1, Stability.STABLE, 700.0),  # the default
    ]
    earlier(made, "last", scores)

    found = taken(made)

    assert [one.config_id for one in found] == [config(0.2).id, config(0.1).id]
    assert {(one.run_id, one.is_incumbent) for one in found} == {("last", False)}


def test_the_incumbent_comes_first_and_runs_take_turns_newest_first(made):
    """Three in all, as the file says; a config found twice counts once."""
    old = earlier(made, "old", [(0.1, 1, Stability.STABLE, 100.0), (0.2, 1, Stability.STABLE, 90.0)], age_s=2e5)
    earlier(made, "new", [(0.3, 1, Stability.STABLE, 50.0), (0.1, 1, Stability.STABLE, 40.0)])
    made.clock.now -= 1000.0
    conclude(made, old, 0.2)
    made.clock.now += 1000.0

    found = taken(made)

    assert [one.config_id for one in found] == [config(v).id for v in (0.2, 0.3, 0.1)]
    assert [one.is_incumbent for one in found] == [True, False, False]
    assert sentinel.incumbent_id(made.log.read()) == config(0.2).id


def test_what_is_not_legal_in_todays_space_is_passed_over_with_its_reason(made):
    """A value out of bounds, and a knob that is no more."""
    wide = Space(knobs=(replace(SPACE.knobs[0], high=9.0), *SPACE.knobs[1:]))
    other = Space(knobs=(*SPACE.knobs, Knob(name="gone", kind=SPACE.knobs[0].kind, low=0.0, high=1.0, default=0.5)))
    earlier(made, "wide", [(7.0, 1, Stability.STABLE, 100.0), (0.7, 0, Stability.STABLE, 1.0)], space=wide)
    earlier(made, "other", [(0.4, 1, Stability.STABLE, 100.0)], space=other)

    found = taken(made)

    assert [one.config_id for one in found] == [config(0.7).id]
    passed_over = made.log.read().notes("warm_start")[0].body["passed_over"]
    assert [line.split("of run ")[1].split(" is ")[0] for line in passed_over] == ["other", "wide"]
    assert all("not legal today" in line for line in passed_over)


def test_other_campaigns_other_workloads_and_imported_runs_are_not_looked_at(made):
    """Only earlier live runs of the same campaign under the same load."""
    scores = [(0.1, 1, Stability.STABLE, 100.0)]
    effective = dict(made.store.run("run").effective)
    benchmark = dict(made.store.run("run").benchmark)
    earlier(made, "theirs", scores, campaign="theirs")
    earlier(made, "nap", scores, effective={**effective, "workload": "nap"})
    earlier(made, "brought", scores, benchmark={**benchmark, "origin": "imported"})
    earlier(made, "tomorrow", scores, age_s=-86400.0)

    assert taken(made) == []


def test_only_the_last_runs_are_looked_at(tmp_path):
    """As many as the file says."""
    made = opened(tmp_path, warm_start={"runs": 1, "configs": 9})
    earlier(made, "old", [(0.1, 1, Stability.STABLE, 100.0)], age_s=2e5)
    earlier(made, "new", [(0.2, 1, Stability.STABLE, 1.0)])

    assert [one.config_id for one in taken(made)] == [config(0.2).id]
    made.store.close()


def test_a_cold_start_writes_nothing(tmp_path):
    """Nothing is taken over without a schedule, unless the file says so."""
    made = opened(tmp_path)
    earlier(made, "last", [(0.1, 1, Stability.STABLE, 100.0)])

    assert taken(made) == []
    assert made.log.read().events == ()
    made.store.close()


def test_the_list_is_fixed_once(made):
    """A retry of the task finds the first list, whatever other runs have come to."""
    log = earlier(made, "last", [(0.1, 1, Stability.STABLE, 100.0)])
    before = taken(made)
    better = config(0.9)
    log.put_config(better.id, dict(better))

    earlier(made, "newer", [(0.9, 1, Stability.STABLE, 999.0)], age_s=10.0)

    assert taken(made) == before


def warm_note(*values, incumbent=None):
    entries = [{"config_id": config(v).id, "run": "last", "is_incumbent": v == incumbent} for v in values]
    return Note(kind="warm_start", body={"configs": entries, "passed_over": []})


def warm_play(*values, incumbent=None):
    """A night played in memory that took configs over."""
    play = Play(lambda config, node: 100.0 + 100 * config["k0"], events=[warm_note(*values, incumbent=incumbent)])
    for value in values:
        play.now = replace(play.now, configs={**play.now.configs, config(value).id: config(value)})
    return play


def test_what_was_taken_over_is_asked_for_first_as_part_of_the_initial_design():
    """The optimizer's ask index counts on, so these configs stand in for the first random designs."""
    play = warm_play(0.9, 0.8)
    play.default()
    play.iterate(3)

    asked = [a.config_id for a in play.now.log.facts(Ask)]
    assert asked[:2] == [config(0.9).id, config(0.8).id]
    assert play.now.configs[asked[2]]["k2"] == pytest.approx(2 / 10_000)  # `Counting` was asked for index 2


def test_the_optimizer_hears_only_todays_scores():
    """A config that was taken over is told when it was measured today."""
    play = warm_play(0.9)
    assert replay.observations(play.now) == []

    play.default()
    play.iterate(1)

    assert [o.config.id for o in replay.observations(play.now)] == [config(0.9).id]


def test_the_incumbent_is_a_sentinel_and_never_asked_for():
    """It is pending until it is told, and told once a suggested config has reached its rung."""
    play = warm_play(0.9, 0.8, incumbent=0.9)
    play.default()
    for slot, node in enumerate(play.nodes):
        play.measured(config(0.9).id, node, slot)
    play.add(judging.judge(play.now, config(0.9).id, play.now.top_rung))
    play.iterate(4)

    assert config(0.9).id not in {a.config_id for a in play.now.log.facts(Ask)}
    assert config(0.9).id not in {o.config.id for o in replay.observations(play.now)}
    assert replay.incumbent(play.now).config_id == config(0.9).id


def test_a_sentinel_is_not_suggested_while_it_is_not_told():
    """The optimizer is told that it is pending."""
    seen = []

    class Listening:
        name = "listening"

        def suggest(self, space, observations, pending, *, seed, ask_index):
            seen.extend(pending)
            return config(0.123)

    play = warm_play(0.9, incumbent=0.9)
    play.optimizer = Listening()
    play.suggest()

    assert {c.id for c in seen} == {SPACE.default().id, config(0.9).id}


def test_a_warm_run_replays(made):
    """Its list is an event of its own log: nothing else is needed."""
    log = earlier(made, "last", [(0.1, 1, Stability.STABLE, 100.0), (0.2, 1, Stability.STABLE, 90.0)])
    conclude(made, log, 0.2)
    made.clock.now += 10.0
    made.store.open_run(replace(made.store.run("run"), id="tonight", opened_at=made.clock.now))
    warm_start.fix(made.store, "tonight")
    tonight = RunLog(made.store, "tonight")
    for index in range(3):
        now = recorded.scene(made.store, made.store.run("tonight"))
        decision = replay.decide(now, by_name("random"), lane=index)
        found = replace(
            ask(index, decision.config.id, decision.rung, decision.bracket, read_n=now.log.last_n),
            inputs_digest=decision.inputs_digest,
            lane=index,
        )
        tonight.append_ask(found, dict(decision.config))

    assert tonight.read().facts(Ask)[0].config_id == config(0.1).id  # 0.2 is the incumbent: a sentinel
    assert list(audit.faults(made.store, "tonight")) == []


def test_a_log_without_a_list_decides_as_ever():
    """Runs recorded before there were warm starts replay."""
    play = Play(lambda config, node: 100.0)
    play.iterate(2)

    assert sentinel.sentinels(play.now.log, play.now.default_id) == [play.now.default_id]
    assert sentinel.first_asks(scene().log) == []
