"""The strategy of namespaces.

A namespace is terminating until its objects are deleted and the namespace controller has removed the finalizer from
the spec through the subresource `finalize`.
"""

# upstream: pkg/registry/core/namespace/{strategy.go,storage/storage.go},
# apiserver/pkg/admission/plugin/namespace/lifecycle (v1.36)

from kubesched.api.field_errors import as_json, index, invalid
from kubesched.api.labels import label_key_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.object_meta import qualification_problems
from kubesched_controlplane.api.statuses import forbidden
from kubesched_controlplane.kinds.checks import dns_label_problems, part, text_problems
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.registry.strategy import StrategyContext
from kubesched_controlplane.storage.store import Stored

ACTIVE, TERMINATING = "Active", "Terminating"
FINALIZER = "kubernetes"
NAME_LABEL = "kubernetes.io/metadata.name"
IMMORTAL = ("default", "kube-system", "kube-public")


class NamespaceStrategy(KindStrategy):
    """The strategy of namespaces."""

    returns_deleted = True

    def name_problems(self, name: str) -> tuple[str, ...]:
        """Return the problems of a name."""
        return tuple(dns_label_problems(name))

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set the phase Active and the finalizer `kubernetes`."""
        self.fill_in(new, context)
        new["status"] = {"phase": ACTIVE}
        finalizers = new["spec"].get("finalizers") or []
        if FINALIZER not in finalizers:
            new["spec"]["finalizers"] = [*finalizers, FINALIZER]

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Keep the finalizers of the spec."""
        self.fill_in(new, context)
        part(new, "spec").pop("finalizers", None)
        if finalizers := (old.get("spec") or {}).get("finalizers"):
            new["spec"]["finalizers"] = finalizers

    def prepare_status(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Keep everything but status and metadata; the label with the name stays."""
        super().prepare_status(new, old, context)
        self.fill_in(new, context)

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Add a missing spec, and the label with the name."""
        part(document, "spec")
        part(document["metadata"], "labels")[NAME_LABEL] = document["metadata"].get("name", "")

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new namespace."""
        problems = []
        for name in new["spec"].get("finalizers") or ():
            problems += _finalizer_problems("spec.finalizers", name)
        return problems

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status: the phase follows from the deletion."""
        phase = part(new, "status").setdefault("phase", ACTIVE)
        terminating = "deletionTimestamp" in new["metadata"]
        if phase == (TERMINATING if terminating else ACTIVE):
            return []
        why = (
            "may only be 'Terminating' if `deletionTimestamp` is not empty"
            if terminating
            else "may only be 'Active' if `deletionTimestamp` is empty"
        )
        return [invalid("status.Phase", as_json(phase), why)]

    def fields(self, document: Document) -> dict[str, str]:
        """Return the values of the selectable fields."""
        return {"status.phase": (document.get("status") or {}).get("phase", "")}

    def check_delete(self, stored: Stored, context: StrategyContext) -> None:
        """Raise ApiError 403 for the namespaces that may not be deleted."""
        if stored.name in IMMORTAL:
            raise forbidden(context.resource, stored.name, "this namespace may not be deleted")

    def begin_delete(self, document: Document) -> None:
        """Set the phase Terminating."""
        part(document, "status")["phase"] = TERMINATING

    def is_held(self, document: Document) -> bool:
        """Return whether the spec has finalizers, such as that of the namespace controller."""
        return bool((document.get("spec") or {}).get("finalizers"))


class NamespaceFinalizeStrategy(NamespaceStrategy):
    """The strategy of the subresource `finalize`, by which the finalizers of the spec change."""

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Set defaults."""
        self.fill_in(new, context)

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of the finalizers."""
        problems = []
        for number, name in enumerate(new["spec"].get("finalizers") or ()):
            problems += _finalizer_problems(index("spec.finalizers", number), name)
        return problems


def _finalizer_problems(path: str, name: str) -> list[str]:
    return text_problems(path, name, label_key_problems) + qualification_problems(path, name)
