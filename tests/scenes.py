"""Scenes for the tests: a campaign run in memory, played one iteration at a time without Airflow, nodes or a store."""

from dataclasses import replace

from albacore import judging, replay
from albacore.policies import presets
from albacore.replay import Scene
from albacore.sample import Blame, Failure, Metric, Purpose, Sample
from albacore.space import Config, Kind, Knob, Space
from albacore.trial import Ask, Direction, Event, Log, Note

SPACE = Space(knobs=tuple(Knob(name=f"k{i}", kind=Kind.REAL, low=0.0, high=1.0, default=0.5) for i in range(3)))
NODES = tuple(f"n{i}" for i in range(1, 11))


class Counting:
    """An optimizer without intelligence: the config of an ask is its index, spread over the cube."""

    name = "counting"

    def suggest(self, space, observations, pending, *, seed, ask_index):
        return space.config({"k0": (ask_index % 97) / 97, "k1": (seed % 89) / 89, "k2": ask_index / 10_000})


class FixedErrors:
    """An adjuster that predicts the errors it is told, node by node: Alg. 2 with the paper's figures."""

    def __init__(self, s):
        self.s = s

    def adjust(self, readings, history, *, seed):
        return [r.value / (self.s[r.node] + 1) for r in readings], "predicted"


def scene(events=(), configs=(), *, policy=None, direction=Direction.MAX, seed=1, samples=500.0):
    """Return a scene with a log of facts, numbered in their order."""
    default = SPACE.default()
    return Scene(
        policy=policy
        or presets.by_name("tuna", nodes=10, rungs=(1, 3, 10), adjuster="identity"),  # the forest has its own tests
        space=SPACE,
        metric="tps",
        direction=direction,
        seed=seed,
        limits={"samples": samples, "hours": 8.0},
        configs={c.id: c for c in (default, *configs)},
        log=Log(tuple(Event(n=i + 1, at=float(i), fact=fact) for i, fact in enumerate(events))),
    )


def sample(config_id, node, value, *, slot=0, purpose=Purpose.TUNE, telemetry=None, repeat=0):
    return Sample(
        config_id=config_id,
        node=node,
        host=node,
        purpose=purpose,
        slot=slot,
        repeat=repeat,
        metrics={"tps": Metric(value=value, unit="tps")},
        telemetry=telemetry or {},
        started_at=0.0,
        duration_s=1.0,
        benchmark_digest="d",
    )


def failure(config_id, node, blame=Blame.CONFIG, *, slot=0, purpose=Purpose.TUNE):
    return Failure(
        config_id=config_id, node=node, purpose=purpose, slot=slot, blame=blame, message="it broke", started_at=0.0
    )


def ask(index, config_id, rung=0, bracket=0, lane=0, read_n=0):
    return Ask(
        index=index,
        key=f"run.l{lane}.{index}",
        lane=lane,
        config_id=config_id,
        rung=rung,
        bracket=bracket,
        read_n=read_n,
        inputs_digest="",
    )


class Play:
    """A campaign run played to the end of an iteration, one after the other or interleaved.

    Args:
        measure: (config, node) -> the figure, or a Blame.
    """

    def __init__(self, measure, *, optimizer=None, nodes=NODES, **fields):
        self.measure, self.optimizer, self.nodes = measure, optimizer or Counting(), nodes
        self.now = scene(**fields)

    def add(self, fact, config: Config | None = None):
        events = (*self.now.log.events, Event(n=self.now.log.last_n + 1, at=0.0, fact=fact))
        configs = {**self.now.configs, **({config.id: config} if config else {})}
        self.now = replace(self.now, log=Log(events), configs=configs)

    def measured(self, config_id, node, slot, purpose=Purpose.TUNE, repeat=0):
        found = self.measure(self.now.configs[config_id], node)
        fact = (
            failure(config_id, node, found, slot=slot)
            if isinstance(found, Blame)
            else sample(config_id, node, found, slot=slot)
        )
        # Each starts as many seconds after the epoch as there are events.
        self.add(replace(fact, purpose=purpose, repeat=repeat, started_at=float(self.now.log.last_n)))

    def default(self):
        for slot, node in enumerate(self.nodes):
            self.measured(self.now.default_id, node, slot, Purpose.DEFAULT)
        self.add(judging.judge(self.now, self.now.default_id, self.now.top_rung))

    def suggest(self, lane=0):
        decision = replay.decide(self.now, self.optimizer, lane=lane)
        index = len(self.now.log.facts(Ask))
        found = replace(
            ask(index, decision.config.id, decision.rung, decision.bracket, lane, self.now.log.last_n),
            inputs_digest=decision.inputs_digest,
            repeat=decision.repeat,
        )
        self.add(found, decision.config)
        return found

    def finish(self, found):
        slots, capped = replay.open_slots(self.now, found.config_id, found.rung, self.nodes)
        for slot in slots:
            self.measured(found.config_id, slot.nodes[0], slot.index, repeat=slot.repeat)
        is_capped = capped and bool(self.now.log.trial(found.config_id).filled)  # as `detect_outliers` has it
        if is_judged := judging.is_full(self.now, found.config_id, found.rung) or is_capped:
            self.add(judging.judge(self.now, found.config_id, found.rung, is_capped=capped))
        self.add(Note(kind="iteration", body={"key": found.key, "lane": found.lane, "ok": is_judged}))

    def iterate(self, count, lanes=1):
        running = []
        for index in range(count):
            if len(running) >= lanes:
                self.finish(running.pop(0))
            running.append(self.suggest(lane=index % lanes))
        for found in running:
            self.finish(found)
