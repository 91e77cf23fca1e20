"""Pods that hold in common what they have in common."""

from typing import Any

import pytest
from msgspec.structs import replace

from kubesched.api.codec import decode
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.api.sharing import MOST_KEPT, SharedPods, sharing
from kubesched.api.volumes import CSIVolumeSource, Volume


def a_pod(name: str, node: str = "", cpu: Any = "1", owner: str = "web", time: str = "10:00:00") -> Pod:
    """Return a pod of a template, read anew."""
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": f"2026-01-01T{time}Z"}
    found = decode(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": "default",
                "labels": {"app": "web"},
                "ownerReferences": [{"kind": "ReplicaSet", "name": owner, "controller": True}],
            },
            "spec": {"nodeName": node, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
            "status": {"phase": "Running", "conditions": [condition]},
        }
    )
    assert isinstance(found, Pod)
    return found


def test_pods_of_a_template_share_what_they_have_in_common() -> None:
    shared = SharedPods()
    one, other = (shared.share(a_pod(name, node)) for name, node in (("a", "n1"), ("b", "n2")))
    assert (one.spec.node_name, other.spec.node_name) == ("n1", "n2")
    assert one.spec.containers is other.spec.containers
    assert one.metadata.labels is other.metadata.labels
    assert one.metadata.owner_references is other.metadata.owner_references
    assert one.status.conditions is other.status.conditions


PODS = [
    ("a pod without a node", a_pod("a")),
    ("a pod on a node", a_pod("a", "n1")),
    ("another amount", a_pod("a", cpu="2")),
    ("the same amount, written as a number", a_pod("a", cpu=1)),
    ("an amount that no number of 64 bits holds", a_pod("a", cpu=10**30)),
    ("another owner", a_pod("a", owner="other")),
    ("ready at another time", a_pod("a", time="11:00:00")),
    ("a pod that says nothing", Pod()),
]


@pytest.mark.parametrize(("name", "pod"), PODS, ids=[row[0] for row in PODS])
def test_what_is_shared_is_what_it_was(name: str, pod: Pod) -> None:
    shared = SharedPods()
    shared.share(a_pod("first", "n0"))
    for _ in range(2):
        found = shared.share(pod)
        assert found == pod
        assert repr(found) == repr(pod)


def test_a_token_of_their_own_does_not_keep_pods_apart() -> None:
    shared = SharedPods()
    volumes = [(Volume(name="data", csi=CSIVolumeSource("driver")), Volume(name=f"token-{name}")) for name in "ab"]
    pods = [replace(a_pod("a"), spec=replace(a_pod("a").spec, volumes=each)) for each in volumes]
    one, other = (shared.share(pod) for pod in pods)
    assert one.spec is other.spec
    assert one.spec.volumes == volumes[0][:1]


def test_what_was_seen_is_forgotten_when_it_is_too_much() -> None:
    shared = SharedPods()
    for number in range(MOST_KEPT + 10):
        shared.share(a_pod("a", cpu=str(number)))
    assert len(shared._specs) < 20


def test_other_kinds_are_left_alone() -> None:
    node = Node()
    assert sharing(Node)(node) is node


def test_a_report_shares_everything_but_the_status_with_the_known_version() -> None:
    shared = SharedPods()
    known = shared.share(a_pod("a", "n1"))
    report = a_pod("a", "n1", time="11:00:00")
    found = shared.renew(report, known)
    assert found == report
    assert found.spec is known.spec
    assert found.metadata.labels is known.metadata.labels
    assert found.metadata.owner_references is known.metadata.owner_references


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(a_pod("a", "n2"), id="bound to a node"),
        pytest.param(a_pod("a", "n1", cpu="2"), id="resized"),
        pytest.param(a_pod("a", "n1", owner="other"), id="adopted"),
        pytest.param(
            replace(a_pod("a", "n1"), metadata=replace(a_pod("a").metadata, labels={"b": "c"})), id="relabelled"
        ),
        pytest.param(replace(a_pod("a", "n1"), metadata=replace(a_pod("a").metadata, uid="2")), id="another pod"),
    ],
)
def test_a_report_that_changes_more_than_the_status_is_read_as_it_is(report: Pod) -> None:
    shared = SharedPods()
    assert shared.renew(report, shared.share(a_pod("a", "n1"))) == report
