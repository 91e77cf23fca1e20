"""The status of a cluster in another process, by its API.

From a name and a kubeconfig to counts; a cluster that does not answer has a status, too.
"""

from datetime import datetime

import msgspec

from kubesched.api import tolerant_json
from kubesched.client.credentials.rest_config import load_rest_config
from kubesched.client.rest import Rest, RestClient
from kubesched.errors import InvalidObjectError, KubeschedError
from kubesched.run.clients import AGENT
from kubesched_controlplane.named_clusters import NamedCluster

UP, STARTING, SILENT = "Up", "Starting", "NotAnswering"
PATIENCE_SECONDS = 10.0
PAGE = 500


class ClusterStatus(msgspec.Struct, frozen=True, rename="camel"):
    """A cluster, its status, and its numbers of nodes and pods; None if the API did not answer."""

    name: str
    status: str
    pid: int
    started_at: datetime
    url: str
    kubeconfig: str
    nodes: int | None = None
    pods: int | None = None
    pods_not_bound: int | None = None
    reason: str = ""


class _Meta(msgspec.Struct, rename={"following": "continue", "remaining": "remainingItemCount"}):
    following: str = ""
    remaining: int | None = None


class _Page(msgspec.Struct):
    """A page of a list, whose items are only counted."""

    metadata: _Meta
    items: list[msgspec.Raw]


async def read_status(cluster: NamedCluster) -> ClusterStatus:
    """Return the status of a cluster."""
    known = (cluster.pid, cluster.started_at, cluster.url, cluster.kubeconfig)
    if not cluster.url:
        return ClusterStatus(cluster.name, STARTING, *known)
    try:
        rest = RestClient(load_rest_config(cluster.kubeconfig), AGENT, timeout_seconds=PATIENCE_SECONDS)
        try:
            nodes, pods = await _count(rest, "nodes"), await _count(rest, "pods")
            waiting = await _count(rest, "pods", "spec.nodeName=")
        finally:
            await rest.close()
    except KubeschedError as error:
        return ClusterStatus(cluster.name, SILENT, *known, reason=" ".join(str(error).split()))
    return ClusterStatus(cluster.name, UP, *known, nodes, pods, waiting)


async def _count(rest: Rest, resource: str, selector: str = "") -> int:
    """Return the number of objects; without a selector the first page has the remaining count."""
    query = {"limit": str(PAGE), "fieldSelector": selector} if selector else {"limit": "1"}
    count = 0
    while True:
        answer = await rest.get(f"/api/v1/{resource}", query)
        try:
            page = tolerant_json.decode(answer, _Page)
        except InvalidObjectError as error:
            raise KubeschedError(f"the list of {resource} cannot be read: {error}") from None
        count += len(page.items) + (page.metadata.remaining or 0)
        if not page.metadata.following or page.metadata.remaining is not None:
            return count
        query = {**query, "continue": page.metadata.following}
