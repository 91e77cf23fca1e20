"""Who is asked before an object is stored: policies as they are configured at the moment.

From a request that is being carried out to a refusal or to nothing. Where nothing is configured, nothing is looked at.
"""

# upstream: apiserver/pkg/admission/{chain,reinvocation}.go (v1.36)

from __future__ import annotations

from kubesched.controlplane.admission.attributes import DELETE, Asked
from kubesched.controlplane.admission.authorizing import Decide
from kubesched.controlplane.admission.matching import Around, is_exempt
from kubesched.controlplane.admission.parameters import Parameters
from kubesched.controlplane.admission.reviewing import Grounds, Review
from kubesched.controlplane.admission.validating_policies import ValidatingPolicies
from kubesched.controlplane.requests import Request, Target
from kubesched.controlplane.resources import Catalog
from kubesched.controlplane.services import Objects
from kubesched.controlplane.store import Change, Store

_GROUP = "admissionregistration.k8s.io"
_POLICIES, _BINDINGS = f"validatingadmissionpolicies.{_GROUP}", f"validatingadmissionpolicybindings.{_GROUP}"


class Chain:
    """Asks whoever is configured; `idle` is true while nobody is."""

    def __init__(self, store: Store, catalog: Catalog, decide: Decide) -> None:
        self._store = store
        self._grounds = Grounds(Around(store, catalog), Parameters(store, catalog), decide)
        self._policies: ValidatingPolicies | None = None
        self.idle = True
        for name in (_POLICIES, _BINDINGS):
            store.watch(name, self._changed)
        self._look()

    def _changed(self, change: Change) -> None:
        self._policies = None
        self._look()

    def _look(self) -> None:
        """See whether anything is configured; it is compiled when it is first asked."""
        self.idle = not len(self._store.set_of(_BINDINGS))

    def check(self, operation: str, place: Target, request: Request, objects: Objects, *, dry_run: bool) -> None:
        """Raise ApiError if an operation on an object is not admitted."""
        # what was admitted elsewhere is not asked about again
        if is_exempt(place.resource) or request.imported:
            return
        new, old = objects
        meta = (new or {}).get("metadata") or {}
        name = place.name or meta.get("name") or ""
        asked = Asked(operation, place, request, name, dry_run)
        review = Review(asked, None if operation == DELETE else new, old, self._grounds)
        self._validating().check(review)

    def _validating(self) -> ValidatingPolicies:
        if self._policies is None:
            policies, bindings = (
                [stored.document() for stored in self._store.set_of(name).in_order()] for name in (_POLICIES, _BINDINGS)
            )
            self._policies = ValidatingPolicies(policies, bindings)
        return self._policies
