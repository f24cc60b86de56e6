"""Transcribing: a run that another tuner recorded, as a campaign run with a log of our own.

The log is what ours would be: an ask per suggestion, its samples, a judgement when a rung is full, an iteration's end.
The order is the recorded one; there are no times, so every event has the run's own. Judgements are those of the
paper's policy without noise adjuster, since guest metrics are not published; other policies come by back-fill.
"""

import dataclasses
import hashlib
import json
import re
from collections import Counter
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any

import albacore
from albacore.backfill.rescoring import digest_of
from albacore.benchmark import Workload
from albacore.campaign import Campaign, parse
from albacore.errors import HistoryError, UserError
from albacore.history import HistoricalRun
from albacore.importing.observed_space import ABSENT, observed
from albacore.importing.transcribed_log import Writer, node_name, rows_of
from albacore.replay import Scene
from albacore.store import CampaignRun
from albacore.store.transcript import Origin, Transcript, of_facts
from albacore.trial import Log

RARE = 0.01
"""Sizes of a trial that a smaller share of the suggestions ends on are no rungs: suggestions that were cut short."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a recorded run goes to.

    Attributes:
        logical_date: The date it is given, ISO 8601 with a zone; None is none.
        opened_at: The same in seconds since the epoch, or when it was imported.
    """

    campaign: str
    logical_date: str | None
    opened_at: float


def digest(found: HistoricalRun) -> str:
    """Return the digest of what a run recorded, whatever file and name it comes in."""
    configs: dict[str, str] = {}
    told = hashlib.sha256()
    for _, config_id, node, value, failed, suggestion in rows_of(found):
        if config_id not in configs:
            named = sorted((k, v) for k, v in found.configs.get(config_id, {}).items() if v not in (None, ABSENT))
            configs[config_id] = hashlib.sha256(json.dumps(named).encode()).hexdigest()
        told.update(repr((suggestion, node, value, failed, configs[config_id])).encode())
    return told.hexdigest()


def origin_of(found: HistoricalRun) -> Origin:
    """Return where a recorded run comes from."""
    return Origin(
        digest=digest(found),
        source=found.source.name,
        label=found.workload,
        method=f"{found.method} run {found.number}"[:250],
        licence=licence_beside(found.source),
    )


def licence_beside(path: Path) -> str:
    """Return the first lines of a licence that lies beside a file; "" when there is none."""
    for name in ("LICENSE", "LICENSE.txt", "LICENCE"):
        beside = path.parent / name
        if beside.is_file():
            with beside.open(encoding="utf-8", errors="replace") as opened:
                said = [line.strip() for line in opened.read(10_000).splitlines() if line.strip()]
            return ", ".join(said[:2])[:200]
    return ""


def transcribe(found: HistoricalRun, place: Place, origin: Origin) -> Transcript:
    """Return a recorded run as a campaign run.

    Raises:
        HistoryError: It has no default config, no configs, or measures a config twice on a node where its method
            never does.
    """
    where = f"{found.source.name}: {found.method} run {found.number}"
    known = set(found.samples.config_id.tolist())
    if missing := known - set(found.configs):
        raise HistoryError(
            f"{where}: expected the knobs of every config, there are none for {min(missing)!r:.40} and "
            f"{len(missing) - 1} more. Is the file of configs beside the samples?"
        )
    own = {config_id: found.configs[config_id] for config_id in dict.fromkeys(found.samples.config_id.tolist())}
    default_id = _default(found, where)
    try:
        space, configs = observed(own, default_id)
    except UserError as error:
        raise HistoryError(f"{where}: {error.message}") from error
    effective = _campaign(found, place, _rungs(found))
    run = _run(found, place, effective, origin, space.to_json())
    scene = Scene(
        policy=effective.policy_of(),
        space=space,
        metric=found.metric,
        direction=found.direction,
        seed=effective.seed,
        limits={},
        configs={c.id: c for c in configs.values()},
        log=Log(),
    )
    facts = Writer(scene, configs, run).write(found, where)
    nodes = [
        {"name": name, "host": name, "role": "tuning", "address": {}, "facts": {}}
        for name in map(node_name, found.nodes)
    ]
    return of_facts(run, facts, {c.id: dict(c) for c in configs.values()}, nodes)


