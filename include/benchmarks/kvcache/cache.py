"""The cache itself: shards of levels, and a shadow buffer in front of them (Metis §2.1).

No clock, no socket, no file: the server keeps values in it, experiments only sizes. All knobs are the paper's; two have
smaller units here, as the data are smaller (knobs.toml).

| knob | what it does |
|---|---|
| num_cache_levels | levels, each ordered by recency; objects enter at the lowest, and stay longer in higher ones |
| cache_promotion_threshold | queries in one level after which an object moves up |
| num_inevictable_levels | so many of the upper levels never lose an object |
| shadow_capacity | kB of keys of large objects that wait to be let in |
| admission_threshold | bytes above which an object is large |
| shadow_promotion_freq | queries of a waiting key after which its object is let in |
| cache_capacity | MB of objects, in all shards together |
| num_shards | parts that the keys are divided into, each with its share of both capacities |
"""

from collections import OrderedDict

SHADOW_KEY_BYTES = 40
OVERHEAD_BYTES = 100
"""Bytes that an object costs beside its value."""
RANGES = {
    "num_cache_levels": (1, 10, ""),
    "cache_promotion_threshold": (1, 1000, ""),
    "num_inevictable_levels": (0, 9, ""),
    "shadow_capacity": (1, 100, "kB"),
    "admission_threshold": (1, 1000, "B"),
    "shadow_promotion_freq": (1, 1000, ""),
    "cache_capacity": (1, 16, "MB"),
    "num_shards": (1, 64, ""),
}
DEFAULTS = {
    "num_cache_levels": 1,
    "cache_promotion_threshold": 10,
    "num_inevictable_levels": 0,
    "shadow_capacity": 10,
    "admission_threshold": 1000,
    "shadow_promotion_freq": 10,
    "cache_capacity": 4,
    "num_shards": 1,
}


class RefusedError(Exception):
    """Say that the cache does not start with a config."""


def checked(config):
    """Return all eight knobs as whole numbers; those that are not given have their defaults.

    Args:
        config: Knob -> number, or text with its unit.

    Raises:
        RefusedError: When a knob is unknown, no whole number, or outside its range.
    """
    unknown = sorted(set(config) - set(RANGES))
    if unknown:
        raise RefusedError(f"unknown knob {unknown[0]!r}; there are {', '.join(RANGES)}")
    found = dict(DEFAULTS)
    for name, value in config.items():
        low, high, unit = RANGES[name]
        text = str(value).removesuffix(unit)
        if not text.isdecimal() or not low <= int(text) <= high:
            raise RefusedError(f"{name}: expected a whole number from {low} to {high} {unit}, got {value!r}")
        found[name] = int(text)
    if found["num_inevictable_levels"] > found["num_cache_levels"]:
        raise RefusedError("num_inevictable_levels: more than num_cache_levels")
    return found


class Cache:
    """A cache of values by whole-number keys."""

    def __init__(self, config):
        knobs = checked(config)
        shards = knobs["num_shards"]
        self.shards = [
            Shard(knobs, knobs["cache_capacity"] * 2**20 // shards, knobs["shadow_capacity"] * 1024 // shards)
            for _ in range(shards)
        ]

    def shard(self, key):
        """Return the shard of a key; neighbours are spread."""
        return self.shards[(key * 2654435761 >> 7) % len(self.shards)]

    def used_bytes(self):
        """Return what is kept, shadow keys included."""
        return sum(s.used + len(s.shadow) * SHADOW_KEY_BYTES for s in self.shards)


class Shard:
    """One part of the cache. `probes` and `evicted` say what the last call had to do."""

    def __init__(self, knobs, capacity, shadow_capacity):
        self.knobs = knobs
        self.levels = [OrderedDict() for _ in range(knobs["num_cache_levels"])]
        self.evictable = len(self.levels) - knobs["num_inevictable_levels"]
        self.capacity, self.used = capacity, 0
        self.shadow, self.shadow_keys = OrderedDict(), shadow_capacity // SHADOW_KEY_BYTES
        self.probes = self.evicted = self.now = 0

    def find(self, key):
        """Return a key's value, or None; an object that was asked for often enough moves up."""
        self.evicted = 0
        self.now += 1
        for place in range(len(self.levels) - 1, -1, -1):
            level = self.levels[place]
            found = level.get(key)
            if found is not None:
                self.probes = len(self.levels) - place
                found[2], found[3] = found[2] + 1, self.now
                if found[2] >= self.knobs["cache_promotion_threshold"] and place + 1 < len(self.levels):
                    found[2] = 0
                    self.levels[place + 1][key] = level.pop(key)
                else:
                    level.move_to_end(key)
                return found[0]
        self.probes = len(self.levels)
        return None

    def offer(self, key, value, size):
        """Take an object that was read from the store, if it may come in and there is room to be made."""
        self.evicted = 0
        if size > self.knobs["admission_threshold"] and not self._is_wanted(key):
            return
        needed = size + OVERHEAD_BYTES
        if needed <= self.capacity and self._make_room(needed):
            self.levels[0][key] = [value, needed, 0, self.now]
            self.used += needed

    def _is_wanted(self, key):
        """Count a query of a large object's key; say whether it was asked for often enough."""
        asked = self.shadow.pop(key, 0) + 1
        if asked >= self.knobs["shadow_promotion_freq"]:
            return True
        self.shadow[key] = asked
        while len(self.shadow) > self.shadow_keys:
            self.shadow.popitem(last=False)
        return False

    def _make_room(self, needed):
        """Evict objects until so many bytes are free; say whether they are.

        Of the least recent object of each evictable level goes the one that was not asked for longest, where an object
        one, two … levels up counts as two, three … times as recent.
        """
        while self.used + needed > self.capacity:
            ages = [
                ((self.now - next(iter(level.values()))[3]) / (place + 1), place)
                for place, level in enumerate(self.levels[: self.evictable])
                if level
            ]
            if not ages:
                return False
            self.used -= self.levels[max(ages)[1]].popitem(last=False)[1][1]
            self.evicted += 1
        return True


PROBE_US, READ_US, BYTES_PER_US, EVICT_US, ANSWER_US = 0.3, 25.0, 150.0, 0.5, 25.0
"""What a probed level, a read from the store and its bytes, an eviction and an answer cost: the order of what one core
needs in the server. Constants, so that a counted figure has no noise and no machine in it."""


def counted(config, sizes, keys, warmup):
    """Play requests through a cache in this process and count the work, without a clock.

    Args:
        config: As for `checked`.
        sizes: Bytes per key; `keys` the requests in their order.
        warmup: How many of the first requests are not counted.

    Returns:
        `p99_us`, `mean_us`, `hit_share` and `cache_mb` of the counted requests.

    Raises:
        RefusedError: When the cache does not start with the config.
    """
    cache, costs, hits = Cache(config), [], 0
    for index, key in enumerate(keys):
        shard, size = cache.shard(key), sizes[key]
        is_hit = shard.find(key) is not None
        cost = ANSWER_US + PROBE_US * shard.probes + size / (4 * BYTES_PER_US)
        if not is_hit:
            shard.offer(key, True, size)
            cost += READ_US + size / BYTES_PER_US + EVICT_US * shard.evicted
        if index >= warmup:
            costs.append(cost)
            hits += is_hit
    costs.sort()
    return {
        "p99_us": costs[int(0.99 * len(costs))],
        "mean_us": sum(costs) / len(costs),
        "hit_share": hits / len(costs),
        "cache_mb": cache.used_bytes() / 2**20,
    }
