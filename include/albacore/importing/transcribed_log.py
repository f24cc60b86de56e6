"""TranscribedLog: the log of a run that another tuner recorded, fact by fact, as a live run would have grown it."""

import dataclasses
from collections.abc import Iterator
from itertools import groupby

from albacore import judging
from albacore.errors import HistoryError
from albacore.fact import Ask, Event, Fact, Judgement, Note
from albacore.history import HistoricalRun
from albacore.replay import Scene
from albacore.sample import Blame, Failure, Metric, Purpose, Sample
from albacore.space import Config
from albacore.store import CampaignRun
from albacore.trial import Log

ONCE_PER_NODE = ("TUNA",)
"""Methods that never measure a config twice on a node."""
STOPPED = "imported: it was measured elsewhere"


def rows_of(found: HistoricalRun) -> Iterator[tuple[int, str, str, float, bool, int]]:
    """Yield order, config, node, value, whether it failed, and suggestion of each sample, as plain values."""
    s = found.samples
    columns = (s.order, s.config_id, s.node, s.value, s.is_failed, s.suggestion)
    yield from zip(*(column.tolist() for column in columns), strict=True)


def node_name(name: str) -> str:
    """Return a node's name: the published one, with a letter before a bare number."""
    return f"w{name}" if name.isdigit() else name[:250]


class Writer:
    """Write the log of one recorded run, fact by fact, as a live run would have grown it."""

    def __init__(self, scene: Scene, configs: dict[str, Config], run: CampaignRun) -> None:
        self.scene = scene
        self.configs = configs
        self.run = run
        self.default_id = scene.default_id
        self.facts: list[Fact] = []
        self.judgements: list[Event] = []
        self.own: dict[str, list[Event]] = {}
        self.asks = 0

    def write(self, found: HistoricalRun, where: str) -> list[Fact]:
        """Return the facts in their order."""
        for (suggestion, recorded_id), group in groupby(rows_of(found), key=lambda row: (row[5], row[1])):
            config_id = self.configs[recorded_id].id
            is_default = config_id == self.default_id
            taken = list(group)
            rung = self._rung(config_id, len(taken), is_default=is_default)
            ask = None if is_default else self._ask(config_id, rung)
            for row in taken:
                self._answer(found, row, config_id, where)
            self._judge(config_id, rung)
            if ask is not None:
                body = {"lane": 0, "n": ask.index, "key": ask.key, "ok": True, "suggestion": suggestion}
                self._add(Note(kind="iteration", body=body))
        self._add(Note(kind="lane_end", body={"lane": 0, "reason": STOPPED}))
        self._add(Note(kind="stop", body={"reason": STOPPED}))
        return self.facts

    def _add(self, fact: Fact) -> Event:
        self.facts.append(fact)
        return Event(n=len(self.facts), at=self.run.opened_at, fact=fact)

    def _rung(self, config_id: str, more: int, *, is_default: bool) -> int:
        """Return the rung that a suggestion climbs to: the first that holds all samples the config then has."""
        rungs = self.scene.policy.ladder.rungs
        if is_default:
            return len(rungs) - 1
        size = len(self.own.get(config_id, ())) + more
        return next((i for i, nodes in enumerate(rungs) if nodes >= size), len(rungs) - 1)

    def _ask(self, config_id: str, rung: int) -> Ask:
        ask = Ask(
            index=self.asks,
            key=f"{self.run.id}.l0.{self.asks}",
            lane=0,
            config_id=config_id,
            rung=rung,
            bracket=0,
            read_n=len(self.facts),
            inputs_digest="",
        )
        self.asks += 1
        self._add(ask)
        return ask

    def _answer(
        self, found: HistoricalRun, row: tuple[int, str, str, float, bool, int], config_id: str, where: str
    ) -> None:
        """Write down a sample, or the config's own failure."""
        order, _, name, value, failed, _ = row
        node, own = node_name(name), self.own.setdefault(config_id, [])
        repeat = sum(getattr(event.fact, "node", None) == node for event in own)
        if repeat and found.method in ONCE_PER_NODE:
            raise HistoryError(
                f"{where}: expected each config once per node, {config_id} is on node {name!r:.40} again at sample "
                f"{order}. Remove one of the two rows."
            )
        is_default = config_id == self.default_id
        place = {
            "config_id": config_id,
            "node": node,
            "host": node,
            "purpose": Purpose.DEFAULT if is_default else Purpose.TUNE,
            "slot": len(own),
            "repeat": repeat,
            "started_at": self.run.opened_at,
            "duration_s": 0.0,
        }
        if failed:
            said = f"recorded as failed: {found.metric} {value!r} {found.unit}".rstrip()
            own.append(self._add(Failure(**place, blame=Blame.CONFIG, message=said)))
        else:
            metrics = {found.metric: Metric(value=value, unit=found.unit)}
            digest = self.run.benchmark_digest
            own.append(self._add(Sample(**place, metrics=metrics, benchmark_digest=digest)))

    def _judge(self, config_id: str, rung: int) -> None:
        """Judge a rung that is full, from what this policy reads: the trial, and for a crash score all judgements."""
        own = self.own[config_id]
        told = [e for e in self.judgements if isinstance(e.fact, Judgement) and e.fact.config_id == config_id]
        if any(e.fact.rung == rung for e in told if isinstance(e.fact, Judgement)):
            return
        has_failed = any(isinstance(event.fact, Failure) for event in own)
        events = sorted([*own, *(self.judgements if has_failed else told)], key=lambda event: event.n)
        scene = dataclasses.replace(self.scene, log=Log(tuple(events)))
        if config_id == self.default_id or judging.is_full(scene, config_id, rung):
            self.judgements.append(self._add(judging.judge(scene, config_id, rung)))
