"""Laws of nodes behind SSH: who is trusted, what is tried again, what survives the way."""

import dataclasses
import json
import os
import sys
import threading
import time

import pytest
from node_python import PYTHON
from nodes import places, sshd

from albacore import checking
from albacore.benchmark import Benchmark
from albacore.errors import NodeError
from albacore.nodes import job, ssh_link
from albacore.nodes.blame import Placement, sample_or_failure
from albacore.nodes.job_spec import JobSpec
from albacore.nodes.preparation import prepare, put_folder
from albacore.sample import Sample

pytestmark = pytest.mark.node
HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ6nUqzpTbaT8zzfKdhFxOWYkCF8u3mNRJEUGXfZz0pG"
"""Nobody's."""
SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(30)"]
ARGUMENTS = [sys.executable, "-S", "-c", "import json, sys; print(json.dumps(sys.argv[1:]))"]


@pytest.fixture
def server():
    with sshd.server() as made:
        yield made


@pytest.fixture
def place():
    with places.root() as made:
        yield made / "t"


@pytest.fixture
def node(server, place):
    return sshd.node(server.endpoint(), place)


def took_s(act) -> float:
    begun = time.monotonic()
    act()
    return time.monotonic() - begun


def test_another_host_key_than_the_pinned_one_is_refused_at_once(server, place, tmp_path):
    """Whoever answers in the machine's place gets nothing, and waiting would not make it right."""
    other = sshd.make_key(tmp_path / "other").with_suffix(".pub").read_text()
    node = sshd.node(server.endpoint(host_key=other), place, patience_s=30.0)

    def fails():
        with pytest.raises(NodeError, match=r"(?s)expected host key ssh-ed25519 SHA256:.*has ssh-ed25519.*fingerprint"):
            node.get("x")

    assert took_s(fails) < 5


def test_a_host_key_of_a_kind_that_is_not_pinned_is_refused_at_once(place, tmp_path):
    """A key that nothing is known of is a wrong one; fabric alone would accept it."""
    other = sshd.make_key(tmp_path / "other").with_suffix(".pub").read_text()
    with sshd.server(kind="ecdsa") as server:
        node = sshd.node(server.endpoint(host_key=other), place, patience_s=30.0)

        with pytest.raises(NodeError, match="has ecdsa-sha2"):
            node.get("x")


def test_a_refused_login_is_not_tried_again(server, place, tmp_path):
    """It would be refused again, and a bastion may lock the account; the error names the key, never its content."""
    node = sshd.node(server.endpoint(key=sshd.make_key(tmp_path / "stranger")), place, patience_s=30.0)

    def fails():
        with pytest.raises(NodeError, match=r"login refused with key file .*stranger.*authorized_keys"):
            node.put("x", b"")

    assert took_s(fails) < 5


def test_what_is_no_private_key_is_refused_without_telling_it(server, place, tmp_path):
    """Secrets never get into logs."""
    (tmp_path / "key").write_text("my secret diary")
    node = sshd.node(server.endpoint(key=tmp_path / "key"), place)

    with pytest.raises(NodeError, match="expected a private key of OpenSSH") as told:
        node.get("x")
    assert "diary" not in str(told.value)


def test_a_machine_that_is_down_is_a_node_error_after_its_time(server, node):
    """Neither at once, because an sshd that restarts heals, nor never."""
    server.kill()
    patient = dataclasses.replace(node, patience_s=2.0)

    def fails():
        with pytest.raises(NodeError, match="no SSH connection within 2 s"):
            patient.get("x")

    assert 1.0 < took_s(fails) < 8


def test_a_connection_that_has_died_is_made_again(server, node):
    """A restart of sshd between two calls is not seen by the caller."""
    node.put("x", b"1")
    server.kill()
    back = threading.Timer(0.5, server.start)
    back.start()

    assert dataclasses.replace(node, patience_s=20.0).get("x") == b"1"
    back.join()


def test_an_sshd_killed_in_mid_command_is_a_node_error_at_once(server, node):
    """The command may have begun, so it is not tried again; the next one works once sshd is back."""
    node.put("x", b"1")
    killer = threading.Timer(0.7, server.kill)
    killer.start()

    def fails():
        with pytest.raises(NodeError, match="the SSH connection was lost"):
            node.run(SLEEP, timeout_s=25)

    assert took_s(fails) < 10
    killer.join()
    server.start()
    assert node.get("x") == b"1"


def test_a_bastion_is_passed_with_both_hosts_pinned(server, place, tmp_path):
    """The node is reached through a second sshd, and a bastion with another key is refused."""
    other = sshd.make_key(tmp_path / "other").with_suffix(".pub").read_text()
    with sshd.server() as jump:
        node = sshd.node(server.endpoint(), place, bastion=jump.endpoint())
        node.put("x", b"1")
        assert node.get("x") == b"1"

        with pytest.raises(NodeError, match=f":{jump.port} has ssh-ed25519|expected host key"):
            dataclasses.replace(node, bastion=jump.endpoint(host_key=other)).get("x")


