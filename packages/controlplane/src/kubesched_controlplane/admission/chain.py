"""The admission chain: the configured policies and webhooks run before an object is stored.

    object ──▶ policies, webhooks that change it ──▶ the kind's rules ──▶ policies, webhooks that check it ──▶ quotas

From a request to a changed object, to a denial or to nothing. Without configured policies and webhooks the chain is
idle.
"""

# upstream: apiserver/pkg/admission/{chain,reinvocation}.go (v1.36)

from __future__ import annotations

from kubesched_controlplane.admission.attributes import AdmissionAttributes
from kubesched_controlplane.admission.authorizing import Decide
from kubesched_controlplane.admission.matching import MatchContext, is_exempt
from kubesched_controlplane.admission.mutating_policies import MutatingPolicies
from kubesched_controlplane.admission.parameters import Parameters
from kubesched_controlplane.admission.reviewing import Review, ReviewContext, TypeOf
from kubesched_controlplane.admission.validating_policies import ValidatingPolicies
from kubesched_controlplane.admission.webhooks import Changing, Webhook, ask_all, webhooks_of, without_later
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import Request, Target
from kubesched_controlplane.api.resources import Catalog
from kubesched_controlplane.registry.registry import Objects
from kubesched_controlplane.storage.store import Change, Store

_GROUP = "admissionregistration.k8s.io"
_POLICIES, _BINDINGS = f"validatingadmissionpolicies.{_GROUP}", f"validatingadmissionpolicybindings.{_GROUP}"
_CHANGES, _CHANGE_BINDINGS = f"mutatingadmissionpolicies.{_GROUP}", f"mutatingadmissionpolicybindings.{_GROUP}"
_CHANGING, _CHECKING = f"mutatingwebhookconfigurations.{_GROUP}", f"validatingwebhookconfigurations.{_GROUP}"


class Chain:
    """Runs policies and webhooks; `idle` while there are none, `changes` while one may mutate objects."""

    def __init__(self, store: Store, catalog: Catalog, field_type: TypeOf, decide: Decide) -> None:
        self._store = store
        self._context = ReviewContext(MatchContext(store, catalog), Parameters(store, catalog), decide, field_type)
        self.idle, self.changes = True, False
        self._configured: _Configured | None = None
        for name in (_POLICIES, _BINDINGS, _CHANGES, _CHANGE_BINDINGS, _CHANGING, _CHECKING):
            store.watch(name, self._changed)
        self._look()

    def _changed(self, change: Change) -> None:
        self._configured = None
        self._look()

    def _look(self) -> None:
        """Update `idle` and `changes`; policies are compiled later, by the first request that needs them."""
        self.changes = any(len(self._store.set_of(name)) for name in (_CHANGING, _CHANGE_BINDINGS))
        self.idle = not (self.changes or any(len(self._store.set_of(name)) for name in (_BINDINGS, _CHECKING)))

    def change(
        self, operation: str, place: Target, request: Request, objects: Objects, *, dry_run: bool
    ) -> Document | None:
        """Return the object as admission changes it, None if unchanged; raises ApiError, WebhookCallsNeededError."""
        if is_exempt(place.resource) or request.imported or not self.changes:
            return None
        new, old = objects
        if new is not None and operation == "CREATE" and not place.subresource:
            new = without_later(new, named=bool(place.name or not new["metadata"].get("generateName")))
        configured = self._now()
        review = before = self._review(operation, place, request, (new, old), dry_run=dry_run)
        review = configured.changes.changed(review)
        found = Changing(configured.changing, review).outcome()
        if found is not None:
            review = review.with_new(found)
        if review.new != before.new:
            review = configured.changes.changed(review, again=True)
        return None if review.new == before.new else review.new

    def check(self, operation: str, place: Target, request: Request, objects: Objects, *, dry_run: bool) -> None:
        """Raise ApiError if an operation is not admitted, WebhookCallsNeededError if webhooks must be called first."""
        # objects of another cluster have been admitted there
        if is_exempt(place.resource) or request.imported:
            return
        review, configured = self._review(operation, place, request, objects, dry_run=dry_run), self._now()
        configured.policies.check(review)
        ask_all(configured.checking, review)

    def _review(self, operation: str, place: Target, request: Request, objects: Objects, *, dry_run: bool) -> Review:
        new, old = objects
        meta = (new or {}).get("metadata") or {}
        name = place.name or meta.get("name") or ""
        return Review(AdmissionAttributes(operation, place, request, name, dry_run), new, old, self._context)

    def _now(self) -> _Configured:
        if self._configured is None:
            self._configured = _Configured(self._store)
        return self._configured


class _Configured:
    """The compiled policies, and the webhooks."""

    def __init__(self, store: Store) -> None:
        def of(name: str) -> list[Document]:
            return [stored.document() for stored in store.set_of(name).in_order()]

        self.policies = ValidatingPolicies(of(_POLICIES), of(_BINDINGS))
        self.changes = MutatingPolicies(of(_CHANGES), of(_CHANGE_BINDINGS))
        self.changing: list[Webhook] = webhooks_of(of(_CHANGING))
        self.checking: list[Webhook] = webhooks_of(of(_CHECKING))
