"""A run from Airflow's form to its verdict, by somebody who only has a browser."""

import re

import pytest
from browser import Listener, browser
from playwright.sync_api import expect
from signing_in import sign_in, trigger

pytestmark = pytest.mark.e2e
VERDICT_MS = 240_000


def test_a_run_is_started_from_the_form_and_followed_to_its_verdict(clone):
    """In the browser alone: sign in, form, fleet, pages, the tabs on DAG and run, and the verdict."""
    campaign, listener = "small", Listener(only="/albacore/")
    clone.wait_known(campaign)
    with browser() as chromium:
        page = listener.listen(chromium.new_page(viewport={"width": 1280, "height": 900}))
        sign_in(page, clone)
        trigger(page, clone, campaign, samples=6)

        page.get_by_role("link", name="Tuning").first.click()
        frame = page.frame_locator("iframe")
        row = frame.locator("tbody tr", has_text=campaign)
        expect(row).to_contain_text("/ 6", timeout=120_000)
        row.get_by_role("link").first.click()
        expect(frame.locator("#chart.js-plotly-plot")).to_be_visible(timeout=60_000)
        expect(frame.locator("#state")).to_have_text(re.compile("ship|do not ship"), timeout=VERDICT_MS)
        frame.get_by_role("link", name="Trials").click()
        expect(frame.locator("#table tbody tr").nth(1)).to_be_visible()
        frame.get_by_role("link", name="Verdict").click()
        expect(frame.locator(".ruling .sentence")).to_have_text(re.compile("^(Ship|Do not ship)"))
        said = frame.locator(".ruling .sentence").inner_text()

        page.goto(f"{clone.layout.url}/dags/{campaign}/plugin/tuning_of_dag")
        expect(frame.locator("#state")).to_have_text(re.compile("ship"), timeout=60_000)
        frame.get_by_role("link", name="DAG run").click()
        expect(page).to_have_url(re.compile(f"/dags/{campaign}/runs/"))
        page.goto(f"{page.url.split('?')[0]}/plugin/tuning_of_run")
        frame.get_by_role("link", name="Verdict").click()
        expect(frame.locator(".ruling .sentence")).to_have_text(said, timeout=60_000)
    assert listener.complaints == []
