"""Campaign runs written straight into a store: what the pages' tests and their benchmark look at."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import recorded_files
from scenes import SPACE, FixedErrors, Play, sample
from sqlalchemy import insert
from stored_runs import WORKLOAD

from albacore import importing, replay, sentinel
from albacore.campaign import parse
from albacore.charts import book
from albacore.charts.book import Book
from albacore.nightly import nights
from albacore.policies import presets
from albacore.sample import Blame, Failure, Purpose, Sample
from albacore.space import Kind, Knob, Space
from albacore.store import CampaignRun, NodeRecord, Store, rows, schema
from albacore.store.run_log import RunLog
from albacore.trial import Direction, Log, Note
from albacore.verdict import Terms, concluding

PLANT = '<img src=x onerror="window.planted=1">'
"""What must stay text wherever it turns up."""
NODES = tuple(f"n{i}" for i in range(1, 11))
FRESH = ("n11", "n12", "n13")
STEP_S = 20.0
"""Seconds between two events."""
DOC = "https://www.postgresql.org/docs/16/runtime-config-resource.html"
PLANTED_SPACE = Space(
    knobs=(
        Knob(name="mode", kind=Kind.CHOICE, default="plain", choices=("plain", PLANT), doc=DOC),
        Knob(name="k1", kind=Kind.REAL, low=0.0, high=1.0, default=0.5),
    )
)


class Planted:
    """An optimizer that sets the choice that is markup."""

    name = "planted"

    def suggest(self, space, observations, pending, *, seed, ask_index):
        return space.config({"mode": PLANT, "k1": (ask_index % 83) / 83})


def opened_run(run_id: str, campaign: str, space: Space, *, opened_at: float, title: str = "", **tables) -> CampaignRun:
    """Return an open run on ten nodes; keywords are further entries of its campaign's file."""
    table = {"name": campaign, "title": title, "system": "noop", "workload": "sleep", "nodes": {"tuning": 10}, **tables}
    return CampaignRun(
        id=run_id,
        campaign=campaign,
        logical_date=None,
        opened_at=opened_at,
        effective=parse(table, where="a test").model_dump(mode="json"),
        benchmark={"workload": WORKLOAD, "fragment": {"file": "noop.conf", "line": "{name} = {value}"}},
        space=space.to_json(),
        benchmark_digest="d",
        policy_digest="p",
        library="0",
    )


def book_of(scene, *, title: str = "") -> Book:
    """Return a scene's run as its pages read it, without a store; the clock stands at 0 when it opens."""
    run = opened_run("mine-1", "mine", scene.space, opened_at=0.0, title=title)
    fleet = [NodeRecord(name=n, host=n, role="tuning", address={}, facts={"cores": 8}) for n in NODES]
    return replace(book.opened(run, scene, fleet), direction=scene.direction)


def put(store: Store, run: CampaignRun, scene) -> None:
    """Write a run and its whole log at once."""
    store.open_run(run)
    fleet = [(name, "tuning") for name in NODES] + [(name, "validation") for name in FRESH]
    facts = {"cores": 8, "ram_bytes": 32 * 2**30}
    store.put_nodes(run.id, [NodeRecord(name=n, host=n, role=role, address={}, facts=facts) for n, role in fleet])
    found: dict = {schema.event: []} | {table: [] for table in rows.TABLES.values()}
    for event in scene.log.events:
        at, fact = run.opened_at + event.n * STEP_S, event.fact
        if isinstance(fact, Sample | Failure):
            fact = replace(fact, started_at=at - STEP_S, duration_s=STEP_S * 0.9)
        attempt = {"attempt": event.n} if isinstance(fact, Failure) else {}
        table, number = rows.TABLES[type(fact)], {"run_id": run.id, "n": event.n}
        found[schema.event].append({**number, "kind": table.name, "at": at})
        found[table].append({**number, **rows.to_row(fact), **attempt})
    with store.write(run.id) as connection:
        configs = [{"run_id": run.id, "config_id": i, "knobs": dict(c)} for i, c in scene.configs.items()]
        connection.execute(insert(schema.config), configs)
        for table, entries in found.items():
            if entries:
                connection.execute(insert(table), entries)


