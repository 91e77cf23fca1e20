"""Reasons in plain words, and numbers with their nouns."""

import pytest

from kubesched.core.plugins.inter_pod_affinity import filtering
from kubesched.core.plugins.node_volume_limits import worlds
from kubesched.core.plugins.pod_topology_spread import hard_constraint
from kubesched.core.plugins.volume_binding import search
from kubesched.reports.plain_words import counted, number, said_of_node, said_of_nodes

REASONS = {
    filtering.AFFINITY.message,
    filtering.ANTI_AFFINITY.message,
    filtering.EXISTING_ANTI_AFFINITY.message,
    worlds.EXCEEDED.message,
    hard_constraint.TOO_UNEVEN.message,
    hard_constraint.MISSING_LABEL.message,
    "Insufficient cpu",
    "node(s) had untolerated taint(s)",
    "node(s) were unschedulable",
    *(reason for reason in search._REASONS.values() if "non-existent" not in reason),
}


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_reasons_of_plugins_have_plain_words(reason: str) -> None:
    words = said_of_nodes(reason)
    assert words is not None
    assert words.split()[0] in {"have", "are", "do", "lack", "would", "cannot"}


def test_reasons_are_counted_most_first_and_equal_ones_together() -> None:
    reasons = [("node(s) were unschedulable", 1), ("Insufficient cpu", 2), ("Insufficient cpu", 1), ("of my own", 1)]
    assert counted(reasons) == '3 lack cpu, 1 is cordoned, 1 with "of my own"'


def test_what_is_said_of_one_node() -> None:
    assert said_of_node("Insufficient memory") == "lacks memory"
    assert said_of_node("node(s) had a bad day") == "had a bad day"


def test_numbers() -> None:
    assert [number(1, "node"), number(0, "node"), number(12345, "pod")] == ["1 node", "0 nodes", "12,345 pods"]
