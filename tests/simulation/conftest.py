"""What the tests of the simulation share."""

from pathlib import Path

import numpy as np
import pytest

from albacore.history import HistoricalRun, Samples
from albacore.trial import Direction

CONFIGS, NODES = 30, 5


@pytest.fixture
def recorded():
    """A recorded run of latencies: 30 configs on 5 nodes, a slow tail, node 0 always 10 % slower."""
    rng = np.random.default_rng(0)
    count = CONFIGS * NODES
    config, node = np.repeat(np.arange(CONFIGS), NODES), np.tile(np.arange(NODES), CONFIGS)
    noise = np.where(rng.random(count) < 0.05, 0.3, rng.normal(0.0, 0.01, count))
    value = 20.0 * np.exp(config / CONFIGS + 0.1 * (node == 0) + noise)
    samples = Samples(
        order=np.arange(count),
        suggestion=config + 1,
        config_id=np.array([f"c{c}" for c in config], dtype=object),
        node=np.array([f"n{n}" for n in node], dtype=object),
        value=value,
        is_failed=np.zeros(count, dtype=np.bool_),
        is_default=np.zeros(count, dtype=np.bool_),
    )
    return HistoricalRun(
        workload="recorded",
        method="TUNA",
        number=0,
        direction=Direction.MIN,
        metric="p95",
        unit="ms",
        source=Path("recorded.csv"),
        digest="",
        samples=samples,
        configs={},
    )
