"""Server-side apply: PATCH with an apply configuration of a field manager.

From a request with a configuration to the merged object, which is created if it does not exist. Only merging and
managedFields differ from other writes.
"""

# upstream: apiserver/pkg/endpoints/handlers/patch.go (applyPatcher), apimachinery/pkg/util/managedfields/internal/
# {fieldmanager,versioncheck,structuredmerge}.go (v1.36)

from typing import Any

import msgspec

from kubesched.config.document import DocumentError, parse_yaml
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.media_types import APPLY_PATCH
from kubesched_controlplane.api.query_options import apply_options, field_validation
from kubesched_controlplane.api.requests import Request, Response, Target
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import bad_request, conflict, not_found
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.conversion import from_storage, to_storage
from kubesched_controlplane.managed_fields.applying import Application, Applied, ConflictsError, apply
from kubesched_controlplane.managed_fields.entries import APPLY, ManagedFields
from kubesched_controlplane.managed_fields.field_sets import MEMBER, Fields
from kubesched_controlplane.managed_fields.list_types import FieldTypeError
from kubesched_controlplane.managed_fields.tracking import manager_of
from kubesched_controlplane.managed_fields.validation import in_words
from kubesched_controlplane.representation.negotiation import MOST_YAML_NODES
from kubesched_controlplane.schema.go_words import json_name
from kubesched_controlplane.server.verbs.verbs import Verbs
from kubesched_controlplane.storage.store import Stored

# fields that an apply ignores: the status on the main resource, the spec on the status subresource
_STATUS: Fields = {"f:status": MEMBER}
_SPEC: Fields = {"f:spec": MEMBER}
_METADATA_KEPT = ("podgroups.scheduling.k8s.io", "resourceclaims.resource.k8s.io", "volumeattachments.storage.k8s.io")


def is_apply(request: Request) -> bool:
    """Return whether a patch request is a server-side apply."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == APPLY_PATCH


def apply_patch(verbs: Verbs, target: Target, request: Request) -> Response:
    """Apply the configuration in a request."""
    config = read_config(request)
    check_kind(config, target.resource)
    stored, warnings, created = apply_config(verbs, target, request, config)
    return verbs.writing.answer(target.resource, request, stored, warnings, 201 if created else 200)


def apply_config(verbs: Verbs, target: Target, request: Request, config: Document) -> tuple[Stored, list[str], bool]:
    """Apply a configuration; return the stored object, warnings, and whether it was created."""
    resource, registry = target.resource, verbs.registry
    dry_run, force = apply_options(request)
    _check(verbs, target, config)
    old = registry.store.get(resource.prefix, target.namespace, target.name)
    if old is None and target.subresource:
        raise not_found(resource, target.name)
    found = _applied(verbs, target, request, config, old, force=force)
    document, warnings = registry.schemas.check(resource, found.document, field_validation(request))
    if old is None:
        return _created(verbs, target, request, document, found.managed_fields, dry_run=dry_run), warnings, True
    verbs.writing.check_place(target, document)
    document = to_storage(resource, document)
    stored = verbs.writing.replace(target, document, old, request, dry_run=dry_run, managed_fields=found.managed_fields)
    return stored, warnings, False


def read_config(request: Request) -> Document:
    """Check the options of an apply request; return its configuration, from YAML or JSON."""
    apply_options(request)
    try:
        config: Any = parse_yaml(request.body, MOST_YAML_NODES) if request.body.strip() else None
    except DocumentError as error:
        # differs (D-129): the reference only warns about duplicate fields
        raise bad_request(f"error decoding YAML: error converting YAML to JSON: {error}") from None
    if config is None:
        config = {}
    if not isinstance(config, dict):
        why = f"json: cannot unmarshal {json_name(config)} into Go value of type map[string]interface {{}}"
        raise bad_request(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {why}")
    return config


def check_kind(config: Document, resource: Resource) -> None:
    """Raise ApiError unless a configuration is of the resource's kind."""
    version, kind = config.get("apiVersion"), config.get("kind")
    if (version, kind) != (resource.api_version, resource.kind):
        raise bad_request(f"invalid object type: {_kind_words(version, kind)}")


def _check(verbs: Verbs, target: Target, config: Document) -> None:
    """Raise ApiError for a configuration with managedFields or with fields that do not match the schema."""
    resource, meta = target.resource, config.get("metadata")
    if isinstance(meta, dict) and meta.get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    problems = verbs.registry.config_problems(resource, config)
    if problems:
        named = meta if isinstance(meta, dict) else {}
        kind = _kind_words(resource.api_version, resource.kind)
        whose = f"{named.get('namespace') or ''}/{named.get('name') or ''}; {kind}"
        # differs (D-128): the reference answers 500, although it is a client error
        raise bad_request(f"failed to create typed patch object ({whose}): {in_words(problems)}")


def _kind_words(version: Any, kind: Any) -> str:
    """Format a kind as Go's GroupVersionKind."""
    group, _, version = str(version or "").rpartition("/")
    return f"{group}/{version}, Kind={kind or ''}"


def _applied(
    verbs: Verbs, target: Target, request: Request, config: Document, old: Stored | None, *, force: bool
) -> Applied:
    resource, registry = target.resource, verbs.registry
    live: Document = {} if old is None else from_storage(resource, old.document())
    managed_fields: ManagedFields = () if old is None else old.managed_fields
    manager = manager_of(request, resource, APPLY, target.subresource)
    field_type, time = registry.field_type(resource), timestamp(registry.clock())
    try:
        return apply(
            live,
            managed_fields,
            Application(field_type, manager, config, force, time, _reset(resource, target.subresource)),
        )
    except ConflictsError as error:
        raise error.refusal() from None
    except FieldTypeError as error:
        raise bad_request(f"failed to merge config: {error}") from None


def _reset(resource: Resource, subresource: str) -> Fields:
    if subresource == "status":
        kept = resource.status_keeps_metadata or resource.prefix in _METADATA_KEPT
        return {**_SPEC, "f:metadata": MEMBER} if kept else _SPEC
    return _STATUS if "status" in resource.subresources else {}


def _created(
    verbs: Verbs, target: Target, request: Request, document: Document, managed_fields: ManagedFields, *, dry_run: bool
) -> Stored:
    """Create the applied object if the user may create it; return it as stored."""
    creation = msgspec.structs.replace(target, verb="create")
    verbs.access.check(request, creation)
    uid = document["metadata"].get("uid")
    if uid:
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise conflict(target.resource, target.name, why)
    verbs.writing.check_place(creation, document)
    return verbs.writing.create_document(creation, document, request, dry_run=dry_run, managed_fields=managed_fields)