def _default(found: HistoricalRun, where: str) -> str:
    """Return the recorded id of the default config."""
    defaults = set(found.samples.config_id[found.samples.is_default].tolist())
    if len(defaults) != 1:
        raise HistoryError(f"{where}: expected one default config (suggestion 0) to compare with, got {len(defaults)}.")
    return defaults.pop()


def _rungs(found: HistoricalRun) -> tuple[int, ...]:
    """Return the ladder that shows: how many samples configs have when their suggestions end."""
    sizes: Counter[str] = Counter()
    ends: Counter[int] = Counter()
    s = found.samples
    tuned = [(n, c) for n, c, d in zip(s.suggestion.tolist(), s.config_id.tolist(), s.is_default, strict=True) if not d]
    for (_, config_id), group in groupby(tuned):
        sizes[config_id] += len(list(group))
        ends[sizes[config_id]] += 1
    nodes = len(found.nodes)
    total = sum(ends.values())
    return tuple(sorted(n for n, times in ends.items() if times >= RARE * total and n <= nodes)) or (1,)


def _campaign(found: HistoricalRun, place: Place, rungs: tuple[int, ...]) -> Campaign:
    """Return the campaign that the run would have been."""
    words = [word for word in found.workload.split("/") if word]
    system, workload = words[-2:] if len(words) > 1 else ("recorded", found.workload)
    data = {
        "name": place.campaign,
        "title": " ".join(f"{found.workload}, {found.method} run {found.number}".split())[:200],
        "system": legal_name(system),
        "workload": legal_name(workload),
        "limits": {"samples": len(found.samples)},
        "policy": {"preset": "tuna", "rungs": list(rungs), "adjuster": "identity"},
        "nodes": {"tuning": len(found.nodes), "validation": 0},
        "optimizer": {"name": "random"},
    }
    return parse(data, where=f"{found.source.name}: as a campaign")


def legal_name(text: str) -> str:
    """Return a text as a name that campaigns, systems and workloads may have."""
    return re.sub(r"^[^a-z]+", "", re.sub(r"[^a-z0-9]+", "-", text.lower())).strip("-")[:30].strip("-") or "recorded"


def _run(found: HistoricalRun, place: Place, effective: Campaign, origin: Origin, space: dict[str, Any]) -> CampaignRun:
    said = f"{effective.system}-{effective.workload}-{legal_name(found.method)}{found.number}"
    benchmark_digest = "recorded-" + hashlib.sha256(found.workload.encode()).hexdigest()[:16]
    workload = Workload(
        name=effective.workload,
        system=effective.system,
        digest=benchmark_digest,
        title=found.workload[:200],
        metric=found.metric,
        unit=found.unit,
        direction=found.direction,
        expected_s=0.0,
        timeouts_s=MappingProxyType({}),
        params=MappingProxyType({}),
    )
    plain = {f.name: getattr(workload, f.name) for f in dataclasses.fields(workload)}
    plain |= {"timeouts_s": {}, "params": {}, "direction": found.direction.value}
    return CampaignRun(
        id=f"{place.campaign}-{said}-{origin.digest[:8]}",
        campaign=place.campaign,
        logical_date=place.logical_date,
        opened_at=place.opened_at,
        effective=effective.model_dump(mode="json"),
        benchmark={
            "origin": "imported",
            "title": found.workload[:200],
            "values": {"true": "on", "false": "off"},
            "fragment": {"file": "", "line": "{name} = {value}"},
            "workload": plain,
        },
        space=space,
        benchmark_digest=benchmark_digest,
        policy_digest=digest_of(effective.policy_of()),
        library=albacore.__version__,
    )
