"""The server: one process, one thread, the cache in front of the golden file.

It takes the processor time of each request too: what the config costs, without what else the machine does meanwhile.
"""

import json
import os
import selectors
import signal
import struct
import sys
import time
import traceback
import zlib

import cache

STATUS = 0xFFFFFFFF


class Store:
    """The values, compressed one by one in a file that is only read."""

    def __init__(self, folder):
        with open(f"{folder}/places.json") as file:
            self.ends = json.load(file)["ends"]
        self.file = os.open(f"{folder}/values", os.O_RDONLY)

    def read(self, key):
        """Return the value of a key."""
        begin = self.ends[key - 1] if key else 0
        return zlib.decompress(os.pread(self.file, self.ends[key] - begin, begin))


class Service:
    """Answer requests out of the cache, or out of the store."""

    def __init__(self, config, store):
        self.knobs = cache.checked(config)
        self.cache, self.store = cache.Cache(config), store
        self.requests = self.hits = self.evictions = 0
        self.spent_ns = []

    def answer(self, key):
        """Return the value of a key, or the counters."""
        if key == STATUS:
            return self.status()
        began_ns = time.thread_time_ns()
        found = self.looked_up(key)
        self.spent_ns.append(time.thread_time_ns() - began_ns)
        return found

    def looked_up(self, key):
        """Return the value of a key, and remember it if the cache takes it."""
        shard = self.cache.shard(key)
        found = shard.find(key)
        self.requests += 1
        if found is not None:
            self.hits += 1
            return found
        found = self.store.read(key)
        shard.offer(key, found, len(found))
        self.evictions += shard.evicted
        return found

    def status(self):
        """Return the counters as JSON, and start the processor time of the requests anew.

        Memory is the process's own resident set.
        """
        spent, self.spent_ns = sorted(self.spent_ns) or [0], []
        with open("/proc/self/status") as file:
            rss = next(line for line in file if line.startswith("VmRSS"))
        figures = {"requests": self.requests, "hits": self.hits, "evictions": self.evictions, "knobs": self.knobs}
        figures |= {"cache_bytes": self.cache.used_bytes(), "rss_kb": int(rss.split()[1])}
        figures["service_ns"] = {"p99": spent[int(0.99 * len(spent))], "mean": sum(spent) / len(spent)}
        return json.dumps(figures).encode()


def serve(listener, config, folder, log):
    """Answer for ever, in a session of its own, as the node's uid where there is one; never returns."""
    try:
        os.setsid()
        service = Service(config, Store(folder))
        become(os.environ["ALBACORE_UID"], log)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        waiting = selectors.DefaultSelector()
        waiting.register(listener, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fileobj is listener:
                    waiting.register(listener.accept()[0], selectors.EVENT_READ)
                elif not handled(key.fileobj, service):
                    waiting.unregister(key.fileobj)
                    key.fileobj.close()
    finally:
        traceback.print_exc()  # its last words; a fork must not go on as what it was forked from
        sys.stderr.flush()
        os._exit(1)


def become(uid, log):
    """Write to the job's log from now on, and be nobody in particular."""
    into = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(into, 1)
    os.dup2(into, 2)
    if uid:
        os.setgroups([])
        os.setgid(int(uid))
        os.setuid(int(uid))


def handled(connection, service):
    """Answer one request of a connection; return whether it goes on."""
    try:
        asked = connection.recv(4)
        if len(asked) != 4:
            return False
        found = service.answer(struct.unpack("!I", asked)[0])
        connection.sendall(struct.pack("!I", len(found)) + found)
    except (OSError, IndexError):
        return False
    return True
