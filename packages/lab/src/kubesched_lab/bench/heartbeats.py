"""The heartbeats of nodes without kubelets, where a controller would otherwise taint them.

From the names of nodes to renewed Leases. A cluster without kube-controller-manager needs none.
"""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import NoReturn

import msgspec

from kubesched.client.rest import Refused, RestClient, Unreachable
from kubesched_lab.bench.requests import many_at_once

CONTROLLER_MANAGER = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
# the interval of kubelets
RENEW_SECONDS = 10.0
LEASE_SECONDS = 40


async def are_needed(rest: RestClient) -> bool:
    """Return whether the cluster has a controller that taints nodes without heartbeats."""
    try:
        await rest.get(CONTROLLER_MANAGER)
    except Refused:
        return False
    return True


class Heartbeats:
    """Renews the Leases of nodes until `end`."""

    def __init__(self, rest: RestClient) -> None:
        self._rest = rest
        # nodes, and whether they have a Lease
        self._nodes: dict[str, bool] = {}

    def add(self, node: str) -> None:
        """Add a node, whose Lease is renewed from now on."""
        self._nodes[node] = False

    async def run(self) -> NoReturn:
        """Renew all Leases periodically."""
        while True:
            await many_at_once(self._beat(node) for node in list(self._nodes))
            await asyncio.sleep(RENEW_SECONDS)

    async def end(self) -> None:
        """Delete all Leases."""
        await many_at_once(self._delete(node) for node in list(self._nodes))

    async def _beat(self, node: str) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = {"holderIdentity": node, "leaseDurationSeconds": LEASE_SECONDS, "renewTime": now}
        try:
            if self._nodes.get(node):
                body = msgspec.json.encode({"spec": spec})
                await self._rest.send("PATCH", f"{LEASES}/{node}", body, content_type="application/merge-patch+json")
            else:
                document = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
                body = msgspec.json.encode({**document, "metadata": {"name": node}, "spec": spec})
                await self._rest.send("POST", LEASES, body)
                self._nodes[node] = True
        except (Refused, Unreachable):
            # a single failure is harmless: the next beat may succeed
            self._nodes[node] = True

    async def _delete(self, node: str) -> None:
        with suppress(Refused, Unreachable):
            await self._rest.send("DELETE", f"{LEASES}/{node}")
