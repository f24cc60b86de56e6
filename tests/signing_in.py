"""Somebody who only has a browser: signs in to Airflow, and sends the form of a campaign."""

from clone import Clone
from playwright.sync_api import Page, expect

from albacore_ops import credential


def sign_in(page: Page, clone: Clone) -> None:
    """Give name and password to Airflow's own page."""
    page.goto(f"{clone.layout.url}/")
    page.get_by_label("Username").fill(credential.USER)
    page.locator("input[type=password]").fill(credential.password(clone.layout))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="Tuning")).to_be_visible(timeout=30_000)


def trigger(page: Page, clone: Clone, campaign: str, **fields: object) -> None:
    """Fill in fields of the form of a campaign's DAG, `samples` among them, and send it."""
    page.goto(f"{clone.layout.url}/dags/{campaign}")
    page.get_by_test_id("trigger-dag-button").click()
    field, item = page.locator("[name=element_samples]"), page.get_by_role("menuitem", name="Trigger", exact=True)
    expect(field.or_(item).first).to_be_visible(timeout=30_000)
    if item.is_visible():
        item.click()
    expect(field).to_be_visible(timeout=30_000)
    for name, value in fields.items():
        page.locator(f"[name=element_{name}]").fill(str(value))
    page.get_by_test_id("trigger-dag-submit").click()
    expect(page.get_by_test_id("trigger-dag-submit")).to_have_count(0, timeout=30_000)