def noisy(seed: int):
    """Return what measures, and each node's effect: a smooth optimum, and configs that lose on some nodes."""
    generator = np.random.default_rng(seed)
    effect = dict(zip((*NODES, *FRESH), generator.normal(0, 0.03, 13), strict=True))
    is_unstable: dict[str, bool] = {}

    def measure(config, node):
        unstable = is_unstable.setdefault(config.id, config["k2"] != 0.5 and generator.random() < 0.3)
        base = 1000 * (1.4 - 2 * (config["k0"] - 0.8) ** 2)
        dip = 0.55 if unstable and generator.random() < 0.35 else 1.0
        return float(base * dip * (1 + effect[node] + generator.normal(0, 0.015)))

    return measure, effect


def played(iterations: int, *, seed: int = 1) -> Play:
    """Return a run with an adjuster that knows most of each node's effect."""
    measure, effect = noisy(seed)
    policy = presets.by_name("tuna", nodes=10, rungs=(1, 3, 10), adjuster="identity")
    adjuster = FixedErrors({node: 0.7 * e for node, e in effect.items()})
    play = Play(measure, policy=replace(policy, adjuster=adjuster))
    play.default()
    play.iterate(iterations, lanes=3)
    return play


def conclude(play: Play) -> None:
    """Add the samples on fresh nodes and the verdict."""
    best, default = replay.incumbent(play.now).config_id, play.now.default_id
    slots = [(node, config, repeat) for repeat in range(2) for node in FRESH for config in (default, best)]
    for slot, (node, config, repeat) in enumerate(slots):
        value = play.measure(play.now.configs[config], node)
        play.add(sample(config, node, value, slot=slot, purpose=Purpose.VALIDATE, repeat=repeat))
    body = concluding.conclude(play.now, Terms(unit="tps")).body() | {"stopped": "limit reached: 500 samples"}
    space = play.now.space
    was, now = (space.text(play.now.configs[c]) for c in (default, best))
    changed = space.difference(play.now.configs[default], play.now.configs[best])
    body["knobs"] = [
        {"name": k.name, "default": was[k.name], "best": now[k.name], "unit": "", "doc": DOC} for k in changed
    ]
    body["fragment"] = {"file": "noop.conf", "text": "".join(f"{k.name} = {now[k.name]}\n" for k in changed)}
    play.add(Note(kind="verdict", body=body))


def write_demo(store: Store, run_id: str, *, opened_at: float, iterations: int = 150, title: str = "Reports") -> None:
    """Write a run that has its verdict, of the campaign that its id starts with."""
    play = played(iterations)
    conclude(play)
    play.now = replace(play.now, log=_planned(play.now.log, "Seq Scan on stock"))
    put(store, opened_run(run_id, run_id.partition("-")[0], SPACE, opened_at=opened_at, title=title), play.now)


def write_planted(store: Store, run_id: str, *, opened_at: float) -> None:
    """Write a run that holds markup wherever text of others can be: knob, error line, log, title."""

    def measure(config, node):
        if node == "n3":
            return Blame.NODE
        return Blame.CONFIG if 0.2 < config["k1"] < 0.25 else 900 + 300 * config["k1"] + len(node)

    policy = presets.by_name("tuna", nodes=10, rungs=(1, 3, 10), adjuster="identity")
    play = Play(measure, optimizer=Planted(), policy=policy)
    default = PLANTED_SPACE.default()
    play.now = replace(play.now, space=PLANTED_SPACE, configs={default.id: default})
    play.default()
    play.iterate(40)
    play.now = replace(play.now, log=Log(tuple(replace(e, fact=_marked(e.fact)) for e in play.now.log.events)))
    conclude(play)
    play.now = replace(play.now, log=_planned(play.now.log, f"Seq Scan on {PLANT}", always="n2"))
    campaign = run_id.partition("-")[0]
    put(store, opened_run(run_id, campaign, PLANTED_SPACE, opened_at=opened_at, title=f"Planted {PLANT}"), play.now)


