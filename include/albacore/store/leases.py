"""Leases: who uses a node, a slot of a host, or a campaign run right now. Airflow's pools are not a lock.

A lease is a row per resource with an owner, a deadline on the controller's clock and an epoch that rises with every
grant. Owners are names that a retry of the same work computes again, so taking what one already holds is not an error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from albacore.sample import Purpose
from albacore.store import Store, schema


def run_resource(run_id: str) -> str:
    """Return the resource whose lease keeps a campaign run's lanes alive."""
    return f"run:{run_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Want:
    """What a slot of a trial needs: one of some nodes, and a free slot of that node's host.

    Attributes:
        slot: Key of the slot; the owner of what is granted.
        nodes: (node, host) in order of preference.
        host_slots: Host -> its slots: the samples, suggestions and fits that may run there at once.
    """

    run_id: str
    slot: str
    config_id: str
    purpose: Purpose
    repeat: int
    nodes: Sequence[tuple[str, str]]
    host_slots: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A node leased to a slot, and the epoch of that lease."""

    node: str
    host: str
    epoch: int


class Leases:
    """Take, renew and release leases.

    Args:
        store: Where the rows are.
        lease_s: Seconds until the lease of an owner that has vanished ends.
    """

    def __init__(self, store: Store, lease_s: float = 900.0) -> None:
        self.store = store
        self.lease_s = lease_s

    def take(self, want: Want) -> Grant | None:
        """Lease the first free node with a free host slot; None when there is none now.

        The config is claimed with the node, and no second slot measures it there (TUNA §5.1). A slot has one claim:
        that of the node it was granted last, kept when the lease ends.
        """
        if not self._may_be_free(want):
            return None
        with self.store.write("leases") as connection:
            held = self._held(connection)
            for node, host in sorted(want.nodes, key=lambda pair: held.get(f"node:{pair[0]}") != want.slot):
                if self._claimed_by_other(connection, want, node):
                    continue
                if grant := self._take_node(connection, held, node, host, want.host_slots[host], want.slot):
                    self._claim(connection, want, node)
                    return grant
        return None

    def take_node(self, node: str, host: str, host_slots: int, owner: str) -> Grant | None:
        """Lease one node and a slot of its host for work that is not a sample: its preparation."""
        with self.store.write("leases") as connection:
            return self._take_node(connection, self._held(connection), node, host, host_slots, owner)

    def _take_node(
        self, connection: Connection, held: dict[str, str], node: str, host: str, host_slots: int, owner: str
    ) -> Grant | None:
        """Lease a node and a slot of its host together, or neither."""
        if held.get(f"node:{node}", owner) != owner:
            return None
        if self._take_host_slot(connection, held, host, host_slots, owner) is None:
            return None
        return Grant(node=node, host=host, epoch=self._write(connection, f"node:{node}", owner))

    def take_slot(self, host: str, host_slots: int, owner: str) -> bool:
        """Lease a slot of a host for work that is not a sample: a suggestion, a fit."""
        with self.store.read() as connection:
            held = self._held(connection)
        resources = [f"host:{host}:{i}" for i in range(host_slots)]
        if all(held.get(resource, owner) != owner for resource in resources):
            return False
        with self.store.write("leases") as connection:
            return self._take_host_slot(connection, self._held(connection), host, host_slots, owner) is not None

    def take_resource(self, resource: str, owner: str) -> bool:
        """Lease one named resource, such as a campaign run."""
        with self.store.write("leases") as connection:
            if self._held(connection).get(resource, owner) != owner:
                return False
            self._write(connection, resource, owner)
            return True

    def renew(self, owner: str) -> bool:
        """Move the deadline of everything an owner holds; False when it holds nothing any more."""
        table = schema.lease
        now = self.store.clock()
        with self.store.write("leases") as connection:
            alive = table.update().where(table.c.owner == owner, table.c.expires_at > now)
            return connection.execute(alive.values(expires_at=now + self.lease_s)).rowcount > 0

    def renew_resource(self, resource: str, prefix: str) -> bool:
        """Move the deadline of one resource if it is held by an owner whose name starts so; False when it is not."""
        table, now = schema.lease, self.store.clock()
        mine = [table.c.resource == resource, table.c.owner.startswith(prefix, autoescape=True)]
        with self.store.write("leases") as connection:
            alive = table.update().where(*mine, table.c.expires_at > now)
            return connection.execute(alive.values(expires_at=now + self.lease_s)).rowcount > 0

    def release(self, owner: str) -> None:
        """Give back everything an owner holds; claims stay."""
        table = schema.lease
        with self.store.write("leases") as connection:
            connection.execute(table.update().where(table.c.owner == owner).values(owner=None, expires_at=0.0))

    def forsake(self, run_id: str, slot: str) -> None:
        """Give up a slot's claim: its node has failed it, and another slot of the config may try there."""
        table = schema.claim
        with self.store.write("leases") as connection:
            connection.execute(table.delete().where(table.c.run_id == run_id, table.c.slot == slot))

    def release_prefix(self, prefix: str) -> None:
        """Give back everything held by owners whose names start so: a campaign run that has ended."""
        table = schema.lease
        with self.store.write("leases") as connection:
            mine = table.c.owner.startswith(prefix, autoescape=True)
            connection.execute(table.update().where(mine).values(owner=None, expires_at=0.0))

    def holder(self, resource: str) -> str | None:
        """Return who holds a resource now."""
        with self.store.read() as connection:
            return self._held(connection).get(resource)

    def _may_be_free(self, want: Want) -> bool:
        """Look without a lock, so that waiting does not keep writers out."""
        with self.store.read() as connection:
            held = self._held(connection)
        free_node = any(held.get(f"node:{node}", want.slot) == want.slot for node, _ in want.nodes)
        hosts = {host for _, host in want.nodes}
        resources = [f"host:{host}:{i}" for host in hosts for i in range(want.host_slots[host])]
        return free_node and any(held.get(resource, want.slot) == want.slot for resource in resources)

    def _held(self, connection: Connection) -> dict[str, str]:
        """Return resource -> owner of the leases that have not run out."""
        table = schema.lease
        query = select(table.c.resource, table.c.owner).where(
            table.c.owner.is_not(None), table.c.expires_at > self.store.clock()
        )
        return {row[0]: row[1] for row in connection.execute(query)}

    def _take_host_slot(
        self, connection: Connection, held: dict[str, str], host: str, count: int, owner: str
    ) -> str | None:
        """Lease one of a host's slots: the one the owner has already, else the first free one."""
        resources = [f"host:{host}:{i}" for i in range(count)]
        for resource in sorted(resources, key=lambda r: held.get(r) != owner):
            if held.get(resource, owner) == owner:
                self._write(connection, resource, owner)
                return resource
        return None

    def _write(self, connection: Connection, resource: str, owner: str) -> int:
        """Write a lease; return its epoch: the old one for the same owner, one more for another.

        The first epoch is the time, so that nodes which remember a deleted store's epochs accept a new store's.
        """
        table = schema.lease
        row = connection.execute(select(table).where(table.c.resource == resource)).mappings().first()
        deadline = self.store.clock() + self.lease_s
        if row is None:
            first = int(self.store.clock())
            connection.execute(insert(table).values(resource=resource, owner=owner, epoch=first, expires_at=deadline))
            return first
        epoch = row["epoch"] if row["owner"] == owner else row["epoch"] + 1
        changed = table.update().where(table.c.resource == resource)
        connection.execute(changed.values(owner=owner, epoch=epoch, expires_at=deadline))
        return epoch

    @staticmethod
    def _claim_key(want: Want, node: str) -> dict[str, object]:
        return {
            "run_id": want.run_id,
            "config_id": want.config_id,
            "node": node,
            "purpose": want.purpose.value,
            "repeat": want.repeat,
        }

    def _claimed_by_other(self, connection: Connection, want: Want, node: str) -> bool:
        table = schema.claim
        conditions = [table.c[name] == value for name, value in self._claim_key(want, node).items()]
        owner = connection.scalar(select(table.c.slot).where(*conditions))
        return owner is not None and owner != want.slot

    def _claim(self, connection: Connection, want: Want, node: str) -> None:
        table = schema.claim
        mine = [table.c.run_id == want.run_id, table.c.config_id == want.config_id, table.c.slot == want.slot]
        connection.execute(table.delete().where(*mine))
        connection.execute(insert(table).values(**self._claim_key(want, node), slot=want.slot))
