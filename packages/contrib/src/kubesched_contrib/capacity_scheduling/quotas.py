"""ElasticQuotas: the guaranteed amount of a namespace, its maximum, and the usage of its pods.

From custom objects to `ElasticQuotas`, and from these and the totals of pods on nodes to `QuotaUsage`, in which pods
can be removed and put back. Amounts are by resource, CPU in thousandths. A resource that `max` does not name has no
limit; one that no quota's `min` names is not shared.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from kubesched import InvalidObjectError, PluginError, PodInfo, PodTotals, resource_amounts

KIND = "elasticquotas.v1alpha1.scheduling.x-k8s.io"
Amounts = Mapping[str, int]


class QuotaSpec(NamedTuple):
    """The quota of a namespace."""

    min: Amounts
    # a missing resource has no limit
    max: Amounts


class ElasticQuotas:
    """All quotas by namespace."""

    def __init__(self, objects: Iterable[Any]) -> None:
        # a namespace has one, the first by name
        self._objects = sorted(objects, key=lambda quota: str(quota.full_name), reverse=True)
        found = {each.metadata.namespace: quota_spec(each) for each in self._objects}
        self.total_min: Counter[str] = Counter()
        for quota in found.values():
            self.total_min.update(quota.min)
        # a resource in one namespace's min has a min of 0 in all other namespaces
        shared = dict.fromkeys(self.total_min, 0)
        self.by_namespace = {name: QuotaSpec({**shared, **quota.min}, quota.max) for name, quota in found.items()}

    def are_of(self, objects: Sequence[Any]) -> bool:
        """Return whether these quotas come from the same versions of the same objects."""
        return len(objects) == len(self._objects) and {*map(id, objects)} == {*map(id, self._objects)}


class QuotaUsage:
    """The usage of each quota, in a trial from which pods are removed."""

    def __init__(
        self, quotas: ElasticQuotas, totals: PodTotals, removed: Counter[tuple[str, str]] | None = None
    ) -> None:
        self._quotas = quotas
        # by namespace
        self._totals = totals
        # (namespace, resource) -> amount
        self._removed: Counter[tuple[str, str]] = Counter(removed or ())

    def __contains__(self, namespace: str) -> bool:
        """Return whether a namespace has a quota."""
        return namespace in self._quotas.by_namespace

    def copy(self) -> "QuotaUsage":
        """Return an independent copy."""
        return QuotaUsage(self._quotas, self._totals, self._removed)

    def remove(self, pod: PodInfo) -> None:
        """Subtract a pod's request from its quota's usage."""
        for name, amount in pod.requests.items():
            self._removed[pod.namespace, name] += amount

    def restore(self, pod: PodInfo) -> None:
        """Add the request of a removed pod again."""
        for name, amount in pod.requests.items():
            self._removed[pod.namespace, name] -= amount

    def over_min(self, namespace: str, names: Iterable[str], more: Amounts | None = None) -> bool:
        """Return whether a namespace, with a further request, exceeds its min in some resource."""
        least, further = self._quotas.by_namespace[namespace].min, more or {}
        return any(self._used(namespace, name) + further.get(name, 0) > least[name] for name in names if name in least)

    def over_max(self, namespace: str, more: Amounts) -> bool:
        """Return whether a namespace would exceed its max."""
        most = self._quotas.by_namespace[namespace].max
        return any(self._used(namespace, name) + amount > most[name] for name, amount in more.items() if name in most)

    def over_total_min(self, more: Amounts) -> bool:
        """Return whether all namespaces together would exceed the sum of their mins."""
        total = self._quotas.total_min
        return any(
            amount + sum(self._used(namespace, name) for namespace in self._quotas.by_namespace) > total[name]
            for name, amount in more.items()
            if amount and name in total
        )

    def _used(self, namespace: str, resource: str) -> int:
        return self._totals[namespace].get(resource, 0) - self._removed[namespace, resource]


def quota_spec(quota: Any) -> QuotaSpec:
    """Return the parsed fields of an ElasticQuota."""
    return QuotaSpec(_amounts(quota, "min"), _amounts(quota, "max"))


def _amounts(quota: Any, field: str) -> Amounts:
    try:
        return resource_amounts((quota.spec or {}).get(field) or {})
    except InvalidObjectError as error:
        raise PluginError(f"ElasticQuota {quota.full_name}: spec.{field}: {error}; write it as {{cpu: 4}}") from None
