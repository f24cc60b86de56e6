"""What the DAG files promise, as far as it can be seen without a scheduler."""

from pathlib import Path

import pytest
from azure_fake import scene
from small_campaigns import noop

from albacore.optimizers import KINDS

REPOSITORY = Path(__file__).resolve().parents[2]
FILES = sorted((REPOSITORY / "dags").glob("*.py"))
CAMPAIGNS = sorted(path.stem for path in (REPOSITORY / "include" / "campaigns").glob("*.toml"))
OWN = ["housekeeping", "imported.history", "reaper"]
"""DAGs that belong to no campaign file."""
ITERATION = ["suggest", "pick_nodes", "benchmark", "detect_outliers", "adjust_noise", "aggregate", "report", "next"]
CAMPAIGN = [
    "open",
    "provision",
    "prepare",
    "plan_default",
    "default",
    "judge_default",
    "lanes",
    "start_lanes",
    "await",
    "plan_validation",
    "validate",
    "verdict",
    "release",
]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory, parse):
    """One good campaign file among broken ones of several kinds."""
    folder = tmp_path_factory.mktemp("campaigns")
    files = {
        "good": noop(),
        "misspelt": noop(limits="{ sample = 3 }"),
        "snoring": noop().replace('"sleep"', '"snore"'),
        "overdone": noop(params="{ minutes = 1.0 }"),
        "unknowing": noop(space='{ knobs = ["size", "colour"] }'),
        "empty": "",
        "torn": "system = ",
    }
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text)
    return parse(folder)


def test_every_dag_file_is_parsed_without_an_error(shipped):
    """The DagBag of this clone has no import error."""
    assert shipped["errors"] == {}


def test_every_campaign_file_makes_three_dags(shipped):
    """<name>, <name>.iteration and <name>.history; a file of include/histories one; beside them is the housekeeping."""
    made = [dag for name in CAMPAIGNS for dag in (name, f"{name}.iteration", f"{name}.history")]
    assert sorted(shipped["dags"]) == sorted([*made, *OWN])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_dag_file_is_thin(file):
    """At most 100 lines."""
    assert len(file.read_text().splitlines()) <= 100


def test_no_dag_file_imports_what_takes_long(shipped):
    """Neither SMAC nor scikit-learn, pandas, azure or fabric is in memory after parsing."""
    assert shipped["heavy"] == []


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_an_iteration_is_the_eight_tasks_of_the_paper_in_their_order(shipped, name):
    """The order is that of TUNA §5.2: detect, adjust, aggregate."""
    assert shipped["dags"][f"{name}.iteration"]["tasks"] == ITERATION


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_campaign_is_its_tasks_in_their_order(shipped, name):
    """open, provision, prepare, the default config, lanes, await, validate, verdict, release."""
    assert shipped["dags"][name]["tasks"] == CAMPAIGN


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_what_has_to_run_whatever_happened_is_a_teardown(shipped, name):
    """`next` and `release` run after failures too, and do not decide the state of the run."""
    assert shipped["dags"][f"{name}.iteration"]["teardowns"] == ["next"]
    assert shipped["dags"][name]["teardowns"] == ["release"]


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_iterations_are_switched_on_at_creation(shipped, name):
    """A new campaign's iterations run without a visit to the UI."""
    assert shipped["dags"][f"{name}.iteration"]["is_paused_upon_creation"] is False


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_the_grid_shows_the_names_of_nodes(shipped, name):
    """Every mapped task that works on a node is labelled by it."""
    node = "{{ node_name }}"
    assert shipped["dags"][f"{name}.iteration"]["labels"] == {"benchmark": node}
    assert shipped["dags"][name]["labels"] == {"prepare": node, "default": node, "validate": node}


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_the_form_has_the_values_of_the_file_and_a_place_for_the_run_it_extends(shipped, name):
    """samples, hours, seed, preset, optimizer: each has a title, and a range or a list of choices; then extends."""
    form = dict(shipped["dags"][name]["form"])
    assert list(form) == ["samples", "hours", "seed", "preset", "optimizer", "extends"]
    extends = form.pop("extends")
    assert extends["title"] and "null" in extends["type"], "the form could not be sent without it"
    assert form["preset"]["enum"] == ["tuna", "traditional", "naive"]
    assert form["optimizer"]["enum"] == sorted(KINDS)
    assert all(field["title"] for field in form.values())
    assert all("enum" in field or "maximum" in field for field in form.values())


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_every_dag_says_what_it_is_and_every_task_is_tried_again(shipped, name):
    """Docs, the tag `albacore`, and at least one retry: a task lost at a slow start is no failure."""
    for dag in (name, f"{name}.iteration", f"{name}.history"):
        found = shipped["dags"][dag]
        assert found["doc"] and "albacore" in found["tags"]
        assert min(found["retries"].values()) >= 1


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_task_whose_job_outlives_it_is_tried_more_often(shipped, name):
    """It costs nothing: the next try finds the job."""
    retries = shipped["dags"][name]["retries"] | shipped["dags"][f"{name}.iteration"]["retries"]
    assert min(retries[task] for task in ("benchmark", "default", "validate")) > retries["suggest"]


