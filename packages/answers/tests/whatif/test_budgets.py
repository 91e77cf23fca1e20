"""Budgets while pods leave and come."""

import pytest
from tests.support.models import a_model

from kubesched.api.meta import Condition
from kubesched.api.pods import PodStatus
from kubesched.api.policy import PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from kubesched.testing import a_budget, a_node, a_pod, a_selector
from kubesched_answers.whatif.budgets import BudgetAccounts

WEB = {"app": "web"}
PODS = [a_pod(f"p{number}", node="n", labels=WEB, owner="ReplicaSet/web") for number in range(4)]


def of_manifest(**spec: int | str) -> PodDisruptionBudget:
    """Return a budget that no controller has seen yet."""
    made = a_budget("web", WEB)
    return PodDisruptionBudget(
        metadata=made.metadata,
        spec=PodDisruptionBudgetSpec(selector=a_selector(WEB), **spec),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("budget", "allowed"),
    [
        (a_budget("web", WEB, allowed=2), 2),
        (of_manifest(min_available=3), 1),
        (of_manifest(min_available="50%"), 2),
        (of_manifest(max_unavailable=1), 1),
        (of_manifest(max_unavailable="30%"), 2),
        (of_manifest(min_available=9), 0),
        (of_manifest(), 0),
    ],
    ids=["a counted status", "minAvailable", "a share of them", "maxUnavailable", "rounded up", "too many", "nothing"],
)
def test_so_many_pods_may_leave_at_once(budget: PodDisruptionBudget, allowed: int) -> None:
    model = a_model(a_node("n"), *PODS, budget)
    accounts = BudgetAccounts(model)
    left = 0
    for pod in model.pods.values():
        if accounts.refuse(pod) is None:
            accounts.leave(pod, returns=True)
            left += 1
    assert left == allowed


def test_a_pod_that_is_gone_for_good_is_not_expected_any_more() -> None:
    model = a_model(a_node("n"), *PODS, of_manifest(max_unavailable=1))
    accounts = BudgetAccounts(model)
    first, second, third, _ = model.pods.values()
    accounts.leave(first, returns=False)
    assert accounts.refuse(second) is None, "three are expected, three are there"
    accounts.leave(second, returns=True)
    assert accounts.refuse(third) is not None


@pytest.mark.parametrize(
    ("policy", "healthy", "refused"),
    [("", 3, False), ("", 1, True), ("AlwaysAllow", 1, False)],
    ids=["enough others are healthy", "too few are", "whatever the others are"],
)
def test_a_pod_that_is_not_ready_may_go(policy: str, healthy: int, refused: bool) -> None:
    status = PodStatus(phase="Running", conditions=(Condition(type="Ready", status="False"),))
    pod = a_pod("sick", node="n", labels=WEB, status=status)
    budget = PodDisruptionBudget(
        metadata=a_budget("web", WEB).metadata,
        spec=PodDisruptionBudgetSpec(
            selector=a_selector(WEB), min_available=3, unhealthy_pod_eviction_policy=policy or None
        ),
        status=PodDisruptionBudgetStatus(current_healthy=healthy, desired_healthy=3, expected_pods=4),
    )
    model = a_model(a_node("n"), pod, budget)
    refusal = BudgetAccounts(model).refuse(model.pod("default/sick"))
    assert (refusal is not None) == refused
    if refusal is not None:
        assert refusal.message == "The disruption budget web needs 3 healthy pods and has 1 currently"


def test_counts_can_be_restored() -> None:
    model = a_model(a_node("n"), *PODS, a_budget("web", WEB, allowed=1))
    accounts = BudgetAccounts(model)
    mark = accounts.mark()
    first, second, *_ = model.pods.values()
    accounts.leave(first, returns=True)
    assert accounts.refuse(second) is not None
    accounts.restore(mark)
    assert accounts.refuse(second) is None
