"""What ends a campaign run, what has a config measured again, and what lets a run go on: each on a real Airflow.

The campaigns are this file's own, and no test looks at the runs of another.
"""

import re
from collections.abc import Iterator

import law
import pytest
from browser import Listener, browser
from clone import Clone, Followed, wait_until
from playwright.sync_api import Page, expect
from signing_in import sign_in, trigger
from small_campaigns import SMALL, noop

from albacore.sample import Purpose, Sample
from albacore.trial import Judgement
from albacore_ops import campaign as campaigns

pytestmark = pytest.mark.e2e
ONE = {"policy": "{ rungs = [1] }", "nodes": "{ tuning = 1, validation = 0 }", "lanes": "{ count = 1 }"}
PRICED = {**ONE, "nodes": "{ tuning = 1, validation = 0, price_per_hour = 3600.0 }"}
MANY = "{ samples = 60, hours = 1.0 }"
LEVEL = '{ knobs = ["delay"], bounds = { delay = { min = 0.9, max = 1.1, default = 1.0 } } }'
RULES = {
    # A node costs 1 a second, and a sample takes longer than half of one.
    "priced": noop(
        **PRICED, limits="{ samples = 60, hours = 1.0, cost = 4.0 }", params="{ seconds = 0.5, noise = 0.0 }"
    ),
    # Nothing to gain: between its bounds the one knob moves the figure by 0.01 %.
    "level": noop(
        **ONE,
        limits=MANY,
        space=LEVEL,
        stop="{ expected_gain = 0.05, min_scores = 5 }",
        params="{ seconds = 0.0, noise = 0.0 }",
    ),
    # A smooth hill in one knob: after its top was found the predicted best stays.
    "settled": noop(
        **ONE,
        limits=MANY,
        space='{ knobs = ["ratio"] }',
        stop="{ converged_after = 2, min_scores = 5 }",
        params="{ seconds = 0.0, noise = 0.0 }",
    ),
    "brief": noop(**ONE, limits="{ samples = 60, hours = 0.01 }", params="{ seconds = 0.5 }"),
}
AGAIN = noop(
    limits="{ samples = 200, hours = 1.0 }",
    policy="{ rungs = [1] }",  # a config that was judged is at rest
    nodes="{ tuning = 2, validation = 1 }",
    params="{ seconds = 1.0 }",
)
SAID = {
    "priced": r"limit reached: 4 in cost",
    "level": r"no improvement expected: at most .*\[stop\] expected_gain is 5.00%",
    "settled": r"converged: the predicted best has been \S+ over the last 2 of",
    "brief": r"limit reached: 0.01 hours",
}


@pytest.fixture(scope="module")
def ruled(clone: Clone) -> dict[str, Followed]:
    """Return a run of each campaign that a rule ends; they go on side by side."""
    for name, text in RULES.items():
        clone.campaign(name, text)
    return {name: clone.start(name) for name in RULES}


@pytest.fixture
def page(clone: Clone) -> Iterator[Page]:
    """Return a page of somebody who is signed in; at the end ours may not have complained."""
    listener = Listener(only="/albacore/")
    with browser() as chromium:
        opened = listener.listen(chromium.new_page(viewport={"width": 1280, "height": 900}))
        sign_in(opened, clone)
        yield opened
    assert listener.complaints == []


@pytest.mark.parametrize("name", RULES)
def test_a_rule_ends_a_run_with_its_reason(ruled, name):
    """Cost, no improvement expected, convergence, hours: in the log, in the verdict; every decision replays."""
    followed = ruled[name].wait(420)

    log = law.check(followed)
    reason = followed.xcom("verdict", "verdict")["stopped"]
    assert re.match(SAID[name], reason), reason
    assert {note.body["reason"] for note in log.notes("lane_end")} == {reason}
    assert len([s for s in log.facts(Sample) if s.purpose is not Purpose.VALIDATE]) < 60


def test_the_form_of_airflow_extends_a_run_and_its_page_does_too(clone, page):
    """By the field `Extends` first, then by the page's button: three verdicts of one campaign run, the log goes on."""
    clone.campaign("regrown", SMALL)
    first = clone.start("regrown", samples=6).wait()
    before = law.check(first)

    trigger(page, clone, "regrown", samples=9, extends=first.id)
    second = next_of(clone, first).wait()
    middle = law.check(second)
    page.goto(f"{clone.layout.url}/albacore/dags/regrown/runs/{first.id}/convergence")
    page.get_by_role("button", name="Extend…").click()
    page.locator("dialog input[name=samples]").fill("12")
    page.locator("dialog button[type=submit]").click()
    expect(page.locator(".toast", has_text="goes on")).to_be_visible()
    third = next_of(clone, first, second).wait()
    log = law.check(third)

    assert {one.id for one in (first, second, third)} == {first.id}
    assert middle.events[: len(before.events)] == before.events
    assert log.events[: len(middle.events)] == middle.events
    assert len(log.notes("verdict")) == 3
    assert [s.purpose for s in log.facts(Sample)].count(Purpose.TUNE) >= 12 - 3
    assert third.xcom("verdict", "verdict")["stopped"] == "limit reached: 12 samples"


def next_of(clone: Clone, *known: Followed) -> Followed:
    """Wait for a DAG run of the same campaign that is none of these."""
    names, name = {one.dag_run_id for one in known}, known[0].campaign
    run = wait_until(
        lambda: (new := campaigns.latest(clone.airflow, name)) and new.run_id not in names and new, 60, "another run"
    )
    return Followed(clone=clone, campaign=name, dag_run_id=run.run_id)


def test_a_config_is_measured_again_from_its_page(clone, page):
    """A lane takes it before anything new; its old sample stays in the log and counts no more."""
    clone.campaign("again", AGAIN)
    followed = clone.start("again")
    wait_until(lambda: followed.xcom("judge_default"), 180, "the default is judged")
    old = wait_until(lambda: told(followed), 180, "a config is judged")[0]

    page.goto(f"{clone.layout.url}/albacore/dags/again/runs/{followed.id}/trials")
    page.locator("tbody tr", has_text=old.config_id).first.click()
    page.get_by_role("button", name="Measure again").click()
    expect(page.locator(".toast", has_text="will be measured again")).to_be_visible()
    wait_until(
        lambda: [j for j in law.log_of(followed).facts(Judgement) if j.config_id == old.config_id and j.revision],
        180,
        "it is judged again",
    )
    clone.albacore("stop", followed.id, "--reason", "seen")

    log = law.check(followed.wait())
    (again,) = log.requeues
    assert again.config_id == old.config_id and again.undone_n is None
    assert old in log.recorded(Judgement) and old not in log.facts(Judgement)
    fresh, all_of_it = (
        [s for s in found(Sample) if s.config_id == old.config_id] for found in (log.facts, log.recorded)
    )
    assert fresh and len(all_of_it) > len(fresh)


def told(followed: Followed) -> list[Judgement]:
    """Return the judgements of configs that are at rest: nothing more is measured of them at the moment."""
    log = law.log_of(followed)
    default = {s.config_id for s in log.facts(Sample) if s.purpose is Purpose.DEFAULT}
    return [j for j in log.facts(Judgement) if j.config_id not in default]
