"""Write a config into NGINX's three contexts, have NGINX test it, and serve the restored pages under it."""

from __future__ import annotations

import re
import subprocess

from contract import ConfigError, Node
from daemon import failure, is_listening, launch, processes

NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
VALUE = re.compile(r"[A-Za-z0-9_.:= -]+\Z")
# https://nginx.org/en/docs/dirindex.html says of each directive where it may stand; the rest stands in `http`.
MAIN = {"worker_processes", "pcre_jit", "worker_rlimit_nofile", "worker_priority", "timer_resolution"}
EVENTS = {"worker_connections", "multi_accept", "accept_mutex", "accept_mutex_delay", "worker_aio_requests"}
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
TYPES = "text/html html; text/css css; image/svg+xml svg; image/jpeg jpg;"
TEMPLATE = """\
daemon off;
master_process on;
pid {data}/nginx.pid;
error_log stderr warn;
{main}
events {{
{events}
}}
http {{
types {{ {types} }}
gzip_types text/css image/svg+xml;
access_log off;
{temporary}
{http}
server {{
listen 127.0.0.1:{port};
root {data}/www;
}}
}}
"""


def write_config(node: Node, config: dict[str, str]) -> None:
    """Write every value of a config as a directive in its context.

    Raises:
        ConfigError: When a name or a value cannot be written into a configuration file.
    """
    parts: dict[str, list[str]] = {"main": [], "events": [], "http": []}
    for name, value in config.items():
        if not NAME.match(name) or not VALUE.match(value):
            raise ConfigError(f"knob {name!r}: expected the name and value of a simple directive, given {value!r}.")
        context = "main" if name in MAIN else "events" if name in EVENTS else "http"
        parts[context].append(f"{name} {value};")
    temporary = (f"{name}_temp_path {_quoted(node, f'tmp/{name}')};" for name in TEMPORARY)
    text = TEMPLATE.format(
        data="{data}",
        port=node.port,
        types=TYPES,
        temporary="\n".join(temporary),
        **{context: "\n".join(lines) for context, lines in parts.items()},
    )
    text = text.replace("pid {data}/nginx.pid", f"pid {_quoted(node, 'nginx.pid')}")
    (node.data / "nginx.conf").write_text(text.replace("root {data}/www", f"root {_quoted(node, 'www')}"))
    node.own(node.data / "tmp")


def _quoted(node: Node, name: str) -> str:
    """Give a path below the data directory as the configuration file wants it."""
    escaped = str(node.data / name).replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'"{escaped}"'


def _command(node: Node, *words: str) -> list[str]:
    """Give the command line of NGINX with our prefix and config."""
    data = str(node.data)
    return [node.program("nginx"), "-p", data, "-e", "stderr", "-c", f"{data}/nginx.conf", *words]


def test(node: Node, config: dict[str, str], timeout_s: float) -> dict[str, str]:
    """Have the server read the config, and return what it read of each knob.

    Raises:
        ConfigError: When it refuses it.
    """
    try:
        said = subprocess.run(
            _command(node, "-T"),
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
            cwd=node.data,
            env=node.surroundings(),
            **node.identity(),
        )
    except subprocess.TimeoutExpired:
        raise ConfigError(f"the server had not tested the config after {timeout_s:g} s.") from None
    node.log.write_text(said.stderr)
    if said.returncode:
        raise failure(node, "the server refuses the config")
    read = {}
    for name in config:
        match = re.search(rf"^{name} (.*);$", said.stdout, re.MULTILINE)
        read[name] = match[1] if match else ""
    if wrong := [name for name, value in config.items() if read[name] != value]:
        raise ConfigError(f"the server read other values of {', '.join(wrong)} than it was given.")
    return read


def serve(node: Node, timeout_s: float) -> None:
    """Start the server and wait until it accepts connections.

    Raises:
        ConfigError: When it ends or is not ready in time.
        NodeError: When another program has its port.
    """
    # A master and a worker: a master alone may not have bound the port, which then is another program's.
    launch(node, _command(node), lambda: len(processes(node.data)) > 1 and is_listening(node.port), timeout_s)
