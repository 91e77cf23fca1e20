"""The subresource `scale` of workloads: their replicas, in one form.

From a workload to a Scale, and back.
"""

# upstream: pkg/registry/{core/replicationcontroller,apps/replicaset,apps/statefulset}/storage/storage.go (ScaleREST),
# pkg/apis/autoscaling/validation (v1.36)

from typing import Any

import msgspec

from kubesched.api.field_errors import invalid as invalid_value
from kubesched.api.labels import from_label_selector, selector_from_set
from kubesched.api.meta import LabelSelector
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.query_options import is_dry_run
from kubesched_controlplane.api.requests import Request, Response, Target, answer
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import bad_request, conflict, invalid, not_found
from kubesched_controlplane.kinds.checks import NOT_NEGATIVE
from kubesched_controlplane.server.verbs.patching import patched
from kubesched_controlplane.server.verbs.server_side_apply import apply_config, check_kind, is_apply, read_config
from kubesched_controlplane.server.verbs.verbs import Verbs

SCALABLE = ("replicationcontrollers", "replicasets.apps", "statefulsets.apps", "deployments.apps")
KIND = Resource("autoscaling", "v1", "scales", "Scale")
IDENTITY = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale(verbs: Verbs, target: Target, request: Request) -> Response:
    """Get, update, patch or apply the scale of a workload."""
    resource = target.resource
    stored = verbs.registry.store.get(resource.prefix, target.namespace, target.name)
    if stored is None:
        raise not_found(resource, target.name)
    document = stored.document()
    if target.verb == "get":
        return answer(_scale_of(document))
    if is_apply(request):
        return _applied(verbs, target, request)
    wanted = wanted_scale(verbs, target, request, _scale_of(document))
    meta, replicas = wanted.get("metadata") or {}, (wanted.get("spec") or {}).get("replicas") or 0
    if meta.get("uid") not in (None, "", stored.uid):
        why = f"Precondition failed: UID in precondition: {meta['uid']}, UID in object meta: {stored.uid}"
        raise conflict(resource, target.name, why)
    if replicas < 0:
        raise invalid(KIND, target.name, [invalid_value("spec.replicas", replicas, NOT_NEGATIVE)])
    document["spec"]["replicas"] = replicas
    document["metadata"]["resourceVersion"] = meta.get("resourceVersion") or str(stored.version)
    changed = verbs.writing.replace(target, document, stored, request, dry_run=is_dry_run(request))
    return answer(_scale_of(changed.document()))


def _applied(verbs: Verbs, target: Target, request: Request) -> Response:
    """Apply a Scale: its replicas become an apply configuration of the workload."""
    resource = target.resource
    config = read_config(request)
    check_kind(config, KIND)
    meta, spec = config.get("metadata") or {}, config.get("spec") or {}
    wanted = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": meta, "spec": spec}
    return answer(_scale_of(apply_config(verbs, target, request, wanted)[0].document()))


def wanted_scale(verbs: Verbs, target: Target, request: Request, current: Document) -> Document:
    """Return the Scale in the body of an update, or the current one after a patch; raises ApiError if malformed."""
    wanted: Any
    if target.verb == "patch":
        wanted = patched(verbs.registry.schemas, target.resource, current, request)
    else:
        try:
            wanted = msgspec.json.decode(request.body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise bad_request(f"the object provided is unrecognized (must be of type Scale): {error}") from None
    try:
        msgspec.convert(wanted, _Scale)
    except msgspec.ValidationError as error:
        raise bad_request(f"the object provided is unrecognized (must be of type Scale): {error}") from None
    found: Document = wanted
    if (found.get("metadata") or {}).get("name") not in (None, target.name):
        raise bad_request(f"the name of the object does not match the name on the URL ({target.name})")
    return found


class _Meta(msgspec.Struct, rename="camel"):
    name: str | None = None
    uid: str | None = None
    resource_version: str | None = None


class _Spec(msgspec.Struct):
    replicas: int | None = None


class _Scale(msgspec.Struct):
    """The fields of a Scale that are read."""

    metadata: _Meta | None = None
    spec: _Spec | None = None


def _scale_of(document: Document) -> Document:
    meta, spec, status = document["metadata"], document["spec"], document.get("status") or {}
    seen: Document = {"replicas": status.get("replicas") or 0}
    selector = spec.get("selector") or {}
    plain = "matchLabels" not in selector and "matchExpressions" not in selector
    text = str(selector_from_set(selector) if plain else from_label_selector(msgspec.convert(selector, LabelSelector)))
    if text:
        seen["selector"] = text
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {field: meta[field] for field in IDENTITY if field in meta},
        "spec": {"replicas": spec.get("replicas") or 0},
        "status": seen,
    }
