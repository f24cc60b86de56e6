"""Which statement has another plan on another node, read off what workloads have noted."""

from dataclasses import replace

from scenes import sample

from albacore.runs.plans import flips, said


def planned(node, plans, shapes=None, **notes):
    return replace(sample("c", node, 1.0), notes={"plans": plans, "plan_shapes": shapes or {}, **notes})


def test_equal_plans_are_no_flip():
    """What is the same everywhere is not told, nor is a single node."""
    assert flips([planned("n1", {"a": "x", "b[1]": "y"}), planned("n2", {"a": "x", "b[1]": "y"})]) == []
    assert said([planned("n1", {"a": "x"})]) == []


def test_a_flip_names_statement_plan_and_nodes():
    """The most frequent plan comes first; what a plan is stands below."""
    shapes = {"x": "Nested Loop", "y": "Hash Join"}
    found = [planned(n, {"a": p, "b": "z"}, shapes) for n, p in (("n1", "y"), ("n2", "x"), ("n3", "x"))]

    assert said(found) == ["plan of a differs: x on n2, n3; y on n1", "  x = Nested Loop", "  y = Hash Join"]


def test_draws_of_one_statement_are_counted():
    """A node where only some draws have another plan says how many."""
    found = [planned("n1", {"a[1]": "x", "a[2]": "x"}), planned("n2", {"a[1]": "x", "a[2]": "y"})]

    assert said(found) == ["plan of a differs: x on n1, n2 (1 of 2); y on n2 (1 of 2)"]


def test_a_node_that_is_measured_again_counts_once():
    """The last sample of a node says what its plans are."""
    assert flips([planned("n1", {"a": "x"}), planned("n1", {"a": "y"}), planned("n2", {"a": "y"})]) == []


def test_notes_of_another_shape_are_passed_over():
    """Notes come from a node: whatever is in them, nothing breaks."""
    odd = [
        replace(sample("c", f"n{i}", 1.0), notes=notes)
        for i, notes in enumerate(({}, {"plans": 7}, {"plans": {"a": 1}}))
    ]

    assert flips(odd) == []