def test_no_value_is_ever_read_by_a_shell(node):
    """Quotes, newlines, substitutions and bytes come back as they were sent."""
    values = ["$(touch /tmp/albacore-pwned)", "`id`", "a'b\"c", "line\nline", "; rm -rf x", "* ?", "ü€", "\\", ""]

    ended = node.run([*ARGUMENTS, *values])
    for value in filter(None, values[1:7]):
        node.put(f"a/{value.replace('/', '')}", value.encode())

    assert ended.stdout == json.dumps(values) + "\n"
    assert not os.path.exists("/tmp/albacore-pwned")
    assert all(node.get(f"a/{value.replace('/', '')}") == value.encode() for value in filter(None, values[1:7]))


def test_large_files_and_inputs_travel_whole(node):
    """8 MB each way, and as a command's input."""
    content = os.urandom(8_000_000)

    node.put("big", content)
    count = node.run([sys.executable, "-S", "-c", "import sys; print(len(sys.stdin.buffer.read()))"], stdin=content)

    assert node.get("big") == content
    assert count.stdout == "8000000\n"


def test_a_file_that_cannot_be_written_is_a_node_error_and_leaves_nothing(node):
    """The old content stays."""
    node.put("a", b"old")

    with pytest.raises(NodeError):
        node.put("a/b", b"new")
    assert node.get("a") == b"old"


def test_the_environment_of_a_command_is_clean(node, monkeypatch):
    """Nothing of the controller's or of the login's is on the node."""
    monkeypatch.setenv("AIRFLOW_SECRET", "x")
    show = [sys.executable, "-S", "-c", "import os; print(sorted(os.environ), os.getcwd())"]

    said = node.run(show).stdout

    assert said == f"['HOME', 'LC_ALL', 'PATH'] {node.directory}\n"


def test_a_python_that_is_not_there_is_told(server, place):
    """The error says which key to set."""
    node = sshd.node(server.endpoint(), place, python="/no/python3")

    with pytest.raises(NodeError, match="set 'python' in the inventory"):
        node.run(["true"])


def test_a_process_has_one_connection_to_a_node(node):
    """Polling opens nothing: the link stays, and another value for the same node finds it."""
    node.get("x")
    link = ssh_link.link_to(node.name, node.endpoint, node.bastion)
    transport = link._connection.transport

    dataclasses.replace(node, patience_s=2.0).get("x")

    assert link._connection.transport is transport


def test_preparing_copies_only_what_has_changed_and_a_job_runs(node):
    """The second preparation copies nothing; a sample's job ends with its result."""
    benchmark, workload = places.noop()

    first = prepare(node, benchmark, workload)
    second = prepare(node, benchmark, workload)
    spec = JobSpec.sample(workload, "one", {}, params={"seconds": 0.0})
    job.start(node, spec)

    assert (first.is_folder_new, second.is_folder_new) == (True, False)
    assert not put_folder(node, benchmark)
    assert job.wait(node, "one", within_s=20).state == "done"
    assert job.outcome(node, "one").metrics


def test_checking_an_inventory_with_connect_logs_in_to_its_machines(server, place, tmp_path):
    """One that answers tells what it is; one that does not is named, after all have been tried."""
    access = server.endpoint()
    lab = tmp_path / "lab.toml"
    entry = (
        f'port = {{}}\naddress = "127.0.0.1"\nuser = "{access.user}"\nhost_key = "{access.host_key}"\n'
        f'key_file = "{server.key}"\ndirectory = "{place}"\npython = "{PYTHON}"\n'
    )
    lab.write_text(f'[[hosts]]\nname = "here"\n{entry.format(server.port)}')

    said = list(checking.check_inventory(lab, secret=str))

    assert any("cores" in line and "GiB" in line for line in said) and said[-1] == "in order: 1 hosts"
    other = f'\n[[hosts]]\nname = "key"\nmachine = "other"\n{entry.format(server.port)}'
    lab.write_text(lab.read_text() + other.replace("127.0.0.1", "localhost").replace(access.host_key, HOST_KEY))
    with pytest.raises(NodeError, match="key cannot be used"):
        list(checking.check_inventory(lab, secret=str))


def test_the_demo_benchmark_is_measured_over_ssh(node):
    """Install, load, start, run, stop of a real PostgreSQL; afterwards nothing of it is left."""
    benchmark = Benchmark.read(places.BENCHMARKS, "postgres")
    workload = benchmark.workload("reporting")
    small = {"scale": 0.05, "warmup_s": 0.0, "measure_s": 0.0}

    ready = prepare(node, benchmark, workload, params=small)
    job.start(node, JobSpec.sample(workload, "one", {"work_mem": "16MB"}, params=small))
    assert job.wait(node, "one", within_s=120).state == "done"
    outcome = job.outcome(node, "one")
    found = sample_or_failure(outcome, workload, Placement.on(node, config_id="c", started_at=0.0))

    assert isinstance(found, Sample), found
    assert found.metrics["report_ms"].unit == "ms"
    assert ready.versions
    assert outcome.leftovers == ()
