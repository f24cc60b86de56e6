"""Do every verb of a system that only pretends.

There is a real server process with a real port, because that it is gone afterwards is worth testing. Everything else is
made to cost next to nothing: no interpreter but one per verb, no import that is not needed.
"""

# Loading pathlib takes longer than a verb:

import json
import math
import os
import signal
import sys
import time

NODE_DIR = os.environ["ALBACORE_NODE_DIR"]
JOB_DIR = os.environ["ALBACORE_JOB_DIR"]
PID_FILE = f"{NODE_DIR}/noop.json"
ADDRESS = (os.environ.get("ALBACORE_HOST") or "127.0.0.1", int(os.environ["ALBACORE_PORT"]))
GOLDEN = f"{NODE_DIR}/golden/sleep/data.json"
STOP_WITHIN_S = 2.0
CONFIG, LOAD, NODE, BUG = 10, 20, 30, 1
MODES = {"plain": 1.0, "fast": 1.2, "lucky": 1.5}
UNLUCKY = 0.4
OPTIMUM = {"size": 256.0, "delay": 0.05, "threads": 12.0}


def end(code, message):
    """Leave with the exit code that says who is to blame."""
    print(message, file=sys.stderr)
    sys.exit(code)


def read(variable):
    """Return the JSON object that a variable of the environment points to."""
    with open(os.environ[variable]) as file:
        return json.load(file)


def write(path, content):
    """Write a JSON file."""
    with open(path, "w") as file:
        json.dump(content, file)


def mine(table):
    """Return this node's entry of a table that names nodes."""
    return table.get(os.environ["ALBACORE_NODE"], table.get("*"))


def born(pid):
    """Return a process's start time; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return fields[19] if fields[0] not in "ZX" else None


def server():
    """Return the pid of the server that runs; None when none does."""
    try:
        with open(PID_FILE) as file:
            who = json.load(file)
    except OSError:
        return None
    return who["pid"] if born(who["pid"]) == who["born"] else None


def hang():
    """Never return, whatever is asked politely, and have a child that does the same."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.fork()
    while True:
        time.sleep(60)


def install():
    """Install nothing, and say which version of it."""
    write(f"{JOB_DIR}/versions.json", {"noop": "1"})


def load():
    """Make golden data that differ from node to node."""
    os.makedirs(os.path.dirname(GOLDEN), exist_ok=True)
    write(GOLDEN, {"seed": int(os.environ["ALBACORE_SEED"])})


def start():
    """Start the server, listening before anybody asks."""
    import socket

    failure = mine(read("ALBACORE_PARAMS").get("fail_on", {}))
    config = read("ALBACORE_CONFIG")
    if failure == "node" or not os.path.exists(GOLDEN):
        end(NODE, f"noop: no golden data in {GOLDEN}, or told to blame the node")
    if failure == "hang-start":
        hang()
    if failure == "start" or config.get("mode") == "broken":
        write(f"{JOB_DIR}/server.log", f"FATAL: refused: {config}")
        end(CONFIG, "noop: the server refuses this config")
    stop()
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(ADDRESS)
    except OSError as error:
        end(NODE, f"noop: {ADDRESS[0]} port {ADDRESS[1]}: {error}")
    listener.listen()
    pid = os.fork()
    if pid == 0:
        serve(listener)
    write(PID_FILE, {"pid": pid, "born": born(pid)})
    write(f"{JOB_DIR}/applied.json", config)


def serve(listener):
    """Answer connections for ever, as the node's own uid and in a session of its own."""
    os.setsid()
    uid = os.environ["ALBACORE_UID"]
    if uid:
        os.setgroups([])
        os.setgid(int(uid))
        os.setuid(int(uid))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    while True:
        connection = listener.accept()[0]
        connection.sendall(b"ok\n")
        connection.close()


def answers():
    """Say whether the server answers."""
    import socket

    try:
        with socket.create_connection(ADDRESS, timeout=5) as connection:
            return connection.recv(3) == b"ok\n"
    except OSError:
        return False


def number(text):
    """Return the number in front of a unit."""
    return float(text.rstrip("MBms"))


def unit_draw(*parts):
    """Return a number in (0, 1) that depends on the parts alone."""
    import zlib

    return (zlib.crc32(repr(parts).encode()) + 0.5) / 2**32


def figure(config, seed, noise):
    """Return the score: a product of smooth humps, times luck, times noise."""
    score = 100.0
    for name, best in OPTIMUM.items():
        value = number(config.get(name, "1")) or best  # threads = 0 finds the best by itself
        score *= math.exp(-0.04 * math.log(value / best) ** 2)
    score *= math.exp(-1.5 * (float(config.get("ratio", "0.9")) - 0.35) ** 2)
    score *= 1.0 + 0.3 * math.tanh((float(config.get("high", "20")) - float(config.get("low", "10"))) / 40.0)
    score *= 1.15 if config.get("cache") == "on" else 1.0
    mode, key = config.get("mode", "plain"), json.dumps(config, sort_keys=True)
    score *= MODES[mode]
    if mode == "lucky" and unit_draw("luck", key, seed) < 0.5:
        score *= UNLUCKY
    # A sum of twelve uniform numbers is near enough to a normal one.
    normal = sum(unit_draw(key, seed, i) for i in range(12)) - 6.0
    return score * math.exp(noise * normal)


def moved():
    """Return the factor in the node's file `moved`, by which somebody makes a machine drift; 1 without the file."""
    try:
        with open(f"{NODE_DIR}/moved") as file:
            return float(file.read())
    except FileNotFoundError:
        return 1.0


def run():
    """Take the time that a measurement takes, and write the figure."""
    params, config = read("ALBACORE_PARAMS"), read("ALBACORE_CONFIG")
    failure = mine(params.get("fail_on", {}))
    if failure == "crash":
        os.kill(server(), signal.SIGKILL)
    if failure == "hang-run":
        hang()
    time.sleep(params["seconds"])
    codes = {"run": CONFIG, "load": LOAD, "bug": BUG}
    if failure in codes:
        end(codes[failure], f"noop: told to fail with {failure}")
    if not answers():
        end(CONFIG, "noop: the server died under load")
    with open(GOLDEN) as file:
        seed = json.load(file)["seed"]
    score = figure(config, seed, params["noise"]) * (mine(params.get("slow_on", {})) or 1.0) * moved()
    score = math.nan if failure == "no-metric" else score
    write(f"{JOB_DIR}/metrics.json", {"metrics": {"score": {"value": score, "unit": "points"}}})
    write(f"{JOB_DIR}/notes.json", {"seed": seed})


def stop():
    """End the server: politely, then by force."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        pid, ends_at = server(), time.monotonic() + STOP_WITHIN_S
        if pid is None:
            break
        os.kill(pid, how)
        while server() is not None and time.monotonic() < ends_at:
            time.sleep(0.002)
    if os.path.exists(PID_FILE):
        os.remove(PID_FILE)
