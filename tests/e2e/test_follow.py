"""`make tune`, `make follow` and Ctrl-C, as a user types them."""

import signal
import subprocess

import law
import pytest
from clone import Clone, Followed, wait_until

from albacore_ops import campaign

pytestmark = pytest.mark.e2e


def newest(clone: Clone, name: str) -> Followed:
    """Return the newest run of a campaign."""
    run = campaign.latest(clone.airflow, name)
    assert run is not None
    return Followed(clone=clone, campaign=name, dag_run_id=run.run_id)


def test_make_tune_ends_with_the_verdict_and_works_twice(clone):
    """It shows the progress, then the verdict, the fragment to copy, and the address and login of the UI."""
    said = [clone.make("tune", "CAMPAIGN=small") for _ in range(2)]

    for text in said:
        assert "samples" in text
        assert "hip " in text  # "Ship …" or "Do not ship …"
        assert "noop.conf" in text
        assert clone.layout.url in text
    assert "Airflow already runs" in said[1]
    assert newest(clone, "small").seen.state() == "success"


def test_ctrl_c_leaves_the_campaign_running_and_make_follow_comes_back_to_it(clone):
    """Ctrl-C says how to come back; the campaign goes on, and `make follow` shows its verdict."""
    clone.wait_known("small")
    before = campaign.latest(clone.airflow, "small")
    typed = subprocess.Popen(
        ["make", "tune", "CAMPAIGN=small"],
        cwd=clone.root,
        env=clone.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    wait_until(lambda: (run := campaign.latest(clone.airflow, "small")) and run != before, 180, "it is started")
    followed = newest(clone, "small")

    subprocess.run(["kill", "-s", "INT", "--", f"-{typed.pid}"], check=True)  # what a terminal sends: to the group
    said, _ = typed.communicate(timeout=60)

    assert "make follow" in said and followed.id
    assert typed.returncode in (2, 130, -signal.SIGINT)  # make says 2 for a recipe that ended with 130
    assert followed.seen.state() == "running"
    assert "hip " in clone.make("follow", "CAMPAIGN=small")
    assert newest(clone, "small").dag_run_id == followed.dag_run_id
    law.check(followed.wait(10))
