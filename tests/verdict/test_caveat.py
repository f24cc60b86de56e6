"""What a reader of the verdict has to know beside it: finding, evidence, remedy."""

from dataclasses import replace

from scenes import SPACE, failure, sample, scene

from albacore.sample import Blame
from albacore.verdict.caveat import caveats


def test_a_run_without_trouble_has_no_caveat():
    """Silence means that all was well."""
    assert caveats(scene([sample("c", "n1", 1.0)])) == []


def test_denied_knobs_that_were_let_in_are_named():
    """They risk data: whoever ships them has to have seen them."""
    risky = replace(SPACE, knobs=(replace(SPACE.knobs[0], safety="denied"), *SPACE.knobs[1:]))

    (line,) = caveats(replace(scene(), space=risky))

    assert "risk data" in line and "(k0)" in line and "review them before you ship" in line


def test_failures_of_the_load_generator_are_counted_and_the_last_is_quoted():
    """The config is not to blame, so nobody else hears of them."""
    broken = [failure("c", node, Blame.LOAD, slot=i) for i, node in enumerate(("n1", "n2"))]

    (line,) = caveats(scene(broken))

    assert "failed 2 time(s), last on n2: it broke" in line and "saturated" in line


def test_a_config_that_failed_by_itself_is_no_caveat():
    """It is told, and shown with its trial."""
    assert caveats(scene([failure("c", "n1", Blame.CONFIG)])) == []


def test_nodes_that_were_given_up_are_named_in_their_order():
    """Two NodeFailures each; one is bad luck."""
    events = [failure("c", node, Blame.NODE, slot=i) for i, node in enumerate(("n9", "n2", "n9", "n2", "n5"))]

    (line,) = caveats(scene(events))

    assert "got no more samples: n2, n9." in line and "Look at them" in line
