"""Every optimizer suggests through Airflow; SMAC has its own test beside the campaigns."""

import law
import pytest

from albacore.optimizers import KINDS
from albacore.trial import Ask

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"smac"}))
def test_a_campaign_runs_with_each_optimizer_and_every_suggestion_replays(clone, kind):
    """Chosen in the form, it suggests past its first designs, and its asks come out again in a fresh process.

    The default takes one sample; two random designs, or Metis' hypercube of five, come before the first suggestion.
    """
    samples = 7 if kind == "metis" else 4
    followed = clone.start("searched", optimizer=kind, samples=samples).wait(300)

    log = law.check(followed)
    assert clone.store().run(followed.id).effective["optimizer"]["name"] == kind
    assert len({ask.config_id for ask in log.facts(Ask)}) >= samples - 1
