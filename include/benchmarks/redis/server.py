"""Serve the data directory under a config, and compare what was asked for with what is in effect."""

from __future__ import annotations

import re

from contract import ConfigError, Node
from daemon import launch, processes
from resp import HOST, Connection, ReplyError

KNOB_NAME = re.compile(r"[a-z][a-z0-9-]*\Z")
AMOUNT = re.compile(r"(-?\d+)(b|kb?|mb?|gb?)?\Z", re.IGNORECASE)
# redis.conf: "1k => 1000 bytes, 1kb => 1024 bytes", and so on; case does not matter.
SIZES = {"": 1, "b": 1, "k": 10**3, "kb": 2**10, "m": 10**6, "mb": 2**20, "g": 10**9, "gb": 2**30}
DUMP = "dump.rdb"
# Protected mode refuses whoever comes over a network, and the load may.
PROTECTED = "yes" if HOST == "127.0.0.1" else "no"


def write_config(node: Node, config: dict[str, str]) -> None:
    """Write every value of a config as a line that Redis reads back unchanged.

    Raises:
        ConfigError: When a name or a value cannot be written into a configuration file.
    """
    lines = []
    for name, value in config.items():
        if not KNOB_NAME.match(name) or not value.isprintable():
            raise ConfigError(f"knob {name!r}: expected a name and a printable value, given {value!r}.")
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'{name} "{escaped}"\n')
    (node.data / "redis.conf").write_text("".join(lines))


def serve(node: Node, config: dict[str, str], timeout_s: float) -> None:
    """Start the server on the data directory, and wait until all data are in memory.

    Raises:
        ConfigError: When it refuses the config, ends, or is not ready in time.
        NodeError: When the disk is full or another program has its port.
    """
    write_config(node, config)
    fixed = {"port": str(node.port), "bind": HOST, "dir": str(node.data), "dbfilename": DUMP}
    quiet = {"daemonize": "no", "supervised": "no", "logfile": "", "pidfile": "", "protected-mode": PROTECTED}
    words = [word for name, value in {**fixed, **quiet}.items() for word in (f"--{name}", value)]
    launch(node, [node.program("redis-server"), "redis.conf", *words], lambda: _is_ready(node), timeout_s)


def _is_ready(node: Node) -> bool:
    """Tell whether it is our server that answers, with all data loaded."""
    try:
        with Connection(node.port, timeout_s=1.0) as server:
            return int(facts(server, "server")["process_id"]) in processes(node.data) and (
                facts(server, "persistence")["loading"] == "0"
            )
    except ReplyError:
        return False


def facts(server: Connection, section: str) -> dict[str, str]:
    """Read a section of INFO."""
    lines = server.ask("INFO", section).splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def amount(text: str) -> str:
    """Bring an amount of memory to bytes; other values are returned in lower case."""
    match = AMOUNT.match(text)
    return str(int(match[1]) * SIZES[(match[2] or "").lower()]) if match else text.lower()


def check(server: Connection, config: dict[str, str]) -> dict[str, str]:
    """Check each value of a config and return what is in effect.

    Raises:
        ConfigError: When a setting is unknown to the server, or its value is another one.
    """
    applied, wrong = {}, []
    for name, asked in config.items():
        shown = dict(zip(*[iter(server.ask("CONFIG", "GET", name))] * 2, strict=True)).get(name)
        if shown is None or amount(asked) != amount(shown):
            wrong.append(f"{name}: asked for {asked!r}, in effect is {shown!r}")
        applied[name] = shown or ""
    if wrong:
        raise ConfigError("the server did not take these values: " + "; ".join(wrong))
    return applied
