"""Every kind of node keeps the protocol that jobs and preparations rely on."""

import sys
from collections.abc import Iterator

import pytest
from nodes import places, sshd

from albacore.errors import NodeError, UserError
from albacore.nodes import Node
from albacore.nodes.fake import FakeNode, result

EXIT_3 = [sys.executable, "-S", "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"]
ECHO = [sys.executable, "-S", "-c", "import sys; sys.stdout.write(sys.stdin.read())"]
SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(60)"]


@pytest.fixture(scope="module")
def server() -> Iterator[sshd.SshServer]:
    """One sshd for all tests of this file."""
    with sshd.server() as made:
        yield made


@pytest.fixture(params=["local", "fake", pytest.param("ssh", marks=pytest.mark.node)])
def node(request: pytest.FixtureRequest) -> Iterator[Node]:
    """A node of each kind; the fake one has been told what the three commands give."""
    if request.param == "ssh":
        with places.root() as place:
            yield sshd.node(request.getfixturevalue("server").endpoint(), place / "t")
        return
    if request.param == "fake":
        yield FakeNode(
            answers={
                tuple(EXIT_3): result(EXIT_3, returncode=3, stdout="out\n", stderr="err\n"),
                tuple(ECHO): "abc",
                tuple(SLEEP): NodeError("over time"),
            }
        )
        return
    with places.root() as place:
        yield places.nodes(place, "n1")[0]


def test_what_was_put_is_what_get_returns(node: Node):
    """Content survives byte for byte, and a second put replaces the first."""
    node.put("a/b/c.bin", b"first")
    node.put("a/b/c.bin", bytes(range(256)))

    assert node.get("a/b/c.bin") == bytes(range(256))


def test_a_file_that_is_not_there_is_none(node: Node):
    """Absence is an answer, not an error."""
    assert node.get("a/none") is None


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/passwd", "", "a\0b"])
def test_no_path_leaves_the_directory(node: Node, path: str):
    """Neither put nor get climbs out of the node."""
    with pytest.raises(UserError, match="below the node's directory"):
        node.put(path, b"x")
    with pytest.raises(UserError, match="below the node's directory"):
        node.get(path)


def test_a_file_larger_than_expected_is_an_error(node: Node):
    """A runaway log never fills the controller's memory."""
    node.put("big", b"x" * 100)

    with pytest.raises(NodeError, match="larger than 99 bytes"):
        node.get("big", max_bytes=99)


def test_a_return_code_is_returned_not_raised(node: Node):
    """What a command said and how it ended comes back as it was."""
    ended = node.run(EXIT_3)

    assert (ended.returncode, ended.stdout, ended.stderr, ended.is_ok) == (3, "out\n", "err\n", False)
    assert ended.argv == tuple(EXIT_3)


def test_standard_input_reaches_the_command(node: Node):
    """Job specs travel this way."""
    assert node.run(ECHO, stdin=b"abc").stdout == "abc"


def test_a_command_over_its_time_is_a_node_error(node: Node):
    """Nobody waits for a node that does not answer."""
    with pytest.raises(NodeError):
        node.run(SLEEP, timeout_s=0.2)


def test_a_program_that_is_not_there_is_a_node_error(node: Node):
    """A missing binary is the node's fault."""
    with pytest.raises(NodeError, match="cannot run"):
        node.run(["/no/such/program"])


def test_facts_have_what_bounds_are_computed_from(node: Node):
    """Expressions in knobs.toml may use them on every kind of node."""
    facts = node.facts()

    assert all(facts[name] > 0 for name in ("ram_bytes", "disk_bytes", "cores"))
    assert all(facts[name] for name in ("cpu_model", "kernel", "os", "python", "boot_id"))
