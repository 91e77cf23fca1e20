"""Which events VolumeBinding takes for help."""

from typing import Any

import pytest
from tests.support.asking import hint

from kubesched.api.pods import Pod
from kubesched.api.volumes import CSIVolumeSource, Volume
from kubesched.core.framework.values.events import Action, Hint, Resource
from kubesched.core.plugins.volume_binding import VolumeBinding
from kubesched.testing import (
    a_claim,
    a_cluster,
    a_csi_driver,
    a_csi_node,
    a_node,
    a_pod,
    a_storage_class,
    a_storage_pool,
    a_volume,
    an_ephemeral_volume,
)

DRIVER = "csi.example.com"
AWS = "kubernetes.io/aws-ebs"
CSI = a_storage_class("csi", provisioner=DRIVER)


def csi_pod(driver: str) -> Pod:
    return a_pod("p", volumes=[Volume(name="v", csi=CSIVolumeSource(driver=driver))])


UPDATE = Action.UPDATE


@pytest.mark.parametrize(
    ("what", "pod", "event", "old", "new", "expected"),
    [
        ("a new class", a_pod(), (Resource.STORAGE_CLASS, Action.ADD), None, CSI, Hint.QUEUE),
        (
            "a class with other topologies",
            a_pod(),
            (Resource.STORAGE_CLASS, UPDATE),
            CSI,
            a_storage_class("csi", allowed={"zone": ["a"]}),
            Hint.QUEUE,
        ),
        (
            "a class changed in another way",
            a_pod(),
            (Resource.STORAGE_CLASS, UPDATE),
            CSI,
            a_storage_class("csi"),
            Hint.QUEUE_SKIP,
        ),
        (
            "a claim of the pod",
            a_pod(volumes=["c"]),
            (Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD),
            None,
            a_claim("c"),
            Hint.QUEUE,
        ),
        (
            "the claim of an ephemeral volume",
            a_pod("p", volumes=[an_ephemeral_volume("v")]),
            (Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD),
            None,
            a_claim("p-v"),
            Hint.QUEUE,
        ),
        (
            "another claim",
            a_pod(volumes=["c"]),
            (Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD),
            None,
            a_claim("d"),
            Hint.QUEUE_SKIP,
        ),
        (
            "a claim of another namespace",
            a_pod(volumes=["c"]),
            (Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD),
            None,
            a_claim("c", namespace="o"),
            Hint.QUEUE_SKIP,
        ),
        ("any volume", a_pod(), (Resource.PERSISTENT_VOLUME, UPDATE), a_volume(), a_volume(), Hint.QUEUE),
        ("a node that goes", a_pod(), (Resource.NODE, Action.DELETE), a_node(), None, None),
        (
            "a new CSI node",
            a_pod(),
            (Resource.CSI_NODE, Action.ADD),
            None,
            a_csi_node("n1", migrated=[AWS]),
            Hint.QUEUE,
        ),
        (
            "another plugin given up",
            a_pod(),
            (Resource.CSI_NODE, UPDATE),
            a_csi_node("n1"),
            a_csi_node("n1", migrated=[AWS]),
            Hint.QUEUE,
        ),
        (
            "no other plugin given up",
            a_pod(),
            (Resource.CSI_NODE, UPDATE),
            a_csi_node("n1", migrated=[AWS]),
            a_csi_node("n1", migrated=[AWS]),
            Hint.QUEUE_SKIP,
        ),
        (
            "a driver that stops to speak of capacity",
            csi_pod(DRIVER),
            (Resource.CSI_DRIVER, UPDATE),
            a_csi_driver(),
            a_csi_driver(storage_capacity=False),
            Hint.QUEUE,
        ),
        (
            "a driver that starts to",
            csi_pod(DRIVER),
            (Resource.CSI_DRIVER, UPDATE),
            a_csi_driver(storage_capacity=None),
            a_csi_driver(),
            Hint.QUEUE_SKIP,
        ),
        (
            "another driver",
            csi_pod("other"),
            (Resource.CSI_DRIVER, UPDATE),
            a_csi_driver(),
            a_csi_driver(storage_capacity=False),
            Hint.QUEUE_SKIP,
        ),
        ("a new pool", a_pod(), (Resource.CSI_STORAGE_CAPACITY, Action.ADD), None, a_storage_pool(), Hint.QUEUE),
        (
            "a pool that grows",
            a_pod(),
            (Resource.CSI_STORAGE_CAPACITY, UPDATE),
            a_storage_pool(capacity=1),
            a_storage_pool(capacity=2),
            Hint.QUEUE,
        ),
        (
            "a pool that becomes known",
            a_pod(),
            (Resource.CSI_STORAGE_CAPACITY, UPDATE),
            a_storage_pool(capacity=None),
            a_storage_pool(capacity=0),
            Hint.QUEUE,
        ),
        (
            "a pool that grows, for no larger volumes",
            a_pod(),
            (Resource.CSI_STORAGE_CAPACITY, UPDATE),
            a_storage_pool(capacity=1, largest=1),
            a_storage_pool(capacity=2, largest=1),
            Hint.QUEUE_SKIP,
        ),
        (
            "a pool that is not known any more",
            a_pod(),
            (Resource.CSI_STORAGE_CAPACITY, UPDATE),
            a_storage_pool(capacity=1),
            a_storage_pool(capacity=None),
            Hint.QUEUE_SKIP,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_hints(what: str, pod: Pod, event: tuple[Resource, Action], old: Any, new: Any, expected: Hint | None) -> None:
    cluster = a_cluster()
    assert hint(VolumeBinding(cluster), cluster, pod, event, old, new) is expected, what
