"""The strategy of a kind: defaults, validation, selectable fields, deletion.

From verbs to documents (dicts as JSON has them, owned by the request and changed in place). `Strategy` holds the rules
that every kind shares; a kind with special rules overrides some. Problems are sentences of `api.field_errors`; a
request that is forbidden rather than malformed raises `ApiError`.
"""

# upstream: apiserver/pkg/registry/rest/{create,update,delete}.go, registry/*/strategy.go (v1.36)

from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec

from kubesched.api.labels import subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import User
from kubesched_controlplane.api.resources import Catalog, Resource
from kubesched_controlplane.storage.store import Store, Stored


class StrategyContext(msgspec.Struct, frozen=True):
    """The context of a strategy, which must not write to the store."""

    resource: Resource
    store: Store
    catalog: Catalog
    user: User
    now: datetime
    # the object comes from a cluster that has admitted it, so rules about other objects are not applied
    imported: bool = False
    # the verb of the request: update or patch
    verb: str = ""
    # why the user may not do this, an empty text if allowed: verb, subresource, namespace, name
    refusal: Callable[[str, str, str, str], str] = lambda *what: ""

    def find(self, prefix: str, namespace: str, name: str) -> Document | None:
        """Return a copy of another object, None if it does not exist."""
        found = self.store.get(prefix, namespace, name)
        return None if found is None else found.document()


class Strategy:
    """The strategy that every kind shares."""

    # PUT of an object that does not exist creates it
    create_on_update = False
    # PUT without a resource version is not refused
    unconditional_update = True
    # the status is written through the status subresource alone
    has_status = True
    # spec changes increment metadata.generation
    has_generation = True
    # the last state of an object that is deleted at once has a deletionTimestamp, for watches
    marks_deletion = False
    # a delete is answered with the object, not with a Status
    returns_deleted = False
    # the default propagation policy; None: no policy may be given
    propagation: str | None = "Background"
    # the warning for deletes without a propagation policy
    propagation_warning = ""
    # finalizers are the standard ones or have a domain before them
    qualifies_finalizers = True
    # changes by the rules of a subresource are admitted as changes of the object are (quotas, limit ranges)
    is_admitted = False

    def name_problems(self, name: str) -> tuple[str, ...]:
        """Return the problems of a name."""
        return subdomain_problems(name)

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults and drop fields that a client may not set; raises ApiError if the request is forbidden."""

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new object."""
        return []

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Set defaults, and keep the old object's values of fields that a client may not change."""

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        return []

    def warnings(self, new: Document, old: Document | None) -> list[str]:
        """Return warnings about a valid object; `old` is None if it is new."""
        return []

    def prepare_status(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Restore all fields of the old object except status and metadata."""
        for field in {*new, *old} - {"metadata", "status", "kind", "apiVersion"}:
            if field in old:
                new[field] = old[field]
            else:
                del new[field]

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        return []

    def fields(self, document: Document) -> dict[str, str]:
        """Return the values for field selectors, besides name and namespace."""
        return {}

    def selectable(self) -> frozenset[str]:
        """Return the names of the fields that field selectors may use."""
        return frozenset(self.fields({"metadata": {}}))

    def field_of(self, stored: Stored, field: str) -> str:
        """Return the value of a selectable field of an object."""
        return stored.fields.get(field, "")

    def kept_field(self, field: str, resource: Resource) -> str:
        """Return the selectable field for the name that a version of the resource gives to it."""
        return field

    def grace_seconds(self, document: Document, wanted: int | None) -> int:
        """Return the grace period of a deletion in seconds; 0 removes the object at once."""
        return 0

    def check_delete(self, stored: Stored, context: StrategyContext) -> None:
        """Raise ApiError if an object may not be deleted."""

    def begin_delete(self, document: Document) -> None:
        """Change an object when its grace period begins."""

    def is_held(self, document: Document) -> bool:
        """Return whether the deletion of a terminating object waits for more than its metadata.finalizers."""
        return False


Strategies = Mapping[str, Strategy]
