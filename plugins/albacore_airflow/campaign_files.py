"""The campaign files of this clone, for the DAG files: the good ones, and what is wrong with the others."""

from pathlib import Path

from albacore.campaign import Campaign
from albacore.checking import read_campaign
from albacore.errors import CampaignError, UserError
from albacore_airflow import settings


def good(only: str | None = None) -> list[Campaign]:
    """Return the campaigns whose file, benchmark and knobs are in order, by name.

    Args:
        only: A DAG's id: read the campaign that it belongs to and no other.
    """
    wanted = only.removesuffix(".iteration") if only else None
    found = (_checked(path) for path in _paths() if wanted in (None, path.stem))
    return [campaign for campaign in found if isinstance(campaign, Campaign)]


def faults() -> list[CampaignError]:
    """Return one error for all broken files together: file, key and remedy of each; empty when there is none."""
    found = [fault for fault in map(_checked, _paths()) if isinstance(fault, UserError)]
    return [CampaignError("\n".join(fault.message for fault in found))] if found else []


def _paths() -> list[Path]:
    return sorted(settings.campaigns_dir().glob("*.toml"))


def _checked(path: Path) -> Campaign | UserError:
    """Return a file's campaign, or what is wrong with it."""
    try:
        return read_campaign(path, settings.benchmarks_dir())[0]
    except UserError as error:
        return error
