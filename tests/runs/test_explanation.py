"""Every trial says why its score is what it is: samples, verdict, adjustments, aggregate, and what was done to it."""

from dataclasses import replace

from scenes import SPACE, FixedErrors, ask, failure, sample, scene

from albacore import judging
from albacore.fact import EXCLUDE, INCLUDE, REQUEUE
from albacore.policies import presets
from albacore.runs.explanation import explain
from albacore.sample import Blame
from albacore.trial import Event, Note

CONFIG = SPACE.config({"k0": 0.25, "k1": 0.5, "k2": 0.5})
PAPER = replace(
    presets.by_name("tuna", nodes=3, rungs=(1, 3)), adjuster=FixedErrors({"n1": -0.02174, "n2": 0.0, "n3": 0.0192})
)


def grown(now, *facts):
    """Return the scene with more facts in its log."""
    events = list(now.log.events)
    for fact in facts:
        events.append(Event(n=len(events) + 1, at=0.0, fact=fact))
    return replace(now, log=type(now.log)(tuple(events)))


def judged(now, rung=1, **fields):
    return grown(now, judging.judge(now, CONFIG.id, rung, **fields))


def measured(*values, policy=PAPER):
    samples = [sample(CONFIG.id, f"n{i + 1}", v, slot=i) for i, v in enumerate(values)]
    return scene([ask(0, CONFIG.id, rung=1), *samples], [CONFIG], policy=policy)


def test_a_score_is_told_step_by_step():
    """The example of TUNA §5.2: 450, 500, 530 become 460, 500, 520, and 460 is told."""
    lines = explain(judged(measured(450.0, 500.0, 530.0)), CONFIG.id)

    assert lines == [
        f"config {CONFIG.id} (best)",
        "    k0 = 0.25",
        "  n1: 450 tps in 1.0 s",
        "  n2: 500 tps in 1.0 s",
        "  n3: 530 tps in 1.0 s",
        "  rung of 3 node(s): stable, told 460 tps",
        "    because relative range 16.2% <= 30% over 3 node(s)",
        "    because predicted",
        "    because worst of 3 adjusted value(s): 460",
        "    adjusted on n1: 450 to 460 tps, +2.2%",
        "    adjusted on n3: 530 to 520.016 tps, -1.9%",
        "    as measured: n2 500 tps",
    ]


def test_an_unstable_config_says_why_its_figures_were_not_adjusted_and_what_it_lost():
    """Range against threshold, the bypass, the penalty."""
    text = "\n".join(explain(judged(measured(300.0, 500.0, 530.0)), CONFIG.id))

    assert "rung of 3 node(s): unstable, told 150 tps" in text
    assert "relative range 51.9% > 30% over 3 node(s)" in text
    assert "adjuster bypassed: unstable" in text
    assert "unstable: penalised to 150" in text
    assert "as measured: n1 300, n2 500, n3 530 tps" in text


def test_an_unstable_config_says_which_plan_flipped_on_which_node():
    """The plans that the workload has noted are compared between the nodes, and told (T26)."""
    samples = [sample(CONFIG.id, f"n{i + 1}", v, slot=i) for i, v in enumerate((300.0, 500.0, 530.0))]
    plans = ({"join": "bb"}, {"join": "aa"}, {"join": "aa"})
    shapes = {"aa": "Nested Loop (Index Scan)", "bb": "Hash Join (Seq Scan)"}
    noted = [replace(s, notes={"plans": p, "plan_shapes": shapes}) for s, p in zip(samples, plans, strict=True)]

    lines = explain(judged(scene([ask(0, CONFIG.id, rung=1), *noted], [CONFIG], policy=PAPER)), CONFIG.id)

    assert lines[-3:] == [
        "  plan of join differs: aa on n2, n3; bb on n1",
        "    aa = Nested Loop (Index Scan)",
        "    bb = Hash Join (Seq Scan)",
    ]


def test_a_failed_config_says_who_is_to_blame_and_which_score_it_got():
    """Its own failure is told, a node's is not."""
    now = scene(
        [
            ask(0, CONFIG.id),
            failure(CONFIG.id, "n1", Blame.NODE),
            failure(CONFIG.id, "n2"),
        ],
        [CONFIG],
    )
    text = "\n".join(explain(judged(now, 0), CONFIG.id))

    assert "n1: NodeFailure (not told): it broke" in text
    assert "n2: ConfigFailure (told): it broke" in text
    assert "rung of 1 node(s): failed, told nothing" in text
    assert "failed on n2: it broke" in text


def test_what_people_did_is_told_with_who_and_why():
    """Excluded samples, the judgement that rested on them, the re-queue, and what was taken back."""
    now = judged(measured(450.0, 500.0, 530.0))
    body = {"id": "x1", "node": "n2", "since": 0.0, "until": 9.0, "by": "ann", "reason": "a backup"}
    ended = Note(kind="iteration", body={"key": "run.l0.0", "lane": 0, "n": 0, "ok": True})
    now = grown(now, ended, Note(kind=EXCLUDE, body=body))
    text = "\n".join(explain(now, CONFIG.id))

    assert "n2: 500 tps in 1.0 s [does not count any more: excluded as x1 by ann (a backup)]" in text
    assert "samples excluded (x1) by ann: a backup" in text
    assert "told 460 tps [does not count any more]" in text
    assert "rung of 3 node(s): waits for a lane" in text

    now = grown(now, Note(kind=INCLUDE, body={"id": "x1", "by": "bob"}))
    now = grown(now, Note(kind=REQUEUE, body={"id": "r1", "config": CONFIG.id, "by": "eve", "reason": ""}))
    text = "\n".join(explain(now, CONFIG.id))

    assert "taken back (x1) by bob" in text
    assert "to be measured again (r1) by eve" in text
    assert text.count("[does not count any more: measured again after it]") == 3


def test_a_config_that_was_given_up_says_so():
    """Three asks in which samples failed, without a judgement."""
    events = []
    for i in range(3):
        end = Note(kind="iteration", body={"key": ask(i, CONFIG.id).key, "lane": 0, "ok": False})
        events += [ask(i, CONFIG.id), failure(CONFIG.id, f"n{i}", Blame.NODE), end]
    text = "\n".join(explain(scene(events, [CONFIG]), CONFIG.id))

    assert "was asked for often enough without a judgement: given up" in text


def test_an_unknown_config_has_nothing_to_say():
    """And breaks nothing."""
    assert explain(scene(), "nope") == ["config nope", "  no sample yet"]