def test_a_broken_campaign_file_breaks_no_other_campaign(mixed):
    """The good one has its DAGs; the error is that of campaign_errors.py alone."""
    assert sorted(mixed["dags"]) == sorted(["good", "good.history", "good.iteration", *OWN])
    assert [Path(file).name for file in mixed["errors"]] == ["campaign_errors.py"]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("misspelt", "limits.sample"),
        ("snoring", "snore"),
        ("overdone", "minutes"),
        ("unknowing", "colour"),
        ("empty", "empty"),
        ("torn", "not TOML"),
    ],
)
def test_the_import_error_names_file_key_and_remedy_of_each_broken_file(mixed, name, key):
    """All broken files are in one import error, a line each: which file, which key, and a sentence what to do."""
    (text,) = mixed["errors"].values()
    (line,) = [line for line in text.splitlines() if f"/{name}.toml:" in line]
    assert key in line
    assert line.rstrip().endswith(".")


def test_fifty_campaigns_become_a_hundred_and_fifty_dags(tmp_path, parse):
    """Nothing in the number of campaigns is limited."""
    for i in range(50):
        (tmp_path / f"c{i}.toml").write_text(noop())
    assert len(parse(tmp_path)["dags"]) == 150 + len(OWN)


def test_housekeeping_comes_once_a_week_and_is_on(shipped):
    """Nobody has to switch it on, and a week that was missed is not caught up."""
    found = shipped["dags"]["housekeeping"]
    assert found["schedule"] == "0 12 * * 0"
    assert (found["is_paused_upon_creation"], found["catchup"]) == (False, False)
    assert found["tasks"] == ["clean"]
    assert found["doc"] and "albacore" in found["tags"]


def test_machines_that_are_made_for_a_run_have_a_setup_that_cannot_fail(parse, tmp_path):
    """`claim` does nothing, `provision` is work in its scope, `release` its teardown; the reaper has a schedule then.

    Only [nodes] differs from a campaign on this machine; nothing of Azure is loaded by parsing it.
    """
    (tmp_path / "local.toml").write_text(noop())
    (tmp_path / "rented.toml").write_text(noop(nodes=scene.nodes_table()))

    parsed = parse(tmp_path)

    rented, local = parsed["dags"]["rented"], parsed["dags"]["local"]
    assert rented["tasks"] == ["open", "claim", *CAMPAIGN[1:]]
    assert rented["teardowns"] == ["release"]
    assert "provision" in rented["downstream"]["claim"]
    assert "release" in rented["downstream"]["claim"]
    assert rented["retries"]["release"] >= 2
    assert local["tasks"] == CAMPAIGN
    assert parsed["dags"]["reaper"]["schedule"] == "*/15 * * * *"
    assert parsed["heavy"] == []
