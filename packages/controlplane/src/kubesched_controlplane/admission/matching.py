"""The requests that a policy, a binding or a webhook matches: rules, namespace selectors and object selectors.

From match constraints and a request to the version of the resource that matches, or to nothing.
"""

# upstream: apiserver/pkg/admission/plugin/policy/matching/matching.go,
# plugin/webhook/predicates/{rules,namespace,object}, plugin/webhook/generic/webhook.go (v1.36)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kubesched.api.labels import Selector, from_label_selector
from kubesched_controlplane.admission.attributes import CREATE, UPDATE, AdmissionAttributes
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.resources import Catalog, Resource
from kubesched_controlplane.api.statuses import not_found
from kubesched_controlplane.kinds.checks import as_selector
from kubesched_controlplane.storage.store import Store

_CONFIGURED = "admissionregistration.k8s.io"


class MatchConstraints:
    """Rules, excluded rules and selectors of a policy, a binding or a webhook."""

    def __init__(self, match: Document, rules: Sequence[Document], excluded: Sequence[Document] = ()) -> None:
        self._rules = rules
        self._excluded = excluded
        self._exact = match.get("matchPolicy") == "Exact"
        self._namespaces = _selector(match.get("namespaceSelector"))
        self._objects = _selector(match.get("objectSelector"))

    def find(
        self, asked: AdmissionAttributes, new: Document | None, old: Document | None, match_context: MatchContext
    ) -> Resource | None:
        """Return the resource in the version that matches, None if the request does not match.

        Raises ApiError if there is a namespace selector and the namespace does not exist.
        """
        if self._objects is not None and not any(_selected(self._objects, each) for each in (new, old)):
            return None
        if self._excluded and self._version(self._excluded, asked, match_context) is not None:
            return None
        found = self._version(self._rules, asked, match_context) if self._rules else asked.resource
        if found is None or self._namespaces is None:
            return found
        return found if self._in_namespace(asked, new, match_context) else None

    def _version(
        self, rules: Sequence[Document], asked: AdmissionAttributes, match_context: MatchContext
    ) -> Resource | None:
        for rule in rules:
            if _matches(rule, asked, asked.resource):
                return asked.resource
        if self._exact:
            return None
        for rule in rules:
            for other in match_context.equivalents(asked.resource):
                if _matches(rule, asked, other):
                    return other
        return None

    def _in_namespace(self, asked: AdmissionAttributes, new: Document | None, match_context: MatchContext) -> bool:
        assert self._namespaces is not None
        if asked.is_namespace and not asked.target.subresource and asked.operation in (CREATE, UPDATE):
            return _selected(self._namespaces, new)
        if not asked.namespace:
            return not asked.is_namespace
        return self._namespaces.matches(match_context.namespace_labels(asked.namespace))


class MatchContext:
    """Namespaces and equivalent versions of resources, for matching."""

    def __init__(self, store: Store, catalog: Catalog) -> None:
        self._store = store
        self._catalog = catalog

    def namespace(self, name: str) -> Document | None:
        """Return a namespace, None if it does not exist."""
        found = self._store.get("namespaces", "", name)
        return None if found is None else found.document()

    def namespace_labels(self, name: str) -> Mapping[str, str]:
        """Return the labels of a namespace; raises ApiError if it does not exist."""
        found = self._store.get("namespaces", "", name)
        if found is None:
            namespaces = self._catalog.find("", "v1", "namespaces")
            assert namespaces is not None
            raise not_found(namespaces, name)
        return found.labels

    def equivalents(self, resource: Resource) -> list[Resource]:
        """Return the other versions in which the same objects are served."""
        same = (each for each in self._catalog.resources if each.prefix == resource.prefix)
        return [each for each in same if each.api_version != resource.api_version]


def is_exempt(resource: Resource) -> bool:
    """Return whether objects of a resource bypass admission: policies, bindings and webhook configurations do."""
    return resource.group == _CONFIGURED


def _selector(found: Document | None) -> Selector | None:
    """Return a label selector, None if it selects everything."""
    if not found or not (found.get("matchLabels") or found.get("matchExpressions")):
        return None
    return from_label_selector(as_selector(found))


def _selected(selector: Selector, document: Document | None) -> bool:
    if document is None:
        return False
    labels: Mapping[str, str] = (document.get("metadata") or {}).get("labels") or {}
    return selector.matches(labels)


def _matches(rule: Document, asked: AdmissionAttributes, resource: Resource) -> bool:
    names = rule.get("resourceNames")
    return (
        _in_scope(rule.get("scope") or "*", asked)
        and _has(rule, "operations", asked.operation)
        and _has(rule, "apiGroups", resource.group)
        and _has(rule, "apiVersions", resource.version)
        and any(_is_resource(each, resource.plural, asked.target.subresource) for each in rule.get("resources") or ())
        and (not names or asked.name in names)
    )


def _in_scope(scope: str, asked: AdmissionAttributes) -> bool:
    if scope == "*":
        return True
    in_cluster = asked.is_namespace or not asked.namespace
    return in_cluster if scope == "Cluster" else not in_cluster


def _has(rule: Document, field: str, value: str) -> bool:
    values: Sequence[Any] = rule.get(field) or ()
    return "*" in values or value in values


def _is_resource(text: str, plural: str, subresource: str) -> bool:
    resource, _, below = text.partition("/")
    return resource in ("*", plural) and below in ("*", subresource)
