"""Questions about cluster events and hints that the corpus does not ask."""

from typing import Any

import pytest

from kubesched.api.codec import to_builtins
from kubesched.conformance import events, hints
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import FilterPlugin
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource
from kubesched.errors import InvalidObjectError
from kubesched.testing import a_node, a_pod


class Hopeful(FilterPlugin):
    """A plugin from elsewhere that hopes for nodes, but not for every one."""

    name = "Hopeful"

    def events_to_register(self) -> list[Registration]:
        return [
            Registration(ClusterEvent(Resource.NODE, Action.ADD), self.hope),
            Registration(ClusterEvent(Resource.NODE, Action.ADD | Action.DELETE), self.despair),
        ]

    def hope(self, pod: Any, old: Any, new: Any) -> Hint:
        assert pod.name == "p"
        assert old is None
        if new.name == "broken":
            raise ValueError("no such node")
        return Hint.QUEUE if new.name == "good" else Hint.QUEUE_SKIP

    def despair(self, pod: Any, old: Any, new: Any) -> Hint:
        return Hint.QUEUE_SKIP


@pytest.mark.parametrize(
    ("action", "node", "expected"),
    [
        ("Add", "good", {"registered": True, "hint": "Queue"}),
        ("Add", "bad", {"registered": True, "hint": "QueueSkip"}),
        ("Add", "broken", {"registered": True, "hint": "Queue", "error": "no such node"}),
        ("UpdateNodeLabel", "good", {"registered": False}),
    ],
)
def test_hints_of_plugins_from_elsewhere(action: str, node: str, expected: dict[str, Any]) -> None:
    registry = Registry()
    registry.register(Hopeful)
    line = {
        "plugin": "Hopeful",
        "resource": "Node",
        "action": action,
        "pod": to_builtins(a_pod("p")),
        "newObj": to_builtins(a_node(node)),
    }
    assert hints.answer(line, registry) == expected


def test_a_plugin_that_does_not_exist_is_a_difference() -> None:
    line = {"plugin": "Nope", "resource": "Node", "action": "Add", "pod": to_builtins(a_pod("p"))}
    assert hints.answer(line) == {"registered": "Nope does not exist"}


def test_questions_that_make_no_sense() -> None:
    pod, node = to_builtins(a_pod("p")), to_builtins(a_node("n"))
    with pytest.raises(InvalidObjectError, match="expected two versions of a pod or a node, got Pod and Node"):
        events.answer({"oldObj": pod, "newObj": node})
    with pytest.raises(InvalidObjectError, match="action 'Explode': expected one of Add, Delete, UpdateNode"):
        hints.answer({"plugin": "NodeName", "resource": "Node", "action": "Explode", "pod": pod})
