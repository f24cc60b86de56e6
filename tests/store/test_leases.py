"""Laws of the leases: one sample per node, one config per node, and a vanished owner's lease ends."""

import multiprocessing

import pytest

from albacore.sample import Purpose
from albacore.store import Store
from albacore.store.leases import Leases, Want


class Clock:
    """A clock that the test sets."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    """Seconds since the epoch."""
    return Clock()


@pytest.fixture
def leases(url, clock):
    """Leases of 60 s in a new store of each kind."""
    store = Store(url, clock=clock)
    store.migrate()
    yield Leases(store, lease_s=60)
    store.close()


def want(slot, nodes=("n1", "n2"), config="c", host=None, host_slots=1):
    return Want(
        run_id="run",
        slot=slot,
        config_id=config,
        purpose=Purpose.TUNE,
        repeat=0,
        nodes=[(node, host or node) for node in nodes],
        host_slots={host or node: host_slots for node in nodes},
    )


def test_the_first_free_node_in_order_of_preference(leases):
    """A second owner gets the next one, a third none."""
    assert leases.take(want("a")).node == "n1"
    assert leases.take(want("b", config="d")).node == "n2"
    assert leases.take(want("c", config="e")) is None


def test_taking_what_one_holds_gives_the_same_grant(leases):
    """A retry of a killed task owns the lease already: same node, same epoch."""
    first = leases.take(want("a", nodes=("n1", "n2")))

    assert leases.take(want("a", nodes=("n2", "n1"))) == first


def test_two_slots_of_a_config_never_get_the_same_node(leases):
    """Not even one after the other: the claim outlives the lease (TUNA §5.1)."""
    leases.take(want("a"))
    leases.release("a")

    assert leases.take(want("b")).node == "n2"
    leases.release("b")
    assert leases.take(want("c")) is None


def test_a_slot_that_moves_on_frees_its_old_claim(leases):
    """A slot has one claim; the node it did not use is open to the config's other slots."""
    leases.take(want("a", nodes=("n1",)))
    leases.release("a")
    leases.take(want("a", nodes=("n2",)))

    assert leases.take(want("b", nodes=("n1",))).node == "n1"


def test_two_slots_whose_nodes_failed_them_may_swap(leases):
    """A forsaken claim is open: else each would wait for ever for the node that the other one claims."""
    for slot, node in (("a", "n1"), ("b", "n2")):
        leases.take(want(slot, nodes=(node,)))
        leases.forsake(want(slot).run_id, slot)
        leases.release(slot)

    assert leases.take(want("a", nodes=("n2",))).node == "n2"
    assert leases.take(want("b", nodes=("n1",))).node == "n1"


def test_nothing_runs_beside_a_sample_on_the_same_host(leases):
    """Law of the host: one slot is one sample, suggestion or fit at a time."""
    leases.take(want("a", nodes=("n1",), host="h"))

    assert leases.take(want("b", nodes=("n2",), config="d", host="h")) is None
    assert not leases.take_slot("h", 1, "suggest")
    leases.release("a")
    assert leases.take_slot("h", 1, "suggest")
    assert leases.take(want("b", nodes=("n2",), config="d", host="h")) is None
    assert leases.take(want("b", nodes=("n2",), config="d", host="h", host_slots=2)).node == "n2"


def test_the_lease_of_a_vanished_owner_ends(leases, clock):
    """After lease_s another owner gets the node, under a higher epoch; renewing in time prevents it."""
    first = leases.take(want("a", nodes=("n1",)))
    clock.now += 50
    assert leases.renew("a")
    clock.now += 50
    assert leases.take(want("b", nodes=("n1",), config="d")) is None
    clock.now += 61

    second = leases.take(want("b", nodes=("n1",), config="d"))

    assert second.epoch > first.epoch
    assert not leases.renew("a")


def test_epochs_rise_over_a_deleted_store(tmp_path, clock):
    """Nodes remember the highest epoch they saw; a new store starts above, because it starts at the time."""
    old = Store(f"sqlite:///{tmp_path / 'old.db'}", clock=clock)
    old.migrate()
    before = Leases(old).take(want("a", nodes=("n1",)))
    clock.now += 3600
    new = Store(f"sqlite:///{tmp_path / 'new.db'}", clock=clock)
    new.migrate()

    assert Leases(new).take(want("a", nodes=("n1",))).epoch > before.epoch


def test_the_end_of_a_run_frees_everything_of_it_and_nothing_else(leases):
    """By the names of the owners; a campaign called `run` does not free those of `run_2`."""
    leases.take(want("run/c/tune/0", nodes=("n1",)))
    leases.take(want("run_2/c/tune/0", nodes=("n2",), config="d"))

    leases.release_prefix("run/")

    assert leases.holder("node:n1") is None
    assert leases.holder("node:n2") == "run_2/c/tune/0"


def sample_nodes(url, lane, count, found):
    """Be a lane: take a node, hold it for the length of a write, give it back, again and again."""
    leases = Leases(Store(url))
    for i in range(count):
        slot = f"{lane}/{i}"
        wanted = want(slot, nodes=tuple(f"n{k}" for k in range(10)), config=slot, host_slots=1)
        while (grant := leases.take(wanted)) is None:
            pass
        found.append(("take", grant.node, slot))
        found.append(("give", grant.node, slot))
        leases.release(slot)


@pytest.mark.node
def test_twelve_lanes_on_ten_nodes_never_double_book(url):
    """Real processes: between a take and its give nobody else takes the node."""
    store = Store(url)
    store.migrate()
    store.close()
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        found = manager.list()
        lanes = [context.Process(target=sample_nodes, args=(url, lane, 5, found)) for lane in range(12)]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join(120)
        history = list(found)

    assert [lane.exitcode for lane in lanes] == [0] * 12
    held = {}
    for what, node, slot in history:
        assert held.get(node) in ((None,) if what == "take" else (slot,))
        held[node] = slot if what == "take" else None
    assert len(history) == 120
