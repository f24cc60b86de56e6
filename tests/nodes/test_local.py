"""Local nodes keep apart from each other, from the rest of the machine, and from who must not pass."""

import os
import socket
from pathlib import Path

import pytest
from nodes import places

from albacore.errors import NodeError, UserError
from albacore.nodes import job
from albacore.nodes.local import local_nodes, state_root
from albacore.nodes.preparation import prepare, put_agent, put_folder


def test_nodes_share_neither_directory_nor_port_nor_uid_nor_seed(tmp_path: Path):
    """And they are the same nodes when asked for again."""
    fleet = local_nodes(Path("/var/tmp/r"), "d", ["a", "b", "c"], 5600)

    assert fleet == local_nodes(Path("/var/tmp/r"), "d", ["a", "b", "c"], 5600)
    assert [node.port for node in fleet] == [5600, 5610, 5620]
    for attribute in ("directory", "seed", *(["uid"] if os.geteuid() == 0 else [])):
        assert len({getattr(node, attribute) for node in fleet}) == 3


@pytest.mark.parametrize(
    ("names", "port", "message"),
    [
        (["a", "a"], 5600, "each name once"),
        (["A"], 5600, "node name: expected"),
        (["a"], 80, "ports in 1024-65535"),
        (["a", "b"], 65520, "ports in 1024-65535"),
        (["a" * 31], 5600, None),
    ],
)
def test_a_fleet_that_cannot_work_is_refused(names: list[str], port: int, message: str | None):
    """Before anything is made."""
    root = Path("/var/tmp/r")
    if message is None:
        assert local_nodes(root, "d", names, port)
        return
    with pytest.raises(UserError, match=message):
        local_nodes(root, "d", names, port)


def test_a_socket_path_that_would_not_fit_is_refused_with_the_remedy():
    """The kernel's limit would otherwise show as a server that refuses every config."""
    with pytest.raises(UserError, match=r"at most 70 bytes.*XDG_STATE_HOME"):
        local_nodes(Path("/var/tmp") / ("x" * 60), "d", ["node"], 5600)


def test_the_root_follows_the_owner_and_the_clone(tmp_path: Path):
    """Two clones never share nodes; XDG_STATE_HOME is used when it can be."""
    own = f"albacore-{os.geteuid()}"

    assert state_root(tmp_path / "a", {}).parent == Path("/var/tmp") / own
    assert state_root(tmp_path / "a", {}) != state_root(tmp_path / "b", {})
    assert state_root(tmp_path, {"XDG_STATE_HOME": "/var/lib"}).parent == Path("/var/lib") / own
    assert state_root(tmp_path, {"XDG_STATE_HOME": "relative"}).parent == Path("/var/tmp") / own


def test_as_root_a_closed_home_is_passed_over(tmp_path: Path):
    """The system under tune runs as another uid there and could not reach its own files."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    expected = Path("/var/tmp") if os.geteuid() == 0 else closed

    assert state_root(tmp_path, {"XDG_STATE_HOME": str(closed)}).parents[1] == expected


@pytest.mark.node
def test_a_node_is_open_to_its_own_uid_only():
    """It can pass and make files, cannot replace the agent, and other nodes are closed to it."""
    with places.root() as root:
        first, second = places.nodes(root, "n1", "n2")
        first.make(), second.make()
        if first.uid is None:
            assert first.directory.stat().st_mode & 0o777 == 0o700
            return
        code = f"""
import os, sys
os.setgroups([]); os.setgid({first.uid}); os.setuid({first.uid})
open({str(first.directory / "made")!r}, "w").close()
for act in (lambda: os.rename({str(first.directory / "agent")!r}, {str(first.directory / "gone")!r}),
            lambda: os.listdir({str(second.directory)!r}), lambda: open({str(second.directory / "agent/node.json")!r})):
    try: act()
    except PermissionError: continue
    sys.exit(1)
"""
        assert first.run([first.python, "-E", "-s", "-c", code]).returncode == 0


@pytest.mark.node
def test_preparation_copies_once_and_notices_a_changed_copy():
    """The second time nothing is copied; a file edited or added on the node brings the folder back as it was."""
    with places.root() as root:
        (node,) = places.nodes(root, "n1")
        benchmark, workload = places.noop()
        lines: list[str] = []

        first = prepare(node, benchmark, workload, progress=lines.append)
        assert first.is_folder_new and first.versions == {"noop": "1"} and first.digest == benchmark.digest
        assert [line.split(" took")[0] for line in lines[1:]] == ["n1: install of noop/sleep", "n1: load of noop/sleep"]
        assert not put_folder(node, benchmark)
        node.put("benchmarks/noop/extra", b"x")
        assert put_folder(node, benchmark)
        assert node.get("benchmarks/noop/extra") is None


@pytest.mark.node
def test_a_port_of_somebody_else_is_refused_before_anything_runs():
    """The message names the port; the other program is left alone."""
    with places.root() as root, socket.socket() as other:
        (node,) = places.nodes(root, "n1")
        other.bind(("127.0.0.1", node.port + 3))
        other.listen()

        with pytest.raises(NodeError, match=f"another program uses {node.port + 3}"):
            prepare(node, *places.noop())


@pytest.mark.node
def test_facts_are_the_same_through_the_agent():
    """A remote node is asked by its agent, a local one directly."""
    with places.root() as root:
        (node,) = places.nodes(root, "n1")
        put_agent(node)

        asked, known = dict(job.ask(node, "facts")), dict(node.facts())
        asked.pop("disk_free_bytes"), known.pop("disk_free_bytes")
        assert asked == known
