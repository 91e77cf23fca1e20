"""Three-way patches: what becomes of an object that `kubectl apply` is given a manifest for."""

from typing import Any

import pytest

from kubesched_controlplane.schema import library
from kubesched_controlplane.schema.merging import strategic_merge
from kubesched_controlplane.schema.three_way import three_way_patch

Spec = dict[str, Any]


def applied(kind: str, live: Spec, manifest: Spec, earlier: Spec) -> Any:
    """Return the spec of an object after its manifest was applied."""
    shape = library().kind("apps/v1" if kind == "Deployment" else "v1", kind)
    assert shape is not None
    documents = [{"spec": spec} for spec in (live, manifest, earlier)]
    return strategic_merge(shape, documents[0], three_way_patch(shape, *documents))["spec"]


PODS: dict[str, tuple[Spec, Spec, Spec, Spec]] = {
    "what the manifest leaves out stays": (
        {"schedulerName": "mine", "priority": 5},
        {"schedulerName": "yours"},
        {},
        {"schedulerName": "yours", "priority": 5},
    ),
    "what only the earlier manifest had is removed": (
        {"nodeSelector": {"a": "1", "b": "2", "c": "3"}},
        {"nodeSelector": {"a": "1"}},
        {"nodeSelector": {"a": "1", "b": "2"}},
        {"nodeSelector": {"a": "1", "c": "3"}},
    ),
    "a field that only the earlier manifest had is removed as a whole": (
        {"nodeSelector": {"a": "1"}, "priority": 5},
        {},
        {"nodeSelector": {"a": "1"}},
        {"priority": 5},
    ),
    "containers merge by name, and one that was in the earlier manifest goes": (
        {"containers": [{"name": "a", "image": "1"}, {"name": "b"}, {"name": "injected"}]},
        {"containers": [{"name": "a", "image": "2"}, {"name": "new", "image": "3"}]},
        {"containers": [{"name": "a", "image": "1"}, {"name": "b"}]},
        {"containers": [{"name": "a", "image": "2"}, {"name": "new", "image": "3"}, {"name": "injected"}]},
    ),
    "a volume is of one source": (
        {"volumes": [{"name": "a", "emptyDir": {}}]},
        {"volumes": [{"name": "a", "hostPath": {"path": "/"}}, {"name": "b", "emptyDir": {}}]},
        {},
        {"volumes": [{"name": "a", "hostPath": {"path": "/"}}, {"name": "b", "emptyDir": {}}]},
    ),
    "tolerations are replaced": (
        {"tolerations": [{"key": "a"}, {"key": "b"}]},
        {"tolerations": [{"key": "c"}]},
        {},
        {"tolerations": [{"key": "c"}]},
    ),
    "a new field comes as it is": (
        {},
        {"volumes": [{"name": "a", "emptyDir": {}}], "nodeSelector": {"a": "1"}},
        {"nodeSelector": {"b": "1"}},
        {"volumes": [{"name": "a", "emptyDir": {}}], "nodeSelector": {"a": "1"}},
    ),
}


@pytest.mark.parametrize(("live", "manifest", "earlier", "expected"), PODS.values(), ids=PODS)
def test_a_pod_is_applied(live: Spec, manifest: Spec, earlier: Spec, expected: Spec) -> None:
    assert applied("Pod", live, manifest, earlier) == expected


def test_a_strategy_keeps_no_fields_of_another() -> None:
    live = {"replicas": 3, "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}
    assert applied("Deployment", live, {"strategy": {"type": "Recreate"}}, {}) == {
        "replicas": 3,
        "strategy": {"type": "Recreate"},
    }


def test_a_finalizer_of_the_earlier_manifest_is_removed_from_the_set() -> None:
    shape = library().kind("v1", "Pod")
    assert shape is not None
    live, manifest, earlier = ({"metadata": {"finalizers": each}} for each in (["a", "b", "c"], ["a"], ["a", "b"]))
    patch = three_way_patch(shape, live, manifest, earlier)
    assert strategic_merge(shape, live, patch) == {"metadata": {"finalizers": ["a", "c"]}}
