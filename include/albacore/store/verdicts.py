"""The verdicts of a campaign's runs, newest first, without reading the logs that led to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from albacore.store import CampaignRun, Store, schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Concluded:
    """A verdict as it is in the store.

    Attributes:
        run: The campaign run that it belongs to.
        at: When it was written, seconds since the epoch.
        body: The note's body (docs/verdict.md).
    """

    run: CampaignRun
    at: float
    body: Mapping[str, Any]


def verdicts(store: Store, campaign: str, *, before: float | None = None) -> list[Concluded]:
    """Return the verdicts of a campaign's runs, newest first; a run that was extended has several.

    Args:
        store: Where the runs are.
        campaign: The campaign's name.
        before: Seconds since the epoch; only verdicts older than this.
    """
    run, note, event = schema.campaign_run, schema.note, schema.event
    query = (
        select(run, note.c.body.label("said"), event.c.at.label("said_at"))
        .join(note, note.c.run_id == run.c.id)
        .join(event, (event.c.run_id == note.c.run_id) & (event.c.n == note.c.n))
        .where(run.c.campaign == campaign, note.c.kind == "verdict")
        .order_by(event.c.at.desc(), run.c.opened_at.desc(), note.c.n.desc())
    )
    if before is not None:
        query = query.where(event.c.at < before)
    with store.read() as connection:
        rows = [dict(row) for row in connection.execute(query).mappings()]
    return [Concluded(body=row.pop("said"), at=row.pop("said_at"), run=CampaignRun(**row)) for row in rows]
