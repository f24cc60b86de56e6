"""The documents promise only what is there: links, make targets, commands, examples."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from albacore import cli
from albacore.campaign import Nodes, parse
from albacore.clouds import inventory
from albacore.clouds.azure import preflight, prices
from albacore.clouds.azure.order import AzureOrder

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = {page: page.read_text() for page in PAGES}
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_link_leads_somewhere(page):
    """Relative links and pictures exist; anchors are not followed."""
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", TEXTS[page])

    broken = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_make_target_exists(page):
    """`make x` in a page is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z0-9][a-z0-9 -]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    known = {name for group in targets for name in group.split()}

    named = set(re.findall(r"(?:`|^)make ([a-z0-9][a-z0-9-]*)", TEXTS[page], re.MULTILINE))
    assert named <= known


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_experiment_that_a_page_names_is_there(page):
    """Figures name what prints them: a program or a test of this tree, in backticks."""
    spans = re.findall(r"`([^`\n]+)`", TEXTS[page])
    named = {
        word for span in spans for word in span.split() if re.match(r"(tests|experiments|perf|docs)/\S+\.py$", word)
    }

    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_command_of_the_library_is_understood(page):
    """Lines of shell blocks that call `albacore` pass its parser."""
    blocks = re.findall(r"```sh\n(.*?)```", TEXTS[page], re.DOTALL)
    calls = [line for block in blocks for line in block.splitlines() if line.startswith("albacore ")]

    for call in calls:
        cli.parser().parse_args(shlex.split(call, comments=True)[1:])


def test_the_campaign_of_the_reference_is_one():
    """The block with every key is a campaign."""
    block = re.findall(r"```toml\n(.*?)```", TEXTS[ROOT / "docs/campaign-file.md"], re.DOTALL)[0]

    campaign = parse({**tomllib.loads(block), "name": "mine"}, where="docs/campaign-file.md")

    assert campaign.name == "mine"


def test_the_inventory_of_the_tutorial_is_one():
    """And its [nodes] are those of a campaign."""
    page = ROOT / "docs/tutorial/06-your-own-machines.md"
    inventory_text, nodes_text, _ = re.findall(r"```toml\n(.*?)```", TEXTS[page], re.DOTALL)

    found = inventory.parse(tomllib.loads(inventory_text), where=page.name, folder=page.parent)
    nodes = Nodes.model_validate(tomllib.loads(nodes_text)["nodes"])

    assert [host.name for host in found.of_role("system")] == ["db1", "db2"]
    assert nodes.tuning + nodes.validation == len(found.hosts)
    assert set(re.findall(r"^\| `(\w+)`", TEXTS[page], re.MULTILINE)) <= set(inventory.Host.model_fields)


def test_the_order_of_the_tutorial_is_one_and_has_its_prices():
    """Its price table has what it orders, its caps hold for 8 hours, and every key in the table is one."""
    page = ROOT / "docs/tutorial/07-azure.md"
    table, order = re.findall(r"```toml\n(.*?)```", TEXTS[page], re.DOTALL)

    nodes = Nodes.model_validate(tomllib.loads(order)["nodes"])
    assert nodes.azure is not None
    price = prices.of_table(tomllib.loads(table), nodes.azure, where="azure.toml")
    preflight.caps(nodes.azure, nodes=nodes.count, hours=8.0, per_hour=price.per_hour)

    rows = re.findall(r"^\| (`\w+`.*?) \|", TEXTS[page], re.MULTILINE)
    assert {key for row in rows for key in re.findall(r"`(\w+)`", row)} == set(AzureOrder.model_fields)


def test_every_decision_says_what_why_and_what_follows():
    """One page each, of one shape."""
    for page in sorted((ROOT / "docs/decisions").glob("*.md")):
        text = TEXTS[page]
        assert "**Decided:**" in text, page
        assert "## Why" in text and "## What follows" in text, page
