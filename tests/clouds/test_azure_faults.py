"""What a fake Azure refuses, by the real SDK: each fault says who has to act, and nothing is left."""

import pytest
from azure_fake import scene
from azure_fake.arm import serving
from azure_fake.group import Group

from albacore.clouds.azure import client, fault
from albacore.clouds.azure.fault import Kind
from albacore.errors import NodeError, PlatformError, UserError


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    return scene.user_key(tmp_path_factory.mktemp("key"))


@pytest.fixture
def arm():
    with serving() as found:
        yield found


REFUSALS = [
    (409, "OperationNotAllowed", "exceeding approved Total Regional Cores quota", UserError, Kind.QUOTA),
    (409, "SkuNotAvailable", "not available in eastus", UserError, Kind.SKU),
    (409, "Conflict", "in use", PlatformError, Kind.CONFLICT),
    (403, "AuthorizationFailed", "no permission", UserError, Kind.ACCESS),
    (400, "InvalidParameter", "adminUsername is not allowed", UserError, Kind.REQUEST),
    (404, "ResourceGroupNotFound", "lab was not found", UserError, Kind.MISSING),
]


@pytest.mark.parametrize(("status", "code", "message", "raised", "kind"), REFUSALS, ids=lambda v: str(v)[:20])
def test_a_refusal_is_judged_by_its_code(arm, key, status, code, message, raised, kind):
    """Three of them are 409 and one class of exception: the code says who acts, and the message says what to do."""
    arm.fail("PUT", "-1$", status=status, code=code, message=message)
    cloud = scene.cloud(arm, key)

    with pytest.raises(raised) as found:
        cloud.request(cloud.names(2))

    assert found.value.facts["kind"] is kind
    assert code in found.value.message
    assert fault.NEXT[kind] in found.value.message


def test_throttling_is_waited_out_by_the_sdk(arm, key):
    """Two answers 429 with Retry-After are no error."""
    arm.fail("PUT", "-1$", status=429, code="TooManyRequests", times=2, retry_after=0.05)
    cloud = scene.cloud(arm, key)

    cloud.provision(cloud.names(1))

    assert len(arm.puts()) == 3


@pytest.mark.parametrize("code", ["AllocationFailed", "ZonalAllocationFailed", "OverconstrainedAllocationRequest"])
def test_an_allocation_that_fails_after_it_was_accepted_leaves_nothing_and_can_be_tried_again(arm, key, code):
    """The failed machine is deleted with its parts, the others stay; asked again, it is made."""
    cloud = scene.cloud(arm, key)
    names = cloud.names(2)
    arm.fail_async("-2$", code)

    with pytest.raises(PlatformError, match=code) as found:
        cloud.provision(names)

    assert found.value.facts["kind"] is Kind.ALLOCATION
    assert [name for name in arm.names if names[1] in name] == []
    assert len(cloud.provision(names)) == 2
    assert arm.puts() == [*names, names[1]]


def test_a_machine_that_failed_in_another_task_is_made_anew(arm, key):
    """A task that was killed after the failure has told nobody: the retry sees it at the machine."""
    cloud = scene.cloud(arm, key)
    [name] = cloud.names(1)
    arm.fail_async("-1$", "AllocationFailed")
    cloud.request([name])
    while not (found := cloud.progress([name])).is_settled:
        continue
    assert found.faults[name].facts["kind"] is Kind.ALLOCATION

    assert cloud.request([name]) == [name]
    assert len(cloud.provision([name])) == 1


def test_an_evicted_machine_is_the_nodes_failure(arm, key):
    """Eviction before or after it was ready blames the node, and says what happened."""
    cloud = scene.cloud(arm, key, spot=True)
    names = cloud.names(1)
    cloud.provision(names)
    assert cloud.why_lost(names[0]) is None

    arm.group.evict(names[0])

    assert str(cloud.why_lost(names[0])).startswith("evicted")
    with pytest.raises(NodeError, match="spot = false"):
        raise cloud.progress(names).faults[names[0]]


