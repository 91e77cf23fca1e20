"""Create, update and patch: from the object of a client to the stored one.

In numbered steps: decode, set the metadata of the server, mutating admission, the kind's strategy, validation,
validating admission, store. A write that changes nothing keeps the resource version; a dry run stops before the store.
"""

# upstream: apiserver/pkg/registry/generic/registry/store.go, pkg/registry/rest/{create,update,meta}.go (v1.36)

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from kubesched.api.field_errors import invalid as invalid_value
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.query_options import field_validation, is_dry_run
from kubesched_controlplane.api.requests import Request, Response, Target
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import (
    MODIFIED_MEANWHILE,
    already_exists,
    bad_request,
    conflict,
    failed_precondition,
    forbidden,
    invalid,
    not_found,
)
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.conversion import from_storage, to_storage
from kubesched_controlplane.managed_fields.entries import ManagedFields, as_documents, entries_from_client, same
from kubesched_controlplane.managed_fields.tracking import managed_fields_after, managed_fields_of_new
from kubesched_controlplane.registry.metadata import (
    fill_in,
    kept_metadata,
    metadata_problems,
    without_repeated_owners,
)
from kubesched_controlplane.registry.registry import ResourceRegistry
from kubesched_controlplane.registry.strategy import Strategy, StrategyContext
from kubesched_controlplane.representation.encoders import encoder_for
from kubesched_controlplane.server.verbs.mutating import changed_at_creation, changed_at_update, context_of, preparation
from kubesched_controlplane.server.verbs.patching import patched_with_warnings
from kubesched_controlplane.server.verbs.reset_fields import fields_without_manager
from kubesched_controlplane.storage.store import Stored, in_order

