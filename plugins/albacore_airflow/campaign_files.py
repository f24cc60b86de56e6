"""The campaign files of this clone, for the DAG files: the good ones, and what is wrong with the others."""

from pathlib import Path

from albacore.benchmark import Benchmark
from albacore.campaign import Campaign, read
from albacore.errors import CampaignError, UserError
from albacore_airflow import settings


def good() -> list[Campaign]:
    """Return the campaigns whose file and benchmark are in order, by name."""
    found = (_checked(path) for path in _paths())
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
        campaign = read(path)
        Benchmark.read(settings.benchmarks_dir(), campaign.system).workload(campaign.workload)
    except UserError as error:
        return error
    return campaign
