"""PodDisruptionBudgets while pods leave and come: how many more may be evicted.

From the budgets' statuses, and pods that leave, are placed again, are new or deleted, to the Eviction API's verdicts
on evictions. The budgets' objects are updated, since preemption reads them.
"""

# upstream: pkg/registry/core/pod/storage/eviction.go, pkg/controller/disruption/disruption.go (v1.36)

from typing import NamedTuple

import msgspec

from kubesched.api.labels import NOTHING, InvalidSelectorError, Selector, from_label_selector
from kubesched.api.policy import PodDisruptionBudget, PodDisruptionBudgetStatus
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.placing import Placer
from kubesched_controlplane.kinds.workload.templates import share_of

SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


class EvictionRefusal(NamedTuple):
    """Why a pod may not be evicted now."""

    budgets: tuple[str, ...]
    message: str


class BudgetAccount:
    """One budget: `slack` is the number of healthy pods beyond the wanted number, negative if it lacks some."""

    def __init__(self, budget: PodDisruptionBudget, members: list[PodInfo] | None) -> None:
        self.name = budget.full_name
        self._spec, status = budget.spec, budget.status
        if members is None:
            self._expected, self._healthy, self._desired = (
                status.expected_pods,
                status.current_healthy,
                status.desired_healthy,
            )
            self.slack = status.disruptions_allowed or min(0, self._healthy - self._desired)
        else:
            self._expected, self._healthy = len(members), sum(map(is_ready, members))
            self._desired = self._wanted_of(self._expected, 0)
            self.slack = self._healthy - self._desired

    def state(self) -> tuple[int, int, int, int]:
        """Return the counts, for `restore`."""
        return self.slack, self._expected, self._healthy, self._desired

    def restore(self, state: tuple[int, int, int, int]) -> None:
        """Return to earlier counts."""
        self.slack, self._expected, self._healthy, self._desired = state

    def _wanted_of(self, expected: int, otherwise: int) -> int:
        """Return how many of a number of pods must be healthy."""
        if self._spec.max_unavailable is not None:
            return max(0, expected - share_of(self._spec.max_unavailable, expected, round_up=True))
        if self._spec.min_available is not None:
            return share_of(self._spec.min_available, expected, round_up=True)
        return otherwise

    def count(self, healthy: int = 0, expected: int = 0) -> None:
        """Add to the number of healthy pods, and to the number of expected pods."""
        self._healthy += healthy
        self.slack += healthy
        if expected:
            desired = self._wanted_of(self._expected + expected, self._desired)
            was = self._wanted_of(self._expected, self._desired)
            self._expected += expected
            self._desired += desired - was
            self.slack -= desired - was

    def spares_unready(self) -> bool:
        """Return whether pods that are not ready may be evicted without being counted."""
        if self._spec.unhealthy_pod_eviction_policy == "AlwaysAllow":
            return True
        return self._healthy >= self._desired > 0

    def refusal(self) -> str:
        """Return why a pod may not be evicted now."""
        name = self.name.rpartition("/")[2]
        if self._healthy <= self._desired:
            return f"The disruption budget {name} needs {self._desired} healthy pods and has {self._healthy} currently"
        return f"The disruption budget {name} does not allow evicting pods currently"


BudgetState = tuple[list[tuple[int, int, int, int]], dict[str, tuple[BudgetAccount, ...]], set[str]]


