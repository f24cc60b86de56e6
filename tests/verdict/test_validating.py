"""Laws of the tasks that validate and conclude, and of `albacore verdict`, on a store without Airflow."""

import json
from dataclasses import replace

import pytest
from contenders import FIGURES, A, B, measure, tuned
from scenes import SPACE

from albacore import cli
from albacore.errors import PlatformError
from albacore.fact import REOPEN
from albacore.nightly import incumbent
from albacore.runs import audit
from albacore.sample import Purpose
from albacore.store.run_log import RunLog
from albacore.trial import Note
from albacore.verdict import validation
from albacore_airflow import campaign_tasks


def concluded(log: RunLog, figures=None):
    measure(log, campaign_tasks.plan_validation(log.run_id), figures)
    return campaign_tasks.conclude(log.run_id)


def test_a_run_validates_and_concludes(store):
    """Default and two contenders, twice on three nodes; the best one ships with its lines."""
    log = tuned(store)

    slots = campaign_tasks.plan_validation("r1")
    measure(log, slots)
    body = campaign_tasks.conclude("r1")

    assert len(slots) == 3 * 3 * 2
    assert body["ship"] and body["incumbent"] == A.id
    assert body["fragment"] == {"file": "noop.conf", "text": f"k0 = {SPACE.text(A)['k0']}\n"}
    assert log.read().notes("verdict")[-1].body == body


def test_asked_again_plan_and_verdict_are_the_same(store):
    """Clear or a retry adds no event."""
    log = tuned(store)
    slots = campaign_tasks.plan_validation("r1")
    assert campaign_tasks.plan_validation("r1") == slots
    measure(log, slots)
    body = campaign_tasks.conclude("r1")
    last = log.read().last_n

    assert (campaign_tasks.plan_validation("r1"), campaign_tasks.conclude("r1")) == (slots, body)
    assert log.read().last_n == last


def test_the_verdict_replays_from_the_log(store):
    """`show --verify` computes it again, and names what was changed by hand."""
    log = tuned(store)
    body = concluded(log)
    assert [line for line in audit.faults(store, "r1") if "verdict" in line] == []

    forged = Note(kind="verdict", body=body | {"ship": False})
    log.append_note(forged, key="forged")

    assert any("verdict of round 0: ship: recorded False" in line for line in audit.faults(store, "r1"))


def test_the_plan_replays_from_the_log(store):
    """Who competed follows from the judgements."""
    log = tuned(store)
    concluded(log)
    assert list(audit.faults(store, "r1")) == []

    plan = validation.plans_of(log.read())[0]
    log.append_note(replace(plan, contenders=(B.id,)).note(), key="forged")

    assert any("validation of round 0: contenders: recorded" in line for line in audit.faults(store, "r1"))


def test_the_next_run_has_to_beat_what_the_last_one_left(store):
    """The incumbent runs on the fresh nodes beside the contenders, and stays when it is not beaten."""
    concluded(tuned(store))
    log = tuned(store, "r2", tried=(B,))

    body = concluded(log)

    assert {s.config_id for s in log.read().samples(A.id, Purpose.VALIDATE)} == {A.id}
    assert not body["ship"] and body["incumbent"] == A.id
    assert body["previous_incumbent"]["run_id"] == "r1"
    kept = incumbent.previous(store, "mine")
    assert kept is not None and (kept.config.id, kept.run_id) == (A.id, "r2")


def test_a_reopened_run_validates_and_concludes_again(store):
    """With new repeats, beside the first verdict; its own first verdict is no incumbent for it."""
    log = tuned(store)
    first = concluded(log)
    log.append_note(Note(kind=REOPEN, body={"samples": 2.0}), key="again")

    slots = campaign_tasks.plan_validation("r1")
    measure(log, slots, FIGURES | {A.id: 90.0})
    second = campaign_tasks.conclude("r1")

    assert {slot["repeat"] for slot in slots} == {2, 3}
    assert (first["round"], second["round"]) == (0, 1)
    assert second["incumbent"] == B.id and second["previous_incumbent"] is None
    assert [note.body["round"] for note in log.read().notes("verdict")] == [0, 1]


