"""What a campaign may order from Azure, what it costs, and what is refused before anything is asked."""

import tomllib

import pytest
from azure_fake import scene
from pydantic import ValidationError

from albacore.clouds.azure import preflight, prices, tag
from albacore.clouds.azure.identity import host_key
from albacore.errors import UserError
from albacore.nodes import NODE_NAME
from albacore.nodes.ssh_link import private_key

TABLE = tomllib.loads(scene.PRICES)


@pytest.mark.parametrize("size", ["Standard_B2s", "Standard_B4als_v2", "Basic_B1", "standard_b16ms"])
def test_burstable_sizes_are_refused_with_the_reason(size):
    """T25: credits make the figure tell what ran before; an explicit flag takes them all the same."""
    with pytest.raises(ValidationError, match="credits"):
        scene.order(size=size)
    assert scene.order(size=size, allow_burstable=True).is_burstable


def test_other_sizes_are_not_burstable():
    """HB and NV are not B."""
    assert not any(scene.order(size=size).is_burstable for size in ("Standard_HB120rs_v3", "Standard_D2s_v5"))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"image": "Canonical:ubuntu:server:latest"}, "image"),
        ({"subnet": "nodes"}, "subnet"),
        ({"key_connection": None}, "Give one"),
        ({"key_file": "~/.ssh/k"}, "Give one"),
        ({"max_cost": None}, "max_cost"),
        ({"max_nodes": None}, "max_nodes"),
        ({"max_hours": None}, "max_hours"),
        ({"data_disk": {"gib": 64, "sku": "PremiumV2_LRS"}, "zone": None}, "zones only"),
        ({"os_disk": {"gib": 64, "sku": "PremiumV2_LRS"}}, "booted"),
        ({"sise": "x"}, "sise"),
        ({"owner": "Me & You"}, "owner"),
    ],
)
def test_an_order_that_is_not_sound_is_refused(changed, said):
    """An image that may change, an address that is none, a missing cap, a key twice or never."""
    with pytest.raises(ValidationError, match=said):
        scene.order(**changed)


def test_a_node_costs_what_machine_and_disks_cost():
    """0.20 an hour, and 64 GiB at 0.146 for 730 hours; as spot 0.04."""
    found = prices.of_table(TABLE, scene.order(), where="azure.toml")
    assert found.per_hour == pytest.approx(0.20 + 64 * 0.146 / 730)
    assert found.source == "azure.toml of 2026-11-01, USD"
    spot = prices.of_table(TABLE, scene.order(spot=True, data_disk={"gib": 100}), where="azure.toml")
    assert spot.per_hour == pytest.approx(0.04 + 164 * 0.146 / 730)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"size": "Standard_D8s_v5"}, "expected the price of Standard_D8s_v5, there is none"),
        ({"location": "westeurope"}, r"\[westeurope.sizes\]"),
        ({"data_disk": {"gib": 10, "sku": "UltraSSD_LRS"}}, "UltraSSD_LRS"),
    ],
)
def test_a_missing_price_is_an_error(changed, said):
    """It is never 0."""
    with pytest.raises(UserError, match=said):
        prices.of_table(TABLE, scene.order(**changed), where="azure.toml")


@pytest.mark.parametrize(("key", "value"), [("date", None), ("date", "yesterday"), ("currency", None)])
def test_a_price_table_says_of_which_day_it_is(key, value):
    """Prices without a date or a currency are refused."""
    with pytest.raises(UserError, match=f"'{key} = "):
        prices.of_table({**TABLE, key: value}, scene.order(), where="azure.toml")


def test_a_table_that_is_not_there_says_where_to_look(tmp_path):
    """The error names the page."""
    with pytest.raises(UserError, match="07-azure"):
        prices.read(tmp_path / "none.toml", scene.order())


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"nodes": 6}, "max_nodes = 5"),
        ({"hours": 2.5}, "max_hours = 2"),
        ({"per_hour": 1.1}, "may cost 11.00, more than nodes.azure.max_cost = 10"),
    ],
)
def test_caps_hold_before_anything_is_asked(asked, said):
    """Nodes, hours, and what both cost at worst."""
    with pytest.raises(UserError, match=said):
        preflight.caps(scene.order(), **{"nodes": 5, "hours": 2.0, "per_hour": 1.0, **asked})
    assert preflight.caps(scene.order(), nodes=5, hours=2.0, per_hour=1.0) == 10.0


def test_names_are_legal_and_no_other_runs():
    """Every name is a node's and a machine's, however the run is called; none begins with another run's."""
    runs = ["demo-20261121t174225-ab12", "postgres-tpcc-20261121t174225-ab12", "a_b-1-2", "d", "demo-1"]
    found = [name for run in runs for name in tag.node_names(run, 100)]
    assert len(set(found)) == 500
    assert all(NODE_NAME.fullmatch(name) and len(name) <= 31 for name in found)
    assert [tag.index_of(name) for name in tag.node_names("d", 3)] == [0, 1, 2]
    assert tag.node_of_part("demo-1-2-os") == "demo-1-2"


def test_an_expiry_that_cannot_be_read_is_none():
    """Nobody deletes for it."""
    claim = tag.Claim(owner="a", campaign="c", run="r", expires=123.4)
    assert tag.expiry(claim.tags("n")) == 123.0
    assert [tag.expiry({tag.EXPIRES: text}) for text in ("soon", "nan", "inf", "")] == [None] * 4
    assert tag.expiry({}) is None


def test_a_host_key_follows_from_the_secret_and_the_name_and_openssh_reads_it():
    """The same bytes each time, another key for another name or secret; what is pinned belongs to what is sent."""
    one = host_key("secret", "n1")
    assert one == host_key("secret", "n1")
    assert len({one.public, host_key("secret", "n2").public, host_key("other", "n1").public}) == 3
    read = private_key(one.private, "test")
    assert f"{read.get_name()} {read.get_base64()}" == one.public
    assert "PRIVATE" not in repr(one)
