"""Delete and deletecollection: at once, after a while, or when the last finalizer is gone.

From delete options to objects that are removed, or marked as going.
"""

# upstream: apiserver/pkg/registry/rest/delete.go, pkg/registry/generic/registry/store.go (v1.36)

from datetime import datetime, timedelta

import msgspec

from kubesched.controlplane.forms import form_of
from kubesched.controlplane.reading import Reading
from kubesched.controlplane.requests import Request, Response, Target, answer
from kubesched.controlplane.resources import Resource
from kubesched.controlplane.selecting import matcher
from kubesched.controlplane.services import Services, moment, timestamp
from kubesched.controlplane.statuses import bad_request, conflict, not_found
from kubesched.controlplane.store import Document, Stored
from kubesched.controlplane.strategy import Strategy
from kubesched.controlplane.writing import is_dry_run

# differs: the reference overflows into the past; nobody waits longer than this
LONGEST_GRACE = 2**31 - 1


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
        """Delete one object; return it if it goes on for a while or its kind is answered so, else a Status."""
        resource = target.resource
        stored = self._services.store.get(resource.store, target.namespace, target.name)
        if stored is None:
            raise not_found(resource, target.name)
        last, gone = self.delete_object(resource, stored, read_options(request), request)
        if not gone or self._services.strategy(resource).returns_deleted:
            return Response(200, (form_of(resource).encode(last),))
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
    ) -> tuple[Stored, bool]:
        """Delete an object; return it as it is now or was last, and whether it is gone."""
        services = self._services
        strategy = services.strategy(resource)
        check_preconditions(resource, stored, options.preconditions)
        strategy.check_delete(stored, services.context(resource, request.user))
        dry_run = is_dry_run(request) or bool(options.dry_run)
        document = stored.document()
        meta = document["metadata"]
        changed = _set_grace(document, strategy, options.grace_period_seconds, services.clock())
        waits = meta["deletionGracePeriodSeconds"] or meta.get("finalizers") or strategy.is_held(document)
        if dry_run:
            return msgspec.structs.replace(stored, body=msgspec.json.encode(document)), not waits
        if changed and (waits or strategy.marks_deletion):
            stored = services.store.put(resource.store, document, strategy.fields(document))
        return (stored, False) if waits else (services.store.remove(resource.store, stored), True)


def _set_grace(document: Document, strategy: Strategy, wanted: int | None, now: datetime) -> bool:
    """Write into an object how long it goes on; return whether that is news. Later deletions can only shorten it."""
    meta = document["metadata"]
    left = meta.get("deletionGracePeriodSeconds") or 0
    if not meta.get("deletionTimestamp"):
        grace = strategy.grace_seconds(document, wanted)
        meta["deletionTimestamp"] = timestamp(now + timedelta(seconds=min(grace, LONGEST_GRACE)))
        meta["deletionGracePeriodSeconds"] = grace
        strategy.begin_delete(document)
        if strategy.has_generation and "generation" in meta:
            meta["generation"] += 1
        return True
    if not left or wanted is None or wanted >= left:
        meta["deletionGracePeriodSeconds"] = left
        return False
    end = moment(meta["deletionTimestamp"]) + timedelta(seconds=min(wanted, LONGEST_GRACE) - min(left, LONGEST_GRACE))
    if end < now:
        # the shorter period is over already; whoever waits for it is still told, unless nobody shall wait
        end, wanted = now, min(wanted, 1)
    meta["deletionTimestamp"] = timestamp(end)
    meta["deletionGracePeriodSeconds"] = wanted
    return True


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


def check_preconditions(resource: Resource, stored: Stored, wanted: Preconditions | None) -> None:
    """Raise ApiError unless an object is the one that is meant."""
    if wanted is None:
        return
    kind = msgspec.structs.replace(resource, plural=resource.kind)
    if wanted.uid is not None and wanted.uid != stored.uid:
        why = (
            f"the UID in the precondition ({wanted.uid}) does not match the UID in record ({stored.uid}). "
            "The object might have been deleted and then recreated"
        )
        raise conflict(kind, stored.name, why)
    if wanted.resource_version is not None and wanted.resource_version != str(stored.version):
        why = (
            f"the ResourceVersion in the precondition ({wanted.resource_version}) does not match the ResourceVersion "
            f"in record ({stored.version}). The object might have been modified"
        )
        raise conflict(kind, stored.name, why)
