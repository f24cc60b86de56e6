"""Laws of the log: gapless numbers, idempotent appends, asks that replay."""

import multiprocessing
import threading
from dataclasses import replace

import pytest
from scenes import SPACE, Counting, ask, failure, sample, scene
from store import server

from albacore import replay
from albacore.errors import PlatformError
from albacore.sample import Blame, Purpose
from albacore.store import CampaignRun, NodeRecord, Store
from albacore.store.run_log import RunLog, StaleError
from albacore.trial import Ask, Judgement, Note, Stability


@pytest.fixture
def log(url):
    """The log of a run in a new store of each kind."""
    store = Store(url, clock=lambda: 12.5)
    store.migrate()
    yield RunLog(store, "run")
    store.close()


def judgement(config_id="c", rung=0, score=1.0):
    return Judgement(
        config_id=config_id,
        rung=rung,
        stability=Stability.STABLE,
        relative_range=0.0,
        raw={"n1": 1.5},
        adjusted={"n1": 1.25},
        score=score,
        reasons=("one", "two"),
        read_n=3,
    )


FACTS = [
    ask(0, "c"),
    replace(sample("c", "n1", 1 / 3, telemetry={"cpu.p50": 0.1}), notes={"plans": {"q": "ab"}}),
    failure("c", "n2", Blame.NODE, slot=1),
    judgement(),
    Note(kind="stop", body={"reason": "by hand"}),
]


def write(log, fact):
    if isinstance(fact, Ask):
        return log.append_ask(fact, {"k0": 0.5})
    if isinstance(fact, Judgement):
        return log.append_judgement(fact)
    if isinstance(fact, Note):
        return log.append_note(fact, key="once")
    return log.append_sample(fact) if hasattr(fact, "metrics") else log.append_failure(fact, attempt=0)


def test_what_is_read_is_what_was_written(log):
    """Every kind of fact, bit for bit, numbered from 1 without gaps; guest metrics and notes only when asked for."""
    for fact in FACTS:
        write(log, fact)

    full = log.read(telemetry=True, notes=True)
    assert [e.fact for e in full.events] == FACTS
    assert [(e.n, e.at) for e in full.events] == [(i, 12.5) for i in range(1, 6)]
    assert log.read().events[1].fact == replace(FACTS[1], telemetry={}, notes={})
    assert log.read(notes=True).events[1].fact == replace(FACTS[1], telemetry={})
    assert log.notes_of("c") == {("tune", 0, 0): {"plans": {"q": "ab"}}}
    assert log.notes_of("another") == {}


@pytest.mark.parametrize("fact", FACTS, ids=lambda f: type(f).__name__)
def test_writing_again_changes_nothing_and_returns_the_first(log, fact):
    """An iteration asks once, a slot has one sample, an attempt one failure, a rung one judgement."""
    write(log, fact)
    other = {
        Ask: lambda: replace(fact, config_id="other"),
        Judgement: lambda: replace(fact, score=99.0),
        Note: lambda: replace(fact, body={}),
    }.get(type(fact), lambda: replace(fact, started_at=99.0))()

    assert write(log, other) == fact
    assert len(log.read().events) == 1


def test_an_ask_that_did_not_see_the_last_ask_is_refused(log):
    """Its config may be pending already: read again and decide again. Nothing is written."""
    log.append_ask(ask(0, "a"), {})

    with pytest.raises(StaleError, match="decided on event 0"):
        log.append_ask(replace(ask(1, "b"), read_n=0), {})

    assert len(log.read().events) == 1


def test_an_ask_may_miss_a_sample(log):
    """What it was decided on is a prefix of the log, and that is what is replayed."""
    log.append_ask(ask(0, "a"), {})
    log.append_sample(sample("a", "n1", 1.0))

    log.append_ask(replace(ask(1, "b"), read_n=1), {})

    assert [e.n for e in log.read().events] == [1, 2, 3]


def test_one_config_never_has_two_samples_on_a_node(log):
    """Another slot on the same node is refused by the database itself, and leaves no hole in the numbers."""
    log.append_sample(sample("c", "n1", 1.0, slot=0))

    with pytest.raises(PlatformError, match="already has this sample"):
        log.append_sample(sample("c", "n1", 2.0, slot=1))

    log.append_sample(sample("c", "n2", 2.0, slot=1))
    assert [e.n for e in log.read().events] == [1, 2]


