"""Parameters of policies: the objects that a binding names or selects.

From the paramKind of a policy and the paramRef of a binding to documents.
"""

# upstream: apiserver/pkg/admission/plugin/policy/generic/{policy_dispatcher,policy_source}.go (v1.36)

from collections.abc import Sequence

from kubesched.api.labels import from_label_selector
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.resources import Catalog, Resource
from kubesched_controlplane.conversion import from_storage
from kubesched_controlplane.kinds.checks import as_selector
from kubesched_controlplane.storage.store import Store


class ParameterError(Exception):
    """Parameters that cannot be resolved; `part` is the culprit: the policy or the binding."""

    def __init__(self, words: str, part: str = "binding") -> None:
        super().__init__(words)
        self.part = part


class Parameters:
    """Resolves the parameters of policies."""

    def __init__(self, store: Store, catalog: Catalog) -> None:
        self._store = store
        self._catalog = catalog

    def of(self, kind: Document | None, reference: Document | None, namespace: str) -> Sequence[Document | None]:
        """Return the parameters for a request in a namespace, [None] for a policy or binding without parameters.

        Raises ParameterError if they cannot be resolved, or if none exist and parameterNotFoundAction is Deny.
        """
        if kind is None or reference is None:
            return [None]
        resource = self._resource(kind)
        where = reference.get("namespace") or ""
        if resource.namespaced:
            where = where or namespace
            if not where:
                words = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
                raise ParameterError(words)
        elif where:
            raise ParameterError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
        found = self._found(resource, reference, where)
        if not found and reference.get("parameterNotFoundAction") == "Deny":
            raise ParameterError("no params found for policy binding with `Deny` parameterNotFoundAction")
        return found

    def _resource(self, kind: Document) -> Resource:
        version, name = kind.get("apiVersion") or "", kind.get("kind") or ""
        found = self._catalog.of_kind(version, name)
        if found is None or "get" not in found.verbs:
            group = version if "/" in version else f"/{version}"
            words = f"failed to find resource referenced by paramKind: '{group}, Kind={name}'"
            raise ParameterError(words, "policy")
        return found

    def _found(self, resource: Resource, reference: Document, namespace: str) -> list[Document]:
        if reference.get("name"):
            stored = self._store.get(resource.prefix, namespace, reference["name"])
            kept = [] if stored is None else [stored]
        else:
            selector = from_label_selector(as_selector(reference.get("selector") or {}))
            everything = self._store.set_of(resource.prefix).in_order(namespace)
            kept = [stored for stored in everything if selector.matches(stored.labels)]
        return [from_storage(resource, stored.document()) for stored in kept]
