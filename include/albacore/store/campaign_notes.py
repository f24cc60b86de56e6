"""Notes of one kind over all runs of a campaign, oldest run first, without reading the logs around them."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from albacore.store import Store, schema


def notes(store: Store, campaign: str, kind: str) -> dict[str, Mapping[str, Any]]:
    """Return campaign run -> body of its last note of a kind.

    Args:
        store: Where the runs are.
        campaign: The campaign's name.
        kind: The notes' kind.
    """
    run, note = schema.campaign_run, schema.note
    query = (
        select(run.c.id, note.c.body)
        .join(note, note.c.run_id == run.c.id)
        .where(run.c.campaign == campaign, note.c.kind == kind)
        .order_by(run.c.opened_at, note.c.n)
    )
    with store.read() as connection:
        return {row[0]: row[1] for row in connection.execute(query)}