def test_a_slot_knows_what_it_ended_in(log):
    """Failures of its attempts, then its sample, of this purpose only."""
    log.append_failure(failure("c", "n1", Blame.NODE), attempt=0)
    log.append_sample(sample("c", "n2", 1.0))
    log.append_sample(sample("c", "n3", 1.0, purpose=Purpose.VALIDATE))

    assert [f.node for f in log.slot_facts("c", Purpose.TUNE, 0)] == ["n1", "n2"]


def test_a_run_stays_as_it_was_opened(log):
    """Opening again with another campaign returns the first (law of opening); so does fixing the space."""
    first = CampaignRun(
        id="run",
        campaign="demo",
        logical_date=None,
        opened_at=1.0,
        effective={"seed": 1},
        benchmark={},
        benchmark_digest="d",
        policy_digest="p",
        library="1",
    )
    log.store.open_run(first)

    assert log.store.open_run(replace(first, effective={"seed": 2})) == first
    assert log.store.set_space("run", {"knobs": [1]}) == {"knobs": [1]}
    assert log.store.set_space("run", {"knobs": [2]}) == {"knobs": [1]}
    assert log.store.runs()[0].space == {"knobs": [1]}


def test_nodes_and_archives_come_back(log):
    """The fleet by name, an archive by digest; a digest nobody archived is an error that says so."""
    node = NodeRecord(name="n1", host="h", role="tuning", address={"port": 1}, facts={"cores": 2})
    log.store.put_nodes("run", [node])
    log.store.put_archive("d", b"content")
    log.store.put_archive("d", b"content")

    assert log.store.nodes("run") == [node]
    assert log.store.archive("d") == b"content"
    with pytest.raises(PlatformError, match="archived under e"):
        log.store.archive("e")


def ask_and_measure(url, lane, count):
    """Be one of several processes that ask, measure and judge; decide again when the log was stale."""
    log = RunLog(Store(url), "run")
    done = 0
    while done < count:
        events = log.read()
        now = replace(scene(configs=[]), log=events, configs=_configs(log))
        decision = replay.decide(now, Counting(), lane=lane)
        index = len(events.facts(Ask))
        wanted = replace(
            ask(index, decision.config.id, decision.rung, decision.bracket, lane, events.last_n),
            key=f"run.l{lane}.{done}",
            inputs_digest=decision.inputs_digest,
        )
        try:
            log.append_ask(wanted, dict(decision.config))
        except StaleError:
            continue
        log.append_sample(
            sample(decision.config.id, f"n{decision.rung}", decision.config["k0"] + 1, slot=decision.rung)
        )
        log.append_judgement(
            replace(judgement(decision.config.id, decision.rung, decision.config["k0"] + 1), read_n=log.read().last_n)
        )
        done += 1


def _configs(log):
    from albacore.space import Config

    default = SPACE.default()
    return {i: Config(knobs) for i, knobs in log.configs().items()} | {default.id: default}


@pytest.mark.node
def test_eight_processes_append_and_every_ask_replays(url):
    """Numbers without gaps, ask indexes without gaps, and each ask comes out again from the log that it read."""
    store = Store(url)
    store.migrate()
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=ask_and_measure, args=(url, lane, 8)) for lane in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)

    log = RunLog(store, "run")
    events = log.read()
    assert [worker.exitcode for worker in workers] == [0] * 8
    assert [e.n for e in events.events] == list(range(1, len(events.events) + 1))
    assert [a.index for a in events.facts(Ask)] == list(range(64))
    for found in events.facts(Ask):
        then = replace(scene(), log=events.until(found.read_n), configs=_configs(log))
        decision = replay.decide(then, Counting(), lane=found.lane)
        assert (decision.config.id, decision.rung, decision.bracket, decision.inputs_digest) == (
            found.config_id,
            found.rung,
            found.bracket,
            found.inputs_digest,
        )


@pytest.mark.node
def test_a_store_whose_server_starts_again_is_waited_for():
    """A crash of PostgreSQL between two calls is not seen by the caller."""
    with server.running() as crashing:
        store = Store(crashing.url)
        store.migrate()
        crashing.ctl("-m", "immediate", "stop")
        back = threading.Timer(1.0, crashing.start)
        back.start()

        assert store.runs() == []
        back.join()
        store.close()
