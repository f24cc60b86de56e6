"""Another policy on the same log: pure, in the order of the log, and beside what was decided then."""

from dataclasses import replace
from statistics import fmean

import pytest
from scenes import Play, scene

from albacore import replay
from albacore.backfill.rescoring import digest_of, held_out, judged_again, rescore
from albacore.policies import presets
from albacore.policies.forest import Forest
from albacore.sample import Blame, Purpose
from albacore.trial import Judgement, Stability

RUNGS = (1, 3, 10)


def policy(name="tuna", **parts):
    parts = {"adjuster": "identity", **parts} if name == "tuna" else parts
    return presets.by_name(name, nodes=10, rungs=RUNGS, **parts)


def figure(config, node):
    """The best config by its mean is far off on one node: unstable by 30 %, chosen by whoever does not look."""
    number = int(node[1:])
    if config["k0"] == 0.5:
        return 100.0 + number
    if abs(config["k0"] - 2 / 97) < 1e-6:
        return 60.0 if number == 4 else 160.0 + number
    if abs(config["k0"] - 3 / 97) < 1e-6:
        return Blame.CONFIG
    return 110.0 + 10 * config["k0"] + number


@pytest.fixture(scope="module")
def played():
    """Return a run of forty iterations."""
    play = Play(figure)
    play.default()
    play.iterate(60)
    return play.now


def test_the_runs_own_policy_gives_its_own_judgements(played):
    """Field by field, in their order."""
    assert judged_again(played, played.policy).log == played.log


def test_the_same_log_and_policy_give_the_same_result(played):
    """Bit for bit, the adjuster's model included."""
    forest = replace(policy(), adjuster=Forest(trees=3))
    assert rescore(played, forest) == rescore(played, forest)


def test_a_policy_without_a_detector_chooses_the_unstable_config(played):
    """Its mean is best; the policy of the paper does not choose it."""
    tuna, naive = rescore(played, policy()), rescore(played, policy("naive"))

    assert tuna.incumbent == replay.incumbent(played).config_id
    assert Stability.UNSTABLE not in {j.stability for j in naive.judgements}
    assert tuna.policy_digest != naive.policy_digest


def test_the_ladder_stays_the_runs(played):
    """What was not measured cannot be judged: naive and traditional judge the same rungs."""
    naive, traditional = (rescore(played, policy(name)) for name in ("naive", "traditional"))

    assert naive.judgements == traditional.judgements
    assert [(j.config_id, j.rung) for j in naive.judgements] == [
        (j.config_id, j.rung) for j in played.log.facts(Judgement)
    ]


def test_a_crash_scores_the_worst_that_this_policy_has_seen(played):
    """Not the worst of the judgements that it replaces: those were penalised by another policy."""

    def crash_scores(found):
        return [j.score for j in found.judgements if j.stability is Stability.FAILED]

    harsh, mild = rescore(played, policy(threshold=0.01)), rescore(played, policy(threshold=5.0))
    assert crash_scores(harsh) and crash_scores(harsh) != crash_scores(mild)


def test_figures_are_those_of_the_nodes_that_measured(played):
    """Mean and worst of the incumbent, and how many times better than the default that is."""
    found = rescore(played, policy())
    values = [s.value("tps") for s in played.log.trial(found.incumbent).samples]

    assert (found.best.mean, found.best.worst, found.best.nodes) == (fmean(values), min(values), 10)
    assert found.gain == pytest.approx(found.best.mean / found.default.mean)


def test_held_out_nodes_had_no_part_in_the_choice(played):
    """A config that shines on one node only is not chosen for that node."""
    config = replay.incumbent(played).config_id
    lucky = [
        replace(e, fact=replace(e.fact, raw={**e.fact.raw, "n3": 1e6}, adjusted={**e.fact.adjusted, "n3": 1e6}))
        if isinstance(e.fact, Judgement) and e.fact.config_id != config and e.fact.rung == 2
        else e
        for e in played.log.events
    ]
    found = held_out(replace(played, log=replace(played.log, events=tuple(lucky))))
    assert found is not None and found.gain.high < 2


def test_an_empty_log_has_neither_incumbent_nor_figures():
    """Nothing is made up."""
    found = rescore(scene(), policy())
    assert (found.incumbent, found.best, found.gain, found.held_out) == (None, None, None, None)
    assert found.sentence == "No stable config was found."


def test_without_samples_on_fresh_nodes_nothing_is_shipped_or_refused(played):
    """The verdict needs fresh nodes; with them it is the verdict's own."""
    assert rescore(played, policy()).ship is None
    play = Play(figure)
    play.now = played
    chosen = replay.incumbent(played).config_id
    for node in ("n11", "n12", "n13"):
        for config in (played.default_id, chosen):
            play.measured(config, node, int(node[1:]), Purpose.VALIDATE)
    assert rescore(play.now, policy()).ship is True


def test_a_digest_tells_policies_apart():
    """By their parts, not by their names alone."""
    assert digest_of(policy()) == digest_of(policy())
    assert len({digest_of(policy(threshold=t / 100)) for t in range(10, 20)}) == 10
