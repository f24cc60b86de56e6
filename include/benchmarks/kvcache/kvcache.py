"""Do every verb of the cache benchmark: make the store's data, start and end the server, put the load on it.

A request is four bytes, a key; the answer four bytes, a length, and the value. The client is one connection that asks,
waits and looks at the clock, so a latency has in it whatever the server did meanwhile. What is not cached is read from
the golden file, where each value is compressed on its own: a miss costs real work that grows with the value.
"""

import json
import os
import random
import signal
import socket
import struct
import sys
import time
import zlib

import demand

NODE_DIR = os.environ["ALBACORE_NODE_DIR"]
JOB_DIR = os.environ["ALBACORE_JOB_DIR"]
PID_FILE = f"{NODE_DIR}/kvcache.json"
GOLDEN = f"{NODE_DIR}/golden/lookups"
ADDRESS = ("127.0.0.1", int(os.environ["ALBACORE_PORT"]))
STATUS = 0xFFFFFFFF
"""The key that asks for the server's counters."""
CONFIG, LOAD, NODE = 10, 20, 30
STOP_WITHIN_S, READY_WITHIN_S = 2.0, 5.0


def end(code, message):
    """Leave with the exit code that says who is to blame."""
    print(f"kvcache: {message}", file=sys.stderr)
    sys.exit(code)


def read(variable):
    """Return the JSON object that a variable of the environment points to."""
    with open(os.environ[variable]) as file:
        return json.load(file)


def write(path, content):
    """Write a JSON file, whole or not at all."""
    with open(f"{path}.new", "w") as file:
        json.dump(content, file)
    os.replace(f"{path}.new", path)


def install():
    """Install nothing: interpreter and folder are all there is."""
    write(f"{JOB_DIR}/versions.json", {"kvcache": "1", "python": sys.version.split()[0]})


def load():
    """Make the store: each value compressed, one after the other, and where each begins."""
    params, seed = read("ALBACORE_PARAMS"), int(os.environ["ALBACORE_SEED"])
    wanted = {"keys": params["keys"], "seed": seed, "python": sys.version.split()[0]}
    try:
        with open(f"{GOLDEN}/places.json") as file:
            if json.load(file)["made_of"] == wanted:
                return
    except OSError:
        pass
    os.makedirs(GOLDEN, exist_ok=True)
    ends, at = [], 0
    with open(f"{GOLDEN}/values", "wb") as file:
        for key, size in enumerate(demand.sizes(params["keys"], seed)):
            packed = zlib.compress(value(key, size, seed), 1)
            at += file.write(packed)
            ends.append(at)
    write(f"{GOLDEN}/places.json", {"made_of": wanted, "ends": ends})


