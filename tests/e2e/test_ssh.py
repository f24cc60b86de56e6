"""A campaign on machines that are reached over SSH differs from a local one by its [nodes] alone."""

import json
import re
import tomllib

import law
import pytest
from clone import running
from node_python import PYTHON
from nodes import places, sshd
from small_campaigns import noop
from working_tree import REPOSITORY

from albacore.sample import Purpose, Sample
from albacore_ops.rest import path

pytestmark = pytest.mark.e2e
NODES = '{ cloud = "static", inventory = "../inventories/lab.toml", tuning = 3, validation = 1 }'


def host(name: str, server: sshd.SshServer, directory, way: str) -> str:
    """Return a host's entry; all of them are this machine, and say so."""
    access = server.endpoint()
    return f"""
[[hosts]]
name = "{name}"
machine = "localhost"
address = "{access.address}"
port = {access.port}
user = "{access.user}"
host_key = "{access.host_key}"
directory = "{directory}"
python = "{PYTHON}"
{way}
"""


def test_the_demo_runs_on_machines_by_changing_its_nodes_alone(tmp_path_factory):
    """A real PostgreSQL, installed, loaded, tuned and judged over SSH; everything else of the file is as it was."""
    demo = (REPOSITORY / "include" / "campaigns" / "demo.toml").read_text()
    local = tomllib.loads(demo)["nodes"]
    static = '[nodes]\ncloud = "static"\ninventory = "../inventories/lab.toml"\ntuning = 5\nvalidation = 3\n\n'
    changed = re.sub(r"\[nodes\]\n.*?\n\n", static, demo, flags=re.DOTALL)
    assert local == {"cloud": "local", "tuning": 5, "validation": 3} and changed != demo
    with (
        sshd.server() as server,
        places.root() as place,
        running(tmp_path_factory.mktemp("demo"), {"demo": changed}) as clone,
    ):
        lab = clone.root / "include" / "inventories" / "lab.toml"
        lab.parent.mkdir(exist_ok=True)
        way = f'key_file = "{server.key}"'
        lab.write_text("".join(host(f"w{i + 1}", server, place / "t", way) for i in range(8)))

        run = clone.start("demo", samples=8).wait(900)

        assert len(law.check(run).facts(Sample)) >= 8
        assert run.xcom("verdict", "verdict")["default"]["by_node"].keys() == {"w6", "w7", "w8"}


def test_a_campaign_runs_over_ssh_with_a_key_from_an_airflow_connection(tmp_path_factory):
    """Two sshd, four nodes, a verdict that replays; the private key is in no log and not in the store."""
    with sshd.server() as one, sshd.server() as two, places.root() as place:
        folder = tmp_path_factory.mktemp("ssh")
        with running(folder, {"small": noop(nodes=NODES)}) as clone:
            lab = clone.root / "include" / "inventories" / "lab.toml"
            lab.parent.mkdir(exist_ok=True)
            ways = [(one, 'connection = "lab_ssh"'), (two, f'key_file = "{two.key}"')]
            hosts = [host(f"w{i + 1}", ways[i % 2][0], place / "t", ways[i % 2][1]) for i in range(4)]
            lab.write_text("".join(hosts))
            extra = {"private_key": one.key.read_text()}
            connection = {"connection_id": "lab_ssh", "conn_type": "generic", "extra": json.dumps(extra)}
            clone.airflow.call("POST", path("connections"), body=connection)

            log = law.check(clone.start("small").wait(400))

            samples = log.facts(Sample)
            assert {s.node for s in samples if s.purpose is not Purpose.VALIDATE} == {"w1", "w2", "w3"}
            assert {s.node for s in samples if s.purpose is Purpose.VALIDATE} == {"w4"}
            secret = one.key.read_text().splitlines()[2].encode()
            written = [f for f in [*clone.layout.logs.rglob("*.log"), clone.layout.store] if secret in f.read_bytes()]
            assert written == []
