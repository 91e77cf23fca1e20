"""Disruption budgets (policy).

From JSON documents to frozen structs; see `meta` for the conventions.
"""

# ruff: noqa: RUF012 -- msgspec copies empty defaults

from kubesched.api.meta import ApiObject, ApiStruct, Condition, Int32, Int64, LabelSelector, Timestamp

IntOrString = int | str


class PodDisruptionBudgetSpec(ApiStruct, frozen=True):
    """spec of a disruption budget."""

    selector: LabelSelector | None = None
    min_available: IntOrString | None = None
    max_unavailable: IntOrString | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(ApiStruct, frozen=True):
    """status of a disruption budget; `disrupted_pods` are being evicted and already counted."""

    disruptions_allowed: Int32 = 0
    disrupted_pods: dict[str, Timestamp | None] = {}
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    expected_pods: Int32 = 0
    observed_generation: Int64 = 0
    conditions: tuple[Condition, ...] = ()


class PodDisruptionBudget(ApiObject, frozen=True):
    """A disruption budget."""

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()
