"""Runs in a store whose adjusters learn from earlier ones: what earlier runs and tonight's run have measured."""

import random
from dataclasses import replace

from scenes import SPACE, ask, sample

from albacore import earlier
from albacore.nightly import teaching
from albacore.store.run_log import RunLog
from albacore.trial import Judgement, Stability

NODES = ("n1", "n2", "n3", "n4", "n5")
POLICY = {"rungs": [1, 5], "adjuster": "cross_validated"}
TAUGHT = {"policy": POLICY, "warm_start": {"adjuster": True}}
LOWER, TOP = 0, 1


def put_trial(log, index, generator, *, rung=TOP):
    """Record a config on its nodes: a passing 10 % effect per sample, which one guest metric shows."""
    config = SPACE.config({"k0": index / 100, "k1": 0.25, "k2": 0.5})
    log.append_ask(ask(index, config.id, rung=rung, read_n=log.read().last_n), dict(config))
    for slot, node in enumerate(NODES[: 1 if rung == LOWER else 5]):
        effect = generator.gauss(0, 0.10)
        telemetry = {"steal": 5 + 10 * effect + generator.gauss(0, 0.05), "other": generator.random()}
        log.append_sample(sample(config.id, node, 100.0 * (1 + effect), slot=slot, telemetry=telemetry))
    return config.id


def put_judgement(log, config_id, *, rung=TOP, stability=Stability.STABLE):
    plain = {"raw": {}, "adjusted": {}, "relative_range": 0.0, "score": 1.0, "reasons": (), "read_n": 0}
    log.append_judgement(Judgement(config_id=config_id, rung=rung, stability=stability, **plain))


def past(made, name="last", trials=8, *, age_s=86400.0, seed=1, **fields):
    """Record an earlier run with stable trials on its highest rung, on nodes like tonight's."""
    run = made.store.run("run")
    made.store.open_run(replace(run, id=name, opened_at=made.opened_at - age_s, **fields))
    made.store.put_nodes(name, made.store.nodes("run"))
    log, generator = RunLog(made.store, name), random.Random(seed)
    for index in range(trials):
        put_judgement(log, put_trial(log, index, generator))
    return log


def fixed(made):
    """Fix what tonight's adjuster learns from; return it and the reasons of what was passed over."""
    teaching.fix(made.store, "run")
    log = made.log.read()
    return earlier.taken(log), earlier.passed_over(log)
