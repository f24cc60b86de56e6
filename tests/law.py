"""The laws that hold at the end of every campaign run, whatever happened in it."""

from collections import Counter

from clone import Followed
from sqlalchemy import select

from albacore import recorded
from albacore.sample import Purpose, Sample
from albacore.store import schema
from albacore.trial import Ask, Judgement, Log


def log_of(followed: Followed) -> Log:
    """Return the log of a campaign run."""
    store = followed.clone.store()
    return recorded.scene(store, store.run(followed.id)).log


def check(followed: Followed) -> Log:
    """Expect every law of a campaign run that has ended; return its log."""
    log = log_of(followed)
    assert [event.n for event in log.events] == list(range(1, len(log.events) + 1))
    samples = log.facts(Sample)
    again = Purpose.SENTINEL  # of which a slot has one sample per turn
    assert_once(
        [(s.config_id, s.purpose, s.slot, s.repeat * (s.purpose is again)) for s in samples], "sample of a slot"
    )
    assert_once([(s.config_id, s.node) for s in samples if s.purpose.is_tuning], "config on a node")
    assert_once([(j.config_id, j.rung) for j in log.facts(Judgement)], "judgement of a rung")
    assert_once([a.key for a in log.facts(Ask)], "ask of an iteration")
    assert held(followed) == {}
    assert_lanes_never_fork(followed)
    assert_replays(followed)
    return log


def assert_once(keys: list, what: str) -> None:
    """Expect no key twice."""
    twice = [key for key, count in Counter(keys).items() if count > 1]
    assert not twice, f"more than one {what}: {twice}"


def held(followed: Followed) -> dict[str, str]:
    """Return which leases the run or a part of it still holds."""
    table, store = schema.lease, followed.clone.store()
    with store.read() as connection:
        query = select(table.c.resource, table.c.owner).where(
            table.c.owner.is_not(None), table.c.expires_at > store.clock()
        )
        return {row[0]: row[1] for row in connection.execute(query) if row[1].split("/")[0] == followed.id}


def assert_lanes_never_fork(followed: Followed) -> None:
    """Expect the iterations of each lane to be 0, 1, 2 … without gaps, each of them once."""
    lanes: dict[str, list[int]] = {}
    for run in followed.iterations():
        lane, n = run["dag_run_id"].rsplit(".", 2)[1:]
        lanes.setdefault(lane, []).append(int(n))
    for lane, numbers in lanes.items():
        assert sorted(numbers) == list(range(len(numbers))), f"lane {lane}: {numbers}"


def assert_replays(followed: Followed) -> None:
    """Expect every ask and every judgement again, in fresh processes under different hash seeds."""
    store = followed.clone.store_at
    for hash_seed in ("0", "4711"):
        said = followed.clone.albacore("show", followed.id, "--verify", "--store", store, PYTHONHASHSEED=hash_seed)
        assert "every one of them replays" in said
