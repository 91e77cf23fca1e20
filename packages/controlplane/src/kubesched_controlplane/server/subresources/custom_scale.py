"""The scale of a custom resource: its replicas at the paths that the definition names.

From a document to its Scale, and from a changed Scale to the document.
"""

# upstream: apiextensions-apiserver/pkg/registry/customresource/etcd.go (ScaleREST) (v1.36)

from kubesched.api.go_text import quote
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.query_options import is_dry_run
from kubesched_controlplane.api.requests import Request, Response, Target, answer
from kubesched_controlplane.api.statuses import bad_request, internal_error, not_found
from kubesched_controlplane.conversion import from_storage, to_storage
from kubesched_controlplane.custom.strategy import nested
from kubesched_controlplane.server.subresources.scale import IDENTITY, KIND, wanted_scale
from kubesched_controlplane.server.verbs.server_side_apply import apply_config, check_kind, is_apply, read_config
from kubesched_controlplane.server.verbs.verbs import Verbs


def scale(verbs: Verbs, target: Target, request: Request) -> Response:
    """Get, update, patch or apply the scale of a custom resource."""
    resource = target.resource
    paths = verbs.registry.defined[resource.api_version, resource.kind].scale
    stored = verbs.registry.store.get(resource.prefix, target.namespace, target.name)
    if stored is None:
        raise not_found(resource, target.name)
    document = from_storage(resource, stored.document())
    current, found = _scale_of(document, paths)
    where = paths["specReplicasPath"]
    if target.verb == "get":
        if not found:
            raise internal_error(f"the spec replicas field {quote(where)} does not exist")
        return answer(current)
    if is_apply(request):
        return _applied(verbs, target, request, paths)
    wanted = wanted_scale(verbs, target, request, current)
    replicas = (wanted.get("spec") or {}).get("replicas")
    if replicas is None and not found:
        raise bad_request(f"the spec replicas field {quote(where)} cannot be empty")
    _put(document, where, replicas or 0)
    document["metadata"]["resourceVersion"] = _version_wanted(wanted) or str(stored.version)
    new = to_storage(resource, document)
    changed = verbs.writing.replace(target, new, stored, request, dry_run=is_dry_run(request))
    return answer(_scale_of(from_storage(resource, changed.document()), paths)[0])


def _applied(verbs: Verbs, target: Target, request: Request, paths: Document) -> Response:
    """Apply a Scale: its replicas become an apply configuration of the object."""
    resource = target.resource
    config = read_config(request)
    check_kind(config, KIND)
    wanted = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": config.get("metadata") or {}}
    _put(wanted, paths["specReplicasPath"], (config.get("spec") or {}).get("replicas") or 0)
    stored = apply_config(verbs, target, request, wanted)[0]
    return answer(_scale_of(from_storage(resource, stored.document()), paths)[0])


def _scale_of(document: Document, paths: Document) -> tuple[Document, bool]:
    """Return the Scale of an object, and whether its spec has replicas; raises ApiError for fields of other types."""
    wanted, why = nested(document, paths["specReplicasPath"], int)
    seen, second = nested(document, paths["statusReplicasPath"], int)
    selector, third = nested(document, paths["labelSelectorPath"], str) if paths.get("labelSelectorPath") else ("", "")
    if why or second or third:
        raise bad_request(why or second or third)
    status: Document = {"replicas": seen or 0}
    if selector:
        status["selector"] = selector
    meta = document["metadata"]
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {field: meta[field] for field in IDENTITY if field in meta},
        "spec": {"replicas": wanted or 0},
        "status": status,
    }, wanted is not None


def _version_wanted(scale: Document) -> str:
    return (scale.get("metadata") or {}).get("resourceVersion") or ""


def _put(document: Document, path: str, value: int) -> None:
    """Set the value at a path of field names; create missing objects on the way."""
    *parts, last = path.removeprefix(".").split(".")
    for part in parts:
        document = document.setdefault(part, {})
    document[last] = value
