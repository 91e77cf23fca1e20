"""Plugins that are right pass every check; one that is not is shown the smallest example."""

import sys
from dataclasses import dataclass
from typing import Any

import pytest

from kubesched import FilterPlugin, NodeRow, PodInfo, Reads, Status, Verdict, filter_plugin, unschedulable
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.views.nodes import Nodes
from kubesched.errors import KubeschedError
from kubesched.testing import PluginReport, check_plugin


@filter_plugin("QuietNodes")
def quiet_nodes(pod: PodInfo, node: NodeRow) -> Status | None:
    return unschedulable("node(s) nearly full") if node.free.milli_cpu < 100 else None


class NoTwins(FilterPlugin):
    """Counts one pod too few in its column form."""

    name = "NoTwins"

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        return unschedulable("taken") if node.pod_count >= 1 else None

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        return Verdict.rejecting(nodes.pod_count > 1, unschedulable("taken"))


class OldLabels(FilterPlugin):
    """Reads labels where nobody can tell, and says that it reads taints."""

    name = "OldLabels"
    reads = Reads.TAINTS

    def key(self, pod: PodInfo) -> str:
        return "any"

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        return unschedulable("crowded") if node.node.metadata.labels.get("crowded") == "true" else None


def findings(plugin: Any, **options: Any) -> list[str]:
    report = check_plugin(plugin, **options)
    return [line for finding in report.findings for line in finding.splitlines()]


def test_a_plugin_that_is_right_passes() -> None:
    report = check_plugin(quiet_nodes, examples=20)
    assert isinstance(report, PluginReport)
    assert report.ok, report.text
    assert report
    assert report.text.startswith("plugin QuietNodes\nbuilds at start: ok\n")


@pytest.mark.slow
def test_forms_that_disagree_are_shown_on_the_smallest_cluster() -> None:
    assert findings(NoTwins) == [
        "node n0",
        "pod p0 on n0",
        "asked about pod asked",
        "node n0: filter_nodes: passes; filter: Unschedulable (taken)",
    ]


@pytest.mark.slow
def test_an_answer_that_was_kept_too_long_is_shown_with_the_change() -> None:
    found = findings(OldLabels)
    assert found[1:3] == ["asked about pod asked", "asked about pod asked1"]
    assert found[3].startswith("then node n0 changes: labels.crowded ")
    assert "a new plugin: " in found[-1]
    assert "one that kept: " in found[-1]


def test_a_plugin_that_cannot_be_built_is_asked_nothing() -> None:
    class NoName(FilterPlugin):
        def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> None:
            return None

    report = check_plugin(NoName)
    assert [result.check for result in report.results] == ["builds at start"]
    assert "has no name; set the class attribute `name`" in report.text


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "TaintToleration",
        "NodeResourcesFit",
        "NodeName",
        "VolumeBinding",
        "DefaultBinder",
        "SchedulingGates",
        "PrioritySort",
    ],
)
def test_in_tree_plugins_pass(name: str) -> None:
    from kubesched.core.plugins.in_tree import in_tree_registry

    factory: Any = in_tree_registry().factory(name)
    assert check_plugin(factory, examples=20).findings == ()


def test_without_hypothesis_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "kubesched.testing.plugin_checks.strategies", raising=False)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(KubeschedError) as caught:
        check_plugin(quiet_nodes)
    sentence = 'checks of plugins need hypothesis, which is not installed: pip install "kubesched[testing]"'
    assert str(caught.value) == sentence


@dataclass(frozen=True)
class LabelArgs:
    label: str = "quiet-nodes"


class LabelledOff(FilterPlugin):
    name = "LabelledOff"

    def __init__(self, args: LabelArgs) -> None:
        self.label = args.label

    def filter(self, cycle: Any, pod: Any, node: NodeRow) -> Any:
        return 5 if node.labels.get(self.label) else None


def test_defaults_of_arguments_are_words_too() -> None:
    report = check_plugin(LabelledOff, examples=40, speed=False)
    assert not report
    assert "filter returned 5" in report.text
