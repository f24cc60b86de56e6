"""The smoke command against a fake Azure: what it prints, and that it leaves nothing whatever happens."""

import pytest
from azure_fake import scene
from azure_fake.arm import serving
from azure_fake.group import Group
from azure_fake.machines import booting
from nodes import places, sshd
from small_campaigns import noop

from albacore import cli


@pytest.fixture
def campaign(tmp_path):
    """What writes a campaign file whose key is a file."""

    def write(place, port: int):
        scene.user_key(tmp_path)
        (tmp_path / "prices.toml").write_text(scene.PRICES)
        (tmp_path / "campaigns").mkdir(exist_ok=True)
        file = tmp_path / "campaigns" / "smoky.toml"
        table = scene.nodes_table(port=port, directory=str(place / "t"), key_file="../user")
        file.write_text(noop(nodes=table.replace('key_connection = "lab_ssh", ', "")))
        return file

    return write


@pytest.mark.node
def test_smoke_makes_one_machine_reaches_it_and_leaves_nothing(campaign, monkeypatch, capsys):
    """One PUT, a login with the pinned key, a deletion, and a list by tags that is empty."""
    port = sshd.free_port()
    with serving(Group(boot=booting(port))) as arm, places.root() as place:
        monkeypatch.setenv("ALBACORE_ARM_ENDPOINT", arm.url)

        assert cli.main(["smoke", str(campaign(place, port))]) == 0

        said = capsys.readouterr().out
        assert "reached with its pinned host key" in said
        assert "nothing tagged is left" in said
        assert len(arm.puts()) == 1
        assert arm.names == []


def test_smoke_leaves_nothing_of_a_machine_that_cannot_be_had(campaign, monkeypatch, capsys, tmp_path):
    """The error is the service's, the exit code is not 0."""
    with serving() as arm:
        monkeypatch.setenv("ALBACORE_ARM_ENDPOINT", arm.url)
        arm.fail_async("-1$", "AllocationFailed")

        assert cli.main(["smoke", str(campaign(tmp_path, 22))]) == 1

        assert "AllocationFailed" in capsys.readouterr().err
        assert arm.names == []


def test_smoke_wants_a_campaign_on_azure(tmp_path, capsys):
    """Another one is somebody's mistake."""
    file = tmp_path / "local.toml"
    file.write_text(noop())
    assert cli.main(["smoke", str(file)]) == 2
    assert "[nodes.azure]" in capsys.readouterr().err


def test_check_tells_what_an_hour_costs(campaign, monkeypatch, capsys, tmp_path):
    """And finds a missing price before a run does."""
    monkeypatch.setenv("ALBACORE_BENCHMARKS", str(places.BENCHMARKS))
    file = campaign(tmp_path, 22)
    assert cli.main(["check", str(file)]) == 0
    assert "0.2128 for an hour of a node (prices.toml of 2026-11-01, USD)" in capsys.readouterr().out
    (tmp_path / "prices.toml").write_text(scene.PRICES.replace("Standard_D4s_v5", "Standard_D2s_v5"))
    assert cli.main(["check", str(file)]) == 2
