"""Mutating admission: policies and webhooks see the object with its defaults and may change it before it is stored.

From the object of a client to the mutated one, to which the kind's strategy is then applied.
"""

# upstream: apiserver/pkg/endpoints/handlers/{create,update,patch}.go (mutating admission) (v1.36)

from collections.abc import Callable
from copy import deepcopy

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import Request, Target
from kubesched_controlplane.conversion import from_storage, to_storage
from kubesched_controlplane.registry.metadata import kept_metadata
from kubesched_controlplane.registry.registry import ResourceRegistry
from kubesched_controlplane.registry.strategy import Strategy, StrategyContext
from kubesched_controlplane.schema import IGNORE

# metadata of a new object that admission cannot change
_OWN = ("uid", "creationTimestamp", "name", "namespace", "generation")
Prepare = Callable[[Document], None]


def context_of(registry: ResourceRegistry, target: Target, request: Request) -> StrategyContext:
    """Return the context of a strategy; a retried request keeps the time of its first attempt."""
    context = registry.context(target.resource, request.user, target.verb, imported=request.imported)
    return context if request.attempt is None else msgspec.structs.replace(context, now=request.attempt.now)


def changed_at_creation(
    registry: ResourceRegistry, target: Target, request: Request, document: Document, prepare: Prepare, *, dry_run: bool
) -> Document:
    """Return a new object after mutating admission; raises ApiError, WebhookCallsNeededError."""
    shown = deepcopy(document)
    prepare(shown)
    found = registry.admission.change("CREATE", target, request, (shown, None), dry_run=dry_run)
    if found is None:
        return document
    meta = found.setdefault("metadata", {})
    meta |= {field: document["metadata"][field] for field in _OWN if field in document["metadata"]}
    return _read(registry, target, found)


def changed_at_update(
    registry: ResourceRegistry,
    target: Target,
    request: Request,
    objects: tuple[Document, Document],
    prepare: Prepare,
    *,
    dry_run: bool,
) -> Document:
    """Return an updated object after mutating admission; raises ApiError, WebhookCallsNeededError."""
    new, old = objects
    shown = deepcopy(new)
    entries = shown["metadata"].pop("managedFields", None)
    kept_metadata(shown, old)
    prepare(shown)
    found = registry.admission.change("UPDATE", target, request, (shown, old), dry_run=dry_run)
    if found is None:
        return new
    found = _read(registry, target, found)
    if entries is not None:
        found["metadata"]["managedFields"] = entries
    return found


def preparation(target: Target, old: Document, strategy: Strategy, context: StrategyContext) -> Prepare:
    """Return the function that applies the strategy's preparation of an update, or of a status update."""
    rules = strategy.prepare_status if target.subresource == "status" else strategy.prepare_update
    return lambda document: rules(document, old, context)


def _read(registry: ResourceRegistry, target: Target, document: Document) -> Document:
    """Decode a mutated document by the schema of its kind; raises ApiError if it does not match."""
    resource = target.resource
    found, _ = registry.schemas.check(resource, from_storage(resource, document), IGNORE)
    return to_storage(resource, found)
