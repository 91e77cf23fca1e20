"""Binding: sets the node of a pod.

From a Binding that a scheduler posts to the pod with its spec.nodeName. It is the most frequent write of a cluster
under load, so it is short: the pod is decoded once, encoded once, and not validated again.
"""

# upstream: pkg/registry/core/pod/storage/storage.go (BindingREST), plugin/pkg/admission/podtopologylabels (v1.36)

from typing import Final

import msgspec

from kubesched.api.field_errors import not_supported, required
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.query_options import is_dry_run
from kubesched_controlplane.api.requests import Request, Response, Target
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError, bad_request, conflict, failed_precondition, invalid, not_found
from kubesched_controlplane.kinds.pod.admission import copy_topology_labels
from kubesched_controlplane.kinds.pod.status import set_condition
from kubesched_controlplane.server.verbs.verbs import Verbs
from kubesched_controlplane.server.verbs.writing import check_namespace, check_namespace_is_open, with_warnings
from kubesched_controlplane.storage.store import Stored

_BINDING: Final = Resource("", "v1", "bindings", "Binding")
_SUCCESS: Final = b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}'
_SCHEDULED: Final = {"type": "PodScheduled", "status": "True"}


def bind(verbs: Verbs, target: Target, request: Request) -> Response:
    """Bind the pod in the path."""
    binding, warnings = verbs.writing.decode(_BINDING, request)
    meta, node = binding["metadata"], binding.get("target") or {}
    if node.get("kind") == "Node":
        copy_topology_labels(verbs.registry.store, node.get("name") or "", meta)
    return with_warnings(_assign(verbs, target, binding, request), warnings)


def bind_by_name(verbs: Verbs, target: Target, request: Request) -> Response:
    """Bind the pod that a Binding names, by the legacy `bindings` resource: without a UID check and topology labels."""
    binding, warnings = verbs.writing.decode(_BINDING, request)
    meta = binding["metadata"]
    meta.pop("uid", None)
    pods = verbs.registry.catalog.find("", "v1", "pods")
    assert pods is not None
    target = Target("create", pods, target.namespace, meta.get("name") or "", "binding")
    return with_warnings(_assign(verbs, target, binding, request), warnings)


def _assign(verbs: Verbs, target: Target, binding: Document, request: Request) -> Response:
    registry, pods, name = verbs.registry, target.resource, target.name
    if not registry.admission.idle:
        objects = (binding, None)
        changed = registry.admission.change("CREATE", target, request, objects, dry_run=is_dry_run(request))
        binding = binding if changed is None else changed
    meta, node = binding["metadata"], binding.get("target") or {}
    # 1. Check the namespace, the name and the target of the binding.
    check_namespace(meta, target.namespace)
    check_namespace_is_open(registry, pods, target.namespace, name)
    if (meta.get("name") or "") != name:
        raise bad_request("name in URL does not match name in Binding object")
    problems = _problems(node)
    if problems:
        # differs (D-140): the reference answers these with a bare 500
        raise invalid(_BINDING, name, problems)
    # 2. Check the preconditions, and that the pod can be bound.
    stored = registry.store.get(pods.prefix, target.namespace, name)
    if stored is None:
        raise not_found(pods, name)
    _check_meant(pods, stored, meta)
    pod = stored.document()
    _check_bindable(pods, name, pod)
    if not registry.admission.idle:
        registry.admission.check("CREATE", target, request, (binding, None), dry_run=is_dry_run(request))
    # 3. Bind the pod.
    pod["spec"]["nodeName"] = node["name"]
    _merge(pod["metadata"], "annotations", meta)
    _merge(pod["metadata"], "labels", meta)
    status = pod.setdefault("status", {})
    status.pop("nominatedNodeName", None)
    set_condition(status, _SCHEDULED, registry.clock())
    if not is_dry_run(request):
        registry.store.put(pods.prefix, pod, registry.strategy(pods).fields(pod))
    return Response(201, (_SUCCESS,))


def _problems(node: Document) -> list[str]:
    problems = []
    kind = node.get("kind") or "Node"
    if kind != "Node":
        problems.append(not_supported("target.kind", kind, ("Node", "<empty>")))
    if not node.get("name"):
        problems.append(required("target.name"))
    return problems


def _check_meant(pods: Resource, stored: Stored, meta: Document) -> None:
    """Raise ApiError unless a pod has the UID and resource version of the binding."""
    uid, version = meta.get("uid"), meta.get("resourceVersion")
    if uid and uid != stored.uid:
        raise failed_precondition(pods, stored.key, "UID", uid, stored.uid)
    if version and version != str(stored.version):
        raise failed_precondition(pods, stored.key, "ResourceVersion", version, str(stored.version))


def _check_bindable(pods: Resource, name: str, pod: Document) -> None:
    """Raise ApiError for a pod that has a node, scheduling gates or a deletion timestamp."""
    spec = pod["spec"]
    if pod["metadata"].get("deletionTimestamp"):
        raise _unbindable(pods, name, f"pod {name} is being deleted, cannot be assigned to a host")
    if spec.get("nodeName"):
        raise _unbindable(pods, name, f'pod {name} is already assigned to node "{spec["nodeName"]}"')
    if spec.get("schedulingGates"):
        raise _unbindable(pods, name, f"pod {name} has non-empty .spec.schedulingGates")


def _unbindable(pods: Resource, name: str, why: str) -> ApiError:
    return conflict(msgspec.structs.replace(pods, plural="pods/binding"), name, why)


def _merge(meta: Document, field: str, added: Document) -> None:
    if added.get(field):
        meta[field] = {**(meta.get(field) or {}), **added[field]}
