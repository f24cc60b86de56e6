"""Expected improvement (Mockus 1978; Jones, Schonlau, Welch: J. Global Optimization 13, 1998, eq. 15).

```
m, s   mean and standard deviation that a surrogate predicts; cost, lower is better
f      cost to improve on
EI     (f - m) Phi(z) + s phi(z) with z = (f - m) / s
```
"""

import numpy as np
from scipy.special import ndtr

SQRT_TWO_PI = float(np.sqrt(2 * np.pi))


def expected_improvement(mean: np.ndarray, deviation: np.ndarray, best: float) -> np.ndarray:
    """Return (m,) EI of predictions (m,) and (m,) over the cost `best`."""
    z = (best - mean) / deviation
    return (best - mean) * ndtr(z) + deviation * np.exp(-(z**2) / 2) / SQRT_TWO_PI
