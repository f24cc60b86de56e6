"""The pages in a real browser, on runs that were recorded: all of it works, and nothing of others runs."""

import importlib.util
import sys
from pathlib import Path

import pytest
from browser import Listener, browser
from playwright.sync_api import expect
from recorded_runs import PLANT

pytestmark = pytest.mark.e2e

PAGES = ("convergence", "trials", "spread", "nodes", "night", "adjuster", "knobs", "readiness", "verdict")
CHARTS = {"convergence": 1, "spread": 2, "nodes": 2, "adjuster": 1, "knobs": 1, "verdict": 1}


def _web():
    spec = importlib.util.spec_from_file_location("web_server", Path(__file__).parents[1] / "web" / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["web_server"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with _web().serving(tmp_path_factory.mktemp("pages"), with_store=True) as server:
        yield server


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


@pytest.fixture
def open_page(site, chromium):
    """Return what opens a page as a user; at the end no page may have complained."""
    listener, contexts = Listener(), []

    def opened(path, *, user="adm", width=1280, scheme="light"):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        context.add_cookies([{"name": "_token", "value": site.token(user), "url": site.url}])
        page = listener.listen(context.new_page())
        page.goto(f"{site.url}/albacore{path}")
        return page

    opened.allowed = []
    yield opened
    for context in contexts:
        context.close()
    assert [c for c in listener.complaints if not any(word in c for word in opened.allowed)] == []


def of_run(page, run="demo-1"):
    return f"/dags/{run.partition('-')[0]}/runs/{run}/{page}"


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_a_page_shows_its_charts_without_a_complaint(open_page, page, scheme, width):
    """In light and dark, on a wide screen and on a phone; nothing sticks out to the side."""
    seen = open_page(of_run(page), scheme=scheme, width=width)

    expect(seen.locator("#body")).to_be_visible()
    expect(seen.locator("#title")).to_have_text("Reports")
    expect(seen.locator(".js-plotly-plot")).to_have_count(CHARTS.get(page, 0), timeout=40_000)
    assert seen.evaluate("document.documentElement.dataset.theme") == scheme
    assert seen.evaluate("document.documentElement.scrollWidth") <= width


def test_the_fleet_leads_to_a_run_and_back(open_page):
    """A row opens its run; the filter and the keyboard work."""
    page = open_page("/")
    expect(page.locator("tbody tr")).to_have_count(5)
    page.keyboard.press("/")
    page.keyboard.type("reports")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.locator("tbody tr").first.focus()
    page.keyboard.press("Enter")

    expect(page.locator("#state")).to_have_text("ship", timeout=40_000)
    page.get_by_text("Campaigns", exact=True).click()
    expect(page.locator("h1")).to_have_text("Campaigns")


def test_a_trial_says_which_plan_flipped_on_which_node(open_page):
    """The dialog of an unstable config names the statement, the nodes of each plan, and the plans (T26)."""
    page = open_page(of_run("trials"))
    page.locator("input[type=search]").fill("unstable")
    page.locator("tbody tr", has_text="unstable").first.click()
    said = page.locator("dialog section", has_text="Plans that differ between nodes").locator("pre")

    expect(said).to_contain_text("plan of stock_level differs")
    expect(said).to_contain_text("bad = Merge Join (Seq Scan on stock)")


def test_markup_of_others_stays_text_and_never_runs(open_page):
    """In a title, a knob's value, an error line, a log and a node's evidence: it is seen as it was written."""
    places = {
        "convergence": ["#title"],
        "nodes": ["#title", "#quarantine"],
        "knobs": ["#title", "#differences", "#space"],
        "verdict": ["#title", "#card"],
        "trials": ["#title"],
        "spread": ["#title"],
        "adjuster": ["#title"],
    }
    for name, ids in places.items():
        page = open_page(of_run(name, "planted-1"))
        expect(page.locator("#body")).to_be_visible()
        for place in ids:
            expect(page.locator(place)).to_contain_text(PLANT)
        page.wait_for_timeout(300)
        assert page.evaluate("window.planted") is None, name
        assert page.locator("#content img, #head img").count() == 0, name
    fleet = open_page("/")
    expect(fleet.locator("tbody")).to_contain_text(PLANT)
    assert fleet.evaluate("window.planted") is None

    assert fleet.locator("#content img").count() == 0

    trials = open_page(of_run("trials", "planted-1"))
    trials.locator("input[type=search]").fill("failed")
    trials.locator("tbody tr").first.click()
    expect(trials.locator("dialog pre").first).to_contain_text(PLANT)
    trials.keyboard.press("Escape")
    trials.locator("input[type=search]").fill("")
    trials.locator("tbody tr.best").click()
    expect(trials.locator("dialog[open] section", has_text="Plans that differ")).to_contain_text(PLANT)
    assert trials.evaluate("window.planted") is None


def test_markup_of_an_imported_file_stays_text_too(open_page, site):
    """Its name, its label, its knobs by name and value, a node's name: on every page of the run, and in a trial."""
    (found,) = site.ask("/data/dags/imported/runs").json["runs"]
    places = {
        "convergence": ["#title", "#facts"],
        "knobs": ["#space"],
        "nodes": ["#table", "#exclude select[name=node]"],
        "trials": ["#title"],
        "spread": ["#title"],
        "night": ["#title"],
        "adjuster": ["#title"],
        "verdict": ["#title"],
    }
    for name, ids in places.items():
        page = open_page(f"/dags/imported/runs/{found['run']}/{name}")
        expect(page.locator("#body")).to_be_visible()
        for place in ids:
            expect(page.locator(place)).to_contain_text(PLANT)
        page.wait_for_timeout(300)
        assert page.evaluate("window.planted") is None, name
        assert page.locator("#content img, #head img").count() == 0, name
    trials = open_page(f"/dags/imported/runs/{found['run']}/trials")
    trials.locator("tbody tr.best").click()
    expect(trials.locator("dialog[open]")).to_contain_text(f"mode {PLANT}")
    fleet = open_page("/")
    expect(fleet.locator("tbody tr", has_text="no DAG here")).to_contain_text(f"tpcc {PLANT}")
    assert trials.evaluate("window.planted") is None and fleet.evaluate("window.planted") is None


def test_a_night_says_what_has_moved_and_what_it_began_with(open_page):
    """A mark in the fleet, a notice on every page of the run, and a page of its own with the nights before."""
    fleet = open_page("/")
    row = fleet.locator("tbody tr", has_text="Nightly: orders")
    expect(row).to_contain_text("machine moved")
    run = open_page(of_run("convergence", "nightly-4"))
    expect(run.locator("#warnings")).to_contain_text("The machine moved: node n2 is")

    page = open_page(of_run("night", "nightly-4"))
    expect(page.locator("#moved tbody tr")).to_contain_text("n2")
    expect(page.locator("#moved .notice")).to_contain_text("Set nodes.tuning to 5 or more")
    assert page.evaluate("document.getElementById('nights').data.map((t) => t.x.length)") == [4, 4]
    expect(page.locator("#taken tbody tr")).to_contain_text("incumbent")
    page.locator("#taken").get_by_role("link", name="nightly-1").click()
    expect(page.locator("#moved")).to_contain_text("There is no earlier night")
    expect(page.locator("#taken")).to_contain_text("A cold start")


def test_the_threshold_colours_at_once(open_page):
    """Moving the slider changes what is called unstable, in the sentence and in both charts."""
    page = open_page(of_run("spread"))
    expect(page.locator("#strips.js-plotly-plot")).to_be_visible()
    count = "document.getElementById('strips').data.find((t) => t.name === 'unstable').x.length"
    before = page.evaluate(count)

    page.locator("#threshold").fill("3")

    expect(page.locator("#threshold-text")).to_have_text("3 %")
    assert page.evaluate(count) > before
    bars = "document.getElementById('histogram').data.find((t) => t.name === 'unstable').y.reduce((a, b) => a + b)"
    assert f"{page.evaluate(bars)} of" in page.locator("#verdict").inner_text()
    page.locator("#reset").click()
    assert page.evaluate(count) == before


def test_a_table_sorts_and_filters(open_page):
    """By any column, what is not known last; every word of the filter counts."""
    page = open_page(of_run("trials"))
    page.get_by_role("button", name="Score").click()
    page.get_by_role("button", name="Score").click()

    best = page.locator("tbody tr").first
    score = float(best.locator("td").nth(4).inner_text().split()[0].replace(",", ""))
    assert score > 1000
    page.locator("select[aria-label=Kind]").select_option("unstable")
    rows = page.locator("tbody tr")
    assert rows.count() > 0
    assert set(page.locator("tbody .badge").all_inner_texts()) == {"unstable"}
    page.locator("input[type=search]").fill("no such thing")
    expect(page.locator(".more")).to_contain_text("No row matches")


def test_a_trial_opens_and_says_why(open_page):
    """With the keyboard alone: the row, its dialog, and back."""
    page = open_page(of_run("trials"))
    page.locator("tbody tr.best").focus()
    page.keyboard.press("Enter")

    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("relative range")
    expect(dialog).to_contain_text("worst of 10 adjusted value(s)")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_a_viewer_sees_no_button_that_would_be_refused(open_page):
    """Reading is all that is offered."""
    page = open_page(of_run("nodes"), user="view")

    expect(page.locator("#body")).to_be_visible()
    expect(page.locator("#actions")).to_be_hidden()
    expect(page.locator("#exclude")).to_be_hidden()


def test_samples_of_a_node_are_excluded_and_taken_back(open_page):
    """The form writes an exclusion that the page lists; undo takes it back."""
    page = open_page(of_run("nodes"))
    expect(page.locator("#exclude")).to_be_visible()
    page.locator("#exclude select[name=node]").select_option("n4")
    page.locator("#exclude input[name=reason]").fill(f"a backup {PLANT}")
    page.locator("#exclude button").click()

    row = page.locator("#excluded tbody tr")
    expect(row).to_contain_text(f"a backup {PLANT}", timeout=60_000)  # its trials are scored again
    expect(row).to_contain_text("n4")
    row.get_by_role("button", name="Undo").click()
    expect(row).to_contain_text("undone", timeout=60_000)
    assert page.evaluate("window.planted") is None


def test_an_action_that_cannot_be_done_says_why(open_page):
    """The words of the library reach the user."""
    open_page.allowed.append("status of 422")  # the browser tells its console of every refusal
    page = open_page(of_run("convergence"))
    page.get_by_role("button", name="Extend…").click()
    page.locator("dialog input[name=samples]").fill("1")
    page.locator("dialog button[type=submit]").click()

    expect(page.locator(".toast", has_text="expected a total above")).to_be_visible()
