"""Take the time of a small fixed program on a node: neither system nor workload, so that only the machine can move it.

Standard library only and no import of Albacore: the source of this file is sent to the node's Python, which prints
seconds. The fastest of several rounds is what the machine can do; a round is hashing (processor), a walk through more
memory than a core's cache (memory), and both at once in one figure.
"""

import hashlib
import time

ROUNDS = 7
BLOCK_BYTES = 16_000_000
STEP = 997


def once() -> float:
    """Return the seconds of one round."""
    begun = time.perf_counter()
    block = bytearray(BLOCK_BYTES)
    hashlib.sha256(block).digest()
    total = 0
    for place in range(0, BLOCK_BYTES, STEP):
        total += block[place]
        block[place] = total & 255
    return time.perf_counter() - begun


if __name__ == "__main__":
    print(min(once() for _ in range(ROUNDS)))
