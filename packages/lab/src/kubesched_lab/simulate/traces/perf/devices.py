"""The devices of a workload: slices that drivers publish, and claims that get devices before any pod exists.

From operations and the objects made so far to ResourceSlices, and to ResourceClaims with devices, as the scheduler's
allocator chooses them. Nodes are tried in turns.
"""

# upstream: test/integration/scheduler_perf/dra.go (v1.36), where nodes are tried at random

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import count

import msgspec

from kubesched.api.codec import decode
from kubesched.api.devices import DeviceClass, ResourceClaim, ResourceSlice
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.core.devices.allocator import Allocator
from kubesched.core.devices.errors import AllocationError
from kubesched.core.devices.features import DeviceFeatures
from kubesched.core.devices.inventory import DeviceInventory
from kubesched.core.devices.state import AllocatedState
from kubesched.errors import InvalidObjectError
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.perf.made_object import Document, MadeObject
from kubesched_lab.simulate.traces.perf.operations import AllocResourceClaims, CreateResourceDriver

_FEATURES = DeviceFeatures(list_attributes=True)
_READ = frozenset({"DeviceClass", "Node", "ResourceClaim", "ResourceSlice"})


class WorkloadDevices:
    """Creates slices, and allocates devices to claims."""

    def __init__(self) -> None:
        self._made: list[MadeObject] = []

    def take_in(self, made: MadeObject) -> None:
        """Register a created object, if it is about devices."""
        if made.kind in _READ:
            self._made.append(made)

    def slices(self, operation: CreateResourceDriver, nodes: Iterable[str]) -> Iterator[MadeObject]:
        """Yield the slices of a driver, one for each node whose name matches."""
        for node in nodes:
            if fnmatchcase(node, operation.nodes):
                made = _slice(operation.driver_name, node, operation.max_claims_per_node)
                self.take_in(made)
                yield made

    def allocated(self, operation: AllocResourceClaims, where: str) -> Iterator[MadeObject]:
        """Yield the claims of a namespace with devices; raises TraceError."""
        objects = [_decoded(made) for made in self._made]
        nodes = [obj for obj in objects if isinstance(obj, Node)]
        inventory = DeviceInventory([obj for obj in objects if isinstance(obj, ResourceSlice)], (), _FEATURES)
        classes = {obj.name: obj for obj in objects if isinstance(obj, DeviceClass)}
        state, shares, turn = AllocatedState(_FEATURES), count(), 0
        for made, claim in zip(self._made, objects, strict=True):
            if not isinstance(claim, ResourceClaim) or operation.namespace not in ("", claim.namespace):
                continue
            allocator = Allocator(_FEATURES, state, classes, inventory, lambda: f"share-{next(shares)}")
            for tried in range(len(nodes)):
                node = nodes[(turn + tried) % len(nodes)]
                try:
                    found = allocator.allocate(node, [claim])
                except AllocationError as error:
                    raise TraceError(f"{where}: allocResourceClaims: {claim.full_name}: {error}") from None
                if found is not None:
                    break
            else:
                raise TraceError(f"{where}: allocResourceClaims: no devices are left for {claim.full_name}")
            turn += tried + 1
            state.put(claim.full_name, found[0])
            status = {"allocation": msgspec.to_builtins(found[0], str_keys=True)}
            yield MadeObject({**made.document, "status": status}, made.where)


def with_claim_defaults(made: MadeObject) -> MadeObject:
    """Return a claim with the defaults of its requests; return other objects unchanged."""
    if made.kind != "ResourceClaim":
        return made
    spec = made.document.get("spec") or {}
    devices = spec.get("devices") or {}
    requests = [
        {**request, "exactly": _with_count(request["exactly"])}
        if request.get("exactly")
        else {**request, "firstAvailable": [_with_count(each) for each in request.get("firstAvailable") or ()]}
        for request in devices.get("requests") or ()
    ]
    return made._replace(document={**made.document, "spec": {**spec, "devices": {**devices, "requests": requests}}})


def _with_count(request: Document) -> Document:
    mode = {"allocationMode": "ExactCount", **request}
    return {"count": 1, **mode} if mode["allocationMode"] == "ExactCount" else mode


def _decoded(made: MadeObject) -> ApiObject:
    try:
        return decode(made.document, f"{made.where}: ")
    except InvalidObjectError as error:
        raise TraceError(str(error)) from None


def _slice(driver: str, node: str, devices: int) -> MadeObject:
    document = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": node},
        "spec": {
            "driver": driver,
            "nodeName": node,
            "pool": {"name": node, "generation": 0, "resourceSliceCount": 1},
            "devices": [_device(index) for index in range(devices)],
        },
    }
    return MadeObject(document, "createResourceDriver")


def _device(index: int) -> Document:
    return {
        "name": f"instance-{index}",
        "attributes": {
            "model": {"string": "A100"},
            "family": {"string": "GPU"},
            "driverVersion": {"version": "1.2.3"},
            "dra.example.com/numa": {"int": index},
        },
        "capacity": {"memory": {"value": "1Gi"}},
    }
