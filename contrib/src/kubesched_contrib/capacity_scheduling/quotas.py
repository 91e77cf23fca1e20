"""ElasticQuotas: what a namespace is sure of, the most it may take, and what its pods take now.

From custom objects and the pods on nodes to `Quota` and `Quotas`, a picture of one moment in which pods can be removed
and put back. Amounts are by resource, CPU in thousandths. A resource that `max` does not name has no limit; one that no
quota's `min` names is not shared.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any, NamedTuple

from kubesched import InvalidObjectError, PluginError, PodInfo, resource_amounts

KIND = "elasticquotas.v1alpha1.scheduling.x-k8s.io"
Amounts = Mapping[str, int]
_TEMPLATE = attrgetter("namespace", "digest")


class Quota(NamedTuple):
    """The quota of a namespace, and what its pods on nodes request."""

    min: Amounts
    max: Amounts | None
    used: Counter[str]

    def over_min(self, names: Iterable[str], more: Amounts | None = None) -> bool:
        """Return whether the namespace takes more of some resources than it is sure of, with a further request."""
        further = more or {}
        return any(self.used[name] + further.get(name, 0) > self.min[name] for name in names if name in self.min)

    def over_max(self, more: Amounts) -> bool:
        """Return whether the namespace would take more than it may."""
        limits = self.max or {}
        return any(self.used[name] + amount > limits[name] for name, amount in more.items() if name in limits)


class Quotas:
    """All quotas by namespace."""

    def __init__(self, by_namespace: Mapping[str, Quota]) -> None:
        self._by_namespace = by_namespace

    def get(self, namespace: str) -> Quota | None:
        """Return the quota of a namespace."""
        return self._by_namespace.get(namespace)

    def copy(self) -> "Quotas":
        """Return quotas that can be changed without these."""
        copied = {name: quota._replace(used=quota.used.copy()) for name, quota in self._by_namespace.items()}
        return Quotas(copied)

    def over_total_min(self, more: Amounts) -> bool:
        """Return whether all namespaces together would take more than all are sure of."""
        total: Counter[str] = Counter()
        used = Counter(more)
        for quota in self._by_namespace.values():
            total.update(quota.min)
            used.update(quota.used)
        return any(used[name] > total[name] for name in total if more.get(name))

    def remove(self, pod: PodInfo) -> None:
        """Take what a pod requests off its quota."""
        quota = self.get(pod.namespace)
        if quota is not None:
            quota.used.subtract(requests_of(pod))

    def restore(self, pod: PodInfo) -> None:
        """Count what a pod requests on its quota, again or for the first time."""
        quota = self.get(pod.namespace)
        if quota is not None:
            quota.used.update(requests_of(pod))


def quotas_of(objects: Iterable[Any], placed: Iterable[PodInfo]) -> Quotas:
    """Return the quotas at this moment; a namespace has one, the first by name."""
    found: dict[str, Quota] = {}
    for obj in sorted(objects, key=lambda quota: str(quota.full_name)):
        quota = Quota(_amounts(obj, "min") or {}, _amounts(obj, "max"), Counter())
        found.setdefault(obj.metadata.namespace, quota)
    # of what another namespace is sure of, all others are sure of nothing
    shared = dict.fromkeys((name for quota in found.values() for name in quota.min), 0)
    found = {namespace: quota._replace(min={**shared, **quota.min}) for namespace, quota in found.items()}
    # pods of one template request the same: each template is summed once
    for (namespace, template), count in Counter(map(_TEMPLATE, placed)).items():
        owner = found.get(namespace)
        if owner is not None:
            owner.used.update({name: amount * count for name, amount in _amounts_taken(template.resources).items()})
    return Quotas(found)


def requests_of(pod: PodInfo) -> Amounts:
    """Return what a pod requests, by resource."""
    return pod.derive(_requests)


def _requests(pod: PodInfo) -> Amounts:
    return _amounts_taken(pod.resources)


def _amounts_taken(taken: Any) -> Amounts:
    amounts = {"cpu": taken.milli_cpu, "memory": taken.memory, "ephemeral-storage": taken.ephemeral_storage}
    return {name: amount for name, amount in (amounts | dict(taken.scalar)).items() if amount}


def _amounts(quota: Any, field: str) -> Amounts | None:
    raw = (quota.spec or {}).get(field)
    try:
        return None if raw is None else resource_amounts(raw)
    except InvalidObjectError as error:
        raise PluginError(f"ElasticQuota {quota.full_name}: spec.{field}: {error}; write it as {{cpu: 4}}") from None
