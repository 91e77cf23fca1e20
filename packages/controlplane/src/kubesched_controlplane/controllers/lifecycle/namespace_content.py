"""The remaining content of a terminating namespace, and its conditions.

From remaining objects to the conditions of the namespace.
"""

# upstream: pkg/controller/namespace/deletion/status_condition_utils.go (v1.36)

from collections import Counter
from collections.abc import Sequence

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.storage.store import Stored

_REMAINING, _FINALIZERS = "NamespaceContentRemaining", "NamespaceFinalizersRemaining"
# reason and message of a condition that is False
_GOOD = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    _REMAINING: ("ContentRemoved", "All content successfully removed"),
    _FINALIZERS: ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}


class NamespaceContent:
    """The remaining content of a namespace; `waits` is whether any object remains."""

    def __init__(self, *, waits: bool = False) -> None:
        self.waits = waits
        self._kinds: Counter[str] = Counter()
        self._finalizers: Counter[str] = Counter()

    def add(self, kind: Resource, stored: Stored) -> None:
        """Count a remaining object."""
        self.waits = True
        self._kinds[f"{kind.plural}.{kind.group}"] += 1
        self._finalizers.update(stored.document()["metadata"].get("finalizers") or ())

    def conditions(self, before: Sequence[Document], time: str) -> list[Document]:
        """Return the conditions of the namespace; other types, and times of unchanged conditions, are kept."""
        known = {condition["type"]: condition for condition in before}
        for kind, (reason, message) in _GOOD.items():
            status = "False"
            if kind == _REMAINING and self._kinds:
                status, reason, message = "True", "SomeResourcesRemain", self._kinds_left()
            elif kind == _FINALIZERS and self._finalizers:
                status, reason, message = "True", "SomeFinalizersRemain", self._finalizers_left()
            since = known[kind]["lastTransitionTime"] if known.get(kind, {}).get("status") == status else time
            condition = {"type": kind, "status": status, "lastTransitionTime": since}
            known[kind] = {**condition, "reason": reason, "message": message}
        return list(known.values())

    def _kinds_left(self) -> str:
        found = sorted(f"{kind} has {number} resource instances" for kind, number in self._kinds.items())
        return f"Some resources are remaining: {', '.join(found)}"

    def _finalizers_left(self) -> str:
        found = sorted(f"{name} in {number} resource instances" for name, number in self._finalizers.items())
        return f"Some content in the namespace has finalizers remaining: {', '.join(found)}"
