"""The controllers of endpoints, in the order in which they are to be told of changes."""

from kubesched.controlplane.controllers.endpoints.controllers import SLICE_MANAGER, ServiceEndpoints, ServiceSlices
from kubesched.controlplane.controllers.endpoints.index import ServicePods
from kubesched.controlplane.controllers.endpoints.mirroring import MIRROR_MANAGER, MirroredSlices
from kubesched.controlplane.controllers.endpoints.slices import Slices
from kubesched.controlplane.controllers.framework.controller import Controller, Tools


def endpoint_controllers(tools: Tools) -> list[Controller]:
    """Return the controllers of endpoints; the indexes that others ask come first."""
    pods, slices, mirrored = ServicePods(tools), Slices(tools, SLICE_MANAGER), Slices(tools, MIRROR_MANAGER)
    return [
        slices,
        mirrored,
        pods,
        ServiceSlices(tools, pods, slices),
        ServiceEndpoints(tools, pods),
        MirroredSlices(tools, mirrored),
    ]
