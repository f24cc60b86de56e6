"""Playing: a campaign run in a world, event by event.

Lanes ask, slots wait for the first free node that may take them, and a full rung is judged, as the iteration DAG does
it; what is decided comes from `replay` and `judging`. Only time is made up: a sample takes what the world says, and an
iteration costs `overhead_s` between its last sample and the lane's next ask.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count

from albacore import judging, replay, stopping
from albacore.optimizers import Optimizer
from albacore.policies import Policy
from albacore.replay import Scene
from albacore.sample import Failure, Purpose, Sample
from albacore.simulation.world import METRIC, Slot, World
from albacore.space import Config
from albacore.trial import Ask, Direction, Event, Fact, Judgement, Log, Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run is given.

    Attributes:
        samples: The limit on samples, the default's included.
        hours: The limit on hours.
        lanes: Iterations at a time.
        overhead_s: Seconds between an iteration's last sample and the next ask of its lane.
    """

    samples: int = 500
    hours: float = 1_000.0
    lanes: int = 12
    overhead_s: float = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What would be shipped at a moment: the incumbent's id, None while there is none."""

    samples: int
    hours: float
    incumbent: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A run that has ended: everything it knew, and what it would have shipped when."""

    scene: Scene
    marks: tuple[Mark, ...]


@dataclass(slots=True)
class _Iteration:
    """An ask whose samples are being taken; `lane` is None for the default's."""

    ask: Ask | None
    missing: int
    is_capped: bool = False


@dataclass(slots=True)
class _Wanted:
    """A slot that waits for one of its nodes."""

    slot: Slot
    nodes: tuple[str, ...]
    iteration: _Iteration


@dataclass
class _Run:
    world: World
    optimizer: Optimizer
    plan: Plan
    scene: Scene
    now_s: float = 0.0
    free: list[str] = field(default_factory=list)
    waiting: list[_Wanted] = field(default_factory=list)
    coming: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    serial: count = field(default_factory=count)

    def later(self, delay_s: float, act: Callable[[], None]) -> None:
        """Do something after a while; of the same moment, what was said first comes first."""
        heapq.heappush(self.coming, (self.now_s + delay_s, next(self.serial), act))

    def go(self) -> None:
        """Measure the default everywhere, then let the lanes run until nothing comes any more."""
        self.free = list(self.world.fleet.names)
        default = self.scene.space.default()
        first = _Iteration(ask=None, missing=len(self.free))
        for index, node in enumerate(self.free):
            self.waiting.append(_Wanted(Slot(config=default, purpose=Purpose.DEFAULT, index=index), (node,), first))
        self.place()
        while self.coming:
            self.now_s, _, act = heapq.heappop(self.coming)
            act()

    def add(self, fact: Fact, config: Config | None = None) -> None:
        """Append to the log."""
        event = Event(n=self.scene.log.last_n + 1, at=self.now_s, fact=fact)
        configs = self.scene.configs if config is None else {**self.scene.configs, config.id: config}
        self.scene = replace(self.scene, log=self.scene.log.plus(event), configs=configs)

    def place(self) -> None:
        """Give every free node the first slot that waits for it."""
        for wanted in list(self.waiting):
            node = next((n for n in wanted.nodes if n in self.free), None)
            if node is None:
                continue
            self.waiting.remove(wanted)
            self.free.remove(node)
            self._tell_others(wanted, node)
            fact = self.world.measure(wanted.slot, node, self.now_s)
            self.later(fact.duration_s, lambda w=wanted, n=node, f=fact: self.measured(w, n, f))

    def _tell_others(self, taken: _Wanted, node: str) -> None:
        """A config is never measured twice on a node: its other slots look elsewhere."""
        for wanted in self.waiting:
            if wanted.iteration is taken.iteration and wanted.slot.config.id == taken.slot.config.id:
                wanted.nodes = tuple(n for n in wanted.nodes if n != node)

    def measured(self, wanted: _Wanted, node: str, fact: Sample | Failure) -> None:
        """Record an answer, free its node, and end the iteration with its last one."""
        self.add(fact)
        self.free.append(node)
        wanted.iteration.missing -= 1
        if wanted.iteration.missing == 0:
            self.end(wanted.iteration)
        self.place()

    def end(self, iteration: _Iteration) -> None:
        """Judge the rung, and let its lane go on; after the default, start the lanes."""
        ask = iteration.ask
        if ask is None:
            self.add(judging.judge(self.scene, self.scene.default_id, self.scene.top_rung))
            for lane in range(self.plan.lanes):
                self.later(self.plan.overhead_s, lambda number=lane: self.ask(number))
            return
        if judging.is_full(self.scene, ask.config_id, ask.rung) or iteration.is_capped:
            judged = judging.judge(self.scene, ask.config_id, ask.rung, is_capped=iteration.is_capped)
            self.add(judged)
            self.mark(judged)
        self.add(Note(kind="iteration", body={"key": ask.key, "lane": ask.lane, "ok": True}))
        self.later(self.plan.overhead_s, lambda: self.ask(ask.lane))

    def mark(self, judged: Judgement) -> None:
        """Note what would be shipped now, when that has changed."""
        best = replay.incumbent(self.scene)
        found = None if best is None else best.config_id
        if not self.marks or self.marks[-1].incumbent != found:
            spent = stopping.spent(self.scene.log)
            self.marks.append(Mark(samples=spent, hours=self.now_s / 3600, incumbent=found))

    def ask(self, lane: int) -> None:
        """Let a lane ask, unless the run asks no more."""
        if stopping.stop_reason(self.scene, elapsed_s=self.now_s) is not None:
            return
        decision = replay.decide(self.scene, self.optimizer, lane=lane)
        index = len(self.scene.log.facts(Ask))
        ask = Ask(
            index=index,
            key=f"simulated.l{lane}.{index}",
            lane=lane,
            config_id=decision.config.id,
            rung=decision.rung,
            bracket=decision.bracket,
            read_n=self.scene.log.last_n,
            inputs_digest=decision.inputs_digest,
            repeat=decision.repeat,
        )
        self.add(ask, decision.config)
        slots, capped = replay.open_slots(self.scene, ask.config_id, ask.rung, self.world.fleet.names)
        iteration = _Iteration(ask=ask, missing=len(slots), is_capped=capped)
        for slot in slots:
            wanted = Slot(config=decision.config, purpose=Purpose.TUNE, index=slot.index, repeat=slot.repeat)
            self.waiting.append(_Wanted(wanted, slot.nodes, iteration))
        if slots:
            self.place()
        else:
            self.end(iteration)


def play(world: World, policy: Policy, optimizer: Optimizer, plan: Plan, *, seed: int) -> Played:
    """Play one campaign run to its end.

    Args:
        world: Where it runs.
        policy: Decides what is measured where, and what a rung's samples are worth.
        optimizer: Suggests configs.
        plan: What the run is given.
        seed: Seeds the decisions; the world has its own.

    Returns:
        The run's scene, whose log replays, and its marks.
    """
    default = world.surface.space.default()
    scene = Scene(
        policy=policy,
        space=world.surface.space,
        metric=METRIC,
        direction=Direction.MAX,
        seed=seed,
        nodes=len(world.fleet.names),
        limits={"samples": float(plan.samples), "hours": plan.hours},
        configs={default.id: default},
        log=Log(),
    )
    run = _Run(world=world, optimizer=optimizer, plan=plan, scene=scene)
    run.go()
    return Played(scene=run.scene, marks=tuple(run.marks))
