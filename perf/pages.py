"""Measure the tuning pages: what each data route takes at the server for a run of 10,000 samples (goal: < 300 ms).

A route is the reading of the store, the page, and its JSON; what Airflow adds (login, permission) is the same for all
routes and not of ours. Three states of the server: it has never seen the run; one sample was added since the last
look, which is what a page that follows a run costs; nothing is new.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = 10_000
RUNGS = (1, 3, 10)
REPEATS = 5


class Scribe:
    """Writes the facts of a run as its lanes would, with figures out of a generator.

    Attributes:
        guest_metrics: How many each sample has.
        facts: What was written, in its order.
        configs: Config id -> config, of all that were asked for.
    """

    def __init__(self, space: Any, seed: int = 1, guest_metrics: int = 60) -> None:
        import numpy as np

        self.space, self.rng, self.guest_metrics = space, np.random.default_rng(seed), guest_metrics
        self.facts: list[Any] = []
        self.configs = {space.default().id: space.default()}

    def config(self) -> str:
        """Draw a config; return its id."""
        drawn = self.space.config({k.name: float(self.rng.random()) for k in self.space.knobs})
        self.configs[drawn.id] = drawn
        return drawn.id

    def ask(self, key: str, config_id: str, rung: int, lane: int = 0) -> None:
        """Write an ask."""
        from albacore.trial import Ask

        index = len(self.facts)
        self.facts.append(
            Ask(index=index, key=key, lane=lane, config_id=config_id, rung=rung, bracket=0, read_n=0, inputs_digest="x")
        )

    def sample(self, config_id: str, slot: int, purpose: Any) -> float:
        """Write a sample with three metrics and its guest metrics; return its figure."""
        from albacore.sample import Metric, Sample

        value = float(self.rng.normal(100, 4))
        self.facts.append(
            Sample(
                config_id=config_id,
                node=f"n{slot + 1}",
                host=f"h{slot + 1}",
                purpose=purpose,
                slot=slot,
                metrics={name: Metric(value=value, unit="tps") for name in ("tps", "p95", "errors")},
                telemetry={f"cpu.{i}.p50": float(self.rng.random()) for i in range(self.guest_metrics)},
                started_at=float(len(self.facts)),
                duration_s=300.0,
                benchmark_digest="d",
            )
        )
        return value

    def judge(self, config_id: str, rung: int, raw: dict[str, float]) -> None:
        """Write a judgement; above the lowest rung one in ten is unstable."""
        from albacore.trial import Judgement, Stability

        adjusted = {node: value * 0.99 for node, value in raw.items()}
        worst = min(adjusted.values())
        self.facts.append(
            Judgement(
                config_id=config_id,
                rung=rung,
                stability=Stability.UNSTABLE if self.rng.random() < 0.1 and rung else Stability.STABLE,
                relative_range=0.09,
                raw=raw,
                adjusted=adjusted,
                score=worst,
                reasons=(
                    "relative range 9.1% <= 30%",
                    "adjuster trained on 40 trials",
                    f"worst of {len(raw)}: {worst:.6g}",
                ),
                read_n=len(self.facts),
            )
        )

    def end(self, key: str) -> None:
        """Write the end of an iteration."""
        from albacore.trial import Note

        self.facts.append(Note(kind="iteration", body={"key": key, "lane": 0, "n": len(self.facts), "ok": True}))


def halved(space: Any, samples: int = SAMPLES, guest_metrics: int = 60) -> Scribe:
    """Return who has written a log of as many samples as successive halving spends on configs: 9 to 3 to 1."""
    from albacore.sample import Purpose

    scribe, default = Scribe(space, guest_metrics=guest_metrics), space.default().id
    scribe.judge(default, 2, {f"n{i + 1}": scribe.sample(default, i, Purpose.DEFAULT) for i in range(10)})
    spent, index = 10, 0
    while spent < samples:
        config_id, raw = scribe.config(), {}
        for rung in range(3 if index % 9 == 0 else 2 if index % 3 == 0 else 1):
            key = f"run.l0.{index}.{rung}"
            scribe.ask(key, config_id, rung)
            for slot in range(len(raw), RUNGS[rung]):
                raw[f"n{slot + 1}"] = scribe.sample(config_id, slot, Purpose.TUNE)
            scribe.judge(config_id, rung, dict(raw))
            scribe.end(key)
        spent += len(raw)
        index += 1
    return scribe


def space() -> Any:
    """Return twenty knobs."""
    from albacore.space import Knob, Space

    return Space(knobs=tuple(Knob(name=f"k{i}", kind="real", low=0.0, high=1.0, default=0.5) for i in range(20)))


def store_with_run(folder: Path, scribe: Scribe, **tables: Any) -> Any:
    """Return a store with one run, of what somebody wrote; keywords are tables of its campaign."""
    from albacore.campaign import parse
    from albacore.store import CampaignRun, Store, transcript

    store = Store(f"sqlite:///{folder / 'albacore.db'}")
    store.migrate()
    table = {"name": "big", "system": "noop", "workload": "sleep", "nodes": {"tuning": 10}, **tables}
    workload = {"system": "noop", "name": "sleep", "digest": "d", "title": "", "metric": "tps", "unit": "tps"}
    run = CampaignRun(
        id="big-1",
        campaign="big",
        logical_date=None,
        opened_at=0.0,
        effective=parse(table, where="perf").model_dump(mode="json"),
        benchmark={"workload": {**workload, "direction": "max", "expected_s": 1.0, "timeouts_s": {}, "params": {}}},
        space=scribe.space.to_json(),
        benchmark_digest="d",
        policy_digest="p",
        library="0",
    )
    nodes = [{"name": f"n{i}", "host": f"h{i}", "role": "tuning", "address": {}, "facts": {}} for i in range(1, 11)]
    whole = transcript.of_facts(run, scribe.facts, {i: dict(c) for i, c in scribe.configs.items()}, nodes)
    transcript.write(store, whole, transcript.Origin(digest="d", source="perf"))
    return store


def spent_ms(work: Callable[[], Any]) -> tuple[float, float]:
    """Return how long something takes, on the wall and of the processor."""
    begun, used = time.perf_counter(), time.process_time()
    work()
    return 1000 * (time.perf_counter() - begun), 1000 * (time.process_time() - used)


def append_one(store: Any) -> None:
    """Add to the log what an iteration ends with."""
    from albacore.store.run_log import RunLog
    from albacore.trial import Note

    key = str(time.perf_counter_ns())
    RunLog(store, "big-1").append_note(Note(kind="iteration", body={"key": key, "lane": 1, "ok": True}), key=key)


def routes(store: Any) -> dict[str, Callable[[Any], bytes]]:
    """Return name -> what makes the answer out of a shelf."""
    from albacore.charts import summary, trials
    from albacore_airflow.web.catalogue import PAGES
    from albacore_airflow.web.plain import encode

    outside = summary.Outside(now=40_000.0, dag_state="running")
    found: dict[str, Callable[[Any], bytes]] = {
        page.name: lambda shelf, page=page: shelf.page("big-1", page.name, lambda book: encode(page.make(book)))
        for page in PAGES
    }
    config = next(iter(c for c in reversed(list(_configs(store)))))
    found["line"] = lambda shelf: encode(summary.line(shelf.book("big-1"), outside))
    found["one trial"] = lambda shelf: encode(trials.one(shelf.book("big-1"), config))
    return found


def _configs(store: Any) -> list[str]:
    from albacore.store.run_log import RunLog

    return list(RunLog(store, "big-1").configs())


def figures() -> dict[str, dict[str, Any]]:
    """Return milliseconds per route: the first look, the median look after a new event, the median look without."""
    sys.path[:0] = [str(ROOT / "include"), str(ROOT / "plugins")]
    from albacore_airflow.web.shelf import Shelf

    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        store = store_with_run(Path(folder), halved(space()))
        for name, make in routes(store).items():
            shelf = Shelf(lambda: store)
            first = spent_ms(lambda make=make, shelf=shelf: make(shelf))
            grown = []
            for _ in range(REPEATS):
                append_one(store)
                grown.append(spent_ms(lambda make=make, shelf=shelf: make(shelf)))
            same = [spent_ms(lambda make=make, shelf=shelf: make(shelf)) for _ in range(REPEATS)]
            for when, spent in (("first look", [first]), ("after an event", grown), ("again", same)):
                for clock, times in zip(("", ", processor"), zip(*spent, strict=True), strict=True):
                    value = round(statistics.median(times), 1)
                    found[f"page {name}, 10,000 samples, {when}{clock}"] = {"value": value, "unit": "ms"}
        store.close()
    return found
