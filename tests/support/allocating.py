"""Devices allocated on one node, n1: claims and slices in, results out."""

from typing import Any

from kubesched.api.devices import AllocationResult, ResourceClaim, ResourceSlice
from kubesched.core.devices import DeviceFeatures
from kubesched.testing import a_node
from kubesched.testing.devices import a_device_class, a_device_request, a_resource_claim, a_slice, allocate_devices

FEATURES = DeviceFeatures()
GPU = a_device_class("gpu")
N1 = a_node("n1", zone="a")
TWO = a_slice("s", "d0", "d1", node="n1")


def allocate(slices: list[ResourceSlice], *claims: ResourceClaim, **given: Any) -> list[AllocationResult] | None:
    """Return what the claims get on n1."""
    return allocate_devices(N1, claims, slices, **given)


def one(**asked: Any) -> ResourceClaim:
    """Return a claim with one request."""
    return a_resource_claim("claim", a_device_request(**asked))
