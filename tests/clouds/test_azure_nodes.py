"""Machines on a fake Azure, made by the real SDK, with a real sshd behind each of them."""

import base64
import dataclasses

import pytest
from azure_fake import scene
from azure_fake.arm import serving
from azure_fake.group import Group, first_boot
from azure_fake.machines import booting
from nodes import places, sshd

from albacore.errors import NodeError
from albacore.nodes.ssh_link import public_key


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """The private key of a campaign."""
    return scene.user_key(tmp_path_factory.mktemp("key"))


@pytest.fixture
def arm():
    """A service with nothing behind its machines."""
    with serving() as found:
        yield found


@pytest.mark.node
def test_nodes_are_made_reached_and_deleted(key):
    """Two machines with data disks: facts over SSH with the pinned key, then nothing is left of them."""
    group, port = Group(), sshd.free_port()
    group.boot = booting(port)
    with serving(group) as arm, places.root() as place:
        cloud = scene.cloud(arm, key, port=port, directory=str(place), data_disk={"gib": 64})
        names = cloud.names(2)

        nodes = cloud.provision(names)

        assert [node.name for node in nodes] == names
        for node in nodes:
            assert node.facts()["cores"] >= 1
            again = cloud.find(node.name, cloud.address(node))
            assert again == node
            assert again.run(["true"]).is_ok
        assert len({node.endpoint.address for node in nodes}) == 2
        assert len(arm.names) == 2 * 4  # machine, interface, two disks
        cloud.removal.wait(timeout_s=10)
        assert arm.names == []
        with pytest.raises(NodeError, match="no SSH connection"):
            dataclasses.replace(nodes[0], patience_s=0.1).run(["true"])


@pytest.mark.node
def test_a_machine_with_another_host_key_is_refused(key):
    """Somebody who answers at the machine's address without its host key gets nothing."""
    group, port = Group(), sshd.free_port()
    group.boot = booting(port)
    with serving(group) as arm, places.root() as place:
        [node] = scene.cloud(arm, key, port=port, directory=str(place)).provision([scene_name(0)])
        other = sshd.make_key(place.parent.parent / "other").with_suffix(".pub").read_text()
        stranger = dataclasses.replace(node, endpoint=dataclasses.replace(node.endpoint, host_key=other))

        with pytest.raises(NodeError, match="expected host key"):
            stranger.run(["true"])


def scene_name(i: int) -> str:
    """Return the name of a machine of the usual run."""
    from albacore.clouds.azure.tag import node_names

    return node_names(scene.RUN, i + 1)[i]


def test_asking_twice_makes_each_machine_once(arm, key):
    """A retry sends nothing for machines that are there, and the same bytes for those that are not."""
    cloud = scene.cloud(arm, key)
    names = cloud.names(3)
    cloud.request(names)
    first = dict(arm.bodies)
    arm.group.vms.clear()

    cloud.request(names)
    assert arm.bodies == first
    cloud.request(names)

    assert arm.puts() == names * 2


def test_a_machine_is_what_the_order_says(arm, key):
    """Zone, tags, pinned image, disks that go with it, fast network, no public address, no password, spot if asked."""
    cloud = scene.cloud(arm, key, spot=True, data_disk={"gib": 256, "sku": "PremiumV2_LRS"})
    [name] = cloud.names(1)

    cloud.request([name])

    body = arm.bodies[name]
    made = body["properties"]
    assert body["zones"] == ["1"]
    assert body["tags"] == cloud.claim.tags(name)
    assert set(body["tags"]) >= {"albacore-owner", "albacore-campaign", "albacore-run", "albacore-expires"}
    assert made["storageProfile"]["imageReference"]["version"] == "24.04.202511010"
    disks = [made["storageProfile"]["osDisk"], *made["storageProfile"]["dataDisks"]]
    assert [disk["deleteOption"] for disk in disks] == ["Delete", "Delete"]
    [nic] = made["networkProfile"]["networkInterfaceConfigurations"]
    assert nic["tags"] == body["tags"]
    assert nic["properties"]["deleteOption"] == "Delete"
    assert nic["properties"]["enableAcceleratedNetworking"] is True
    assert "publicIPAddressConfiguration" not in str(nic)
    assert made["osProfile"]["linuxConfiguration"]["disablePasswordAuthentication"] is True
    assert "adminPassword" not in made["osProfile"]
    assert (made["priority"], made["evictionPolicy"]) == ("Spot", "Delete")


def test_the_first_boot_brings_host_key_and_user_key_and_no_other_secret(arm, key):
    """cloud-config has the pinned host key's private half and the public half of the user's key."""
    cloud = scene.cloud(arm, key)
    [node] = cloud.provision(cloud.names(1))

    config = first_boot(arm.bodies[node.name])

    assert node.endpoint.host_key in config
    assert key.splitlines()[2] not in config
    assert public_key(node.endpoint.host_key).get_name() == "ssh-ed25519"


def test_each_machine_has_a_host_key_of_its_own(arm, key):
    """Root on one machine cannot pass for another; another campaign key gives other host keys."""
    cloud = scene.cloud(arm, key)
    nodes = cloud.provision(cloud.names(2))

    assert nodes[0].endpoint.host_key != nodes[1].endpoint.host_key
    pinned = [base64.b64decode(node.endpoint.host_key.split()[1]) for node in nodes]
    assert all(len(blob) == 51 for blob in pinned)


def test_a_public_address_is_used_only_when_it_is_asked_for(arm, key):
    """With public_ip the node is reached at it, and it is deleted with the machine."""
    cloud = scene.cloud(arm, key, public_ip=True)

    [node] = cloud.provision(cloud.names(1))

    assert node.endpoint.address == "127.0.1.1"
    assert f"{node.name}-ip" in arm.names
    cloud.removal.wait(timeout_s=10)
    assert arm.names == []


def test_an_address_holds_no_secret(arm, key):
    """What goes to the store names the key and does not have it."""
    cloud = scene.cloud(arm, key)
    [node] = cloud.provision(cloud.names(1))

    address = cloud.address(node)

    assert address["access"]["connection"] == "lab_ssh"
    assert key.splitlines()[2] not in str(address)
    assert address["facts"]["sku"] == "Standard_D4s_v5"
