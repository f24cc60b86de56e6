"""Somebody who only has a browser: signs in to Airflow, sends the form of a campaign, and that of a back-fill."""

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


def back_fill(page: Page, clone: Clone, dag: str, days: tuple[str, str], policy: str, *also: str) -> None:
    """Send the form of a back-fill as docs/tutorial/05-history.md has it.

    Args:
        days: The first and the last, YYYY/MM/DD.
        also: What else is chosen in the form, by its words.
    """
    page.goto(f"{clone.layout.url}/dags/{dag}")
    page.get_by_test_id("trigger-dag-button").click()
    form = page.locator("[role=dialog][data-scope=dialog][data-state=open]")
    form.get_by_text("Backfill", exact=True).click()
    for i, day in enumerate(days):
        form.get_by_test_id("datetime-input").nth(i).click()
        picker = page.locator("[data-scope=popover][data-part=content][data-state=open]")
        for place, value in (("YYYY/MM/DD", day), ("HH:mm", "00:00")):
            picker.get_by_placeholder(place).fill(value)
            picker.get_by_placeholder(place).press("Enter")
        page.keyboard.press("Escape")
        expect(picker).to_have_count(0)
    for words in also:
        form.get_by_text(words, exact=True).click()
    field = form.locator("[name=element_policy]")
    field.fill(policy)
    field.press("Enter")
    expect(field).to_have_value(policy)
    form.get_by_role("button", name="Run Backfill").click()
    expect(form).to_have_count(0, timeout=30_000)
