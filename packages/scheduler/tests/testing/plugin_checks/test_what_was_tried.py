"""`plugins check` does not say ok where nothing was tested: it uses given objects, counts tries, and tries mutants."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from kubesched import Action, ClusterEvent, FilterPlugin, Hint, PreEnqueuePlugin, Registration, Resource, unschedulable
from kubesched.core.framework.plugin import Plugin, ReservePlugin, ScorePlugin
from kubesched.testing import a_custom_object, a_node, a_pod, check_plugin
from kubesched.testing.plugin_checks.mutation import TITLE
from kubesched.testing.plugin_checks.plugin_report import CheckResult, Outcome, PluginReport

KIND = "licences.v1.example.com"
SEATS = a_custom_object(KIND, "cad", spec={"seats": 3})
HINTS = "events wake rejected pods"
ANSWERS = "hooks return valid answers, scores from 0 to 100"
LABEL = "licence"


def asleep(pod: Any, old: Any, new: Any) -> Hint:
    return Hint.QUEUE_SKIP


class Seats(FilterPlugin):
    """Lets as many pods run with a licence as it has seats."""

    name = "Seats"
    looks_up = (KIND,)
    field = "seats"

    def __init__(self, cluster: Any) -> None:
        self.cluster = cluster

    def filter(self, cycle: Any, pod: Any, node: Any) -> Any:
        wanted = pod.labels.get(LABEL)
        licence = None if wanted is None else self.cluster.get(KIND, wanted)
        if licence is None:
            return None
        taken = sum(each.labels.get(LABEL) == wanted for each in self.cluster.pods.values())
        return unschedulable("no seat is free") if taken >= licence.spec[self.field] else None


class WrongField(Seats):
    """Reads a field that licences do not have."""

    field = "seatz"


class Asleep(Seats):
    """Does not wake pods when a pod leaves a seat."""

    def events_to_register(self) -> Sequence[Registration]:
        return [
            Registration(ClusterEvent(KIND, Action.ALL)),
            Registration(ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE), asleep),
            Registration(ClusterEvent(Resource.POD, Action.UPDATE_POD_LABEL)),
        ]


class Never(FilterPlugin):
    """Rejects pods that no example has."""

    name = "Never"

    def filter(self, cycle: Any, pod: Any, node: Any) -> Any:
        return unschedulable("no") if pod.pod.spec.priority == 77 else None


class Flat(ScorePlugin):
    """Gives every node the same score."""

    name = "Flat"

    def score(self, cycle: Any, pod: Any, node: Any) -> int:
        return 7


class Gate(PreEnqueuePlugin):
    """Gates no pod of an example."""

    name = "Gate"

    def pre_enqueue(self, pod: Any) -> Any:
        return unschedulable("no") if pod.pod.spec.priority == 77 else None


def report(plugin: type[Plugin], **given: Any) -> PluginReport:
    return check_plugin(plugin, examples=given.pop("examples", 4), speed=False, **given)


@cache
def mutated(plugin: Any) -> str:
    """Return the result of trying mutants; the examples are the same for every test."""
    return result(report(plugin, mutate=True), TITLE).text


def result(of: PluginReport, check: str) -> CheckResult:
    (found,) = [each for each in of.results if each.check == check]
    return found


def test_names_of_given_objects_are_values_of_labels() -> None:
    found = report(WrongField, objects=[SEATS])
    assert not found
    assert "KeyError: 'seatz'" in result(found, ANSWERS).text


def test_pods_crowd_around_given_objects_so_that_hints_are_tried() -> None:
    found = result(report(Asleep, objects=[SEATS]), HINTS)
    assert found.outcome is Outcome.FAILED
    assert "the hint for AssignedPod/Delete says QUEUE_SKIP" in found.text


def test_given_pods_are_tried_together_as_they_are() -> None:
    crowd = [a_pod(f"p{number}", node="n1", labels={LABEL: "cad"}) for number in range(3)]
    found = result(report(Asleep, objects=[SEATS], nodes=[a_node("n1")], pods=crowd, examples=1), HINTS)
    assert found.outcome is Outcome.FAILED


def test_a_check_says_how_much_was_tried() -> None:
    found = result(report(Seats, objects=[SEATS]), HINTS)
    assert found.outcome is Outcome.PASSED
    assert "woken by a change that helps" in found.note
    assert " 0 woken" not in found.note


@pytest.mark.parametrize(
    ("plugin", "check", "warning"),
    [
        (Never, ANSWERS, "no example was rejected, so rejections were not tested"),
        (Never, HINTS, "no change let a rejected pod fit, so hints were not tested"),
        (Flat, ANSWERS, "no example had nodes with different scores"),
        (Gate, "events open gates", "no change opened the gate of a pod, so hints were not tested"),
    ],
    ids=["nothing is rejected", "nothing is woken", "all scores are equal", "no gate opens"],
)
def test_examples_that_try_nothing_are_a_warning(plugin: type[Plugin], check: str, warning: str) -> None:
    found = report(plugin)
    assert found, "a warning is no failure"
    assert result(found, check).outcome is Outcome.WARNED
    assert warning in result(found, check).text


class Keeps(ReservePlugin, FilterPlugin):
    """Two pods at most, counted by Reserve."""

    name = "Keeps"

    def __init__(self) -> None:
        self.held: set[str] = set()

    def filter(self, cycle: Any, pod: Any, node: Any) -> Any:
        return unschedulable("two are enough") if len(self.held - {pod.uid}) >= 2 else None

    def reserve(self, cycle: Any, pod: Any, node_name: str) -> None:
        self.held.add(pod.uid)

    def unreserve(self, cycle: Any, pod: Any, node_name: str) -> None:
        self.held.discard(pod.uid)


class Ssd(FilterPlugin):
    """Wants a disk, and keeps its answers by the label."""

    name = "Ssd"

    def key(self, pod: Any) -> Any:
        return pod.labels.get("disk")

    def filter(self, cycle: Any, pod: Any, node: Any) -> Any:
        wanted = pod.labels.get("disk")
        return unschedulable("another disk") if wanted and node.labels.get("disk") != wanted else None


@pytest.mark.parametrize(
    ("plugin", "objects"), [(Seats, [SEATS]), (Ssd, None)], ids=["seats of a licence", "labels of nodes"]
)
def test_mutants_of_a_plugin_that_examples_try_are_noticed(plugin: type[Plugin], objects: Any) -> None:
    found = result(report(plugin, objects=objects, examples=10, mutate=True), TITLE)
    assert found.outcome is Outcome.PASSED, found.text


@pytest.mark.parametrize(
    ("plugin", "survivor"),
    [
        (Never, "passes every node in filter"),
        (Never, "returns QUEUE_SKIP in every hint"),
        (Never, "registers for no event"),
        (Flat, "gives each node the score of its neighbour"),
        (Gate, "opens every gate"),
        (Seats, "finds none of the objects that it looks up"),
    ],
)
def test_mutants_that_nothing_notices_are_reported(plugin: Any, survivor: str) -> None:
    assert mutated(plugin).startswith(f"{TITLE}: warning")
    assert f"survived: a plugin that {survivor}" in mutated(plugin)


def test_a_plugin_that_gives_nothing_back_is_noticed() -> None:
    assert "gives nothing back" not in mutated(Keeps)


def test_a_plugin_that_raises_is_noticed() -> None:
    assert "raises" not in mutated(Never)
