"""Laws of the incumbent: what the newest live verdict left, if today's run can measure it."""

from dataclasses import replace

import pytest
from scenes import SPACE

from albacore.nightly import incumbent
from albacore.space import Kind, Knob, Space
from albacore.store import CampaignRun, Store
from albacore.store.run_log import RunLog
from albacore.trial import Note

A = SPACE.config({"k0": 0.9, "k1": 0.5, "k2": 0.5})
B = SPACE.config({"k0": 0.1, "k1": 0.5, "k2": 0.5})


class Clock:
    """A time that passes by one second per look."""

    now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


@pytest.fixture
def store(tmp_path):
    opened = Store(f"sqlite:///{tmp_path / 'store.db'}", clock=Clock())
    opened.migrate()
    yield opened
    opened.close()


def campaign_run(store, name="nightly-1", *, space=SPACE, campaign="nightly", **benchmark):
    return CampaignRun(
        id=name,
        campaign=campaign,
        logical_date=None,
        opened_at=store.clock(),
        effective={"system": "noop", "workload": "sleep"},
        benchmark=benchmark,
        space=space.to_json(),
        benchmark_digest="b",
        policy_digest="p",
        library="0",
    )


def concluded(store, name, body, configs=(A, B), **fields):
    """Record a run that ended with a verdict."""
    run = store.open_run(campaign_run(store, name, **fields))
    log = RunLog(store, name)
    for config in configs:
        log.put_config(config.id, dict(config))
    log.append_note(Note(kind="verdict", body=body), key="verdict")
    return run


def shipped(config):
    return {"incumbent": config.id, "ship": True}


def test_without_a_verdict_the_default_is_in_place(store):
    """A run that has not concluded leaves nothing."""
    store.open_run(campaign_run(store))

    assert incumbent.previous(store, "nightly") is None


def test_the_newest_verdict_decides(store):
    """The config, the run that left it, and when."""
    concluded(store, "r1", shipped(A))
    concluded(store, "r2", shipped(B))

    found = incumbent.previous(store, "nightly")

    assert found is not None
    assert (found.config, found.run_id) == (B, "r2")
    assert found.decided_at == store.run("r2").opened_at + 1


def test_a_verdict_that_left_the_default_ends_the_search(store):
    """An incumbent that was taken out does not come back."""
    concluded(store, "r1", shipped(A))
    concluded(store, "r2", {"incumbent": None, "ship": False})

    assert incumbent.previous(store, "nightly") is None


def test_verdicts_after_a_time_do_not_count(store):
    """What was known then."""
    concluded(store, "r1", shipped(A))
    concluded(store, "r2", shipped(B))

    found = incumbent.previous(store, "nightly", before=store.run("r2").opened_at)

    assert found is not None and found.config == A


def test_campaigns_do_not_share_incumbents(store):
    """Each has its own."""
    concluded(store, "r1", shipped(A), campaign="other")

    assert incumbent.previous(store, "nightly") is None


def test_a_run_does_not_compete_with_what_it_left_itself(store):
    """An extended run concludes again: its incumbent is still that of the run before."""
    concluded(store, "r1", shipped(A))
    run = concluded(store, "r2", shipped(B))

    found = incumbent.of_run(store, run).incumbent

    assert found is not None and found.run_id == "r1"


def test_verdicts_of_the_first_shape_left_their_best_when_they_shipped(store):
    """Those that did not ship changed nothing."""
    concluded(store, "r1", {"ship": True, "best": {"config_id": A.id}})
    concluded(store, "r2", {"ship": False, "best": {"config_id": B.id}})

    found = incumbent.previous(store, "nightly")

    assert found is not None and found.config == A


@pytest.mark.parametrize("origin", ["imported", "retune"])
def test_runs_of_the_past_do_not_decide(store, origin):
    """However new their verdicts are."""
    concluded(store, "r1", shipped(A))
    concluded(store, "r2", shipped(B), origin=origin)

    found = incumbent.previous(store, "nightly")

    assert found is not None and found.config == A


NARROW = Space(knobs=(replace(SPACE.knobs[0], high=0.8), *SPACE.knobs[1:]))
WIDER = Space(knobs=(*SPACE.knobs, Knob(name="k3", kind=Kind.REAL, low=0.0, high=1.0, default=0.5)))


@pytest.mark.parametrize(("space", "why"), [(NARROW, "k0"), (WIDER, "k3")])
def test_a_config_that_is_not_legal_today_is_passed_over_with_its_reason(store, space, why):
    """The next older one speaks, if it is legal."""
    concluded(store, "r1", shipped(B))
    concluded(store, "r2", shipped(A))
    today = store.open_run(campaign_run(store, "r3", space=space))

    found = incumbent.of_run(store, today)

    assert "of run r2 is passed over" in found.skipped[0] and why in found.skipped[0]
    assert (found.incumbent.config if found.incumbent else None) == (B if space is NARROW else None)


def test_a_config_of_another_benchmark_is_passed_over(store):
    """The campaign's file may have changed its workload."""
    concluded(store, "r1", shipped(A))
    today = replace(campaign_run(store, "r2"), effective={"system": "noop", "workload": "nap"})

    found = incumbent.of_run(store, today)

    assert found.incumbent is None
    assert "expected the workload 'nap' of today, it was measured with 'sleep'" in found.skipped[0]


def test_a_config_whose_values_are_lost_is_passed_over(store):
    """The reason says so."""
    concluded(store, "r1", shipped(A), configs=())

    found = incumbent.of_run(store, campaign_run(store, "r2"))

    assert found.incumbent is None and "there are none" in found.skipped[0]
