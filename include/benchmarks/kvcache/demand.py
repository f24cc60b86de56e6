"""The load: which keys are asked for, in which order, and how large their values are (Metis §6.1).

Keys are numbered by how often they are asked for. The frequency is Zipf, normal or linear over that number; sizes are
Zipf, dealt out to the keys at random. All follows from the seed.
"""

import math
import random
from itertools import accumulate

LARGEST = 256 * 1024
SIZE_EXPONENT = 0.8
KEY_EXPONENT = 0.99
"""YCSB's."""
FREQUENCIES = ("zipf", "normal", "linear")


def weights(keys, frequency):
    """Return how often each key is asked for, up to a factor; falling.

    Raises:
        ValueError: When there is no such frequency.
    """
    if frequency == "zipf":
        return [(rank + 1) ** -KEY_EXPONENT for rank in range(keys)]
    if frequency == "normal":
        return [math.exp(-0.5 * (rank / (keys / 4)) ** 2) for rank in range(keys)]
    if frequency == "linear":
        return [keys - rank for rank in range(keys)]
    raise ValueError(f"frequency: expected one of {', '.join(FREQUENCIES)}, got {frequency!r}")


def sizes(keys, seed):
    """Return bytes per key: Zipf over a random order of the keys."""
    found = [max(16, int(LARGEST * (rank + 1) ** -SIZE_EXPONENT)) for rank in range(keys)]
    random.Random(f"sizes {seed}").shuffle(found)
    return found


def requests(keys, count, frequency, seed):
    """Return `count` keys in the order they are asked for."""
    heap = list(accumulate(weights(keys, frequency)))
    return random.Random(f"requests {seed}").choices(range(keys), cum_weights=heap, k=count)
