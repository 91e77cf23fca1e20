"""All controllers together, started and stopped as one.

From an API server and options to a simulated cluster.
"""

import asyncio
from collections.abc import Callable
from math import inf

from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.controllers.devices.resource_claims import ClaimConsumers, ResourceClaimController
from kubesched_controlplane.controllers.endpoints.composition import endpoint_controllers
from kubesched_controlplane.controllers.endpoints.service_addresses import ServiceAddressController
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext
from kubesched_controlplane.controllers.framework.options import Options
from kubesched_controlplane.controllers.framework.pod_index import PodIndex
from kubesched_controlplane.controllers.lifecycle.disruption_budgets import DisruptionController
from kubesched_controlplane.controllers.lifecycle.garbage_collector import GarbageCollector
from kubesched_controlplane.controllers.lifecycle.namespaces import NamespaceController
from kubesched_controlplane.controllers.lifecycle.node_taints import NodeTaintController
from kubesched_controlplane.controllers.lifecycle.policy_status import PolicyStatusController
from kubesched_controlplane.controllers.lifecycle.taint_eviction import PodGarbageCollector, TaintEvictionController
from kubesched_controlplane.controllers.service_accounts.defaults import (
    RootCertificatePublisher,
    ServiceAccountController,
)
from kubesched_controlplane.controllers.service_accounts.token_secrets import TokenController
from kubesched_controlplane.controllers.storage.protection import EphemeralVolumeController, StorageProtectionController
from kubesched_controlplane.controllers.storage.volume_binder import PersistentVolumeController
from kubesched_controlplane.controllers.workloads.composition import workload_controllers
from kubesched_controlplane.nodes.kubelets import Kubelets
from kubesched_controlplane.nodes.leases import NodeLeaseController
from kubesched_controlplane.nodes.nodes import SimulatedNodes
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.local_client import LocalClient


class Simulation:
    """The controllers and kubelets of a cluster; `note` is called with lines for the log."""

    def __init__(
        self, server: ApiServer, options: Options | None = None, note: Callable[[str], None] = lambda line: None
    ) -> None:
        self._server = server
        self._options = options or Options()
        self._note = note
        self._controllers: list[Controller] = []

    def start(self) -> None:
        """Start the controllers on the running loop."""
        loop = asyncio.get_running_loop()
        context, on_nodes = (
            ControllerContext(LocalClient(self._server, ADMINISTRATOR, agent=agent), loop, self._options, self._note)
            for agent in ("kube-controller-manager", "kubelet")
        )
        # the index of pods comes first, since other controllers read it when they handle an event
        pod_index = PodIndex(context)
        self._controllers = [
            pod_index,
            ServiceAccountController(context),
            RootCertificatePublisher(context),
            TokenController(context),
            SimulatedNodes(on_nodes),
            NodeLeaseController(on_nodes),
            NodeTaintController(context),
            Kubelets(on_nodes, pod_index),
            TaintEvictionController(context, pod_index),
            PodGarbageCollector(context, pod_index),
            ResourceClaimController(context),
            ClaimConsumers(context),
            EphemeralVolumeController(context),
            PersistentVolumeController(context),
            StorageProtectionController(context),
            DisruptionController(context),
            ServiceAddressController(context),
            PolicyStatusController(context),
            *(workload_controllers(context) if self._options.workloads else ()),
            *(endpoint_controllers(context) if self._options.workloads else ()),
            NamespaceController(context),
            GarbageCollector(context),
        ]
        for controller in self._controllers:
            controller.start()

    def seconds_left(self) -> float:
        """Return the seconds until the next timer of a controller is due, infinity if none is set."""
        return min((controller.seconds_left() for controller in self._controllers), default=inf)

    def stop(self) -> None:
        """Stop the controllers; objects stay as they are."""
        for controller in self._controllers:
            controller.stop()
        self._controllers = []

    async def run(self) -> None:
        """Run the controllers until cancelled."""
        self.start()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self.stop()
