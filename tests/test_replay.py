"""Laws of the decisions: each is a pure function of the log."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenes import NODES, SPACE, Counting, Play, ask, failure, sample, scene

from albacore import judging, replay, stopping, unjudged
from albacore.optimizers import by_name
from albacore.policies import presets
from albacore.sample import Blame, Purpose
from albacore.trial import Ask, Direction, Judgement, Note, Stability


def smooth(config, node):
    return 100 + 50 * config["k0"] + NODES.index(node)


def level(config, _node):
    return 100 + 50 * config["k0"] + 20 * config["k1"]


def play(count=40, lanes=1, measure=smooth, **fields):
    run = Play(measure, **fields)
    run.default()
    run.iterate(count, lanes)
    return run


def test_a_config_is_never_measured_twice_on_the_same_node():
    """TUNA §5.1: (config, node) is unique over all rungs."""
    samples = play(60).now.log.facts(type(sample("c", "n1", 1.0)))

    pairs = [(s.config_id, s.node) for s in samples]
    assert len(pairs) == len(set(pairs))


def test_a_promotion_reuses_the_samples_of_the_lower_rung():
    """One node, then two more, then seven more: a config on the top rung has ten samples."""
    run = play(40)

    top = [j for j in run.now.log.facts(Judgement) if j.rung == 2 and j.config_id != run.now.default_id]
    assert top
    for judgement in top:
        assert len(run.now.log.samples(judgement.config_id)) == 10
        assert len(judgement.raw) == 10


def test_nothing_is_told_before_the_rung_is_full():
    """T13: a judgement at a rung has at least as many values as the rung has nodes."""
    run = play(40, lanes=3)

    for j in run.now.log.facts(Judgement):
        assert len(j.raw) >= run.now.policy.ladder.rungs[j.rung]


@settings(max_examples=15, deadline=None)
@given(lanes=st.integers(1, 6), seed=st.integers(0, 1000))
def test_the_replay_of_a_log_is_the_run(lanes, seed):
    """Every ask and every judgement comes out again from the log that it read."""
    run = play(30, lanes, seed=seed)

    for fact in run.now.log.facts(Ask):
        then = replace(run.now, log=run.now.log.until(fact.read_n))
        decision = replay.decide(then, Counting(), lane=fact.lane)
        assert (decision.config.id, decision.rung, decision.bracket) == (fact.config_id, fact.rung, fact.bracket)
        assert decision.inputs_digest == fact.inputs_digest
    for j in run.now.log.facts(Judgement):
        then = replace(run.now, log=run.now.log.until(j.read_n))
        assert judging.judge(then, j.config_id, j.rung, is_capped=j.is_capped) == j


def test_negating_the_metric_mirrors_every_decision():
    """T02: maximising x and minimising 1000/x promote and choose the same configs."""
    most = play(45)
    least = play(45, measure=lambda c, n: 1000 / smooth(c, n), direction=Direction.MIN)

    assert [a.config_id for a in most.now.log.facts(Ask)] == [a.config_id for a in least.now.log.facts(Ask)]
    assert replay.incumbent(most.now).config_id == replay.incumbent(least.now).config_id


def test_an_unstable_config_is_not_the_incumbent():
    """However fast it is on nine nodes."""
    run = play(60, measure=lambda c, n: 900.0 if c["k0"] > 0.3 and n != "n7" else smooth(c, n))

    chosen = replay.incumbent(run.now)
    assert chosen is not None
    assert chosen.stability is Stability.STABLE


def test_a_failed_config_gets_the_worst_score_seen_and_climbs_no_further():
    """T14: never infinity, never the best; and no promotion."""
    run = play(40, measure=lambda c, n: Blame.CONFIG if c["k0"] > 0.1 and c["k0"] != 0.5 else smooth(c, n))

    failed = [j for j in run.now.log.facts(Judgement) if j.stability is Stability.FAILED]
    assert failed
    told = [v for j in run.now.log.facts(Judgement) for v in j.raw.values()]
    assert all(j.score is not None and j.score <= max(told) for j in failed)
    assert {j.rung for j in failed} == {0}


def test_an_infrastructure_failure_is_never_told():
    """The trial stays without judgement; its ask is handed out again, then given up after three."""
    run = Play(lambda c, n: smooth(c, n) if c["k0"] == 0.5 else Blame.NODE)
    run.default()
    for _ in range(3):
        run.finish(run.suggest())

    asks = run.now.log.facts(Ask)
    assert len({a.config_id for a in asks}) == 1
    assert [j.config_id for j in run.now.log.facts(Judgement)] == [run.now.default_id]
    assert unjudged.given_up(run.now.log) == {(asks[0].config_id, 0)}


@pytest.mark.parametrize("count", [1, 2, 3, 10])
def test_a_config_that_fails_on_every_node_is_given_up_and_the_run_goes_on(count):
    """However few nodes there are: when it has failed on all of them, an ask tries them again, and counts."""
    ladder = presets.by_name("tuna", nodes=count, rungs=(1,), adjuster="identity")
    run = Play(lambda c, n: Blame.LOAD if c["k0"] == 0 else 100.0, nodes=NODES[:count], policy=ladder)
    run.default()
    run.iterate(6)

    config_id = next(a.config_id for a in run.now.log.facts(Ask))
    assert unjudged.given_up(run.now.log) == {(config_id, 0)}
    assert len(run.now.log.facts(Judgement)) == 4, "the default, and what was asked for after it"
    assert stopping.stop_reason(run.now, elapsed_s=0.0) is None


def lost_asks(config, times):
    """Return asks for a config that ended without a sample and without a failure."""
    ended = (Note(kind="iteration", body={"key": f"run.l0.{i}", "lane": 0, "ok": False}) for i in range(times))
    return [fact for i, end in enumerate(ended) for fact in (ask(i, config.id), end)]


def test_asks_in_which_nothing_failed_say_little_against_their_config():
    """Its tasks were killed, its scheduler was away: it is asked for once more than one whose samples failed."""
    config = SPACE.config({"k0": 0.1, "k1": 0.1, "k2": 0.1})
    events = lost_asks(config, 3)
    now = scene(events, [config])

    assert unjudged.given_up(now.log) == set()
    assert replay.decide(now, Counting(), lane=0).config == config
    events += [failure(config.id, "n1", Blame.NODE), failure(config.id, "n2", Blame.NODE)]
    assert unjudged.given_up(scene(events, [config]).log) == set(), "both are of one ask"


def test_a_config_whose_tasks_always_die_is_given_up_before_the_run_is():
    """One less than the failures in a row that end a run."""
    config = SPACE.config({"k0": 0.1, "k1": 0.1, "k2": 0.1})
    now = scene(lost_asks(config, unjudged.GIVE_UP_ANYWAY_AFTER), [config])

    assert stopping.FAILED_IN_A_ROW - 1 == unjudged.GIVE_UP_ANYWAY_AFTER
    assert stopping.stop_reason(now, elapsed_s=1.0) is None
    assert unjudged.given_up(now.log) == {(config.id, 0)}
    assert replay.decide(now, Counting(), lane=0).config != config


@given(lost=st.lists(st.lists(st.integers(0, 2), max_size=3), min_size=20, max_size=20))
def test_with_one_lane_iterations_that_are_lost_change_no_decision(lost):
    """Whatever they had measured of a trial: the judgements are those of a run in which none was lost.

    An ask is lost before its n-th sample, as often as there are numbers: at most three times.
    """
    undisturbed, disturbed = Play(level), Play(level)
    undisturbed.default()
    undisturbed.iterate(len(lost))
    disturbed.default()
    for times in lost:
        for n in times:
            found = disturbed.suggest()
            slots, _ = replay.open_slots(disturbed.now, found.config_id, found.rung, NODES)
            for slot in slots[:-1][:n]:
                disturbed.measured(found.config_id, slot.nodes[0], slot.index)
            disturbed.add(Note(kind="iteration", body={"key": found.key, "lane": 0, "ok": False}))
        disturbed.finish(disturbed.suggest())

    told = [[(j.config_id, j.rung, j.score) for j in p.now.log.facts(Judgement)] for p in (undisturbed, disturbed)]
    assert told[0] == told[1]


def test_a_slot_has_its_attempts_anew_in_each_ask():
    """What failed in earlier asks is said of the slot that it was."""
    config = SPACE.config({"k0": 0.1, "k1": 0.1, "k2": 0.1})
    lost = [failure(config.id, node, Blame.NODE, slot=1) for node in ("n1", "n2", "n3")]
    now = scene([ask(0, config.id, rung=1), sample(config.id, "n4", 10.0, slot=0), *lost], [config])

    slots, _ = replay.open_slots(now, config.id, 1, NODES)

    assert {slot.index: slot.failed for slot in slots} == {1: 3, 2: 0}


def test_a_rung_that_lost_a_sample_asks_only_for_the_missing_node():
    """Unfilled rungs come first, and only what is missing is measured."""
    config = SPACE.config({"k0": 0.1, "k1": 0.1, "k2": 0.1})
    events = [
        ask(0, config.id, rung=1),
        sample(config.id, "n1", 10.0, slot=0),
        sample(config.id, "n3", 11.0, slot=2),
        Note(kind="iteration", body={"key": "run.l0.0", "lane": 0, "ok": False}),
    ]
    now = scene(events, [config])

    decision = replay.decide(now, Counting(), lane=5)
    slots, capped = replay.open_slots(now, decision.config.id, decision.rung, NODES)

    assert (decision.config.id, decision.rung, decision.is_new) == (config.id, 1, False)
    assert [s.index for s in slots] == [1]
    assert not {"n1", "n3"} & set(slots[0].nodes)
    assert not capped


def test_the_ask_of_a_running_lane_is_left_alone():
    """Another lane's open ask is that lane's business until its iteration has ended."""
    config = SPACE.config({"k0": 0.1, "k1": 0.1, "k2": 0.1})
    now = scene([ask(0, config.id, lane=0)], [config])

    assert unjudged.abandoned(now.log, lane=1) == []
    assert [a.config_id for a in unjudged.abandoned(now.log, lane=0)] == [config.id]


def test_fewer_eligible_nodes_than_the_rung_needs_is_capped():
    """A fleet of two gives a rung of three two samples, and says so."""
    slots, capped = replay.open_slots(scene(), "c", 1, ("n1", "n2"))

    assert len(slots) == 2
    assert capped


def test_a_node_that_failed_twice_gets_no_more_samples():
    """Quarantine after two NodeFailures; one is bad luck."""
    events = [failure("a", "n1", Blame.NODE), failure("b", "n1", Blame.NODE), failure("a", "n2", Blame.NODE)]

    assert replay.quarantined(scene(events).log) == {"n1"}


def test_slots_of_one_trial_do_not_queue_for_the_same_node():
    """Each slot prefers another node of the same eligible list."""
    slots, _ = replay.open_slots(scene(), "c", 2, NODES)

    assert len({s.nodes[0] for s in slots}) == 10
    assert all(set(s.nodes) == set(NODES) for s in slots)


def test_validation_counts_against_no_limit_and_belongs_to_no_trial():
    """Fresh nodes have no part in choosing."""
    now = scene([sample("c", "f1", 1.0, purpose=Purpose.VALIDATE)])

    assert stopping.spent(now.log) == 0
    assert now.log.trial("c").samples == ()


@pytest.mark.parametrize(
    ("events", "elapsed_s", "reason"),
    [
        ([sample("c", "n1", 1.0)], 0.0, "limit reached: 1 samples"),
        ([], 9 * 3600.0, "limit reached: 8 hours"),
        ([Note(kind="stop", body={"reason": "by hand"})], 0.0, "by hand"),
        (
            [Note(kind="iteration", body={"key": str(i), "ok": False}) for i in range(5)],
            0.0,
            "5 iterations failed in a row",
        ),
        ([Note(kind="iteration", body={"key": str(i), "ok": i == 2}) for i in range(5)], 0.0, None),
        ([Note(kind="iteration", body={"key": str(i), "lane": i % 12, "ok": False}) for i in range(48)], 0.0, None),
        ([sample("c", "n1", 1.0), Note(kind="limits", body={"samples": 2})], 0.0, None),
    ],
)
def test_a_run_stops_with_its_reason(events, elapsed_s, reason):
    """Samples, hours, by hand, five failures of a lane in a row; a raised limit is a logged event."""
    assert stopping.stop_reason(scene(events, samples=1.0), elapsed_s=elapsed_s) == reason


@pytest.mark.parametrize("preset", ["traditional", "naive"])
def test_the_baselines_measure_every_config_on_one_rung(preset):
    """T17: one node; T18: all nodes."""
    run = play(20, policy=presets.by_name(preset, nodes=10, rungs=(1, 3, 10)))

    wanted = 1 if preset == "traditional" else 10
    assert {len(j.raw) for j in run.now.log.facts(Judgement) if j.config_id != run.now.default_id} == {wanted}


def test_the_default_alone_does_not_hide_the_other_scores():
    """The default is judged on the top rung first; a surrogate would see nothing else for a dozen asks."""
    run = play(5)

    assert {o.rung for o in replay.observations(run.now)} == {0}
    tops = [o for o in replay.observations(play(30).now) if o.rung == 2]
    assert run.now.default_id in {o.config.id for o in tops}


def test_random_asks_never_repeat_a_config():
    """80 asks with ten lanes: a config is new, or on its way up."""
    run = play(80, lanes=10, optimizer=by_name("random", initial=10))

    asks = run.now.log.facts(Ask)
    assert len({(a.config_id, a.rung) for a in asks}) == 80
