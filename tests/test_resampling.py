"""A rung that was judged is measured on one more node, judged again, and told; and every such log replays."""

import zlib
from dataclasses import replace

import pytest
from scenes import NODES, SPACE, Counting, Play, ask, sample, scene
from squares import plain
from stored_runs import default_of, judged, opened, put

from albacore import judging, recorded, replay, resampling, unjudged
from albacore.optimizers import NewOnly, Observation, Repeating, initial_design
from albacore.optimizers.metis import Metis, Model, doubtful
from albacore.policies import presets
from albacore.runs import audit
from albacore.sample import Blame, Purpose, Sample
from albacore.trial import Ask, Judgement, Note
from albacore_airflow import iteration_tasks as tasks
from albacore_airflow import lanes, progress, settings

ONE_NODE = presets.by_name("tuna", nodes=10, rungs=(1,), adjuster="identity")


class Doubting(Counting):
    """Doubts the `nth` score as soon as it is told, as often as it may."""

    def __init__(self, nth=2, times=1):
        self.nth, self.times, self.pending = nth, times, []

    def suggest_or_repeat(self, space, observations, pending, *, seed, ask_index, settled=()):
        own = [o for o in observations if o.ask_index == self.nth]
        self.pending.append([c.id for c in pending])
        if own and own[-1].repeats < self.times and own[-1].config.id not in {*settled, *(c.id for c in pending)}:
            return own[-1].config
        return self.suggest(space, observations, pending, seed=seed, ask_index=ask_index)


def figure(config, node):
    return 1000.0 + 100 * config["k0"] + int(node[1:])


def play(optimizer, count=12, lanes=1, measure=figure, **fields):
    run = Play(measure, optimizer=optimizer, **fields)
    run.now = replace(run.now, nodes=len(NODES))
    run.default()
    run.iterate(count, lanes)
    return run


def assert_replays(run, optimizer):
    for fact in run.now.log.facts(Ask):
        then = replace(run.now, log=run.now.log.until(fact.read_n))
        found = replay.decide(then, optimizer, lane=fact.lane)
        assert (found.config.id, found.rung, found.bracket, found.repeat, found.inputs_digest) == (
            fact.config_id,
            fact.rung,
            fact.bracket,
            fact.repeat,
            fact.inputs_digest,
        )
    for j in run.now.log.recorded(Judgement):
        then = replace(run.now, log=run.now.log.until(j.read_n))
        assert judging.judge(then, j.config_id, j.rung, is_capped=j.is_capped) == j


@pytest.mark.parametrize("policy", [ONE_NODE, None], ids=["one rung", "tuna"])
@pytest.mark.parametrize("lanes", [1, 3, 6])
def test_a_second_measurement_is_one_more_node_judged_again_and_told(lanes, policy):
    """The repeat takes one sample on another node; its judgement has both, and is the only one that counts."""
    optimizer = Doubting()
    run = play(optimizer, lanes=lanes, policy=policy)

    (again,) = [a for a in run.now.log.facts(Ask) if a.repeat]
    samples = [s for s in run.now.log.facts(Sample) if s.config_id == again.config_id][:2]
    assert len({s.node for s in samples}) == 2
    judged = [j for j in run.now.log.recorded(Judgement) if (j.config_id, j.rung) == (again.config_id, 0)]
    assert [j.revision for j in judged] == [0, 1]
    assert [len(j.raw) for j in judged] == [1, 2]
    assert run.now.log.trial(again.config_id).judged(0) == judged[1]
    (told,) = [o for o in replay.observations(run.now) if o.config.id == again.config_id and o.rung == 0]
    assert (told.repeats, -told.score) == (1, judged[1].score)
    assert_replays(run, optimizer)


def lucky(config, node):
    """Return a figure that, on a tenth of the nodes, is too good to be true."""
    luck = 400.0 if zlib.crc32(f"{config.id}{node}".encode()) % 10 == 0 else 0.0
    return 1000.0 + luck - 300 * sum((config[f"k{i}"] - 0.3) ** 2 for i in range(3))


