"""Laws of the campaign file: one fault is one error that names file, key and remedy."""

from pathlib import Path

import pytest

from albacore.campaign import parse, read
from albacore.errors import CampaignError, UserError

CAMPAIGNS = sorted((Path(__file__).parents[1] / "include" / "campaigns").glob("*.toml"))
LEAST = 'system = "noop"\nworkload = "sleep"\n'


@pytest.mark.parametrize("path", CAMPAIGNS, ids=lambda p: p.stem)
def test_every_campaign_that_ships_is_in_order(path):
    """And is named by its file."""
    assert read(path).name == path.stem


def test_the_least_campaign_has_the_papers_defaults(tmp_path):
    """1, 3, 10 nodes, 500 samples, 8 hours, SMAC, relative range 0.30."""
    path = tmp_path / "least.toml"
    path.write_text(LEAST)

    campaign = read(path)

    assert campaign.policy.rungs == [1, 3, 10]
    assert (campaign.limits.samples, campaign.limits.hours) == (500, 8.0)
    assert (campaign.optimizer.name, campaign.optimizer.initial, campaign.policy.threshold) == ("smac", 10, 0.30)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"bad\.toml: the file is empty"),
        ("system =", r"bad\.toml: not TOML: Invalid value"),
        ('system = "noop"\n', r"bad\.toml: workload: expected a value, there is none; add it"),
        (LEAST + "sampels = 3\n", r"bad\.toml: sampels: unknown key; remove it or correct its spelling"),
        (LEAST + "[limits]\nsamples = 0\n", r"limits\.samples: .*greater than or equal to 1, got 0"),
        (LEAST + '[limits]\nsamples = "many"\n', r"limits\.samples: .*valid integer, got 'many'"),
        (LEAST + "[policy]\nrungs = [1, 3, 20]\n", r"the highest needs 20 nodes, nodes\.tuning has 10"),
        (LEAST + "[policy]\nrungs = [3, 1]\n", r"rungs: expected strictly rising .* got \[3, 1\]"),
        (LEAST + '[policy]\npreset = "fast"\n', r"policy\.preset: .*'tuna', 'traditional' or 'naive', got 'fast'"),
        (LEAST + '[optimizer]\nname = "griddle"\n', r"optimizer\.name: .*'stable_forest' or 'tpe', got 'griddle'"),
        (LEAST + 'name = "other"\n', r"name: unknown key; a campaign is named by its file"),
        (LEAST + "x" * 200_000, r"expected at most 100000 bytes"),
        ('system = "' + "a" * 10_000 + '"\nworkload = "sleep"\n', r"system: .*match pattern"),
        (LEAST + LEAST, r"not TOML: .*overwrite"),
        (LEAST + 'schedule = "@daily"\n', r"schedule: expected five fields .*'0 2 \* \* \*'.*got '@daily'"),
        (LEAST + 'schedule = "R R * * *"\n', r"schedule: expected five fields"),
        (LEAST + 'schedule = "0 2 31 2 *"\n', r"schedule: expected a cron expression that comes to pass"),
        (LEAST + 'schedule = "0 25 * * *"\n', r"schedule: expected a cron expression that comes to pass"),
        (LEAST + 'timezone = "europe/berlin"\n', r"timezone: expected an IANA name .*got 'europe/berlin'"),
        (LEAST + 'timezone = "../UTC"\n', r"timezone: expected an IANA name"),
        (LEAST + "start_within = 0\n", r"start_within: .*greater than 0, got 0"),
        (LEAST + "keep_days = 0\n", r"keep_days: .*greater than or equal to 1, got 0"),
        (
            LEAST + '[policy]\nadjuster = "forest"\n[warm_start]\nadjuster = true\n',
            r"warm_start\.adjuster: policy\.adjuster = 'forest' cannot learn from earlier runs\. Set that to "
            "'cross_validated', or warm_start.adjuster to false",
        ),
        (LEAST + "[warm_start]\nconfigs = -1\n", r"warm_start\.configs: .*greater than or equal to 0, got -1"),
    ],
)
def test_a_fault_is_one_error_with_its_place_and_remedy(tmp_path, text, message):
    """Empty, not TOML, missing, misspelt, out of bounds, not possible together."""
    path = tmp_path / "bad.toml"
    path.write_text(text)

    with pytest.raises(CampaignError, match=message) as caught:
        read(path)

    assert len(str(caught.value)) < 450


@pytest.mark.parametrize("name", ["Demo.toml", "a b.toml", "../x y.toml", "a" * 31 + ".toml"])
def test_a_file_name_that_is_no_dag_id_is_refused(tmp_path, name):
    """The file's name becomes the DAG's, a part of job ids and of directories."""
    with pytest.raises(CampaignError, match="Rename it"):
        read(tmp_path / name)


def test_a_file_that_cannot_be_read_says_why(tmp_path):
    """Missing, or no permission."""
    with pytest.raises(CampaignError, match="cannot be read: No such file"):
        read(tmp_path / "none.toml")


def test_the_form_overrides_the_file():
    """Absent and empty fields keep the file's values; the effective campaign is a value of its own."""
    campaign = parse({"name": "a", "system": "noop", "workload": "sleep"}, where="test")

    changed = campaign.with_form({"samples": 7, "hours": 2, "seed": 5, "preset": "naive", "optimizer": None})

    assert (changed.limits.samples, changed.limits.hours, changed.seed) == (7, 2.0, 5)
    assert (changed.policy.preset, changed.optimizer.name) == ("naive", "smac")
    assert campaign.limits.samples == 500


def test_a_form_is_checked_like_a_file():
    """The message says that it was the form."""
    campaign = parse({"name": "a", "system": "noop", "workload": "sleep"}, where="test")

    with pytest.raises(UserError, match=r"the form of a: limits\.samples: .*got 0"):
        campaign.with_form({"samples": 0})


def test_an_effective_campaign_survives_the_store():
    """What was written as JSON is the same campaign again."""
    campaign = parse({"name": "a", "system": "noop", "workload": "sleep", "params": {"seconds": 0.5}}, where="test")

    assert parse(campaign.model_dump(mode="json"), where="store") == campaign


def test_a_campaign_with_a_schedule_starts_warm_unless_its_file_says_otherwise():
    """Three configs with a schedule, none without; what the file says goes before both."""
    least = {"name": "c", "system": "noop", "workload": "sleep"}
    nightly = {**least, "schedule": "0  2 * * *", "timezone": "Europe/Berlin"}

    assert parse(least, where="here").warm_configs == 0
    assert parse(nightly, where="here").warm_configs == 3
    assert parse({**nightly, "warm_start": {"configs": 0}}, where="here").warm_configs == 0
    assert parse({**least, "warm_start": {"configs": 5}}, where="here").warm_configs == 5
    assert parse(nightly, where="here").schedule == "0 2 * * *"


def test_a_campaign_is_not_named_like_a_dag_of_albacore_itself(tmp_path):
    """Two DAGs of one id would hide each other."""
    path = tmp_path / "housekeeping.toml"
    path.write_text(LEAST)

    with pytest.raises(CampaignError, match="name of a DAG of Albacore itself"):
        read(path)
