"""Many configs become points at once, exactly as one by one."""

import runpy
from pathlib import Path

import numpy as np

from albacore.optimizers import initial_design

PERF = Path(__file__).parents[2] / "perf" / "suggest.py"


def test_encoding_many_is_encoding_each_bit_for_bit():
    """Over every kind of knob, log scales and special values, and of no config at all."""
    space = runpy.run_path(str(PERF))["space"]()
    configs = [*initial_design(space, 50, seed=3), space.default()]
    assert (space.encode_all(configs) == np.array([space.encode(config) for config in configs])).all()
    assert space.encode_all([]).shape == (0, len(space))
