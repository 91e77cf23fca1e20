"""Delete and deletecollection: at once, after a grace period, or when the last finalizer is removed.

From delete options to objects that are removed, or terminating.
"""

# upstream: apiserver/pkg/registry/rest/delete.go, pkg/registry/generic/registry/store.go (v1.36)

from datetime import datetime, timedelta

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.object_meta import FIRST_DEPENDENTS, ORPHANS
from kubesched_controlplane.api.requests import Request, Response, Target, answer
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import conflict, not_found
from kubesched_controlplane.api.times import moment, timestamp
from kubesched_controlplane.registry.registry import ResourceRegistry
from kubesched_controlplane.registry.selectors import matcher
from kubesched_controlplane.registry.strategy import Strategy
from kubesched_controlplane.representation.encoders import encoder_for
from kubesched_controlplane.server.verbs.delete_options import (
    BACKGROUND,
    FOREGROUND,
    ORPHAN,
    DeleteOptions,
    Preconditions,
    read_options,
)
from kubesched_controlplane.server.verbs.reading import ReadVerbs
from kubesched_controlplane.server.verbs.writing import with_warnings
from kubesched_controlplane.storage.store import Stored

# differs (D-145): in the reference a larger number overflows into the past; no client waits for so long a time
LONGEST_GRACE = 2**31 - 1
# the finalizers under which the garbage collector handles dependents
_FINALIZERS = {ORPHAN: ORPHANS, FOREGROUND: FIRST_DEPENDENTS}


class DeleteVerbs:
    """Answers delete and deletecollection."""

    def __init__(self, registry: ResourceRegistry, reading: ReadVerbs) -> None:
        self._registry = registry
        self._reading = reading

    def delete(self, target: Target, request: Request) -> Response:
        """Delete an object; return it if it is terminating or its strategy returns deleted objects, else a Status."""
        resource, options = target.resource, read_options(self._registry.schemas, request)
        stored = self._registry.store.get(resource.prefix, target.namespace, target.name)
        if stored is None:
            raise not_found(resource, target.name)
        strategy = self._registry.strategy(resource)
        self._check_admitted(resource, stored, options, request)
        last, gone = self.delete_object(resource, stored, options, request)
        unsaid = options.propagation_policy is None and options.orphan_dependents is None
        warnings = [strategy.propagation_warning] if strategy.propagation_warning and unsaid else []
        if not gone or strategy.returns_deleted:
            encoder = encoder_for(resource, request, self._registry.clock)
            return with_warnings(Response(200, (encoder.encode(last),)), warnings)
        details = {"name": stored.name, "kind": resource.plural, "uid": stored.uid}
        if resource.group:
            details["group"] = resource.group
        return answer({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})

    def delete_collection(self, target: Target, request: Request) -> Response:
        """Delete all objects that a request selects; return the list of their former states."""
        resource = target.resource
        options = read_options(self._registry.schemas, request)
        listed = self._reading.list_objects(target, request)
        matches = matcher(request, target, self._registry.strategy(resource))
        everything = self._registry.store.set_of(resource.prefix).in_order(target.namespace)
        chosen = [stored for stored in everything if matches is None or matches(stored)]
        # all are admitted before the first is deleted: a webhook call interrupts the verb, which then starts anew
        for stored in chosen:
            self._check_admitted(resource, stored, options, request)
        for stored in chosen:
            self.delete_object(resource, stored, options, request)
        return listed

    def _check_admitted(self, resource: Resource, stored: Stored, options: DeleteOptions, request: Request) -> None:
        """Raise ApiError if admission denies the deletion."""
        admission = self._registry.admission
        if not admission.idle:
            place = Target("delete", resource, stored.namespace, stored.name)
            objects = None, stored.document()
            admission.change("DELETE", place, request, objects, dry_run=bool(options.dry_run))
            admission.check("DELETE", place, request, objects, dry_run=bool(options.dry_run))

    def delete_object(
        self, resource: Resource, stored: Stored, options: DeleteOptions, request: Request
    ) -> tuple[Stored, bool]:
        """Delete an object or set its deletion timestamp; return its last state, and whether it is deleted."""
        registry = self._registry
        strategy = registry.strategy(resource)
        check_preconditions(resource, stored, options.preconditions)
        strategy.check_delete(stored, registry.context(resource, request.user))
        document = stored.document()
        meta = document["metadata"]
        pending = bool(meta.get("deletionTimestamp") and meta.get("deletionGracePeriodSeconds"))
        changed = _set_grace(document, strategy, options.grace_period_seconds, registry.clock())
        if changed or not pending:
            changed |= _set_propagation(document, strategy, options)
        waits = meta["deletionGracePeriodSeconds"] or meta.get("finalizers") or strategy.is_held(document)
        if options.dry_run:
            return msgspec.structs.replace(stored, body=msgspec.json.encode(document)), not waits
        if changed and (waits or strategy.marks_deletion):
            stored = registry.store.put(resource.prefix, document, strategy.fields(document))
        return (stored, False) if waits else (registry.store.remove(resource.prefix, stored), True)


def _set_propagation(document: Document, strategy: Strategy, options: DeleteOptions) -> bool:
    """Set the finalizer of the propagation policy; return whether the finalizers changed.

    The policy is that of the options, else of an existing finalizer, else the default; Background has no finalizer.
    """
    finalizers = document["metadata"].get("finalizers") or []
    policy = strategy.propagation
    if policy is not None:
        policy = next((name for name, finalizer in _FINALIZERS.items() if finalizer in finalizers), policy)
        if options.orphan_dependents is not None:
            policy = ORPHAN if options.orphan_dependents else BACKGROUND
        elif options.propagation_policy is not None:
            policy = options.propagation_policy
    wanted = [each for each in finalizers if each not in _FINALIZERS.values()]
    if policy in _FINALIZERS:
        wanted.append(_FINALIZERS[policy])
    if set(wanted) == set(finalizers):
        return False
    document["metadata"]["finalizers"] = wanted
    if not wanted:
        del document["metadata"]["finalizers"]
    return True


def _set_grace(document: Document, strategy: Strategy, wanted: int | None, now: datetime) -> bool:
    """Set the deletion timestamp and grace period; return whether they changed. Later deletions can only shorten it."""
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
        # the shorter period is over already: it becomes one second, unless it is zero
        end, wanted = now, min(wanted, 1)
    meta["deletionTimestamp"] = timestamp(end)
    meta["deletionGracePeriodSeconds"] = wanted
    return True


def check_preconditions(resource: Resource, stored: Stored, wanted: Preconditions | None) -> None:
    """Raise ApiError unless an object meets the preconditions."""
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
