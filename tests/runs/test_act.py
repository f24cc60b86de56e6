"""`albacore stop|extend|exclude|requeue`, as typed."""

import time

import pytest
from stored_runs import counting, judged_run

from albacore import cli
from albacore.trial import Judgement

SINCE = "1970-01-01T00:00:00+00:00"


@pytest.fixture
def made(tmp_path):
    """A run in a store with five judgements, opened some minutes ago: the command looks at the real clock."""
    return judged_run(tmp_path, at=time.time() - 1000)


def typed(made, *words):
    return cli.main([*words, "--store", made.store.url])


def test_samples_are_excluded_and_taken_back_from_the_terminal(made, capsys):
    """The command says how to take it back, and doing that brings the judgements back."""
    before = counting(made).facts(Judgement)

    assert typed(made, "exclude", "run", "--node", "n4", "--since", SINCE, "--until", "9e9") == 0
    undo = capsys.readouterr().out.split("'albacore ")[1].split("'")[0].split()
    assert counting(made).facts(Judgement) != before

    assert typed(made, *undo) == 0
    assert counting(made).facts(Judgement) == before


def test_a_config_is_re_queued_and_a_run_extended_and_stopped_from_the_terminal(made, capsys):
    """Each says in one line what follows."""
    best = counting(made).facts(Judgement)[-1].config_id

    assert typed(made, "requeue", "run", best) == 0
    assert typed(made, "extend", "run", "--samples", "600", "--hours", "2") == 0
    assert typed(made, "stop", "run", "--reason", "enough") == 0

    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"run: config {best} is measured again, before anything new"
    assert said[1] == "run: limits now 600 samples, 2 hours"
    assert said[2].startswith("run asks no more")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["exclude", "run"], "expected --node and --since, or --undo ID"),
        (["exclude", "run", "--node", "n4", "--since", "yesterday"], "since: expected seconds since the epoch"),
        (["exclude", "run", "--node", "n4", "--since", "2020-01-01T00:00:00"], "since: expected seconds"),
        (["exclude", "run", "--node", "n4", "--since", "nan"], "since: expected seconds since the epoch"),
        (["exclude", "run", "--undo", "x9"], "expected the id of an exclusion"),
        (["extend", "run"], "expected a new total"),
        (["extend", "run", "--samples", "3"], "expected a total above the 10 used so far"),
        (["requeue", "run", "nope"], "asked for"),
        (["stop", "rum"], "no campaign run 'rum'"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_2(made, capsys, words, said):
    """What was expected, what was given, what to do."""
    before = made.log.read()

    assert typed(made, *words) == 2

    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
    assert made.log.read() == before