def _planned(log: Log, bad: str, *, always: str = "") -> Log:
    """Return the log with a join's plan in the notes of each sample: bad where the config is slow, or on that node."""
    shapes, best = {"good": "Nested Loop", "bad": f"Merge Join ({bad})"}, {}
    for found in log.facts(Sample):
        best[found.config_id] = max(best.get(found.config_id, 0.0), found.value("tps"))

    def plan(fact):
        if not isinstance(fact, Sample):
            return fact
        name = "bad" if fact.value("tps") < 0.8 * best[fact.config_id] or fact.node == always else "good"
        return replace(fact, notes={"plans": {"stock_level[w=1]": name}, "plan_shapes": {name: shapes[name]}})

    return Log(tuple(replace(e, fact=plan(e.fact)) for e in log.events))


def _marked(fact):
    """Return a failure with markup in its message and its log."""
    return replace(fact, message=f"FATAL: {PLANT}", log=f"line 1\n{PLANT}\n") if isinstance(fact, Failure) else fact


def write_imported(store: Store, folder: Path) -> str:
    """Import a file with markup wherever a recorded run has a text; return the run's id.

    Those are the file's name, its label, the licence beside it, knobs by name and value, and a node.
    """
    (folder / "LICENSE").write_text(f"Licence {PLANT}\n")
    path, in_csv = folder / f"{PLANT}-tpcc-TUNA_run_0.csv", PLANT.replace('"', '""')
    rows = [
        (i, text.replace("mode", f"mode {in_csv}").replace("'on'", f"'{in_csv}'"), f'"{in_csv}"' if w == 2 else w, v)
        for i, text, w, v in recorded_files.ROWS
    ]
    path.write_text(recorded_files.text(rows))
    wanted = importing.Wanted(label=f"tpcc {PLANT}", direction=Direction.MAX)
    (found,) = importing.bring_in(store, [path], wanted)
    return found.run_id


def write_nights(store: Store, *, opened_at: float, count: int = 4) -> None:
    """Write nights of the campaign `nightly`: three nodes, two sentinels on each; in the last one n2 is slow."""
    kept = SPACE.config({"k0": 0.9, "k1": 0.5, "k2": 0.5})
    entry = {"config_id": kept.id, "run": "nightly-1", "is_incumbent": True}
    tables = {"schedule": "0 2 * * *", "nodes": {"tuning": 3}, "policy": {"rungs": [1, 3]}}
    for i in range(1, count + 1):
        at, run_id = opened_at + 86400.0 * (i - count), f"nightly-{i}"
        store.open_run(opened_run(run_id, "nightly", SPACE, opened_at=at, title="Nightly: orders", **tables))
        records = [NodeRecord(name=n, host=n, role="tuning", address={}, facts={"cores": 8}) for n in NODES[:3]]
        store.put_nodes(run_id, records)
        log = RunLog(store, run_id)
        for config in (SPACE.default(), kept):
            log.put_config(config.id, dict(config))
        if i > 1:
            log.append_note(Note(kind=sentinel.WARM_START, body={"configs": [entry], "passed_over": []}), key="begin")
        for slot, node in enumerate(NODES[:3]):
            times = (0.6 if i == count and node == "n2" else 1.0) * (1 + 0.004 * ((7 * i + 3 * slot) % 5 - 2))
            figures = {SPACE.default().id: (100.0, Purpose.DEFAULT)} | (
                {kept.id: (150.0, Purpose.TUNE)} if i > 1 else {}
            )
            for config_id, (figure, purpose) in figures.items():
                found = sample(config_id, node, figure * times, slot=slot, purpose=purpose)
                log.append_sample(replace(found, started_at=at))
        nights.note_drift(store, run_id)


def make(path: Path, *, now: float) -> Store:
    """Return a store with an ordinary run, `demo-1`, nights, and two full of markup: `planted-1`, and one imported."""
    store = Store(f"sqlite:///{path}")
    store.migrate()
    write_demo(store, "demo-1", opened_at=now - 7200)
    write_planted(store, "planted-1", opened_at=now - 3600)
    write_imported(store, path.parent)
    write_nights(store, opened_at=now - 1800)
    return store
