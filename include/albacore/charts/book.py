"""Book: a campaign run as its pages read it, its log sorted by config in one pass.

`Log.trial` looks through the whole log for one config, which is right for a decision and too slow for a table of
thousands of configs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from albacore import judging, recorded
from albacore.campaign import Campaign
from albacore.replay import Scene
from albacore.sample import Failure, Sample
from albacore.space import Config
from albacore.store import CampaignRun, NodeRecord
from albacore.trial import Ask, Direction, Event, Judgement, Log, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A judgement with its place in the run.

    Attributes:
        n: Number of its event.
        at: Seconds since the epoch.
        samples: Samples that had counted against the limit by then.
    """

    n: int
    at: float
    samples: int
    judgement: Judgement


@dataclass(frozen=True, kw_only=True)
class Book:
    """A campaign run, and everything known of each of its configs.

    Attributes:
        metric: What is tuned: the workload's own metric, or the campaign's objective.
        scene: The run as the decisions see it; None until its nodes are provisioned.
        nodes: The fleet.
    """

    run: CampaignRun
    campaign: Campaign
    metric: str
    unit: str
    direction: Direction
    scene: Scene | None
    nodes: Sequence[NodeRecord] = ()

    @property
    def events(self) -> Sequence[Event]:
        """The events of the log, in their order."""
        return self.scene.log.events if self.scene else ()

    @property
    def void(self) -> frozenset[int]:
        """Numbers of the events that do not count any more: see `counting.py`."""
        return self.scene.log.void if self.scene else frozenset()

    @cached_property
    def due(self) -> int:
        """How many rungs were judged, are not any more, and wait for another judgement or for samples."""
        if self.scene is None or not self.void:
            return 0
        return len(judging.overdue(self.scene))

    @cached_property
    def trials(self) -> Mapping[str, Trial]:
        """Config id -> its trial, in the order in which they first came up: what counts, without the validation."""
        samples: dict[str, list[Sample]] = {}
        failures: dict[str, list[Failure]] = {}
        judgements: dict[str, list[Judgement]] = {}
        order: dict[str, None] = {}
        for event in self.events:
            fact = event.fact
            if event.n in self.void:
                continue
            if isinstance(fact, Ask | Judgement):
                order.setdefault(fact.config_id)
            if isinstance(fact, Judgement):
                judgements.setdefault(fact.config_id, []).append(fact)
            elif isinstance(fact, Sample | Failure) and fact.purpose.is_tuning:
                order.setdefault(fact.config_id)
                into: dict[str, list] = samples if isinstance(fact, Sample) else failures
                into.setdefault(fact.config_id, []).append(fact)
        return {
            config_id: Trial(
                config_id=config_id,
                samples=tuple(samples.get(config_id, ())),
                failures=tuple(failures.get(config_id, ())),
                judgements=tuple(judgements.get(config_id, ())),
            )
            for config_id in order
        }

    @cached_property
    def told(self) -> Sequence[Told]:
        """Every judgement that counts, with the samples spent before it, in their order."""
        found, spent = [], 0
        for event in self.events:
            if isinstance(event.fact, Judgement) and event.n not in self.void:
                found.append(Told(n=event.n, at=event.at, samples=spent, judgement=event.fact))
            spent += counts(event.fact)
        return found

    @property
    def default_id(self) -> str:
        """Id of the default config, "" before the space is known."""
        return self.scene.default_id if self.scene else ""

    def hours(self, at: float) -> float:
        """Return the hours from the opening of the run to a moment in seconds since the epoch."""
        return max(0.0, at - self.run.opened_at) / 3600

    def name(self, config_id: str) -> str:
        """Return what a config is called on a page."""
        return "default" if config_id == self.default_id else config_id


def counts(fact: object) -> int:
    """Return 1 for what counts against the limit on samples, as `stopping.spent` does, else 0."""
    if isinstance(fact, Sample):
        return int(fact.purpose.is_tuning)
    return int(isinstance(fact, Failure) and fact.blame.is_told and fact.purpose.is_tuning)


def opened(run: CampaignRun, scene: Scene | None, nodes: Sequence[NodeRecord]) -> Book:
    """Return the book of a run."""
    return Book(
        run=run,
        campaign=recorded.campaign(run),
        metric=scene.metric if scene else recorded.workload(run).metric,
        unit=recorded.unit(run),
        direction=recorded.objective_of(run).direction,
        scene=scene,
        nodes=nodes,
    )


def read_on(book: Book, new: Log, known: Mapping[str, Config]) -> Book:
    """Return the book of a run whose log has grown.

    Args:
        new: The events after those of the book.
        known: Every config that the log names.
    """
    added = recorded.scene_of(book.run, new, known)
    before = book.scene.log.events if book.scene else ()
    return replace(book, scene=replace(added, log=Log((*before, *added.log.events))))
