"""Devices of dynamic resource allocation as the page counts them: a resource of nodes for each driver.

From resource slices and the allocations of claims to the devices of a node, the devices that a pod holds, and the free
ones. A device that several claims share counts once for each of them. Network devices, which belong to no single node,
are not counted.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from kubesched.api.devices import ResourceClaim, ResourceSlice
from kubesched.api.nodes import Node
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.devices import DeviceFeatures
from kubesched.core.devices.errors import AllocationError
from kubesched.core.devices.slices import OfferedDevice
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.placing import claims_of

_SUFFIX: Final = " devices"
PODS: Final = "pods"


class ShownDevice(NamedTuple):
    """A device of a node; `claim` and `pods` name its holders, empty if it is free."""

    driver: str
    pool: str
    device: str
    claim: str = ""
    pods: tuple[str, ...] = ()


def devices_on(model: ClusterModel, node: Node) -> dict[str, int]:
    """Return the number of devices of a node, by the resource that stands for their driver."""
    return dict(Counter(offered.id.driver + _SUFFIX for offered in _devices_of(model, node)))


def devices_held_by(model: ClusterModel, pod: PodInfo) -> dict[str, int]:
    """Return the number of devices that a pod holds; devices of a shared claim count for its first pod."""
    found: Counter[str] = Counter()
    for claim in claims_of(model, pod):
        users = claim.status.reserved_for
        if claim.status.allocation is not None and (not users or users[0].uid == pod.uid):
            found.update(driver + _SUFFIX for driver, _, _ in _taken_by(claim))
    return dict(found)


def shown_devices(model: ClusterModel, node: Node) -> list[ShownDevice]:
    """Return the devices of a node, and their holders."""
    holders = {device: claim for claim in model.cluster.claims.all() for device in _taken_by(claim)}
    found = []
    for offered in _devices_of(model, node):
        claim = holders.get(offered.id)
        if claim is None:
            found.append(ShownDevice(*offered.id))
        else:
            pods = tuple(
                f"{claim.namespace}/{user.name}" for user in claim.status.reserved_for if user.resource == PODS
            )
            found.append(ShownDevice(*offered.id, claim.full_name, pods))
    return found


def _devices_of(model: ClusterModel, node: Node) -> Iterator[OfferedDevice]:
    """Yield the devices that belong to this node alone, from valid pools."""
    cluster = model.cluster
    if not cluster.objects.versions.get(ResourceSlice.__name__):
        return
    try:
        views = cluster.devices(DeviceFeatures.from_gates(model.loaded.gates)).inventory.pools_of(node)
    except AllocationError:
        return
    for view in views:
        for offered in view.devices:
            if (offered.slice.spec.node_name or offered.device.node_name) == node.name:
                yield offered


def _taken_by(claim: ResourceClaim) -> Iterator[tuple[str, str, str]]:
    """Yield the devices that are allocated to a claim, except for admin access, which takes none."""
    if claim.status.allocation is not None:
        for each in claim.status.allocation.devices.results:
            if not each.admin_access:
                yield each.driver, each.pool, each.device
