"""Which published values are failure codes, where the file does not say.

A raw file has one number per sample, also when the system crashed: 0 or a crawl for a throughput, a huge constant for
a latency. A value is taken for a failure when one of these holds, whatever the workload:

| rule | why |
|---|---|
| not finite, or <= 0 | no rate and no duration is |
| worse than the default's median by a factor of 100 | TUNA's own rule (its code: default / 100) |
| exactly 1,000,000 where less is better | the artifact's code for a crash of NGINX, only 14 times its default |
| exactly the run's worst value, of 3 samples or more, at least twice the default, less is better | a constant put in |
| | for a crash or a time limit; measurements do not repeat to the last digit |

Against the published sample files, whose rule is throughput < 20 tps: on TPC-C and NGINX no sample differs; on epinions
65 samples of 250 to 284 tps, where the default does 31,000, fail here and count as alive there.
"""

import numpy as np
from numpy.typing import NDArray

from albacore.trial import Direction

FACTOR = 100.0
SENTINEL = 1_000_000.0
REPEATS = 3
FAR = 2.0


def is_failed(value: NDArray[np.float64], is_default: NDArray[np.bool_], direction: Direction) -> NDArray[np.bool_]:
    """Return, per sample of one run, whether its value is a failure code.

    Args:
        value: Published values of one run, in any unit.
        is_default: Which of them are of the default config; without any, the rules that need it are left out.
        direction: Which way the value improves.
    """
    failed = ~np.isfinite(value) | (value <= 0)
    if direction is Direction.MIN:
        failed |= value == SENTINEL
    sound = value[is_default & ~failed]
    if not len(sound):
        return failed
    default = float(np.median(sound))
    if direction is Direction.MAX:
        return failed | (value < default / FACTOR)
    failed |= value > default * FACTOR
    rest = value[~failed]
    if len(rest) and rest.max() >= FAR * default and (rest == rest.max()).sum() >= REPEATS:
        failed |= value == rest.max()
    return failed
