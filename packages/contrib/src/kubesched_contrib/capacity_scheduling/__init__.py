"""CapacityScheduling: ElasticQuotas of scheduling.x-k8s.io/v1alpha1, with borrowing and reclaiming."""

from kubesched_contrib.capacity_scheduling.plugin import CapacityScheduling

__all__ = ["CapacityScheduling"]
