"""Find the user's folder, and the copy of it that the golden data was made with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from contract import LoadError
from golden import digest, noted
from postgres import Node

EXAMPLE = Path(__file__).parent / "example"


def given(params: Mapping[str, object]) -> Path:
    """Return the folder that the parameter names; without one the example.

    Raises:
        LoadError: When it is not there, or has no queries.
    """
    named = str(params["folder"])
    folder = Path(named) if named else EXAMPLE
    if not folder.is_absolute() or not any((folder / "queries").glob("*.sql")):
        raise LoadError(
            f"folder = {named!r}: expected the absolute path of a folder on the node with queries/*.sql in it, "
            "and with schema.sql when it needs data; there are no queries. Correct `folder` in the campaign's [params]."
        )
    return folder


def kept(node: Node) -> Path:
    """Name the copy that was made when the data was loaded: root reads the user's home, the server's uid cannot."""
    return node.golden.with_suffix(".folder")


def queries(node: Node, params: Mapping[str, object]) -> Path:
    """Return the folder of the queries that the data was loaded for.

    Raises:
        LoadError: When the user's folder has changed since.
    """
    folder = given(params)
    if noted(node)["folder"] != digest(folder):
        raise LoadError(f"{folder}: it has changed since this node's data was loaded. Start the campaign run again.")
    return kept(node) / "queries"
