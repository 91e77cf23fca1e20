"""The strategy of a kind: defaults, validation, selectable fields, deletion.

From verbs to documents (dicts as JSON has them, owned by the request and changed in place). `Strategy` holds the rules
that every kind shares; a kind with rules of its own overrides some. Problems are sentences of `api.field_errors`;
what is forbidden rather than malformed is raised as an `ApiError`.
"""

# upstream: apiserver/pkg/registry/rest/{create,update,delete}.go, registry/*/strategy.go (v1.36)

from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec

from kubesched.api.labels import subdomain_problems
from kubesched.controlplane.api.documents import Document
from kubesched.controlplane.api.requests import User
from kubesched.controlplane.api.resources import Catalog, Resource
from kubesched.controlplane.storage.store import Store, Stored


class StrategyContext(msgspec.Struct, frozen=True):
    """What a strategy may read besides the document; it writes nothing."""

    resource: Resource
    store: Store
    catalog: Catalog
    user: User
    now: datetime
    # the object comes from a cluster that has admitted it: it stays as it is, whatever other objects say here
    imported: bool = False
    # what is asked: update, or patch
    verb: str = ""
    # why they may not do something else, an empty text if they may: verb, subresource, namespace, name
    refusal: Callable[[str, str, str, str], str] = lambda *what: ""

    def find(self, prefix: str, namespace: str, name: str) -> Document | None:
        """Return another object, a copy."""
        found = self.store.get(prefix, namespace, name)
        return None if found is None else found.document()


class Strategy:
    """The strategy that every kind shares."""

    # PUT of an object that does not exist creates it
    create_on_update = False
    # PUT without a resource version is not refused
    unconditional_update = True
    # the status is written through its own path alone
    has_status = True
    # spec changes count generations
    has_generation = True
    # an object that is removed at once gets a deletionTimestamp first, for watches
    marks_deletion = False
    # a delete is answered with the object, not with a Status
    returns_deleted = False
    # the default propagation policy; None: no policy may be given
    propagation: str | None = "Background"
    # the warning for deletes without a propagation policy
    propagation_warning = ""
    # changes by the rules of a subresource are admitted as changes of the object are (quotas, limit ranges)
    is_admitted = False

    def name_problems(self, name: str) -> tuple[str, ...]:
        """Return the problems of a name."""
        return subdomain_problems(name)

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults and drop fields that a client may not set; raises ApiError for what is forbidden."""

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
        """Keep everything as it was but status and metadata."""
        for field in {*new, *old} - {"metadata", "status", "kind", "apiVersion"}:
            if field in old:
                new[field] = old[field]
            else:
                del new[field]

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        return []

    def fields(self, document: Document) -> dict[str, str]:
        """Return the fields that selectors may ask about, besides name and namespace."""
        return {}

    def selectable(self) -> frozenset[str]:
        """Return the names of those fields."""
        return frozenset(self.fields({"metadata": {}}))

    def field_of(self, stored: Stored, field: str) -> str:
        """Return the value of one of those fields."""
        return stored.fields.get(field, "")

    def kept_field(self, field: str, resource: Resource) -> str:
        """Return the name among those fields that a selector's name stands for in a version."""
        return field

    def grace_seconds(self, document: Document, wanted: int | None) -> int:
        """Return the grace period of a deletion in seconds; 0 removes the object at once."""
        return 0

    def check_delete(self, stored: Stored, context: StrategyContext) -> None:
        """Raise ApiError if an object may not be deleted."""

    def begin_delete(self, document: Document) -> None:
        """Change an object whose deletion begins with a grace period."""

    def is_held(self, document: Document) -> bool:
        """Return whether an object that is being deleted waits for more than its finalizers."""
        return False


Strategies = Mapping[str, Strategy]
