"""A campaign on machines that are made for it differs from a local one by its [nodes] alone (fake Azure, real sshd)."""

import json
import re
from dataclasses import dataclass

import law
import pytest
from azure_fake import scene
from azure_fake.arm import FakeArm, serving
from azure_fake.group import SUBSCRIPTION, Group
from azure_fake.machines import booting
from clone import Clone, last_log, running, wait_until
from nodes import places, sshd
from small_campaigns import noop
from working_tree import REPOSITORY

from albacore import ledger
from albacore.sample import Blame, Failure, Purpose, Sample
from albacore.store.run_log import RunLog
from albacore_ops.rest import path

pytestmark = pytest.mark.e2e


def connect(clone: Clone, name: str, kind: str, extra: dict[str, str]) -> None:
    """Add an Airflow connection as somebody does in the UI."""
    body = {"connection_id": name, "conn_type": kind, "extra": json.dumps(extra)}
    clone.airflow.call("POST", path("connections"), body=body)


@dataclass(kw_only=True)
class Lab:
    """A running clone whose connections lead to a fake Azure with nothing in it."""

    clone: Clone
    arm: FakeArm
    key: str

    @property
    def tails(self):
        return self.clone.tails


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder, port = tmp_path_factory.mktemp("azure"), sshd.free_port()
    key = scene.user_key(folder)
    with serving(Group(boot=booting(port), create_s=2.0, delete_s=1.0)) as arm, places.root() as place:
        table = {"port": port, "directory": str(place / "t")}
        files = {
            "small": noop(nodes=scene.nodes_table(**table)),
            "spotty": noop(nodes=scene.nodes_table(**table, spot=True), params="{ seconds = 3.0 }"),
        }
        files["demo"] = demo_on(scene.nodes_table(tuning=5, validation=1, **table, max_nodes=6))
        with running(folder, files) as clone:
            (clone.root / "include" / "prices.toml").write_text(scene.PRICES)
            connect(clone, "lab_ssh", "generic", {"private_key": key})
            azure = {"subscriptionId": SUBSCRIPTION, "arm_endpoint": arm.url}
            connect(clone, "azure_default", "azure_compute", azure)
            yield Lab(clone=clone, arm=arm, key=key)


def demo_on(nodes: str) -> str:
    """Return the demo's file with other [nodes], and nothing else changed."""
    demo = (REPOSITORY / "include" / "campaigns" / "demo.toml").read_text()
    rest = re.sub(r"\[nodes\]\n.*?\n\n", "", demo, flags=re.DOTALL)
    assert rest != demo
    return f"nodes = {nodes}\n{rest}"


def test_a_campaign_makes_its_machines_and_deletes_them(lab):
    """A verdict that replays, its bill, nothing left, the private key nowhere.

    The first attempt at one machine fails after it was accepted: it is made again, and no config hears of it.
    """
    clone, arm = lab.clone, lab.arm
    arm.fail_async("-2$", "AllocationFailed")

    followed = clone.start("small").wait(500)

    log = law.check(followed)
    assert arm.names == []
    assert len(arm.puts()) == 5
    names = sorted(set(arm.puts()))
    samples = log.facts(Sample)
    assert {s.node for s in samples if s.purpose is not Purpose.VALIDATE} == set(names[:3])
    assert {s.node for s in samples if s.purpose is Purpose.VALIDATE} == {names[3]}
    assert ledger.held(log) == []
    assert followed.xcom("verdict", "verdict")["cost"]["money"] > 0
    shown = clone.albacore("show", followed.id)
    assert "prices.toml of 2026-11-01, USD" in shown
    print(next(line for line in shown.splitlines() if line.startswith("cost ")))
    secret = lab.key.splitlines()[2].encode()
    written = [f for f in [*clone.layout.logs.rglob("*.log"), clone.layout.store] if secret in f.read_bytes()]
    assert written == []


def test_an_eviction_is_the_nodes_failure_and_the_campaign_goes_on(lab):
    """One of three tuning machines is taken away: its sample goes elsewhere, and no config is blamed."""
    clone, arm = lab.clone, lab.arm
    before = len(arm.puts())
    followed = clone.start("spotty")
    log = RunLog(clone.store(), followed.id)
    wait_until(lambda: log.read().facts(Sample), 300, "the first sample")
    taken = sorted(arm.puts()[before:])[0]

    arm.group.evict(taken)
    followed.wait(500)

    log = law.check(followed)
    failures = [failure for failure in log.facts(Failure) if failure.node == taken]
    assert {failure.blame for failure in failures} == {Blame.NODE}
    assert all("evicted" in failure.message for failure in failures)
    assert not [failure for failure in log.facts(Failure) if failure.blame is Blame.CONFIG]
    assert arm.names == []


def test_a_run_that_gets_no_machines_fails_and_leaves_nothing(lab):
    """Quota for two of four: nothing is asked for, the run is red, its release has run."""
    clone, arm = lab.clone, lab.arm
    before, arm.group.cores = len(arm.puts()), 8

    clone.start("small").wait(200, state="failed")

    assert arm.names == []
    assert len(arm.puts()) == before


def test_the_reaper_deletes_what_an_ended_run_left_and_reports_what_it_does_not_know(lab):
    """Machines of a run whose DAG run is over go; those of a run that no store knows stay, and are told."""
    clone, arm = lab.clone, lab.arm
    arm.group.cores = 100
    ended = clone.store().runs()[0].id
    left = scene.cloud(arm, lab.key, run=ended)
    left.request(left.names(1))
    stranger = scene.cloud(arm, lab.key, run="foreign-20261121t174225-cd34")
    stranger.request(stranger.names(1))

    started = clone.airflow.call("POST", path("dags", "reaper", "dagRuns"), body={"logical_date": None, "conf": {}})
    where = path("dags", "reaper", "dagRuns", started["dag_run_id"])
    wait_until(lambda: clone.airflow.call("GET", where)["state"] in ("success", "failed"), 120, "the reaper has run")

    assert clone.airflow.call("GET", where)["state"] == "success"
    wait_until(lambda: not any(left.names(1)[0] in name for name in arm.names), 10, "the ended run's machine is gone")
    assert any(stranger.names(1)[0] in name for name in arm.names)
    assert last_log(clone, "no run of this store")


def test_the_demo_runs_on_machines_made_for_it_by_changing_its_nodes_alone(lab):
    """A real PostgreSQL, installed, loaded, tuned and judged over SSH on six machines, which are gone afterwards."""
    run = lab.clone.start("demo", samples=7).wait(560)

    assert len(law.check(run).facts(Sample)) >= 7
    assert len(run.xcom("verdict", "verdict")["default"]["by_node"]) == 1
    assert lab.arm.names == [name for name in lab.arm.names if name.startswith("foreign")]
