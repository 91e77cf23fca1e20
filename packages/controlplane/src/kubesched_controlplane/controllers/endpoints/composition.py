"""The controllers of endpoints, in the order in which they receive events."""

from kubesched_controlplane.controllers.endpoints.controllers import (
    SLICE_MANAGER,
    EndpointsController,
    EndpointSliceController,
)
from kubesched_controlplane.controllers.endpoints.index import ServicePods
from kubesched_controlplane.controllers.endpoints.mirroring import MIRROR_MANAGER, EndpointSliceMirroringController
from kubesched_controlplane.controllers.endpoints.slices import Slices
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext


def endpoint_controllers(context: ControllerContext) -> list[Controller]:
    """Return the controllers of endpoints; the indexes come before the controllers that read them."""
    pods, slices, mirrored = ServicePods(context), Slices(context, SLICE_MANAGER), Slices(context, MIRROR_MANAGER)
    return [
        slices,
        mirrored,
        pods,
        EndpointSliceController(context, pods, slices),
        EndpointsController(context, pods),
        EndpointSliceMirroringController(context, mirrored),
    ]
