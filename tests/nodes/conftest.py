"""A node that the tests of jobs share."""

import socket
from collections.abc import Iterator

import pytest
from nodes import places

from albacore.nodes import process
from albacore.nodes.local import LocalNode


@pytest.fixture(scope="module")
def node() -> Iterator[LocalNode]:
    """One prepared node for all tests: what one leaves behind, the next would notice."""
    with places.prepared("n1") as (node,):
        yield node


@pytest.fixture
def clean_node(node: LocalNode) -> Iterator[None]:
    """After every test nothing of the node runs and its port is free."""
    yield
    assert process.belonging(f"ALBACORE_NODE_DIR={node.directory}", []) == set()
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", node.port))