def test_an_old_round_gives_no_new_verdict(store):
    """A re-opened run whose second validation was never planned has nothing to conclude from."""
    log = tuned(store)
    concluded(log)
    log.append_note(Note(kind=REOPEN, body={"samples": 2.0}), key="again")

    with pytest.raises(PlatformError, match="nothing was validated"):
        campaign_tasks.conclude("r1")


def test_a_validation_that_measured_nothing_is_no_verdict(store):
    """Every sample failed on its platform: somebody has to look, nothing is concluded."""
    tuned(store)
    campaign_tasks.plan_validation("r1")

    with pytest.raises(PlatformError, match="nothing was validated"):
        campaign_tasks.conclude("r1")


def test_without_fresh_nodes_there_is_a_verdict_that_says_so(store):
    """Nothing is planned, nothing ships."""
    tuned(store, fresh=0)

    assert campaign_tasks.plan_validation("r1") == []
    assert "not validated" in campaign_tasks.conclude("r1")["sentence"]


def test_the_file_says_how_many_contenders_and_what_they_have_to_show(store):
    """`contenders`, `repeats`, `min_gain`, `confidence`."""
    log = tuned(store, validation={"contenders": 1, "repeats": 1, "min_gain": 1.6, "confidence": 0.9})

    body = concluded(log)

    assert [c["deployment"]["config_id"] for c in body["contenders"]] == [A.id]
    assert not body["ship"] and (body["min_gain"], body["gain"]["confidence"]) == (1.6, 0.9)


def test_the_command_prints_the_verdict_for_people_programs_and_machines(store, capsys):
    """The sentence and the figures; JSON; only the lines to deploy."""
    body = concluded(tuned(store))

    def said(*flags):
        assert cli.main(["verdict", "r1", "--store", store.url, *flags]) == 0
        return capsys.readouterr().out

    assert said().startswith(body["sentence"])
    assert f"contender 1, {A.id}: mean 151.5 tps, worst 150 tps" in said()
    assert json.loads(said("--json")) == body
    assert said("--fragment") == body["fragment"]["text"]


def test_no_lines_to_deploy_when_nothing_ships(store, capsys):
    """Exit code 1, the sentence on standard error, nothing to pipe into a file."""
    body = concluded(tuned(store), dict.fromkeys(FIGURES, 100.0))

    assert cli.main(["verdict", "r1", "--store", store.url, "--fragment"]) == 1
    assert capsys.readouterr() == ("", f"albacore: {body['sentence']}\n")


def test_a_run_without_a_verdict_is_told(store, capsys):
    """Exit code 2, in one line."""
    tuned(store)

    assert cli.main(["verdict", "r1", "--store", store.url]) == 2
    assert "run r1 has none yet" in capsys.readouterr().err


def test_verdicts_of_the_first_shape_are_printed_too(store, capsys):
    """No contenders, no cost."""
    log = tuned(store)
    deployment = {"config_id": A.id, "mean": 150.0, "worst": 149.0, "cov": 0.01, "by_node": {}, "failures": []}
    body = {"sentence": "Ship it.", "ship": True, "unit": "tps", "best": deployment, "default": None}
    log.append_note(Note(kind="verdict", body=body), key="verdict")

    assert cli.main(["verdict", "r1", "--store", store.url]) == 0
    assert f"contender 1, {A.id}: mean 150 tps" in capsys.readouterr().out
    assert [line for line in audit.faults(store, "r1") if "verdict" in line] == []


def test_a_config_that_exceeds_a_limit_on_a_fresh_node_is_not_shipped(store):
    """It kept the limit while it was tuned; the next best, which keeps it everywhere, ships."""
    log = tuned(store, objective={"limits": {"tps": 155.0}})
    assert not log.read().trial(A.id).config_failures

    body = concluded(log, {**FIGURES, A.id: 160.0})

    assert body["ship"]
    assert body["incumbent"] == B.id
