"""One request under review: the new object, the old one, and their values for expressions and rules.

From admission attributes to values, computed at first use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kubesched_controlplane.admission.attributes import AdmissionAttributes
from kubesched_controlplane.admission.authorizing import Decide, authorizer_of
from kubesched_controlplane.admission.matching import MatchConstraints, MatchContext
from kubesched_controlplane.admission.parameters import Parameters
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.conversion import from_storage
from kubesched_controlplane.kinds.admission.expressions import value_of
from kubesched_controlplane.managed_fields.types import FieldType

# from a resource to the type of its objects
TypeOf = Callable[[Resource], FieldType]


class ReviewContext:
    """The context of reviews: namespaces, parameters, access decisions, types of objects."""

    def __init__(self, match_context: MatchContext, parameters: Parameters, decide: Decide, field_type: TypeOf) -> None:
        self.match_context = match_context
        self.parameters = parameters
        self.decide = decide
        self.field_type = field_type


class Review:
    """A request with its objects in the stored version; the objects are read-only."""

    def __init__(
        self, asked: AdmissionAttributes, new: Document | None, old: Document | None, context: ReviewContext
    ) -> None:
        self.asked = asked
        self.new = new
        self.old = old
        self._context = context
        # by version
        self._values: dict[str, Document] = {}

    def with_new(self, new: Document) -> Review:
        """Return the same request with another object."""
        return Review(self.asked, new, self.old, self._context)

    @property
    def parameters(self) -> Parameters:
        """Return the resolver of parameters."""
        return self._context.parameters

    def field_type(self, resource: Resource) -> FieldType:
        """Return the type of a resource's objects for merging."""
        return self._context.field_type(resource)

    def matched(self, match: MatchConstraints) -> Resource | None:
        """Return the resource in the version that matches, None if the request does not match; raises ApiError."""
        return match.find(self.asked, self.new, self.old, self._context.match_context)

    def values(self, matched: Resource) -> Document:
        """Return the variables of expressions by name; objects are converted to the matched version."""
        found = self._values.get(matched.api_version)
        if found is None:
            asked, namespace = self.asked, None
            if asked.target.namespace and not asked.is_namespace:
                namespace = self._context.match_context.namespace(asked.target.namespace)
            found = self._values[matched.api_version] = {
                "object": _value(matched, self.new),
                "oldObject": _value(matched, self.old),
                "request": value_of(asked.document(matched)),
                "namespaceObject": value_of(namespace),
                "authorizer": authorizer_of(asked, self._context.decide),
            }
        return found


def _value(matched: Resource, document: Document | None) -> Any:
    return None if document is None else value_of(from_storage(matched, document))