def test_an_eviction_that_is_under_way_is_one(arm, key):
    """The machine is being deleted, and is there until it is gone."""
    cloud = scene.cloud(arm, key, spot=True)
    [name] = cloud.names(1)
    cloud.provision([name])
    arm.group.delete_s = 60.0

    arm.group.delete(name)

    assert str(cloud.why_lost(name)).startswith("evicted")


def test_a_machine_that_was_deallocated_is_told_from_one_that_runs(arm, key):
    """It is there and does not answer: Azure knows why."""
    cloud = scene.cloud(arm, key)
    [name] = cloud.names(1)
    cloud.provision([name])

    arm.group.evict(name)

    assert "Deallocated" in str(cloud.why_lost(name))


def test_a_machine_of_somebody_else_is_neither_adopted_nor_deleted(arm, key):
    """A name that is taken is an error that names the owner; nothing was sent."""
    stranger = scene.cloud(arm, key, owner="other-airflow")
    names = stranger.names(1)
    stranger.provision(names)
    before = arm.puts()
    mine = scene.cloud(arm, key)

    with pytest.raises(UserError, match="was not touched"):
        mine.request(names)
    mine.removal.wait(timeout_s=5)

    assert arm.puts() == before
    assert len(arm.names) == 3


def test_what_the_machine_does_not_take_along_is_deleted_by_itself(key):
    """Disks and interfaces that stay, and even lack their tags, go once their machine is gone."""
    with serving(Group(leaves=("disks", "networkInterfaces"), bare=True)) as arm:
        cloud = scene.cloud(arm, key)
        cloud.provision(cloud.names(2))
        stranger = scene.cloud(arm, key, run="other-20261121t174225-cd34")
        stranger.provision(stranger.names(1))

        cloud.removal.wait(timeout_s=10)

        assert all(stranger.names(1)[0] in name for name in arm.names)
        assert len(arm.names) == 3


def test_a_deletion_that_is_refused_for_now_is_tried_again(arm, key):
    """A conflict while something is in use heals by itself; no permission does not."""
    cloud = scene.cloud(arm, key)
    cloud.provision(cloud.names(1))
    arm.fail("DELETE", "virtualMachines", status=409, code="AnotherOperationInProgress", times=2)
    cloud.removal.wait(timeout_s=10)
    assert arm.names == []

    cloud.provision(cloud.names(1))
    arm.fail("DELETE", "virtualMachines", status=403, code="AuthorizationFailed")
    with pytest.raises(UserError, match="07-azure"):
        cloud.removal.wait(timeout_s=10)


def test_quota_and_size_are_checked_before_the_first_machine(key):
    """Too few cores, a zone without the size, a size that is not there or cannot do it: nothing is asked for."""
    with serving(Group(cores=8)) as arm:
        for changed, said in [
            ({}, "need 12 cores, 0 of 8 are in use"),
            ({"spot": True}, "quota lowPriorityCores"),
            ({"zone": "3"}, "it is in 1, 2"),
            ({"size": "Standard_D4s_v4"}, "it is in no zone"),
            ({"size": "Standard_D4s_v9"}, "not offered there"),
            ({"size": "Standard_F4", "zone": None}, "set accelerated_networking = false"),
        ]:
            cloud = scene.cloud(arm, key, **changed)
            with pytest.raises(UserError, match=said):
                cloud.request(cloud.names(3))
        assert arm.puts() == []


def test_no_credential_is_ever_sent_to_another_machine():
    """Only plain HTTP to this very machine may stand in for Azure."""
    for endpoint in ("http://10.0.0.1:80", "https://127.0.0.1", "http://evil.example", "http://localhost.evil.example"):
        with pytest.raises(UserError, match="arm_endpoint"):
            client.of_loopback(endpoint, "s")


def test_a_code_that_nobody_knows_is_judged_by_its_status():
    """What the request is to blame for is somebody's to correct; what the service is to blame for is tried again."""
    assert not fault.of_code("Unheard", "of", 400).is_transient
    assert fault.of_code("Unheard", "of", 503).is_transient
    assert fault.of_code("OperationNotAllowed", "disk is attached", 409).kind is Kind.CONFLICT
