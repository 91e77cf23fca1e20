"""Delete and deletecollection: at once, after a while, or when the last finalizer is gone.

From delete options to objects that are removed, or marked as going.
"""

# upstream: apiserver/pkg/registry/rest/delete.go, pkg/registry/generic/registry/store.go (v1.36)

from datetime import timedelta

import msgspec

from kubesched.controlplane.forms import form_of
from kubesched.controlplane.reading import Reading
from kubesched.controlplane.requests import Request, Response, Target, answer
from kubesched.controlplane.resources import Resource
from kubesched.controlplane.selecting import matcher
from kubesched.controlplane.services import Services, timestamp
from kubesched.controlplane.statuses import bad_request, conflict, not_found
from kubesched.controlplane.store import Stored
from kubesched.controlplane.writing import is_dry_run


class Preconditions(msgspec.Struct, rename="camel"):
    """What must be true of the object."""

    uid: str | None = None
    resource_version: str | None = None


class DeleteOptions(msgspec.Struct, rename="camel"):
    """How something is deleted."""

    kind: str | None = None
    api_version: str | None = None
    grace_period_seconds: int | None = None
    preconditions: Preconditions | None = None
    orphan_dependents: bool | None = None
    propagation_policy: str | None = None
    dry_run: list[str] | None = None
    ignore_store_read_error_with_cluster_breaking_potential: bool | None = None


class Deleting:
    """Answers delete and deletecollection."""

    def __init__(self, services: Services, reading: Reading) -> None:
        self._services = services
        self._reading = reading

    def delete(self, target: Target, request: Request) -> Response:
        """Delete one object; return it if it goes on for a while, or a Status."""
        resource = target.resource
        stored = self._services.store.get(resource.store, target.namespace, target.name)
        if stored is None:
            raise not_found(resource, target.name)
        options = read_options(request)
        left = self.delete_object(resource, stored, options, request)
        if left is not None:
            return Response(200, (form_of(resource).encode(left),))
        details = {"name": stored.name, "kind": resource.plural, "uid": stored.uid}
        if resource.group:
            details["group"] = resource.group
        return answer({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})

    def delete_collection(self, target: Target, request: Request) -> Response:
        """Delete all objects that a request selects; return them as they were."""
        resource = target.resource
        options = read_options(request)
        listed = self._reading.list_objects(target, request)
        matches = matcher(request, target, self._services.strategy(resource))
        for stored in self._services.store.set_of(resource.store).in_order(target.namespace):
            if matches is None or matches(stored):
                self.delete_object(resource, stored, options, request)
        return listed

    def delete_object(
        self, resource: Resource, stored: Stored, options: DeleteOptions, request: Request
    ) -> Stored | None:
        """Delete an object; return it if it goes on for a while, None if it is gone."""
        services = self._services
        strategy = services.strategy(resource)
        _check_preconditions(resource, stored, options.preconditions)
        strategy.check_delete(stored, services.context(resource, request.user))
        document = stored.document()
        meta = document["metadata"]
        grace = strategy.grace_seconds(document, options.grace_period_seconds)
        going = meta.get("deletionTimestamp")
        if going:
            grace = min(grace, meta.get("deletionGracePeriodSeconds", 0))
        dry_run = is_dry_run(request) or bool(options.dry_run)
        if not grace and not meta.get("finalizers"):
            if not dry_run:
                services.store.remove(resource.store, stored)
            return None
        if going and grace == meta.get("deletionGracePeriodSeconds", 0):
            return stored
        meta["deletionTimestamp"] = timestamp(services.clock() + timedelta(seconds=grace))
        meta["deletionGracePeriodSeconds"] = grace
        if strategy.has_generation and not going and "generation" in meta:
            meta["generation"] += 1
        if dry_run:
            return stored
        return services.store.put(resource.store, document, strategy.fields(document))


def read_options(request: Request) -> DeleteOptions:
    """Return the options of a delete request, from its body or its query."""
    if request.body.strip():
        try:
            options = msgspec.json.decode(request.body, type=DeleteOptions)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise bad_request(f"the body is no DeleteOptions: {error}") from None
        if options.kind not in (None, "", "DeleteOptions"):
            raise bad_request(f"decoded object cannot be converted to DeleteOptions: it is a {options.kind}")
    else:
        options = DeleteOptions()
        options.grace_period_seconds = request.whole("gracePeriodSeconds")
        options.propagation_policy = request.option("propagationPolicy") or None
    if options.grace_period_seconds is not None and options.grace_period_seconds < 0:
        options.grace_period_seconds = 1
    policy = options.propagation_policy
    if policy not in (None, "Orphan", "Background", "Foreground"):
        shown = '"Foreground", "Background", "Orphan"'
        raise bad_request(f'propagationPolicy: Unsupported value: "{policy}": supported values: {shown}')
    return options


def _check_preconditions(resource: Resource, stored: Stored, wanted: Preconditions | None) -> None:
    if wanted is None:
        return
    if wanted.uid is not None and wanted.uid != stored.uid:
        why = f"Precondition failed: UID in precondition: {wanted.uid}, UID in object meta: {stored.uid}"
        raise conflict(resource, stored.name, why)
    if wanted.resource_version is not None and wanted.resource_version != str(stored.version):
        why = (
            f"Precondition failed: ResourceVersion in precondition: {wanted.resource_version}, "
            f"ResourceVersion in object meta: {stored.version}"
        )
        raise conflict(resource, stored.name, why)
