"""PrioritySort: the order of the active queue."""

from kubesched.core.plugins.priority_sort import PrioritySort
from kubesched.testing import a_cluster, a_pod


def test_priority_comes_first_then_time() -> None:
    read = a_cluster().reader.read
    entries = [("late", 5, 3.0), ("early", 5, 1.0), ("urgent", 9, 8.0), ("none", None, 0.0), ("low", -1, 0.0)]
    pods = [(read(a_pod(name, priority=priority)), time) for name, priority, time in entries]
    pods.sort(key=lambda entry: PrioritySort().sort_key(*entry))
    assert [pod.name for pod, _ in pods] == ["urgent", "early", "late", "none", "low"]


def test_it_rejects_nobody_and_waits_for_nothing() -> None:
    assert not PrioritySort().events_to_register()
