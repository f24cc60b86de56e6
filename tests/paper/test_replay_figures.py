"""What docs/policies.md says of policies on the published samples of the TUNA artifact.

ALBACORE_SAMPLES names the folder with `azure__postgres__tpcc.samples.csv.gz` and the like: tables of the columns
method, run, seq, suggestion, worker, config_id, performance, failed, is_default, made from `sample_configs/` of
github.com/uw-mad-dash/TUNA (MIT). docs/policies.md says how.
"""

import os
from pathlib import Path

import pytest

from albacore.history import read
from albacore.lab import comparison
from albacore.lab.protocol import matrices, replay
from albacore.policies.named import CHOICES

FOLDER = os.environ.get("ALBACORE_SAMPLES")
WORKLOADS = ("azure__nginx__wikipedia", "azure__postgres__epinions", "azure__postgres__tpcc")

pytestmark = [
    pytest.mark.paper,
    pytest.mark.skipif(not FOLDER, reason="ALBACORE_SAMPLES is not set: docs/policies.md"),
]


@pytest.fixture(scope="module")
def outcome():
    """Return every named policy on the thirty runs, five and seven nodes seen."""
    runs = [run for name in WORKLOADS for run in read(Path(FOLDER or ".") / f"{name}.samples.csv.gz")]
    return replay(matrices(runs), CHOICES, (5, 7), reference="tuna")


def row(outcome, policy, k):
    scope = comparison.scopes(outcome)["pooled"]
    return comparison.rows(outcome, scope, [policy], k=k, reference="tuna")[0]


@pytest.mark.parametrize(("k", "figures"), [(5, (95.35, 94.96, 15.83, 3.57)), (7, (94.02, 94.28, 10.03, 1.56))])
def test_the_protocol_gives_the_published_figures_of_tuna(outcome, k, figures):
    """Mean, worst, unstable, drop to the second digit: nothing random is in them."""
    assert [e.value for e in row(outcome, "tuna", k).figures.values()] == pytest.approx(figures, abs=0.006)


@pytest.mark.parametrize("k", [5, 7])
def test_albacore_is_better_than_tuna_and_no_worse_in_any_risk(outcome, k):
    """Mean surely above; worst, unstable and drop no worse by more than 0.3 points."""
    lead = row(outcome, "albacore", k).differences

    assert lead["mean"].low > 0
    assert lead["worst"].value >= -0.3
    assert lead["unstable"].value <= 0.3
    assert lead["drop"].value <= 0.3


@pytest.mark.parametrize(("k", "mean"), [(5, 98.67), (7, 97.61)])
def test_the_ceiling_at_tunas_share_of_unstable_picks(outcome, k, mean):
    """About 3.3 and 3.6 points above tuna."""
    assert outcome.ceiling[k].mean(axis=0)[0] == pytest.approx(mean, abs=0.006)
