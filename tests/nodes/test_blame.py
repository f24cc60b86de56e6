"""A finished job is judged by the contract's table, purely from what it left behind."""

import json
import math
from collections.abc import Mapping

import pytest
from nodes import places

from albacore.nodes import job
from albacore.nodes.blame import Placement, sample_or_failure
from albacore.nodes.fake import FakeNode, failed, finished
from albacore.nodes.job_spec import JobSpec
from albacore.sample import Blame, Failure, Purpose, Sample

WORKLOAD = places.noop()[1]


def judge(files: Mapping[str, bytes]) -> Sample | Failure:
    """Let a fake node end a job with these files, and judge it."""
    node = FakeNode(name="n1", host="h1", jobs=lambda spec: files)
    spec = JobSpec.sample(WORKLOAD, "j", {"size": "1MB"})
    job.start(node, spec)
    placement = Placement.on(node, config_id="c", started_at=5.0, purpose=Purpose.VALIDATE, repeat=2)
    return sample_or_failure(job.outcome(node, "j"), WORKLOAD, placement)


def test_figures_become_a_sample_with_everything_that_is_known():
    """What the node cannot know comes from the placement."""
    sample = judge(finished(WORKLOAD.digest, {"score": (12.5, "points")}, duration_s=2.0))

    assert isinstance(sample, Sample)
    assert (sample.config_id, sample.node, sample.host, sample.repeat) == ("c", "n1", "h1", 2)
    assert (sample.purpose, sample.started_at) == (Purpose.VALIDATE, 5.0)
    assert sample.duration_s == pytest.approx(2.0)
    assert sample.value("score") == 12.5


def test_a_sample_of_a_burstable_machine_is_marked():
    """Each one, so that nobody takes its figures for those of an ordinary machine (T25)."""
    node = FakeNode(name="n1", host="h1", jobs=lambda spec: finished(WORKLOAD.digest, {"score": (1.0, "points")}))
    job.start(node, JobSpec.sample(WORKLOAD, "j", {}))
    marks = [
        sample_or_failure(
            job.outcome(node, "j"),
            WORKLOAD,
            Placement.on(node, config_id="c", started_at=0.0, is_burstable=is_burstable),
        )
        for is_burstable in (True, False)
    ]

    assert [sample.notes.get("burstable") for sample in marks if isinstance(sample, Sample)] == [True, None]


@pytest.mark.parametrize(
    ("verb", "rc", "is_timed_out", "blame"),
    [
        ("start", 10, False, Blame.CONFIG),
        ("run", 10, False, Blame.CONFIG),
        ("run", 20, False, Blame.LOAD),
        ("start", 30, False, Blame.NODE),
        ("stop", 30, False, Blame.NODE),
        ("run", 1, False, Blame.PLATFORM),
        ("start", 127, False, Blame.PLATFORM),
        ("run", -9, False, Blame.PLATFORM),
        ("start", -15, True, Blame.CONFIG),
        ("run", -9, True, Blame.CONFIG),
        ("run", 0, True, Blame.CONFIG),
        ("install", -15, True, Blame.NODE),
        ("load", -15, True, Blame.NODE),
        ("stop", -15, True, Blame.NODE),
    ],
)
def test_the_table_of_the_contract(verb: str, rc: int, is_timed_out: bool, blame: Blame):
    """Exit code and time limit decide; the message names the verb and its last words."""
    failure = judge(failed(WORKLOAD.digest, verb, rc, stderr="first\nlast words", is_timed_out=is_timed_out))

    assert isinstance(failure, Failure)
    assert failure.blame is blame
    assert verb in failure.message and "last words" in failure.message
    assert "first" in failure.log


@pytest.mark.parametrize(
    "metrics",
    [
        None,
        "no json",
        "[]",
        '{"metrics": {}}',
        '{"metrics": {"other": {"value": 1, "unit": "points"}}}',
        '{"metrics": {"score": 1}}',
        '{"metrics": {"score": {"value": "1", "unit": "points"}}}',
        '{"metrics": {"score": {"value": true, "unit": "points"}}}',
        '{"metrics": {"score": {"value": 1}}}',
        '{"metrics": {"score": {"value": 1, "unit": "ms"}}}',
        json.dumps({"metrics": {"score": {"value": math.inf, "unit": "points"}}}),
        json.dumps({"metrics": {"score": {"value": 1, "unit": "points"}, "x": {"value": math.nan, "unit": "s"}}}),
    ],
)
def test_figures_that_are_none_are_the_loads_fault(metrics: str | None):
    """A run that ends well without a finite figure in the right unit has broken its promise."""
    files = finished(WORKLOAD.digest, {"score": (1.0, "points")})
    files.pop("metrics.json")
    failure = judge(files if metrics is None else {**files, "metrics.json": metrics.encode()})

    assert isinstance(failure, Failure)
    assert failure.blame is Blame.LOAD


def test_another_folder_is_judged_before_its_figures():
    """However well it ended."""
    failure = judge(finished("0" * 64, {"score": (1.0, "points")}))

    assert isinstance(failure, Failure)
    assert failure.blame is Blame.PLATFORM


def test_a_lost_job_is_the_nodes_fault():
    """No result and nobody who will write one."""
    failure = judge({})

    assert isinstance(failure, Failure)
    assert failure.blame is Blame.NODE
    assert "the node lost the job" in failure.message
