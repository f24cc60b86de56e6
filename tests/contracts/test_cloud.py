"""Every kind of cloud keeps the protocol that opening, measuring and releasing rely on."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from azure_fake import scene
from azure_fake.arm import serving
from nodes import places, sshd

from albacore.clouds import Cloud, Rented
from albacore.clouds.local import LocalCloud
from albacore.clouds.static import StaticCloud
from albacore.errors import UserError
from albacore.nodes import NODE_NAME

INVENTORY = """
[defaults]
user = "bench"
key_file = "user"
"""
HOST = """
[[hosts]]
name = "w{i}"
address = "10.0.0.{i}"
host_key = "{key}"
"""


@pytest.fixture(params=["local", "static", "azure"])
def cloud(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cloud]:
    """A cloud of each kind that has at least three nodes, and not a thousand."""
    key = scene.user_key(tmp_path)
    if request.param == "local":
        with places.root() as place:
            yield LocalCloud(home=place)
    elif request.param == "static":
        pinned = " ".join(sshd.make_key(tmp_path / "host").with_suffix(".pub").read_text().split()[:2])
        hosts = "".join(HOST.format(i=i, key=pinned) for i in range(1, 6))
        (tmp_path / "lab.toml").write_text(INVENTORY + hosts)
        yield StaticCloud(path=tmp_path / "lab.toml", secret=lambda _: key)
    else:
        with serving() as arm:
            yield scene.cloud(arm, key)


def test_names_are_legal_and_those_of_fewer_nodes_come_first(cloud: Cloud):
    """A larger fleet begins with the smaller one; asked again, the names are the same."""
    names = cloud.names(3)

    assert len(set(names)) == 3
    assert all(NODE_NAME.fullmatch(name) for name in names)
    assert cloud.names(2) == names[:2]
    assert cloud.names(3) == names


def test_nodes_are_provisioned_in_the_order_of_their_names_and_again_the_same(cloud: Cloud):
    """A retry gives the nodes that are there."""
    names = cloud.names(3)

    nodes = cloud.provision(names)

    assert [node.name for node in nodes] == names
    assert cloud.provision(names) == nodes


def test_an_address_is_plain_data_without_secrets_and_leads_to_the_node(cloud: Cloud, tmp_path: Path):
    """Through JSON and back, in a process that knows nothing else."""
    secret = scene.user_key(tmp_path).splitlines()[2]
    for node in cloud.provision(cloud.names(2)):
        text = json.dumps(dict(cloud.address(node)))

        assert secret not in text
        assert cloud.find(node.name, json.loads(text)) == node


def test_nodes_do_not_share_ports_on_a_host(cloud: Cloud):
    """Two systems beside each other never listen on the same one."""
    nodes = cloud.provision(cloud.names(3))

    places_of = {(node.host, cloud.address(node)["port"]) for node in nodes}
    assert len(places_of) == 3


def test_too_many_nodes_are_refused_by_clouds_that_have_an_end(cloud: Cloud):
    """Before anything is made; this machine has no end."""
    if isinstance(cloud, LocalCloud):
        assert len(cloud.names(100)) == 100
        return
    with pytest.raises(UserError):
        cloud.names(1000)


def test_what_is_rented_can_be_given_back_twice(cloud: Cloud):
    """A sweep of nothing is nothing; a request afterwards makes the nodes again."""
    if not isinstance(cloud, Rented):
        return
    names = cloud.names(2)
    for _ in range(2):
        assert sorted(cloud.request(names)) == sorted(names)
        assert cloud.request(names) == []
        while not cloud.progress(names).is_settled:
            pass
        assert cloud.progress(names).error is None
        while cloud.sweep():
            pass
        assert cloud.sweep() == []
        assert set(cloud.progress(names).faults) == set(names)
