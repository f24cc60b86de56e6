"""Machines made for a campaign run: their bill, their end, and the reaper, on a fake Azure by an Airflow connection."""

from collections.abc import Collection

import pytest
from azure_fake import scene
from rented_runs import RUN, opened, rented_campaign

from albacore import ledger, stopping
from albacore.errors import PlatformError, UserError
from albacore.fact import Event, Note
from albacore.replay import Scene
from albacore.runs import action
from albacore.trial import Log
from albacore_airflow import reaper, renting, settings


def sweep_all(run: str = RUN) -> None:
    while renting.sweep(run):
        pass


def dead(_: str, __: Collection[str]) -> bool:
    return False


def test_an_opened_run_has_its_price_and_its_source(store, folder):
    """Both are fixed before the first sample, in the effective campaign."""
    nodes = settings.recorded.campaign(opened(store, folder)).nodes
    assert nodes.price_per_hour == pytest.approx(0.2128)
    assert nodes.price_source == "prices.toml of 2026-11-01, USD"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"max_nodes": 3}, "max_nodes = 3"),
        ({"max_cost": 0.5}, "may cost 0.85"),
        ({"max_hours": 0.5}, "max_hours = 0.5"),
        ({"size": "Standard_D8s_v5"}, "expected the price of Standard_D8s_v5"),
    ],
)
def test_a_run_beyond_a_cap_or_without_a_price_does_not_begin(arm, store, folder, changed, said):
    """4 nodes, 1 hour, 0.2128 an hour; nothing is asked of Azure."""
    (folder / "rented.toml").write_text(rented_campaign(**changed))
    with pytest.raises(UserError, match=said):
        opened(store, folder)
    assert arm.requests == []


def test_nodes_are_asked_for_by_the_connection_and_paid_until_they_are_gone(arm, store, folder):
    """Four machines by name; the log has a note at either end, and the bill is the time between."""
    opened(store, folder)

    renting.request(RUN, "manual__1")
    renting.request(RUN, "manual__1")
    while not renting.progress(RUN).is_settled:
        pass
    held = ledger.held(settings.run_log(RUN).read())
    sweep_all()

    log = settings.run_log(RUN).read()
    assert held == renting.names_of(RUN)
    assert arm.puts() == held
    assert [note.kind for note in log.notes(ledger.RENTED)] == ["rented"] * 4
    assert ledger.held(log) == []
    assert arm.names == []
    assert ledger.rented_s(log) > 0


def test_a_request_that_is_refused_is_known_and_swept(arm, store, folder):
    """What was made before the refusal is found by its tags, without the task that made it."""
    opened(store, folder)
    arm.fail("PUT", "-3$", status=409, code="OperationNotAllowed", message="cores quota")

    with pytest.raises(UserError, match="quota"):
        renting.request(RUN, "manual__1")
    assert len(arm.names) == 2 * 3
    sweep_all()

    assert arm.names == []
    assert ledger.held(settings.run_log(RUN).read()) == []


def test_the_bill_of_a_node_is_the_time_that_it_was_there():
    """60 s and 30 s of one node, 100 s of another one that is still there; measuring is part of it."""
    told = [(0, "rented", "a"), (0, "rented", "b"), (60, "returned", "a"), (70, "rented", "a"), (100, "lane", "")]
    log = Log(tuple(Event(n=i + 1, at=at, fact=Note(kind=k, body={"node": n})) for i, (at, k, n) in enumerate(told)))
    assert ledger.rented_s(log) == 60 + 30 + 100
    assert ledger.spent_s(log) == 190
    assert ledger.held(log) == ["b", "a"]
    assert ledger.rented_s(Log(())) is None
    assert ledger.money(1800, 0.5) == 0.25


def test_the_reaper_deletes_what_ended_runs_left(arm, store, folder):
    """The run's DAG run is over: its machines go, and the log says when."""
    opened(store, folder)
    renting.request(RUN, "manual__1")

    first = list(reaper.reap(dead))
    while arm.names:
        list(reaper.reap(dead))
    list(reaper.reap(dead))

    assert any("deleted: the run has ended" in line for line in first)
    assert ledger.held(settings.run_log(RUN).read()) == []


