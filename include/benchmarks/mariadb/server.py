"""Serve the data directory under a config, and compare what was asked for with what is in effect.

No TCP port is opened; the socket lies in the data directory, which nobody but the node's uid may enter.
"""

from __future__ import annotations

import contextlib
import re
import subprocess

from contract import ConfigError, Node, NodeError
from daemon import failure, launch

NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
AMOUNT = re.compile(r"(\d+)([KMG])\Z")
SIZES = {"K": 2**10, "M": 2**20, "G": 2**30}
SOCKET = "s"
# A socket's address holds 107 bytes.
MAX_SOCKET_BYTES = 100
TRUTH = {"ON": "1", "OFF": "0", "YES": "1", "NO": "0", "TRUE": "1", "FALSE": "0"}


def write_config(node: Node, config: dict[str, str]) -> None:
    """Write every value of a config as a line that MariaDB reads back unchanged.

    Raises:
        ConfigError: When a name or a value cannot be written into a configuration file.
    """
    lines = ["[mariadbd]\n"]
    for name, value in config.items():
        if not NAME.match(name) or not value.isprintable() or set(value) & set("\\'\""):
            raise ConfigError(f"knob {name!r}: expected a name and a plain value, given {value!r}.")
        lines.append(f"{name} = '{value}'\n")
    (node.data / "albacore.cnf").write_text("".join(lines))


def serve(node: Node, timeout_s: float, *extra: str) -> None:
    """Start the server on the data directory and wait until it answers.

    Raises:
        ConfigError: When it refuses the config, ends, or is not ready in time.
        NodeError: When the disk is full, or the socket's address would be too long.
    """
    address = node.data / SOCKET
    if len(bytes(address)) > MAX_SOCKET_BYTES:
        raise NodeError(
            f"socket path {address}: expected at most {MAX_SOCKET_BYTES} bytes. Choose a shorter node directory."
        )
    fixed = ("--skip-networking", "--pid-file=server.pid", f"--socket={address}", "--skip-log-bin")
    command = [node.program("mariadbd"), "--defaults-file=albacore.cnf", f"--datadir={node.data}", *fixed, *extra]
    launch(node, command, lambda: ask(node, "SELECT 1", 5.0) == "1\n", timeout_s)


def ask(node: Node, sql: str, timeout_s: float) -> str:
    """Run SQL and return its rows, tab-separated; empty when it failed or took too long."""
    address = f"--socket={node.data / SOCKET}"
    with contextlib.suppress(subprocess.TimeoutExpired):
        return subprocess.run(
            [node.program("mariadb"), "--no-defaults", "--user=root", address, "-N", "-e", sql],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            cwd="/",
            env=node.surroundings(),
            **node.identity(),
        ).stdout
    return ""


def variables(node: Node, timeout_s: float) -> dict[str, str]:
    """Read every global variable.

    Raises:
        ConfigError: When the server does not answer.
    """
    rows = ask(node, "SHOW GLOBAL VARIABLES", timeout_s).splitlines()
    if not rows:
        raise failure(node, f"the server did not answer within {timeout_s:g} s")
    return dict(row.split("\t", 1) for row in rows if "\t" in row)


def plain(text: str) -> str:
    """Bring an amount to bytes, a number to its shortest form and a truth to 0 or 1."""
    if amount := AMOUNT.match(text):
        return str(int(amount[1]) * SIZES[amount[2]])
    with contextlib.suppress(ValueError):
        return f"{float(text):.10g}" if len(text) < 15 else text
    return TRUTH.get(text.upper(), text.upper())


def check(config: dict[str, str], shown: dict[str, str]) -> dict[str, str]:
    """Check each value of a config and return what is in effect; MariaDB moves values into its limits with a warning.

    Raises:
        ConfigError: When a setting is unknown to the server, or its value is another one.
    """
    wrong = [
        f"{name}: asked for {asked!r}, in effect is {shown.get(name)!r}"
        for name, asked in config.items()
        if name not in shown or plain(asked) != plain(shown[name])
    ]
    if wrong:
        raise ConfigError("the server did not take these values: " + "; ".join(wrong))
    return {name: shown[name] for name in config}
