"""A campaign run whose nodes are machines on a fake Azure, opened in a store without Airflow."""

import json

from azure_fake import scene
from small_campaigns import noop

from albacore import campaign
from albacore.store import CampaignRun
from albacore_airflow import settings

RUN = "rented-20261121t174225-ab12"


def connection(monkeypatch, name: str, kind: str, extra: dict[str, str]) -> None:
    """Make an Airflow connection in the environment."""
    monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}", json.dumps({"conn_type": kind, "extra": json.dumps(extra)}))


def rented_campaign(**changed) -> str:
    """Return a campaign file whose nodes are machines on the fake Azure."""
    return noop(nodes=scene.nodes_table(**changed))


def opened(store, folder, run: str = RUN) -> CampaignRun:
    """Open a run of the campaign, with its price."""
    chosen = campaign.read(folder / "rented.toml")
    chosen = chosen.model_copy(update={"nodes": settings.quoted(chosen)})
    return store.open_run(
        CampaignRun(
            id=run,
            campaign="rented",
            logical_date=None,
            opened_at=store.clock(),
            effective=chosen.model_dump(mode="json"),
            benchmark={},
            benchmark_digest="",
            policy_digest="",
            library="",
        )
    )