def test_a_run_in_which_metis_measures_again_replays():
    """`replay(log)` is the run, ask by ask and judgement by judgement, with two lanes."""
    run = play(Metis(), count=30, lanes=2, measure=lucky, policy=ONE_NODE)
    assert [a for a in run.now.log.facts(Ask) if a.repeat]
    assert_replays(run, Metis())


def test_scores_of_a_low_rung_are_doubted_though_others_have_climbed():
    """Of fourteen scores of one node the odd one out is doubted, unless it climbed too or is settled."""
    space = plain(2)
    low = [Observation(config=c, score=float(c["x0"]), ask_index=i) for i, c in enumerate(initial_design(space, 14, 4))]
    odd = low[6] = replace(low[6], score=-4.0)
    high = [replace(o, rung=1) for o in low[:3]]
    model = Model.of(space, high, [], [1])

    def doubted(seen, settled=()):
        return [c for _, c in doubtful(space, seen, [], model, settled=settled, stream=[1])]

    assert doubted([*low, *high]) == [odd.config]
    assert doubted([*low, *high, replace(odd, rung=1)]) != [odd.config]
    assert doubted([*low, *high], settled={odd.config.id}) != [odd.config]
    assert doubted([*low[:6], *low[7:], replace(odd, repeats=2), *high]) != [odd.config]


def test_a_campaign_measures_again_through_its_tasks_and_its_store(tmp_path, monkeypatch):
    """Suggest, pick nodes, benchmark, detect, adjust, aggregate, report: the tasks of Airflow, over a real store.

    A task that is done again returns what it returned before, and the audit finds every ask and judgement again.
    """
    made = opened(tmp_path, optimizer={"name": "metis"}, policy={"rungs": [1], "adjuster": "identity"})
    monkeypatch.setattr(settings, "store", lambda: made.store)
    monkeypatch.setattr(lanes, "reason_to_end", lambda run_id: None)
    monkeypatch.setattr(progress, "of", lambda run_id, phase: {})
    for i in range(5):
        put(made, default_of(made), f"n{i + 1}", 900.0, slot=i, purpose=Purpose.DEFAULT)
    judged(made, default_of(made), 0)
    for index in range(30):
        key = f"run.l0.{index}"
        asked = tasks.suggest("run", 0, key)
        assert tasks.suggest("run", 0, key) == asked
        for slot in tasks.pick_nodes("run", asked):
            config = recorded.configs(made.store, made.store.run("run"))[asked["config"]]
            put(made, asked["config"], slot["nodes"][0], lucky(config, slot["nodes"][0]), slot=slot["slot"])
        for _ in range(2):
            found = tasks.detect_outliers("run", asked)
            adjusted = tasks.adjust_noise("run", asked, found)
            tasks.report("run", asked, found, adjusted, tasks.aggregate("run", found, adjusted))
        made.log.append_note(Note(kind="iteration", body={"key": key, "lane": 0, "ok": True}))
        if any(a.repeat for a in made.log.read().facts(Ask)) and index > 20:
            break

    log = made.log.read()
    again = next(a for a in log.facts(Ask) if a.repeat)
    both = log.trial(again.config_id).judged(0)
    assert both is not None
    assert len(both.raw) == 1 + max(a.repeat for a in log.facts(Ask) if a.config_id == again.config_id)
    assert list(audit.faults(made.store, "run")) == []


def test_a_run_from_before_there_were_repeats_replays(tmp_path):
    """Its campaign does not speak of them, so Metis is asked for new configs only; a new run's does."""
    made = opened(tmp_path, optimizer={"name": "metis"})
    new = made.store.run("run")
    old = replace(new, effective={**new.effective, "optimizer": {"name": "metis", "initial": 10}})
    assert isinstance(recorded.campaign(new).optimizer_of(), Repeating)
    assert not isinstance(recorded.campaign(old).optimizer_of(), Repeating)


