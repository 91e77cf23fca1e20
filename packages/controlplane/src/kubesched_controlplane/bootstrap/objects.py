"""The objects that every cluster begins with: namespaces, priority classes, roles, flow schemas, APIServices, the
ServiceCIDR and the ConfigMap with the authorities of client certificates.

From nothing to objects. Existing objects are left as they are, except for the authorities, which may have changed.
"""

# upstream: pkg/controlplane/controller/{systemnamespaces,clusterauthenticationtrust},
# pkg/controlplane/controller/defaultservicecidr, pkg/registry/{scheduling,rbac,flowcontrol}/rest (v1.36)

from collections.abc import Iterable

from kubesched_controlplane.access.default_roles import AUTHENTICATION_CONFIG, SYSTEM, default_roles
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.bootstrap.api_services import keep_api_services
from kubesched_controlplane.kinds.flow_control_defaults import flow_defaults
from kubesched_controlplane.kinds.network.service_addresses import SERVICE_NETWORK
from kubesched_controlplane.transport.local_client import LocalClient

NAMESPACES = ("default", SYSTEM, "kube-public", "kube-node-lease")
SYSTEM_CRITICAL_PRIORITY = 2_000_000_000
# the common names and headers of a front proxy
_FRONT_PROXY = {
    "requestheader-allowed-names": '["front-proxy-client"]',
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-uid-headers": '["X-Remote-Uid"]',
    "requestheader-username-headers": '["X-Remote-User"]',
}


def bootstrap(client: LocalClient, *, client_ca: str = "") -> None:
    """Create the objects of every new cluster; `client_ca` is the PEM of the authority for client certificates."""
    store = client.server.registry.store
    for document in _documents():
        resource, meta = client.resource(document["apiVersion"], document["kind"]), document["metadata"]
        if store.get(resource.prefix, meta.get("namespace", ""), meta["name"]) is None:
            client.create(resource, document)
    if client_ca:
        maps = client.resource("v1", "ConfigMap")
        client.patch(maps, SYSTEM, AUTHENTICATION_CONFIG, {"data": _trust(client_ca)})
    keep_api_services(client)


def _documents() -> Iterable[Document]:
    for name in NAMESPACES:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    yield _priority_class(
        "system-node-critical",
        SYSTEM_CRITICAL_PRIORITY + 1000,
        "Used for system critical pods that must not be moved from their current node.",
    )
    yield _priority_class(
        "system-cluster-critical",
        SYSTEM_CRITICAL_PRIORITY,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    )
    yield {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": AUTHENTICATION_CONFIG, "namespace": SYSTEM},
    }
    yield from default_roles()
    yield from flow_defaults()
    yield {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "ServiceCIDR",
        "metadata": {"name": "kubernetes"},
        "spec": {"cidrs": [str(SERVICE_NETWORK)]},
    }


def _trust(client_ca: str) -> dict[str, str]:
    """Return the authentication settings for extension API servers; those in Go complain if a key is missing."""
    return {"client-ca-file": client_ca, "requestheader-client-ca-file": client_ca, **_FRONT_PROXY}


def _priority_class(name: str, value: int, description: str) -> Document:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        "description": description,
    }
