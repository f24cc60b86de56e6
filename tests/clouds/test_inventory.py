"""Laws of inventories: who a machine is, which faults are told, and what leaves the file."""

import json
from pathlib import Path

import pytest

from albacore.clouds import inventory
from albacore.clouds.static import StaticCloud
from albacore.errors import NodeError, UserError

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ6nUqzpTbaT8zzfKdhFxOWYkCF8u3mNRJEUGXfZz0pG"
GOOD = f"""\
[defaults]
user = "bench"
key_file = "keys/tune"

[[hosts]]
name = "db1"
address = "10.0.0.1"
host_key = "{KEY} a comment"
labels = {{ rack = "a" }}
slots = 2

[[hosts]]
name = "db2"
address = "10.0.0.2"
host_key = "{KEY}"
user = "root"
connection = "lab"
bastion = "jump"

[[hosts]]
name = "load1"
address = "10.0.0.3"
host_key = "{KEY}"
roles = ["load"]

[[bastions]]
name = "jump"
address = "gate.example"
user = "hop"
host_key = "{KEY}"
key_file = "/keys/hop"
"""


def secret(connection_id: str) -> str:
    raise AssertionError("nothing may ask for a key before a connection is made")


@pytest.fixture
def cloud(tmp_path):
    (tmp_path / "lab.toml").write_text(GOOD)
    return StaticCloud(path=tmp_path / "lab.toml", secret=secret)


def changed(tmp_path: Path, old: str, new: str) -> Path:
    assert old in GOOD
    path = tmp_path / "changed.toml"
    path.write_text(GOOD.replace(old, new, 1))
    return path


def test_defaults_hold_for_hosts_that_say_nothing_else(cloud, tmp_path):
    """One kind of key keeps the other kind's default out, and key files are beside the inventory."""
    first, second, _ = inventory.read(cloud.path).hosts

    assert (first.user, first.key_file, first.connection) == ("bench", str(tmp_path / "keys/tune"), None)
    assert (second.user, second.key_file, second.connection) == ("root", None, "lab")
    assert first.host_key == KEY


def test_only_machines_with_the_role_system_are_nodes(cloud):
    """And fewer than asked for is an error that counts them."""
    assert cloud.names(2) == ["db1", "db2"]
    with pytest.raises(UserError, match=r"expected 3 hosts with the role 'system'.*there are 2"):
        cloud.names(3)


def test_a_node_is_found_again_by_its_address_in_another_process(cloud):
    """The address is JSON, and neither making nor finding a node asks for a key."""
    for node in cloud.provision(["db1", "db2"]):
        address = json.loads(json.dumps(cloud.address(node)))

        assert StaticCloud(path=Path("/gone"), secret=secret).find(node.name, address) == node


def test_the_login_decides_who_the_system_under_tune_is(cloud):
    """As root it gets a uid of its own; otherwise it is the login."""
    plain, root = cloud.provision(["db1", "db2"])

    assert plain.uid is None and plain.bastion is None
    assert root.uid is not None and root.uid >= 61184
    assert root.bastion is not None and root.bastion.user == "hop"
    assert str(root.directory) == "/var/tmp/albacore/db2"


def test_a_key_file_that_is_not_there_is_told_when_it_is_needed(cloud):
    """The error names the file."""
    (node,) = cloud.provision(["db1"])

    with pytest.raises(NodeError, match=r"key file .*keys/tune: cannot be read"):
        node.get("x")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("slots = 2", "slot = 2", r"hosts\.db1\.slot: unknown key"),
        ("slots = 2", "slots = 0", r"hosts\.db1\.slots: .*greater than or equal to 1, got 0"),
        (f'host_key = "{KEY} a comment"', "", r"hosts\.db1\.host_key: .*ssh-keyscan -t ed25519 10\.0\.0\.1.*compare"),
        (f"{KEY} a comment", "ssh-rsa AAAA", r"hosts\.db1\.host_key: .*ssh-keyscan"),
        ('name = "db2"', 'name = "db1"', r"hosts: expected each name once, db1 is there twice"),
        ('address = "10.0.0.1"', 'address = "a b; rm"', r"hosts\.db1\.address"),
        ('bastion = "jump"', 'bastion = "other"', r"hosts\.db2\.bastion: there is no bastion 'other'"),
        ('address = "10.0.0.3"', 'address = "10.0.0.1"', r"db1 and load1 are both 10\.0\.0\.1:22"),
        ('key_file = "keys/tune"', "", r"hosts\.db1: expected either 'key_file' or 'connection'"),
        ('name = "db1"', 'name = "DB 1"', r"hosts\.\w+.*name"),
        ("[[bastions]]", "[[bastion]]", r"bastion: unknown key"),
        ("[[hosts]]", "[[hosts]", "not TOML"),
        ('roles = ["load"]', 'roles = ["boss"]', r"hosts\.load1\.roles\.0"),
        ("slots = 2", 'directory = "/x y"', r"hosts\.db1\.directory"),
        (
            "slots = 2",
            'load = "db2"',
            r"hosts\.db1\.load: expected another machine's host .* got 'db2'",
        ),
        ("slots = 2", 'load = "nobody"', r"hosts\.db1\.load: .*Name one of them"),
    ],
)
def test_a_fault_is_told_with_its_place(tmp_path, old, new, said):
    """File, host, key, and what to do."""
    path = changed(tmp_path, old, new)

    with pytest.raises(UserError, match=said) as told:
        inventory.read(path)
    assert str(path) in str(told.value)


def test_two_nodes_of_one_machine_that_would_share_their_ports_are_refused(tmp_path):
    """Ports follow from names; a first_port given twice cannot work."""
    text = GOOD.replace("10.0.0.2", "10.0.0.1").replace('bastion = "jump"', "").replace("slots = 2", "")
    text = text.replace("[[hosts]]", '[[hosts]]\nmachine = "box"\nfirst_port = 15000', 2)
    (tmp_path / "lab.toml").write_text(text)

    with pytest.raises(UserError, match=r"db1 and db2 on box would have the same port 15000"):
        StaticCloud(path=tmp_path / "lab.toml", secret=secret).provision(["db1", "db2"])


def test_a_host_knows_who_loads_it_and_where_it_answers(tmp_path):
    """Its address unless it says otherwise; a run finds both again without the file, and the load node too."""
    path = changed(tmp_path, "slots = 2", 'load = "load1"')
    cloud = StaticCloud(path=path, secret=secret)
    (node,) = cloud.provision(["db1"])
    address = cloud.address(node)
    path.unlink()

    found, load = cloud.find("db1", address), cloud.find("load1", address["load"])

    assert (node.listen, found.listen) == ("10.0.0.1", "10.0.0.1")
    assert (load.endpoint.address, load.listen) == ("10.0.0.3", "127.0.0.1")


def test_two_systems_never_share_a_load_host(tmp_path):
    """Their loads would disturb each other."""
    text = GOOD.replace("slots = 2", 'load = "load1"').replace('bastion = "jump"', 'bastion = "jump"\nload = "load1"')
    (tmp_path / "lab.toml").write_text(text)

    with pytest.raises(UserError, match=r"hosts\.db2\.load: 'load1' loads db1 already"):
        inventory.read(tmp_path / "lab.toml")
