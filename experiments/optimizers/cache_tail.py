"""The tail of a cache's latency: requests arrive at their own pace, and wait while their shard is busy.

After Metis §2.2: the memory is given, the cache is full, and what counts is the 99th percentile. The cache and its load
are those of `include/benchmarks/kvcache`; what is added is time. Everything is counted, nothing is measured: the same
config has the same tail on every machine.

```
gap     mean us between two requests; arrivals are Poisson by a fixed seed
hold    us that a request keeps its shard: levels looked through, the answer's bytes, on a miss the read and evictions
wait    us until the shard is free
tail    99th percentile of wait + hold + ANSWER_US over the requests after the cache has filled
```
"""

import random
import runpy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from albacore.fewer import narrowed
from albacore.space import Config, Space
from albacore.space.catalogue import Catalogue

FOLDER = Path(__file__).resolve().parents[2] / "include" / "benchmarks" / "kvcache"
KEYS, WARMUP, REQUESTS = 2000, 3000, 5000
GAP_US = 1000.0
CAPACITY_MB = 1
"""Of 4.6 MB of data. Metis compares configs at a given capacity too: with all in memory every config is as good."""


def space() -> Space:
    """Return the paper's knobs but for the capacity."""
    whole = Catalogue.read(FOLDER / "knobs.toml").space({"ram_bytes": 2**33, "cores": 2, "disk_bytes": 2**36})
    return narrowed(whole, [name for name in whole.names if name != "cache_capacity"])


def tail(frequency: str) -> Callable[[Config], float]:
    """Return what gives the tail of a config in us, under keys of a frequency: `zipf`, `normal` or `linear`."""
    cache, demand = (runpy.run_path(str(FOLDER / f"{name}.py")) for name in ("cache", "demand"))
    sizes, keys = demand["sizes"](KEYS, 1), demand["requests"](KEYS, WARMUP + REQUESTS, frequency, 1)
    clock, arrivals, now = random.Random("arrivals"), list[float](), 0.0
    for _ in keys:
        now += clock.expovariate(1 / GAP_US)
        arrivals.append(now)
    known: dict[str, float] = {}

    def cost(config: Config) -> float:
        if config.id not in known:
            known[config.id] = _percentile(latencies(cache, config, sizes, list(zip(arrivals, keys, strict=True))))
        return known[config.id]

    return cost


def latencies(
    cache: Mapping[str, Any], config: Config, sizes: Sequence[int], requests: Sequence[tuple[float, int]]
) -> list[float]:
    """Return us per request, in the order they arrive at, those that fill the cache left out."""
    kept, free, found = cache["Cache"]({**config, "cache_capacity": CAPACITY_MB}), dict[int, float](), list[float]()
    for at, key in requests:
        shard, size = kept.shard(key), sizes[key]
        is_hit = shard.find(key) is not None
        hold = cache["PROBE_US"] * shard.probes + size / (4 * cache["BYTES_PER_US"])
        if not is_hit:
            shard.offer(key, True, size)
            hold += cache["READ_US"] + size / cache["BYTES_PER_US"] + cache["EVICT_US"] * shard.evicted
        done = max(at, free.get(id(shard), 0.0)) + hold
        free[id(shard)] = done
        found.append(done - at + cache["ANSWER_US"])
    return found[WARMUP:]


def _percentile(values: Sequence[float]) -> float:
    """Return the 99th percentile."""
    return sorted(values)[int(0.99 * len(values))]
