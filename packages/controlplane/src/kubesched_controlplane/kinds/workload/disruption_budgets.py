"""The strategy of pod disruption budgets."""

# upstream: pkg/registry/policy/poddisruptionbudget, pkg/apis/policy/validation (v1.36)

from kubesched.api.field_errors import as_json, child, invalid
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import (
    conditions_problems,
    label_selector_problems,
    not_negative,
    one_of,
    part,
)
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.rbac import path_segment_problems
from kubesched_controlplane.kinds.workload.templates import share_problems, too_large_share_problems
from kubesched_controlplane.registry.strategy import StrategyContext

_COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


class PodDisruptionBudgetStrategy(KindStrategy):
    """The strategy of pod disruption budgets."""

    has_generation = True
    unconditional_update = False

    def name_problems(self, name: str) -> tuple[str, ...]:
        """Return the problems of a name."""
        return path_segment_problems(name)

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults, and a status that allows no disruptions."""
        self.fill_in(new, context)
        new["status"] = dict.fromkeys(_COUNTS, 0)

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Add a missing spec."""
        part(document, "spec")

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a budget."""
        spec = document["spec"]
        problems = []
        if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
            problems.append(invalid("spec", as_json(spec), "minAvailable and maxUnavailable cannot be both set"))
        for field in ("minAvailable", "maxUnavailable"):
            if spec.get(field) is not None:
                problems += share_problems(child("spec", field), spec[field])
                problems += too_large_share_problems(child("spec", field), spec[field])
        problems += label_selector_problems("spec.selector", spec.get("selector"))
        if spec.get("unhealthyPodEvictionPolicy") is not None:
            path, policies = "spec.unhealthyPodEvictionPolicy", ("AlwaysAllow", "IfHealthyBudget")
            problems += one_of(path, spec["unhealthyPodEvictionPolicy"], policies)
        return problems

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        status = new.get("status") or {}
        problems = conditions_problems("status.conditions", status.get("conditions"))
        for field in _COUNTS:
            problems += not_negative(child("status", field), status.get(field))
        return problems
