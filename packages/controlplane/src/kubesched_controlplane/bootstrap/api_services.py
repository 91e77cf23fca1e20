"""The APIService objects of this server: one for each version of each group.

From the catalog to objects; APIServices of custom groups are created and deleted with their definitions.
"""

# upstream: pkg/controlplane/apiserver/aggregator.go, cmd/kube-apiserver/app/aggregator.go,
# pkg/controlplane/controller/crdregistration (v1.36)

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.registry.registry import ResourceRegistry
from kubesched_controlplane.transport.local_client import LocalClient

_MANAGED = "kube-aggregator.kubernetes.io/automanaged"
# groupPriorityMinimum by group
_PRIORITIES = {
    "": 18000,
    "apps": 17800,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800,
    "apiextensions.k8s.io": 16700,
    "admissionregistration.k8s.io": 16700,
    "scheduling.k8s.io": 16600,
    "coordination.k8s.io": 16500,
    "node.k8s.io": 16300,
    "discovery.k8s.io": 16200,
    "resource.k8s.io": 16200,
    "flowcontrol.apiserver.k8s.io": 16100,
}
_OWN_VERSIONS = {
    ("", "v1"): 1,
    ("autoscaling", "v2"): 30,
    ("resource.k8s.io", "v1"): 21,
    ("flowcontrol.apiserver.k8s.io", "v1"): 21,
    ("coordination.k8s.io", "v1beta1"): 13,
    ("scheduling.k8s.io", "v1alpha2"): 2,
}
_STABLE = 15
_CUSTOM_GROUP, _CUSTOM_VERSION = 1000, 100
# has no APIService
_OWN_GROUP = "apiregistration.k8s.io"


def keep_api_services(client: LocalClient) -> None:
    """Create the APIService of each served version, now and whenever the catalog changes."""
    _register(client)
    client.server.registry.catalog.watchers.append(lambda: _register(client))


def _register(client: LocalClient) -> None:
    registry = client.server.registry
    resource = client.resource("apiregistration.k8s.io/v1", "APIService")
    wanted = {document["metadata"]["name"]: document for document in _documents(registry)}
    known = {stored.name: stored for stored in client.stored(resource)}
    for name, document in wanted.items():
        if name not in known:
            client.create(resource, document)
    for name, stored in known.items():
        if name not in wanted and stored.labels.get(_MANAGED) == "true":
            client.delete(resource, "", name)


def _documents(registry: ResourceRegistry) -> list[Document]:
    found = []
    for group, versions in registry.catalog.versions().items():
        for version in versions:
            if group == _OWN_GROUP:
                continue
            is_custom = not registry.catalog.is_built_in(group, version) and group not in _PRIORITIES
            spec = {
                "version": version,
                "groupPriorityMinimum": _CUSTOM_GROUP if is_custom else _PRIORITIES.get(group, _CUSTOM_GROUP),
                "versionPriority": _CUSTOM_VERSION if is_custom else _OWN_VERSIONS.get((group, version), _STABLE),
            }
            if group:
                spec["group"] = group
            labels = {_MANAGED: "true" if is_custom else "onstart"}
            meta = {"name": f"{version}.{group}", "labels": labels}
            api_version = "apiregistration.k8s.io/v1"
            found.append({"apiVersion": api_version, "kind": "APIService", "metadata": meta, "spec": spec})
    return found
