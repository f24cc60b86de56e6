"""Measure one sample of a YCSB workload: warm up, send at a fixed rate, and say how long answers took."""

from __future__ import annotations

import contextlib
import gc
import random
from typing import Any

from client import Answered, Client
from contract import BlamedError, ConfigError, LoadError, Node, blame, metrics, percentile, read_json
from daemon import lost, usage
from resp import HOST, Connection, ReplyError
from server import facts
from ycsb import arrivals, requests

LOG = "latency.csv"


def drive(client: Client, seconds: float, params: dict[str, Any], draw: random.Random) -> list[Answered]:
    """Put the workload's load on the server for some seconds."""
    due = arrivals(float(params["rate"]), seconds, draw)
    plan = requests(len(due), int(params["records"]), float(params["updates"]), draw)
    gc.collect()
    gc.disable()
    try:
        return client.drive(due, plan, seconds + float(params["answer_timeout_s"]))
    finally:
        gc.enable()


def check_data(server: Connection, records: int) -> dict[str, int]:
    """Make sure that nothing was evicted, expired or missed, and return the counters.

    Raises:
        ConfigError: When something was: a cache that drops its data is fast for a bad reason.
    """
    stats = facts(server, "stats")
    names = ("evicted_keys", "expired_keys", "keyspace_misses", "total_error_replies")
    counters = {name: int(stats[name]) for name in names}
    counters["lost_keys"] = records - server.ask("DBSIZE")
    if bad := {name: count for name, count in counters.items() if count}:
        raise ConfigError(f"expected every record to stay and every read to hit, given {bad}.")
    return counters


def summarize(log: list[Answered], seconds: float, used_ms: float, rss_bytes: float, client: Client) -> dict[str, Any]:
    """Make metrics.json from the client's own log."""
    times = [each.ms for each in log]
    kinds = {
        name: [each.ms for each in log if each.is_update is is_update]
        for name, is_update in (("read_p95_ms", False), ("update_p95_ms", True))
    }
    return metrics(
        p95_ms=(percentile(times, 95), "ms"),
        p50_ms=(percentile(times, 50), "ms"),
        p99_ms=(percentile(times, 99), "ms"),
        **{name: (percentile(each, 95), "ms") for name, each in kinds.items() if each},
        throughput=(len(times) / seconds, "op/s"),
        cpu_us_per_op=(1000.0 * used_ms / len(times), "us"),
        rss_bytes=(rss_bytes, "B"),
        client_core_share=(client.core_share, "1"),
        client_lag_p95_ms=(percentile(client.lags_ms, 95), "ms"),
    )


def used(node: Node) -> tuple[float, float]:
    """Give the CPU time in ms that the server has used so far, and the bytes of memory that it holds now."""
    if HOST == "127.0.0.1":
        return usage(node.data)
    with Connection(node.port) as server:  # it runs on another node, and has to be asked
        cpu, memory = facts(server, "cpu"), facts(server, "memory")
    return 1000.0 * (float(cpu["used_cpu_sys"]) + float(cpu["used_cpu_user"])), float(memory["used_memory_rss"])


def lost_server(node: Node, error: Exception) -> BlamedError:
    """Make the error for a load that lost its server, which may be another node's."""
    if HOST == "127.0.0.1":
        return lost(node, str(error))
    with contextlib.suppress(OSError, ReplyError), Connection(node.port) as server:
        server.ask("PING")
        return LoadError(f"{error}, and the server still answers.")
    return ConfigError(f"the server died under load: {error}")


def write_log(node: Node, log: list[Answered]) -> None:
    """Write every measured request."""
    lines = (f"{'update' if each.is_update else 'read'},{each.due_s:.6f},{each.ms:.4f}\n" for each in log)
    (node.job / LOG).write_text("request,due_s,latency_ms\n" + "".join(lines))


def measure(node: Node, params: dict[str, Any]) -> None:
    """Measure one sample and write its metrics and notes.

    Raises:
        BlamedError: Whoever is to blame when something fails.
    """
    # The same requests on every node and in every sample: only config and machine differ.
    draw, seconds = random.Random(1), float(params["measure_s"])
    try:
        client = Client(node.port, int(params["connections"]))
        try:
            drive(client, float(params["warmup_s"]), params, draw)
            used_ms, _ = used(node)
            log = drive(client, seconds, params, draw)
            after_ms, rss_bytes = used(node)
        finally:
            client.close()
        with Connection(node.port) as server:
            counters = check_data(server, int(params["records"]))
    except (OSError, ReplyError) as error:
        raise lost_server(node, error) from None
    write_log(node, log)
    node.keep_log()
    node.write("notes.json", counters)
    node.write("metrics.json", summarize(log, seconds, after_ms - used_ms, rss_bytes, client))


def main() -> None:
    """Measure the workload that the environment names."""
    with blame():
        measure(Node.from_environment(), read_json("ALBACORE_PARAMS"))
