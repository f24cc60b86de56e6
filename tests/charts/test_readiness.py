"""The page says what the command says."""

import json
from dataclasses import replace

import numpy as np
from recorded_runs import book_of, played
from scenes import sample

from albacore import readiness as library
from albacore.charts import readiness
from albacore.sample import Purpose


def of_pilot(nodes, rounds):
    play = played(12)
    y = np.random.default_rng(0).normal(0, 0.03, (nodes, rounds))
    default = play.now.default_id
    for i in range(nodes):
        for j in range(rounds):
            found = sample(default, f"v{i}", 100 * float(np.exp(y[i, j])), purpose=Purpose.VALIDATE, slot=i, repeat=j)
            play.add(replace(found, duration_s=30.0))
    return y, book_of(play.now)


def test_the_figures_are_those_of_the_library():
    """Components with intervals, chances by nodes, and a bill for the campaign's own limit."""
    y, book = of_pilot(4, 3)
    found = readiness.page(book)["found"]
    own = library.components(y)

    assert (found["nodes"], found["rounds"]) == (4, 3)
    by_name = {c["name"]: c for c in found["components"]}
    assert abs(by_name["residual"]["estimate"] - own.residual) < 1e-9
    assert by_name["total"]["low"] <= by_name["total"]["estimate"] <= by_name["total"]["high"]
    assert found["samples"] == book.campaign.limits.samples
    json.dumps(found, allow_nan=False)


def test_a_validation_that_says_nothing_says_why():
    """None yet, and too few nodes."""
    assert "not measured" in readiness.page(book_of(played(12).now))["why"]
    assert "at least 3 nodes" in readiness.page(of_pilot(2, 3)[1])["why"]