def value(key, size, seed):
    """Return the bytes of a key's value: hexadecimal digits, which compress to half."""
    return random.Random(f"value {seed} {key}").randbytes(size // 2 + 1).hex()[:size].encode()


def born(pid):
    """Return a process's start time; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return fields[19] if fields[0] not in "ZX" else None


def server_pid():
    """Return the pid of the server that runs; None when none does."""
    try:
        with open(PID_FILE) as file:
            who = json.load(file)
    except OSError:
        return None
    return who["pid"] if born(who["pid"]) == who["born"] else None


def start():
    """Start the server; a config that the cache refuses is the config's fault."""
    import cache
    import server

    config = read("ALBACORE_CONFIG")
    if not os.path.exists(f"{GOLDEN}/places.json"):
        end(NODE, f"no golden data in {GOLDEN}: 'load' has not run")
    try:
        cache.checked(config)
    except cache.RefusedError as error:
        write_log(f"FATAL: {error}")
        end(CONFIG, str(error))
    stop()
    try:
        listener = socket.create_server(ADDRESS)
    except OSError as error:
        end(NODE, f"port {ADDRESS[1]}: {error}")
    pid = os.fork()
    if pid == 0:
        server.serve(listener, config, GOLDEN, f"{JOB_DIR}/server.log")
    write(PID_FILE, {"pid": pid, "born": born(pid)})
    listener.close()
    try:
        with Client(READY_WITHIN_S) as client:
            write(f"{JOB_DIR}/applied.json", client.status()["knobs"])
    except OSError as error:
        stop()
        end(CONFIG, f"the server does not answer within {READY_WITHIN_S} s: {error}")


def write_log(line):
    """Write the server's last words where a Failure looks for them."""
    with open(f"{JOB_DIR}/server.log", "a") as file:
        file.write(line + "\n")


class Client:
    """One connection that asks one thing at a time."""

    def __init__(self, timeout_s):
        self.socket = socket.create_connection(ADDRESS, timeout=timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.socket.makefile("rb", 2**16)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.answers.close()
        self.socket.close()

    def get(self, key):
        """Return the value of a key.

        Raises:
            OSError: When the server is gone or does not answer in time.
        """
        self.socket.sendall(struct.pack("!I", key))
        head = self.answers.read(4)
        size = struct.unpack("!I", head)[0] if len(head) == 4 else -1
        found = self.answers.read(size) if size >= 0 else b""
        if len(found) != size:
            raise OSError("the server closed the connection")
        return found

    def status(self):
        """Return the server's counters."""
        return json.loads(self.get(STATUS))


def run():
    """Fill the cache, then measure each request; a wrong value is no answer."""
    params, seed = read("ALBACORE_PARAMS"), int(os.environ["ALBACORE_SEED"])
    try:
        count = params["warmup_requests"] + params["requests"]
        keys = demand.requests(params["keys"], count, params["frequency"], seed)
        sizes = demand.sizes(params["keys"], seed)
    except (ValueError, TypeError, IndexError) as error:
        end(LOAD, f"parameters: {error}")
    try:
        with Client(params["answer_within_s"]) as client:
            for key in keys[: params["warmup_requests"]]:
                client.get(key)
            before = client.status()
            costs = played(client, keys[params["warmup_requests"] :], sizes, seed)
            after = client.status()
    except OSError as error:
        end(CONFIG, f"the server failed under load: {error}")
    report(costs, before, after)


def played(client, keys, sizes, seed):
    """Return seconds per request, ascending; every 500th value is compared, not only its length."""
    costs = []
    for index, key in enumerate(keys):
        asked_at = time.perf_counter()
        found = client.get(key)
        costs.append(time.perf_counter() - asked_at)
        if len(found) != sizes[key] or (index % 500 == 0 and found != value(key, sizes[key], seed)):
            end(CONFIG, f"key {key}: the server gave another value than the store has")
    return sorted(costs)


def report(costs, before, after):
    """Write the figures."""
    asked = after["requests"] - before["requests"]
    figures = {
        "p99_us": (1e6 * costs[int(0.99 * len(costs))], "us"),
        "p50_us": (1e6 * costs[len(costs) // 2], "us"),
        "mean_us": (1e6 * sum(costs) / len(costs), "us"),
        "service_p99_us": (after["service_ns"]["p99"] / 1e3, "us"),
        "service_mean_us": (after["service_ns"]["mean"] / 1e3, "us"),
        "throughput": (len(costs) / sum(costs), "1/s"),
        "hit_share": ((after["hits"] - before["hits"]) / asked, ""),
        "cache_mb": (after["cache_bytes"] / 2**20, "MB"),
        "memory_mb": (after["rss_kb"] / 1024, "MB"),
    }
    write(f"{JOB_DIR}/metrics.json", {"metrics": {k: {"value": v, "unit": u} for k, (v, u) in figures.items()}})
    write(f"{JOB_DIR}/notes.json", {"evictions": after["evictions"] - before["evictions"], "requests": len(costs)})


def stop():
    """End the server: politely, then by force."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        pid, ends_at = server_pid(), time.monotonic() + STOP_WITHIN_S
        if pid is None:
            break
        os.kill(pid, how)
        while server_pid() is not None and time.monotonic() < ends_at:
            time.sleep(0.002)
    if os.path.exists(PID_FILE):
        os.remove(PID_FILE)
