"""What a campaign run can be told: by its file and by the form."""

import law
import pytest
from clone import wait_until
from small_campaigns import noop

from albacore import cli
from albacore.sample import Purpose, Sample
from albacore.trial import Ask, Judgement
from albacore_ops import campaign

pytestmark = pytest.mark.e2e

BROKEN = 'system = "noop"\nworkload = "sleep"\n\n[limits]\nsample = 3\n'


def tuned(log) -> list[Sample]:
    return [s for s in log.facts(Sample) if s.purpose is Purpose.TUNE]


@pytest.mark.parametrize(("preset", "nodes"), [("naive", 3), ("traditional", 1)])
def test_the_values_of_the_form_are_those_of_the_run(clone, preset, nodes):
    """Samples, seed, preset and optimizer of the form are in force and in the store; the preset decides the nodes."""
    form = {"samples": 6, "hours": 0.5, "seed": 99, "preset": preset, "optimizer": "random"}
    followed = clone.start("modelled", **form).wait()

    log = law.check(followed)
    effective = clone.store().run(followed.id).effective
    assert effective["limits"] == {"samples": 6, "hours": 0.5, "cost": None}
    assert (effective["seed"], effective["policy"]["preset"]) == (99, preset)
    assert effective["optimizer"]["name"] == "random"
    told = log.facts(Judgement)[1:]  # without the default's
    assert {len(j.raw) for j in told} == {nodes}
    assert all(len(law.log_of(followed).samples(j.config_id)) == nodes for j in told)


def test_smac_suggests_through_airflow_and_every_suggestion_replays(clone):
    """The surrogate's suggestions, made in a child of a task, come out again in fresh processes."""
    followed = clone.start("modelled").wait(400)

    log = law.check(followed)
    assert len({ask.config_id for ask in log.facts(Ask)}) > 2, "only the initial design was asked for"


def test_a_long_sample_is_waited_for_by_the_triggerer(clone):
    """A benchmark that outlasts its worker's patience defers, and ends well."""
    followed = clone.start("patient")

    wait_until(
        lambda: [t for t in followed.seen.tasks() if t["task_id"] == "default" and t["state"] == "deferred"],
        150,
        "the benchmark of the default defers",
    )

    log = law.check(followed.wait(300))
    assert len(tuned(log)) == 1


def test_a_broken_campaign_file_breaks_its_own_dags_only_and_is_reported(clone):
    """The import error names file, key and remedy; the other campaigns start as before; a repair heals it."""
    clone.campaign("broken", BROKEN)
    (said,) = wait_until(lambda: campaign.import_errors(clone.airflow), 90, "an import error")

    assert "campaign_errors.py" in said
    assert "broken.toml" in said and "limits.sample" in said and "correct its spelling" in said
    law.check(clone.start("small", samples=4).wait())

    clone.campaign("broken", BROKEN.replace("sample =", "samples ="))
    clone.wait_known("broken")
    wait_until(lambda: not campaign.import_errors(clone.airflow), 90, "the import error is gone")


def test_a_pilot_measures_the_default_alone(clone, capsys):
    """The default uses up the limit, nothing is asked for, and the repeats on fresh nodes say how noisy they are."""
    limits, nodes = "{ samples = 1, hours = 1.0 }", "{ tuning = 1, validation = 3 }"
    policy, validation = '{ preset = "traditional" }', "{ repeats = 2 }"
    clone.campaign("pilot", noop(limits=limits, policy=policy, nodes=nodes, validation=validation))
    clone.wait_known("pilot")
    followed = clone.start("pilot").wait()

    log = law.log_of(followed)
    assert not log.facts(Ask)
    assert len([s for s in log.facts(Sample) if s.purpose is Purpose.VALIDATE]) == 6
    assert cli.main(["readiness", followed.id, "--store", clone.store().url]) == 0
    assert "3 nodes, 2 rounds" in capsys.readouterr().out
