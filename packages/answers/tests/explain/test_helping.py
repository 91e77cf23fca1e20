"""For how many pods of a group a remedy helps: they are placed with it, one beside the other."""

from typing import Any

import pytest
from tests.support.models import a_model

from kubesched.api.codec import to_builtins
from kubesched.reports.answers import ObjectChange, ObjectName
from kubesched.testing import a_container, a_node, a_pod
from kubesched_answers.explain.helping import pods_helped
from kubesched_answers.remedies.remedy import Remedy

FIRST = ObjectName("v1", "Pod", "default", "p0")
NODE = ObjectName("v1", "Node", "", "n")


def pods(count: int, **words: Any) -> list[Any]:
    return [a_pod(f"p{number}", **words) for number in range(count)]


CASES: dict[str, tuple[list[Any], ObjectChange, int]] = {
    "one more node has room for some": (
        pods(5, cpu="2"),
        ObjectChange(ObjectName("v1", "Node", "", "more"), create=to_builtins(a_node("more", cpu="6"))),
        3,
    ),
    "a taint off helps all that have room": (
        [a_node("n", cpu="4", taints=["a=b:NoSchedule"]), *pods(3, cpu="1")],
        ObjectChange(NODE, patch=[{"op": "remove", "path": "/spec/taints"}]),
        3,
    ),
    "a change of the pod is made to each": (
        [a_node("n", cpu="4"), *pods(6, cpu="5")],
        ObjectChange(
            FIRST,
            patch=[{"op": "replace", "path": "/spec/containers/0/resources/requests/cpu", "value": "1"}],
        ),
        4,
    ),
    "a change of labels is one of the pod": (
        [a_node("n"), *pods(2, node_selector={"disk": "ssd"}, labels={"app": "x"})],
        ObjectChange(FIRST, patch=[{"op": "remove", "path": "/spec/nodeSelector"}]),
        2,
    ),
    "a change of an amount is not made to pods that have another amount": (
        [a_node("n", cpu="4"), a_pod("p0", cpu="5"), a_pod("p1", cpu="6"), a_pod("p2", cpu="5", labels={"a": "b"})],
        ObjectChange(
            FIRST,
            patch=[{"op": "replace", "path": "/spec/containers/0/resources/requests/cpu", "value": "1"}],
        ),
        2,
    ),
    "a change of a container is not made to containers of other names": (
        [a_node("n"), *(a_pod(f"p{n}", containers=[a_container(f"c{n}", cpu="50")]) for n in range(2))],
        ObjectChange(
            FIRST,
            patch=[{"op": "replace", "path": "/spec/containers/0/resources/requests/cpu", "value": "1"}],
        ),
        1,
    ),
    "tolerations are added to those that a pod has": (
        [
            a_node("n", taints=["a=b:NoSchedule"]),
            a_pod("p0", tolerations=["c"]),
            a_pod("p1", tolerations=["d"]),
        ],
        ObjectChange(FIRST, patch=[{"op": "add", "path": "/spec/tolerations/-", "value": {"operator": "Exists"}}]),
        2,
    ),
    "a change that does not apply to a pod does not help it": (
        [a_node("n"), a_pod("p0", node_selector={"disk": "ssd"}), a_pod("p1", cpu="9")],
        ObjectChange(FIRST, patch=[{"op": "remove", "path": "/spec/nodeSelector"}]),
        1,
    ),
}


@pytest.mark.parametrize(("objects", "change", "expected"), CASES.values(), ids=CASES)
def test_pods_helped(objects: list[Any], change: ObjectChange, expected: int) -> None:
    model = a_model(*objects)
    waiting = [model.pod(name) for name in sorted(model.pods)]
    remedy = Remedy("", "pod", (change,), "n")
    assert pods_helped(model, remedy, waiting[0], waiting) == (expected, len(waiting))
    assert not model.cluster.table.pods


def test_of_very_many_kinds_some_are_tried() -> None:
    model = a_model(a_node("n", taints=["a=b:NoSchedule"]), *(a_pod(f"p{n}", labels={"n": str(n)}) for n in range(5)))
    waiting = [model.pod(name) for name in sorted(model.pods)]
    remedy = Remedy("", "cluster", (ObjectChange(NODE, patch=[{"op": "remove", "path": "/spec/taints"}]),), "n")
    assert pods_helped(model, remedy, waiting[0], waiting, most_kinds=2) == (2, 2)
