"""Objects as others change them before they are stored: those who are configured see them with everything filled in.

From an object that a client sends to the same or another one, which then goes through the kind's rules like any.
"""

# upstream: apiserver/pkg/endpoints/handlers/{create,update,patch}.go (mutating admission) (v1.36)

from collections.abc import Callable
from copy import deepcopy

import msgspec

from kubesched.controlplane.api.documents import Document
from kubesched.controlplane.api.requests import Request, Target
from kubesched.controlplane.conversion import from_storage, to_storage
from kubesched.controlplane.registry.metadata import kept_metadata
from kubesched.controlplane.registry.registry import Services
from kubesched.controlplane.registry.strategy import Context, Strategy
from kubesched.controlplane.schema import IGNORE

# what the server alone says of a new object
_OWN = ("uid", "creationTimestamp", "name", "namespace", "generation")
Prepare = Callable[[Document], None]


def context_of(services: Services, target: Target, request: Request) -> Context:
    """Return what a strategy may look at; a request that is tried again has the time at which it was tried first."""
    context = services.context(target.resource, request.user, target.verb, imported=request.imported)
    return context if request.trial is None else msgspec.structs.replace(context, now=request.trial.now)


def changed_at_creation(
    services: Services, target: Target, request: Request, document: Document, prepare: Prepare, *, dry_run: bool
) -> Document:
    """Return a new object as others want it; raises ApiError, UnansweredError."""
    shown = deepcopy(document)
    prepare(shown)
    found = services.admission.change("CREATE", target, request, (shown, None), dry_run=dry_run)
    if found is None:
        return document
    meta = found.setdefault("metadata", {})
    meta |= {field: document["metadata"][field] for field in _OWN if field in document["metadata"]}
    return _read(services, target, found)


def changed_at_update(
    services: Services,
    target: Target,
    request: Request,
    objects: tuple[Document, Document],
    prepare: Prepare,
    *,
    dry_run: bool,
) -> Document:
    """Return a changed object as others want it; raises ApiError, UnansweredError."""
    new, old = objects
    shown = deepcopy(new)
    entries = shown["metadata"].pop("managedFields", None)
    kept_metadata(shown, old)
    prepare(shown)
    found = services.admission.change("UPDATE", target, request, (shown, old), dry_run=dry_run)
    if found is None:
        return new
    found = _read(services, target, found)
    if entries is not None:
        found["metadata"]["managedFields"] = entries
    return found


def preparation(target: Target, old: Document, strategy: Strategy, context: Context) -> Prepare:
    """Return what fills in a changed object, or its status."""
    rules = strategy.prepare_status if target.subresource == "status" else strategy.prepare_update
    return lambda document: rules(document, old, context)


def _read(services: Services, target: Target, document: Document) -> Document:
    """Return a document that others have put together, with the shape of its kind."""
    resource = target.resource
    found, _ = services.schemas.check(resource, from_storage(resource, document), IGNORE)
    return to_storage(resource, found)
