"""Import of objects from another cluster: missing namespaces, and the revisions of workloads.

    before ──▶ create the missing namespaces of objects
    after ───▶ set the template in revisions of stateful sets and daemon sets, and in replica sets of deployments

A controller replaces pods whose revision is not that of the template. Another release may default the same template
differently, and revisions may be missing; so the revision that was current in the other cluster is made current here,
and no pod is replaced until the template is changed.
"""

import contextlib
from collections.abc import Sequence

from kubesched.manifests import Manifest
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.controllers.workloads.imported import ImportedWorkloads
from kubesched_controlplane.transport.local_client import LocalClient


def make_namespaces(client: LocalClient, manifests: Sequence[Manifest]) -> int:
    """Create the missing namespaces of objects from another cluster; return how many.

    A namespace that the server refuses is left out; its objects are refused later, each with the reason.
    """
    wanted = {_namespace(each.document): None for each in manifests if each.exported}
    brought = {each.name for each in manifests if each.kind == "Namespace"}
    resource, store = client.resource("v1", "Namespace"), client.server.registry.store
    missing = [name for name in wanted if name and name not in brought and store.get(resource.prefix, "", name) is None]
    created = 0
    for name in missing:
        with contextlib.suppress(ApiError):
            client.create(resource, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
            created += 1
    return created


def _namespace(document: Document) -> str:
    meta = document.get("metadata")
    name = meta.get("namespace") if isinstance(meta, dict) else None
    return name if isinstance(name, str) else ""


def settle_imported(client: LocalClient, imported: Sequence[Manifest]) -> None:
    """Make the templates of imported workloads their current revisions, so that controllers keep their pods."""
    workloads = [each for each in imported if each.kind in ("Deployment", "StatefulSet", "DaemonSet")]
    if workloads:
        settling = ImportedWorkloads(client)
        for manifest in workloads:
            if _is_observed(manifest.document):
                settling.settle(manifest.kind, _namespace(manifest.document) or "default", manifest.name)


def _is_observed(document: Document) -> bool:
    """Return whether the controllers of the other cluster had observed the object's generation."""
    status, meta = document.get("status"), document["metadata"]
    observed = status.get("observedGeneration") if isinstance(status, dict) else None
    generation = meta.get("generation")
    return not (isinstance(observed, int) and isinstance(generation, int) and observed < generation)
