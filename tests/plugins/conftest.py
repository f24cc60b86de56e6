"""A fake Azure, and a folder of campaigns that names it by Airflow connections."""

import pytest
from azure_fake import scene
from azure_fake.arm import serving
from azure_fake.group import SUBSCRIPTION
from nodes import places
from rented_runs import connection, rented_campaign


@pytest.fixture
def arm():
    with serving() as found:
        yield found


@pytest.fixture
def folder(tmp_path, monkeypatch, arm, store):
    """A folder of campaigns with one on Azure, and the connections that it names."""
    home = tmp_path / "campaigns"
    home.mkdir()
    (home / "rented.toml").write_text(rented_campaign())
    (tmp_path / "prices.toml").write_text(scene.PRICES)
    monkeypatch.setenv("ALBACORE_CAMPAIGNS", str(home))
    monkeypatch.setenv("ALBACORE_BENCHMARKS", str(places.BENCHMARKS))
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path))
    azure = {"subscriptionId": SUBSCRIPTION, "arm_endpoint": arm.url}
    connection(monkeypatch, "azure_default", "azure_compute", azure)
    connection(monkeypatch, "lab_ssh", "generic", {"private_key": scene.user_key(tmp_path)})
    return home
