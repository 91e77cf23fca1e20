"""The strategy of runtime classes; their effect on pods is in `pod.admission`."""

# upstream: pkg/registry/node/runtimeclass/strategy.go, pkg/apis/node/validation/validation.go (v1.36)

from kubesched.api.field_errors import as_json, duplicate, required
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import dns_label_problems, immutable, labels_problems, text_problems
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.pod.placement import tolerations_problems
from kubesched_controlplane.kinds.pod.requirements import requirements_problems
from kubesched_controlplane.registry.strategy import StrategyContext


class RuntimeClassStrategy(KindStrategy):
    """The strategy of runtime classes."""

    unconditional_update = False

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a class."""
        handler = document.get("handler") or ""
        problems = text_problems("handler", handler, dns_label_problems) if handler else [required("handler")]
        if document.get("overhead") is not None:
            problems += requirements_problems("overhead", {"limits": document["overhead"].get("podFixed") or {}})
        scheduling = document.get("scheduling") or {}
        problems += labels_problems("scheduling.nodeSelector", scheduling.get("nodeSelector"))
        tolerations = scheduling.get("tolerations") or []
        problems += tolerations_problems("scheduling.tolerations", tolerations)
        seen = []
        for number, toleration in enumerate(tolerations):
            key = {field: toleration.get(field) for field in ("key", "operator", "value", "effect")}
            if key in seen:
                problems.append(duplicate(f"scheduling.tolerations[{number}]", as_json(toleration)))
            seen.append(key)
        return problems

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        return immutable("handler", new.get("handler"), old.get("handler"))
