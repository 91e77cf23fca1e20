"""The status of ElasticQuotas: the usage of the namespace's pods.

From the totals of pods on nodes to `status.used`, in the background.
"""

from collections.abc import Mapping
from typing import Any

from kubesched import (
    Background,
    ClusterView,
    InvalidObjectError,
    ObjectWriter,
    PluginError,
    PodTotals,
    resource_amounts,
)
from kubesched_contrib.capacity_scheduling.quotas import KIND, Amounts, quota_spec

LOOK_SECONDS = 2.0
UNITS = (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10))


class ElasticQuotaStatuses:
    """Updates the statuses of all ElasticQuotas."""

    def __init__(self, cluster: ClusterView, totals: PodTotals, background: Background, writer: ObjectWriter) -> None:
        self._cluster = cluster
        self._totals = totals
        self._writer = writer
        # ElasticQuota -> the known object when its status was written, and the written status
        self._written: dict[str, tuple[Any, Amounts]] = {}
        background.timer(LOOK_SECONDS, self._write)

    def _write(self) -> None:
        quotas = {quota.full_name: quota for quota in self._cluster.all(KIND)}
        self._written = {name: written for name, written in self._written.items() if name in quotas}
        for name, quota in quotas.items():
            try:
                spec = quota_spec(quota)
            except PluginError:
                # the pods of the namespace are counted
                continue
            taken = self._totals[quota.metadata.namespace]
            used = dict.fromkeys((*spec.min, *spec.max), 0)
            used |= {resource: amount for resource, amount in taken.items() if resource != "pods" or resource in used}
            if used != _reported(quota) and self._written.get(name) != (quota, used):
                self._written[name] = quota, used
                gone = dict.fromkeys((quota.status or {}).get("used") or {})
                shown = {resource: quantity(resource, amount) for resource, amount in used.items()}
                self._writer.status(quota, {"used": gone | shown})


def _reported(quota: Any) -> Amounts | None:
    """Return the reported status, None if it is invalid."""
    used = (quota.status or {}).get("used")
    try:
        return resource_amounts(dict(used)) if isinstance(used, Mapping) else None
    except InvalidObjectError:
        return None


def quantity(resource: str, amount: int) -> str:
    """Return a quantity, such as 1500m or 1024; `amount` of CPU is in thousandths."""
    if resource == "cpu":
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    if resource in ("memory", "ephemeral-storage") and amount:
        for unit, size in UNITS:
            if amount % size == 0:
                return f"{amount // size}{unit}"
    return str(amount)
