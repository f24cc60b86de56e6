"""Laws of the forest that weighs improvement by stability."""

import numpy as np
import pytest
from scenes import SPACE

from albacore.optimizers import Observation
from albacore.optimizers.stable_forest import StableForest

ASKS = range(20, 40)


def observed(count=180):
    """Return configs that are better the larger k0 is, and unstable where k0 > 0.6: on three nodes a third of them."""
    rng = np.random.default_rng(0)
    seen = []
    for index in range(count):
        config = SPACE.decode(rng.random(3))
        k0 = float(config["k0"])
        seen.append(Observation(config=config, rung=0, score=-k0, ask_index=index))
        if index % 3 == 0:
            is_unstable = k0 > 0.6
            score = -k0 / 2 if is_unstable else -k0 + 0.05
            seen.append(Observation(config=config, rung=1, score=score, is_unstable=is_unstable, ask_index=index))
    return seen


def proposed(optimizer, seen):
    found = [optimizer.suggest(SPACE, seen, (), seed=1, ask_index=index) for index in ASKS]
    return np.array([float(config["k0"]) for config in found])


def test_it_stays_out_of_the_unstable_region():
    """With the stability forest at most the random tenth lies there; without both it is most of the proposals."""
    seen = observed()
    careful = proposed(StableForest(), seen)
    lower = [o for o in seen if o.rung == 0]
    careless = proposed(StableForest(reads_all_rungs=True, weighs_stability=False), lower)

    # Binomial(20, .1 * .4 + a few at the border): 5 or more have a probability below 1 %.
    assert (careful > 0.65).sum() < 5
    assert (careless > 0.65).sum() > 10


def test_it_works_next_to_the_border():
    """It does not flee either: half of the proposals are in the best stable third."""
    assert np.median(proposed(StableForest(), observed())) > 0.4


@pytest.mark.parametrize("field", ["reads_all_rungs", "weighs_stability"])
def test_each_part_can_be_left_out(field):
    """The ablations propose something else."""
    seen = observed()

    assert list(proposed(StableForest(**{field: False}), seen)) != list(proposed(StableForest(), seen))


def test_an_unstable_config_is_never_what_has_to_be_improved_on():
    """With nothing but unstable configs there is no best one; it proposes all the same."""
    seen = [o for o in observed() if o.is_unstable]

    assert StableForest().suggest(SPACE, seen, (), seed=0, ask_index=30).id not in {o.config.id for o in seen}