def test_the_reaper_spares_runs_that_go_on(arm, store, folder):
    """It is asked for the campaign's DAG and the DAG run in the tags; what is only noted yet is spared too."""
    opened(store, folder)
    asked = []

    def live(dag_id: str, dag_runs: Collection[str]) -> bool:
        asked.append((dag_id, tuple(dag_runs)))
        return True

    renting.request(RUN, "manual__1")
    lines = list(reaper.reap(live))

    assert any("the run goes on" in line for line in lines)
    assert ("rented", ("manual__1",)) in asked
    assert len(arm.names) == 4 * 3
    assert len(ledger.held(settings.run_log(RUN).read())) == 4


def test_the_reaper_only_reports_unknown_runs_and_tags_it_cannot_read(arm, store, folder, tmp_path):
    """Somebody else may use the same owner's name; an expiry that is no number deletes nothing."""
    opened(store, folder)
    key = scene.user_key(tmp_path)
    stranger = scene.cloud(arm, key, run="foreign-20261121t174225-cd34")
    stranger.request(stranger.names(1))
    other = scene.cloud(arm, key, owner="other-airflow", run="more-20261121t174225-cd34")
    other.request(other.names(1))
    renting.request(RUN, "manual__1")
    for name in renting.names_of(RUN):
        arm.group.vms[name].body["tags"]["albacore-expires"] = "soon"

    lines = "\n".join(reaper.reap(dead))

    assert "no run of this store" in lines
    assert "cannot be read" in lines
    assert "more-2026" not in lines
    assert not any(method == "DELETE" for method, _ in arm.requests)


def test_the_reaper_deletes_untagged_disks_of_ended_runs(arm, store, folder):
    """Disks that lack their machine's tags, and outlive it, are known by the run's notes."""
    arm.group.bare, arm.group.leaves = True, ("disks",)
    opened(store, folder)
    renting.request(RUN, "manual__1")

    for _ in range(200):
        list(reaper.reap(dead))
        if not arm.names:
            break

    assert arm.names == []


def test_the_reaper_goes_on_after_a_group_that_cannot_be_asked(arm, store, folder):
    """And says so at the end."""
    arm.fail("GET", "virtualMachines$", status=403, code="AuthorizationFailed")
    with pytest.raises(PlatformError, match="AuthorizationFailed"):
        list(reaper.reap(dead))


def test_a_lost_node_is_explained_by_its_cloud(arm, store, folder):
    """A spot machine that was evicted says so in the failure; one that runs adds nothing."""
    (folder / "rented.toml").write_text(rented_campaign(spot=True))
    opened(store, folder)
    renting.request(RUN, "manual__1")
    while not renting.progress(RUN).is_settled:
        pass
    name = renting.names_of(RUN)[0]
    assert renting.why_lost(RUN, name) == ""

    arm.group.evict(name)

    assert renting.why_lost(RUN, name).startswith(" evicted")


def test_more_hours_have_to_keep_the_caps(store, folder):
    """A run that goes on, or is re-opened, may not take longer than its order allows."""
    opened(store, folder)
    with pytest.raises(UserError, match="max_hours = 2"):
        action._within_caps(store, RUN, {"hours": 2.5})
    action._within_caps(store, RUN, {"hours": 2.0})


def test_a_limit_on_cost_counts_what_is_rented(store, folder):
    """Idle machines cost too: the run ends by what its nodes cost, not by what measuring took."""
    opened(store, folder)
    price = 3600.0
    events = (
        Event(n=1, at=0.0, fact=Note(kind="rented", body={"node": "a"})),
        Event(n=2, at=2.0, fact=Note(kind="lane", body={})),
    )

    class Bare:
        log, price_per_hour = Log(events), price

    found: Scene = Bare()  # type: ignore[assignment]
    assert stopping.cost(found) == 2.0
