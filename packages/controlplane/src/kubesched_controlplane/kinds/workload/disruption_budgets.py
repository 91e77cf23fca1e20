"""The strategy of pod disruption budgets."""

# upstream: pkg/registry/policy/poddisruptionbudget, pkg/apis/policy/validation (v1.36)

from kubesched.api.field_errors import as_json, invalid
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import path_segment_problems
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.marks import Fields, Marks
from kubesched_controlplane.kinds.workload.templates import share_problems, too_large_share_problems
from kubesched_controlplane.registry.strategy import StrategyContext

MARKS = Marks()
_COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


class PodDisruptionBudgetStrategy(KindStrategy):
    """The strategy of pod disruption budgets."""

    marks = MARKS
    has_generation = True
    unconditional_update = False

    def name_problems(self, name: str) -> tuple[str, ...]:
        """Return the problems of a name."""
        return path_segment_problems(name)

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults, and a status that allows no disruptions."""
        self.fill_in(new, context)
        new["status"] = dict.fromkeys(_COUNTS, 0)


@MARKS.rule("PodDisruptionBudgetSpec")
def _budget_problems(path: str, spec: Document, fields: Fields) -> list[str]:
    problems = []
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        problems.append(invalid(path, as_json(spec), "minAvailable and maxUnavailable cannot be both set"))
    return problems + fields("minAvailable", "maxUnavailable", "selector", "unhealthyPodEvictionPolicy")


@MARKS.rule("PodDisruptionBudgetStatus")
def _status_problems(path: str, status: Document, fields: Fields) -> list[str]:
    return fields("conditions", *_COUNTS)


@MARKS.format("share")
def _share_problems(path: str, share: int | str) -> list[str]:
    return share_problems(path, share) + too_large_share_problems(path, share)
