"""The results of re-scoring, by campaign run and policy: they stand beside the run's own, and are never edited."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert, select

from albacore.store import CampaignRun, Store, schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescored:
    """What a policy says of a run.

    Attributes:
        policy: Its name; `policy_digest` tells it from another version of the same name.
        at: When it was computed first, seconds since the epoch.
        library: Version of the library that computed it.
        body: The result as plain data (`rescoring.Rescoring.plain`).
    """

    run_id: str
    policy: str
    policy_digest: str
    at: float
    library: str
    body: Mapping[str, Any]


def put(store: Store, result: Rescored) -> Rescored:
    """Record a result; return the one that is there when this run was re-scored under this policy before."""
    table = schema.rescoring
    key = (table.c.run_id == result.run_id, table.c.policy_digest == result.policy_digest)
    with store.write(result.run_id) as connection:
        found = connection.execute(select(table).where(*key)).mappings().one_or_none()
        if found is None:
            connection.execute(insert(table).values(asdict(result)))
        return Rescored(**found) if found else result


def of_campaign(store: Store, campaign: str, policy: str) -> dict[str, Rescored]:
    """Return run id -> what a policy says of it; of several versions of the policy the newest."""
    table, run = schema.rescoring, schema.campaign_run
    query = select(table).join(run, run.c.id == table.c.run_id).where(run.c.campaign == campaign)
    query = query.where(table.c.policy == policy).order_by(table.c.at)
    with store.read() as connection:
        return {row["run_id"]: Rescored(**row) for row in connection.execute(query).mappings()}


def policies_of(store: Store, campaign: str) -> dict[str, int]:
    """Return policy -> how many runs of a campaign were re-scored under it, by name."""
    table, run = schema.rescoring, schema.campaign_run
    query = select(table.c.policy, table.c.run_id).join(run, run.c.id == table.c.run_id)
    query = query.where(run.c.campaign == campaign).distinct()
    found: dict[str, int] = {}
    with store.read() as connection:
        for policy, _ in connection.execute(query):
            found[policy] = found.get(policy, 0) + 1
    return dict(sorted(found.items()))


def date_of(run: CampaignRun) -> datetime:
    """Return the moment that a run is recorded under: its logical date, else when it was opened; always with a zone."""
    if run.logical_date is None:
        return datetime.fromtimestamp(run.opened_at, UTC)
    found = datetime.fromisoformat(run.logical_date)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def between(store: Store, campaign: str, start: datetime, end: datetime) -> list[CampaignRun]:
    """Return a campaign's runs that are recorded from `start` up to, not including, `end`; oldest first."""
    table = schema.campaign_run
    with store.read() as connection:
        query = select(table).where(table.c.campaign == campaign)
        found = [CampaignRun(**row) for row in connection.execute(query).mappings()]
    return sorted((r for r in found if start <= date_of(r) < end), key=lambda r: (date_of(r), r.id))