class BudgetAccounts:
    """All budgets of a cluster; with `counts_pods` their statuses are ignored."""

    def __init__(self, model: ClusterModel, *, counts_pods: bool = False) -> None:
        self._model = model
        self._counts_pods = counts_pods
        self._selectors: list[tuple[str, Selector, BudgetAccount]] = []
        # namespace and labels -> the budgets that select such pods
        self._found: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[BudgetAccount, ...]] = {}
        for budget in model.cluster.objects.of(PodDisruptionBudget):
            self.replace(budget)
        # pods that become healthy once they have a place, by UID; and those that already are
        self._awaited: dict[str, tuple[BudgetAccount, ...]] = {}
        self._arrived: set[str] = set()

    def replace(self, budget: PodDisruptionBudget) -> None:
        """Count by a new or changed budget; its status counts if a controller has written it."""
        self.drop(budget.full_name)
        selector = _selector_of(budget)
        believed = _is_counted(budget) and not self._counts_pods
        members = None if believed else self._members(budget.namespace, selector)
        self._selectors.append((budget.namespace, selector, BudgetAccount(budget, members)))

    def drop(self, name: str) -> None:
        """Forget a budget."""
        self._selectors = [each for each in self._selectors if each[2].name != name]
        self._found.clear()

    def mark(self) -> BudgetState:
        """Return all counts, for `restore`."""
        return [account.state() for _, _, account in self._selectors], dict(self._awaited), set(self._arrived)

    def restore(self, mark: BudgetState) -> None:
        """Return to earlier counts."""
        states, self._awaited, self._arrived = mark
        for (_, _, account), state in zip(self._selectors, states, strict=True):
            account.restore(state)

    def of(self, pod: PodInfo) -> tuple[BudgetAccount, ...]:
        """Return the budgets that select a pod."""
        if not self._selectors:
            return ()
        key = pod.namespace, tuple(sorted(pod.labels.items()))
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = tuple(
                account
                for namespace, selector, account in self._selectors
                if namespace == pod.namespace and selector.matches(pod.labels)
            )
        return found

    def refuse(self, pod: PodInfo) -> EvictionRefusal | None:
        """Return why a pod may not be evicted now, or None."""
        budgets = self.of(pod)
        if not budgets or pod.terminating or (pod.status.phase == "Pending" and pod.uid not in self._arrived):
            return None
        names = tuple(budget.name for budget in budgets)
        if len(budgets) > 1:
            return EvictionRefusal(names, SEVERAL)
        budget = budgets[0]
        if budget.slack > 0 or (not self._is_healthy(pod) and budget.spares_unready()):
            return None
        return EvictionRefusal(names, budget.refusal())

    def leave(self, pod: PodInfo, *, returns: bool) -> None:
        """Count a pod that leaves its node; a pod that returns is counted again when it has a place."""
        budgets = self.of(pod)
        for budget in budgets:
            budget.count(healthy=-int(self._is_healthy(pod)), expected=0 if returns else -1)
        self._arrived.discard(pod.uid)
        if returns and budgets:
            self._awaited[pod.uid] = budgets

    def expect(self, pod: PodInfo) -> None:
        """Count a new pod, which becomes healthy when it has a place."""
        budgets = self.of(pod)
        for budget in budgets:
            budget.count(expected=1)
        if budgets:
            self._awaited[pod.uid] = budgets

    def follow(self, placer: Placer) -> None:
        """Count the pods that now have places, and update the budgets' objects."""
        placed = self._model.cluster.table.pods
        for uid in [uid for uid in self._awaited if uid in placed]:
            for budget in self._awaited.pop(uid):
                budget.count(healthy=1)
            self._arrived.add(uid)
        for _, _, account in self._selectors:
            budget_object = self._model.cluster.objects.get(PodDisruptionBudget, account.name)
            allowed = max(0, account.slack)
            if budget_object is not None and budget_object.status.disruptions_allowed != allowed:
                status = msgspec.structs.replace(budget_object.status, disruptions_allowed=allowed)
                placer.put(msgspec.structs.replace(budget_object, status=status))

    def _members(self, namespace: str, selector: Selector) -> list[PodInfo]:
        """Return the pods that a selector currently selects."""
        placed = self._model.cluster.table.pods
        pods = (placed.get(pod.uid, pod) for pod in self._model.pods.values() if pod.namespace == namespace)
        return [pod for pod in pods if selector.matches(pod.labels)]

    def _is_healthy(self, pod: PodInfo) -> bool:
        return pod.uid in self._arrived or is_ready(pod)


def is_ready(pod: PodInfo) -> bool:
    """Return whether a pod counts as healthy, like a pod with a node and without conditions."""
    if not pod.spec.node_name or pod.terminating:
        return False
    ready = [condition.status for condition in pod.status.conditions if condition.type == "Ready"]
    return ready == ["True"] if pod.status.conditions else True


def _selector_of(budget: PodDisruptionBudget) -> Selector:
    if budget.spec.selector is None:
        return NOTHING
    try:
        return from_label_selector(budget.spec.selector)
    except InvalidSelectorError:
        return NOTHING


def _is_counted(budget: PodDisruptionBudget) -> bool:
    """Return whether a controller has written the budget's status; one of a manifest has none."""
    says_nothing = budget.spec.min_available is None and budget.spec.max_unavailable is None
    return says_nothing or budget.status != PodDisruptionBudgetStatus()
