"""Two policies over the same history, as a page."""

from albacore.backfill.comparing import Comparison, Pair, Side, plain


def test_the_page_is_there_and_names_its_campaign(server):
    """It holds the campaign's name and no data; a campaign that is not there has nothing to compare."""
    answer = server.ask("/dags/demo.history/compare")
    assert answer.status == 200
    assert b'data-dag="demo"' in answer.body
    assert server.ask("/data/dags/demo/compare").json == {"policies": {}, "comparison": None}


def test_policies_that_judged_nothing_are_a_404_with_the_remedy(server):
    """The message has the command of the back-fill."""
    answer = server.ask("/data/dags/demo/compare?a=tuna&b=naive")
    assert answer.status == 404
    assert "airflow backfill create --dag-id demo.history" in answer.json["detail"]


def test_what_the_page_gets_is_plain():
    """A dataclass of dataclasses as JSON has it."""
    side = Side(incumbent="x", seen=1.5, held_out=None, unstable=0, ship=None, sentence="<b>")
    pair = Pair(run_id="r", date="2026-01-01", title="<img src=x onerror=alert(1)>", a=side, b=side, change=1.0)
    found = plain(Comparison(campaign="c", a="a", b="b", pairs=(pair,), missing={}, total=None))
    assert found["pairs"][0]["is_changed"] is False
    assert found["changed"] == 0
