"""When a campaign run asks no more."""

from scenes import scene

from albacore import stopping
from albacore.trial import Note


def ended(*oks: bool) -> list[Note]:
    return [Note(kind="iteration", body={"key": str(i), "lane": 0, "n": i, "ok": ok}) for i, ok in enumerate(oks)]


def test_five_failed_iterations_in_a_row_stop_a_run():
    """Four do not, nor do five with a good one among them."""
    assert stopping.stop_reason(scene(ended(True, False, False, False, False)), elapsed_s=1.0) is None
    assert stopping.stop_reason(scene(ended(False, False, True, False, False, False)), elapsed_s=1.0) is None
    assert "5 iterations failed" in str(stopping.stop_reason(scene(ended(True, *[False] * 5)), elapsed_s=1.0))


def test_a_run_that_was_stopped_by_failures_stays_stopped():
    """The iterations in flight find nothing to ask and end well: that takes nothing back."""
    events = ended(*[False] * 5, True, True)

    assert "5 iterations failed" in str(stopping.stop_reason(scene(events), elapsed_s=1.0))