MOST_NAMES_TRIED = 8
LONGEST_WARNINGS = 4096
_WARNING = re.compile(r'299 - "((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")


class WriteVerbs:
    """Answers create, update and patch."""

    def __init__(self, registry: ResourceRegistry) -> None:
        self._registry = registry

    # -- create

    def create(self, target: Target, request: Request) -> Response:
        """Store a new object."""
        dry_run = is_dry_run(request)
        document, warnings = self.decode(target.resource, request)
        stored = self.create_document(target, document, request, dry_run=dry_run)
        warnings += self._registry.strategy(target.resource).warnings(document, None)
        return self.answer(target.resource, request, stored, warnings, 201)

    def create_document(
        self,
        target: Target,
        document: Document,
        request: Request,
        *,
        dry_run: bool = False,
        managed_fields: ManagedFields | None = None,
    ) -> Stored:
        """Store a new object; return it as stored. Without `managed_fields` the request's manager owns its fields."""
        resource, registry = target.resource, self._registry
        # 1. The namespace.
        self._check_namespace(target, document)
        meta: Document = document["metadata"]
        if meta.get("resourceVersion"):
            raise bad_request("resourceVersion should not be set on objects to be created")
        context, strategy = context_of(registry, target, request), registry.strategy(resource)
        # 2. Metadata of the server, and mutating admission.
        fill_in(document, resource, registry)
        if request.attempt is not None:
            request.attempt.keep(meta)
        document = to_storage(resource, document)
        if strategy.has_status and "status" in resource.subresources:
            document.pop("status", None)
        if registry.admission.changes:
            prepare = partial(strategy.prepare_create, context=context)
            document = changed_at_creation(registry, target, request, document, prepare, dry_run=dry_run)
        meta = document["metadata"]
        # 3. The kind's rules.
        excluded = fields_without_manager(resource, document)
        strategy.prepare_create(document, context)
        # 4. Validation.
        problems = metadata_problems(document, strategy) + strategy.validate_create(document, context)
        if problems:
            raise invalid(resource, meta.get("name") or meta.get("generateName", ""), problems)
        # 5. Validating admission, limits and quotas.
        if not registry.admission.idle:
            registry.admission.check("CREATE", target, request, (document, None), dry_run=dry_run)
        settle = None if request.imported else registry.admit(document, None, context)
        # 6. Store it.
        if registry.store.get(resource.prefix, target.namespace, meta["name"]) is not None:
            raise already_exists(resource, meta["name"])
        if managed_fields is None:
            time = timestamp(context.now)
            managed_fields = managed_fields_of_new(
                registry.field_type(resource), target, request, document, excluded, time
            )
        stored = self._put(resource, document, strategy, managed_fields, dry_run=dry_run)
        if settle is not None and not dry_run:
            settle()
        return stored

    # -- update

    def update(self, target: Target, request: Request, strategy: Strategy | None = None) -> Response:
        """Replace an object or its status, by the kind's strategy or the given one."""
        resource, dry_run = target.resource, is_dry_run(request)
        document, warnings = self.decode(resource, request)
        self.check_place(target, document)
        strategy = strategy or self._registry.strategy(resource, target.subresource)
        old = self._registry.store.get(resource.prefix, target.namespace, target.name)
        if old is None:
            if not strategy.create_on_update or target.subresource:
                raise not_found(resource, target.name)
            if uid := document["metadata"].get("uid"):
                key = f"{target.namespace}/{target.name}"
                raise failed_precondition(resource, key, "UID", uid, "")
            document["metadata"].pop("resourceVersion", None)
            stored = self.create_document(target, document, request, dry_run=dry_run)
            return self.answer(resource, request, stored, warnings, 201)
        uid = document["metadata"].get("uid")
        if uid and uid != old.uid:
            raise failed_precondition(resource, old.key, "UID", uid, old.uid)
        stored = self.replace(target, to_storage(resource, document), old, request, strategy, dry_run=dry_run)
        warnings += strategy.warnings(document, old.document())
        return self.answer(resource, request, stored, warnings)

    def patch(self, target: Target, request: Request, strategy: Strategy | None = None) -> Response:
        """Patch an object or its status, by the kind's strategy or the given one."""
        resource, dry_run = target.resource, is_dry_run(request)
        old = self._registry.store.get(resource.prefix, target.namespace, target.name)
        if old is None:
            raise not_found(resource, target.name)
        current = from_storage(resource, old.document())
        if b"managedFields" in request.body:
            current["metadata"]["managedFields"] = as_documents(old.managed_fields)
        document, warnings = patched_with_warnings(
            self._registry.schemas, resource, current, request, field_validation(request)
        )
        self.check_place(target, document)
        warnings += without_repeated_owners(document, " after mutating admission happens")
        stored = self.replace(target, to_storage(resource, document), old, request, strategy, dry_run=dry_run)
        warnings += self._registry.strategy(resource).warnings(document, old.document())
        return self.answer(resource, request, stored, warnings)

    def change(
        self, target: Target, request: Request, change: Callable[[Document], None], *, dry_run: bool = False
    ) -> Stored:
        """Change an object on behalf of the server, without the kind's strategy and admission; return it as stored."""
        resource = target.resource
        old = self._registry.store.get(resource.prefix, target.namespace, target.name)
        if old is None:
            raise not_found(resource, target.name)
        document = old.document()
        change(document)
        return self._put(
            resource, document, self._registry.strategy(resource), old.managed_fields, old, dry_run=dry_run
        )

    def replace(
        self,
        target: Target,
        new: Document,
        old_stored: Stored,
        request: Request,
        strategy: Strategy | None = None,
        *,
        dry_run: bool = False,
        managed_fields: ManagedFields | None = None,
    ) -> Stored:
        """Store an updated object, by the kind's strategy or the given one; return it as stored.

        Without `managed_fields` the request's field manager owns the changed fields.
        """
        resource, registry = target.resource, self._registry
        strategy = strategy or registry.strategy(resource, target.subresource)
        context = context_of(registry, target, request)
        # defaults that a definition has got since are no change of the object
        old = resource.conversion.refreshed(old_stored.document())
        # 1. The resource version.
        _check_version(target, new, old_stored, strategy)
        # 2. Mutating admission, and metadata that a client cannot change.
        if registry.admission.changes:
            prepare = preparation(target, old, strategy, context)
            new = changed_at_update(registry, target, request, (new, old), prepare, dry_run=dry_run)
        entries = new["metadata"].pop("managedFields", None)
        problems = kept_metadata(new, old)
        # 3. The kind's rules.
        if target.subresource == "status":
            strategy.prepare_status(new, old, context)
            problems += strategy.validate_status(new, old, context)
        else:
            problems += self._update_by_rules(new, old, resource, strategy, context)
        # 4. Validation.
        problems += metadata_problems(new, strategy)
        if problems:
            raise invalid(resource, target.name, problems)
        # 5. Validating admission.
        if not registry.admission.idle:
            registry.admission.check("UPDATE", target, request, (new, old), dry_run=dry_run)
        # 6. Store it, or delete it if it is terminating and its last finalizer is removed.
        if _is_finished(new, strategy):
            return old_stored if dry_run else registry.store.remove(resource.prefix, old_stored, new)
        if managed_fields is None:
            managed_fields = (
                old_stored.managed_fields
                if target.subresource
                else entries_from_client(entries, old_stored.managed_fields)
            )
            managed_fields = managed_fields_after(
                registry.field_type(resource), target, request, (old, new), managed_fields, timestamp(context.now)
            )
        is_admitted = strategy.is_admitted or not target.subresource
        settle = registry.admit(new, old, context) if is_admitted else None
        stored = self._put(resource, new, strategy, managed_fields, old_stored, dry_run=dry_run)
        if settle is not None and not dry_run:
            settle()
        return stored

    def _update_by_rules(
        self, new: Document, old: Document, resource: Resource, strategy: Strategy, context: StrategyContext
    ) -> list[str]:
        if strategy.has_status and "status" in resource.subresources:
            new.pop("status", None)
            if "status" in old:
                new["status"] = old["status"]
        strategy.prepare_update(new, old, context)
        problems = strategy.validate_update(new, old, context)
        if strategy.has_generation and new.get("spec") != old.get("spec"):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
        return problems

    # -- shared

    def decode(self, resource: Resource, request: Request) -> tuple[Document, list[str]]:
        """Decode the object in a request's body by the schema; return it and warnings."""
        document, warnings = self._registry.schemas.decode(resource, request.body, field_validation(request))
        return document, [*warnings, *without_repeated_owners(document)]

    def check_place(self, target: Target, document: Document) -> None:
        """Raise ApiError unless an object has the namespace and the name of the path."""
        self._check_namespace(target, document)
        _check_name(target, document)

    def _check_namespace(self, target: Target, document: Document) -> None:
        """Raise ApiError unless an object has the namespace of the path and, if it is new, the namespace is active."""
        meta = document["metadata"]
        if not target.resource.namespaced:
            meta.pop("namespace", None)
            return
        check_namespace(meta, target.namespace)
        if target.verb == "create" and not target.subresource:
            check_namespace_is_open(self._registry, target.resource, target.namespace, meta.get("name", ""))

    def _put(
        self,
        resource: Resource,
        document: Document,
        strategy: Strategy,
        managed_fields: ManagedFields,
        old: Stored | None = None,
        *,
        dry_run: bool,
    ) -> Stored:
        document = resource.conversion.completed(document)
        fields = strategy.fields(document)
        meta = document["metadata"]
        if old is not None:
            meta["resourceVersion"] = str(old.version)
            if same(managed_fields, old.managed_fields) and document == old.document():
                return old
        if dry_run:
            version, body = old.version if old is not None else 0, msgspec.json.encode(in_order(document))
            return Stored(meta.get("namespace", ""), meta["name"], meta["uid"], version, {}, {}, body, managed_fields)
        return self._registry.store.put(resource.prefix, document, fields, managed_fields)

    def answer(
        self, resource: Resource, request: Request, stored: Stored, warnings: list[str], code: int = 200
    ) -> Response:
        """Return the response with an object, in the form that the client accepts, and warnings."""
        encoder = encoder_for(resource, request, self._registry.clock)
        return with_warnings(Response(code, (encoder.encode(stored),)), warnings)


def check_namespace(meta: dict[str, Any], namespace: str) -> None:
    """Set the namespace of the path in an object; raises ApiError if the object has another."""
    if (meta.get("namespace") or namespace) != namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    meta["namespace"] = namespace


def check_namespace_is_open(registry: ResourceRegistry, resource: Resource, namespace: str, name: str) -> None:
    """Raise ApiError if a namespace does not exist or is terminating."""
    namespaces = registry.catalog.find("", "v1", "namespaces")
    assert namespaces is not None
    found = registry.store.get(namespaces.prefix, "", namespace)
    if found is None:
        raise not_found(namespaces, namespace)
    if found.fields.get("status.phase") == "Terminating":
        why = f"unable to create new content in namespace {namespace} because it is being terminated"
        refusal = forbidden(resource, name, why)
        message = f"namespace {namespace} is being terminated"
        cause = {"reason": "NamespaceTerminating", "message": message, "field": "metadata.namespace"}
        refusal.details = {**(refusal.details or {}), "causes": [cause]}
        raise refusal


def with_warnings(response: Response, warnings: Sequence[str]) -> Response:
    """Return the response with Warning headers: quoted, and bounded in size."""
    # upstream: apiserver/pkg/endpoints/filters/warning.go, apimachinery/pkg/util/net/http.go (v1.36)
    found, size = [], 0
    for text in dict.fromkeys(warnings):
        size += len(text)
        if size > LONGEST_WARNINGS:
            break
        if all(character.isprintable() for character in text):
            escaped = text.replace("\\", "\\\\").replace('"', '\\"')
            found.append(f'299 - "{escaped}"')
    if found:
        earlier = response.headers.get("Warning")
        response.headers = {**response.headers, "Warning": ", ".join([earlier, *found] if earlier else found)}
    return response


def warnings_in(response: Response) -> list[str]:
    """Return the texts in the Warning headers of a response."""
    quoted = _WARNING.findall(response.headers.get("Warning", ""))
    return [_ESCAPED.sub(r"\1", text) for text in quoted]


def _check_name(target: Target, document: Document) -> None:
    """Raise ApiError unless an object has the name of the path."""
    name = document["metadata"].get("name", "")
    if name != target.name:
        text = f"the name of the object ({name}) does not match the name on the URL ({target.name})"
        nameless = f"the name of the object ({target.name} based on URL) was undeterminable: name must be provided"
        raise bad_request(text if name else nameless)


def _check_version(target: Target, new: Document, old: Stored, strategy: Strategy) -> None:
    """Raise ApiError 409 for an outdated resource version, 422 for none if the kind requires one."""
    version, resource = new["metadata"].get("resourceVersion") or "0", target.resource
    if version.isdecimal() and int(version) == 0:
        if strategy.unconditional_update:
            return
        problem = invalid_value("metadata.resourceVersion", 0, "must be specified for an update")
        # this error has the resource in place of the kind
        raise invalid(msgspec.structs.replace(resource, kind=resource.plural), target.name, [problem])
    if version != str(old.version):
        raise conflict(resource, target.name, MODIFIED_MEANWHILE)


def _is_finished(document: Document, strategy: Strategy) -> bool:
    """Return whether a terminating object can be deleted now: no finalizers and no grace period are left."""
    meta = document["metadata"]
    if not meta.get("deletionTimestamp") or meta.get("finalizers") or strategy.is_held(document):
        return False
    return not meta.get("deletionGracePeriodSeconds")
