"""Know the data and the requests of the Yahoo! Cloud Serving Benchmark's core workloads A, B and C.

A record is a hash of ten fields of 100 bytes (YCSB's defaults). Which record a request is for follows Zipf's law with
YCSB's constant 0.99, scrambled: the popular records lie anywhere, not at the front.
Source: Cooper et al., Benchmarking Cloud Serving Systems with YCSB, SoCC 2010, §4 and §5.
"""

from __future__ import annotations

import itertools
import random

from resp import encode

FIELDS, FIELD_BYTES, ZIPF = 10, 100, 0.99
DATA_SEED = 20100610
LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ."
TEXT_BYTES = 1 << 20


def text(seed: int) -> bytes:
    """Give letters to cut values from."""
    return random.Random(seed).randbytes(TEXT_BYTES).translate(LETTERS * 4)


def key(record: int) -> str:
    """Name a record; all names are equally long, so that all replies are."""
    return f"user{(record * 0x9E3779B97F4A7C15) % 2**64:020d}"


def insert(record: int, letters: bytes) -> bytes:
    """Give the command that makes a record."""
    words: list[str | bytes] = ["HSET", key(record)]
    for field in range(FIELDS):
        at = (record * FIELDS + field) * 7919 % (TEXT_BYTES - FIELD_BYTES)
        words += [f"field{field}", letters[at : at + FIELD_BYTES]]
    return encode(*words)


def read_reply_bytes() -> int:
    """Give how long the reply to a whole record is."""
    return len(encode(*(word for _ in range(FIELDS) for word in ("field0", "x" * FIELD_BYTES))))


def arrivals(rate: float, seconds: float, draw: random.Random) -> list[float]:
    """Draw when requests are due, in s from the beginning: a Poisson process, as of many users."""
    gaps = (draw.expovariate(rate) for _ in itertools.count())
    return list(itertools.takewhile(lambda due: due < seconds, itertools.accumulate(gaps)))


def requests(count: int, records: int, updates: float, draw: random.Random) -> list[tuple[bool, bytes]]:
    """Draw requests: whether it is an update, and the encoded command.

    Args:
        count: How many.
        records: How many records there are.
        updates: The share of updates, 0 to 1; an update writes one field of a record, a read takes all of it.
        draw: The randomness.
    """
    weights = itertools.accumulate(1.0 / rank**ZIPF for rank in range(1, records + 1))
    scrambled = list(range(records))
    random.Random(DATA_SEED).shuffle(scrambled)
    chosen = draw.choices(scrambled, cum_weights=list(weights), k=count)
    letters = text(draw.getrandbits(32))
    made = []
    for record in chosen:
        if draw.random() >= updates:
            made.append((False, encode("HGETALL", key(record))))
        else:
            at = draw.randrange(TEXT_BYTES - FIELD_BYTES)
            value = letters[at : at + FIELD_BYTES]
            made.append((True, encode("HSET", key(record), f"field{draw.randrange(FIELDS)}", value)))
    return made
