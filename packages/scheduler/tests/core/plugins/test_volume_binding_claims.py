"""Which claims a pod may have when VolumeBinding first looks at it."""

import msgspec
import pytest

from kubesched.api.meta import ApiObject
from kubesched.api.volumes import Volume
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import SKIP, Status, error, unresolvable
from kubesched.core.plugins.volume_binding import VolumeBinding
from kubesched.testing import a_claim, a_cluster, a_node, a_pod, a_storage_class, an_ephemeral_volume

LOCAL = a_storage_class("local")


@pytest.mark.parametrize(
    ("what", "objects", "volumes", "expected"),
    [
        ("no volumes", [], [], SKIP),
        ("volumes without claims", [], [Volume(name="empty")], SKIP),
        ("a missing claim", [], ["c"], unresolvable('persistentvolumeclaim "c" not found')),
        (
            "an ephemeral volume whose claim is still to be made",
            [],
            [an_ephemeral_volume("v")],
            unresolvable('waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v"'),
        ),
        (
            "an ephemeral volume whose claim is somebody else's",
            [a_claim("p-v")],
            [an_ephemeral_volume("v")],
            unresolvable("PVC default/p-v was not created for pod default/p (pod is not owner)"),
        ),
        (
            "an ephemeral volume with its claim",
            [LOCAL, a_claim("p-v", owner=a_pod("p"))],
            [an_ephemeral_volume("v")],
            None,
        ),
        (
            "a claim that lost its volume",
            [a_claim("c", bound_to="v", phase="Lost")],
            ["c"],
            unresolvable('persistentvolumeclaim "c" bound to non-existent persistentvolume "v"'),
        ),
        (
            "a claim that is going",
            [a_claim("c", bound_to="v", terminating=True)],
            ["c"],
            unresolvable('persistentvolumeclaim "c" is being deleted'),
        ),
        ("a bound claim", [a_claim("c", bound_to="v")], ["c"], None),
        ("a claim that waits for its first consumer", [LOCAL, a_claim("c")], ["c"], None),
        (
            "a claim of a class that binds at once",
            [a_storage_class("local", binding_mode="Immediate"), a_claim("c")],
            ["c"],
            unresolvable("pod has unbound immediate PersistentVolumeClaims"),
        ),
        (
            "a claim of a class that does not exist",
            [a_claim("c")],
            ["c"],
            unresolvable("pod has unbound immediate PersistentVolumeClaims"),
        ),
        (
            "a claim without a class",
            [a_claim("c", storage_class=None)],
            ["c"],
            unresolvable("pod has unbound immediate PersistentVolumeClaims"),
        ),
        (
            "a claim that names its volume and is not bound yet",
            [LOCAL, msgspec.structs.replace(a_claim("c", bound_to="v"), metadata=a_claim("c").metadata)],
            ["c"],
            unresolvable("pod has unbound immediate PersistentVolumeClaims"),
        ),
        (
            "a class without a binding mode",
            [a_storage_class("local", binding_mode=None), a_claim("c")],
            ["c"],
            error('VolumeBindingMode not set for StorageClass "local"'),
        ),
        (
            "the class is in the annotation",
            [
                a_storage_class("old", binding_mode="Immediate"),
                LOCAL,
                a_claim("c", annotations={"volume.beta.kubernetes.io/storage-class": "old"}),
            ],
            ["c"],
            unresolvable("pod has unbound immediate PersistentVolumeClaims"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_pre_filter(what: str, objects: list[ApiObject], volumes: list[str | Volume], expected: Status | None) -> None:
    cluster = a_cluster(a_node("n1"), *objects)
    pod = cluster.reader.read(a_pod("p", volumes=volumes))
    assert VolumeBinding(cluster).pre_filter(CycleState(), pod) == expected, what