def test_the_ladder_waits_for_a_rung_that_is_measured_again():
    """A config is not promoted while its rung is open, and another lane's suggestion knows it as pending."""
    optimizer = Doubting(nth=0)
    run = play(optimizer, count=1)
    again = run.suggest(lane=0)
    assert again.repeat == 1
    other = run.suggest(lane=1)

    assert (again.config_id, 0) not in replay.costs(run.now)
    assert other.config_id != again.config_id
    assert again.config_id in optimizer.pending[-1]
    run.finish(again)
    assert (again.config_id, 0) in replay.costs(run.now)


def test_a_repeat_that_is_never_answered_is_given_up_and_the_old_score_stands():
    """Three failed asks; the ladder goes on with what it had, and the config is not asked for again and again."""
    state = {"broken": False}

    def measure(config, node):
        return Blame.NODE if state["broken"] else figure(config, node)

    run = play(Doubting(times=5), count=3, measure=measure, policy=ONE_NODE)
    state["broken"] = True
    asks = [run.suggest() for _ in range(1)]
    for _ in range(2):
        run.finish(asks[-1])
        asks.append(run.suggest())
    run.finish(asks[-1])
    assert [a.repeat for a in asks] == [1, 1, 1]
    assert unjudged.lost(run.now.log) == {(asks[0].config_id, 0, 1)}
    assert unjudged.given_up(run.now.log) == set()
    assert (asks[0].config_id, 0) in replay.costs(run.now)
    assert run.suggest().config_id != asks[0].config_id


def test_a_config_that_has_used_all_nodes_is_not_measured_again():
    """So the default is not, nor one that was on all nodes, nor anything where there is no fleet."""
    config = SPACE.config({"k0": 0.1, "k1": 0.1, "k2": 0.1})
    events = [ask(0, config.id), *(sample(config.id, node, 9.0, slot=i) for i, node in enumerate(NODES))]
    log = scene(events, [config]).log
    assert resampling.free_nodes(log, 10)[config.id] == 0
    assert resampling.free_nodes(log, 11)[config.id] == 1
    assert resampling.free_nodes(log, 11)["nobody"] == 0

    run = Play(figure, optimizer=Doubting(times=5), policy=ONE_NODE)  # a scene without a fleet
    run.default()
    run.iterate(8)
    assert not [a for a in run.now.log.facts(Ask) if a.repeat]


def test_an_excluded_second_sample_reopens_the_repeat():
    """The first judgement counts again until another node has answered."""
    run = play(Doubting(), count=8, policy=ONE_NODE)
    (again,) = [a for a in run.now.log.facts(Ask) if a.repeat]
    second = [s for s in run.now.log.facts(Sample) if s.config_id == again.config_id][-1]
    body = {"id": "x1", "node": second.node, "since": second.started_at, "until": second.started_at}
    run.add(Note(kind="exclude", body=body))

    judged = run.now.log.trial(again.config_id).judged(0)
    assert judged is not None and judged.revision == 0
    taken = run.suggest(lane=again.lane)
    assert (taken.config_id, taken.repeat) == (again.config_id, 1)
    run.finish(taken)
    judged = run.now.log.trial(again.config_id).judged(0)
    assert judged is not None and (judged.revision, len(judged.raw)) == (2, 2)
    assert second.node not in judged.raw


def test_who_may_not_repeat_asks_as_before():
    """`NewOnly` hides the power; an ask without a repeat has the digest that it always had."""
    assert isinstance(Metis(), Repeating)
    assert not isinstance(NewOnly(inner=Metis()), Repeating)
    plain, hidden = play(Counting(), policy=ONE_NODE), play(NewOnly(inner=Doubting()), policy=ONE_NODE)
    assert [a.inputs_digest for a in plain.now.log.facts(Ask)] == [a.inputs_digest for a in hidden.now.log.facts(Ask)]
    assert not [a for a in hidden.now.log.facts(Ask) if a.repeat]
