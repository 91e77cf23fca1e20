"""The kinds of scheduling: policy, scheduling, coordination."""

from kubesched.controlplane.api.resources import Resource
from kubesched.controlplane.kinds.leases import LeaseCandidateStrategy, LeaseStrategy
from kubesched.controlplane.kinds.priority_classes import PriorityClassStrategy
from kubesched.controlplane.kinds.workload.disruption_budgets import PodDisruptionBudgetStrategy
from kubesched.controlplane.kinds.workload.pod_groups import PodGroupStrategy, WorkloadStrategy
from kubesched.controlplane.registry.declaration import STATUS, Declaration, LoadOrder

DECLARATIONS: tuple[Declaration, ...] = (
    Declaration(
        Resource(
            "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", short_names=("pdb",), subresources=STATUS
        ),
        "is counted, and asked by evictions and preemption",
        PodDisruptionBudgetStrategy(),
        load_order=LoadOrder.SERVICES,
    ),
    Declaration(
        Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False, short_names=("pc",)),
        "gives pods their priority",
        PriorityClassStrategy(),
        load_order=LoadOrder.CLASSES,
    ),
    Declaration(
        Resource("scheduling.k8s.io", "v1alpha2", "podgroups", "PodGroup", subresources=STATUS),
        "kept, for schedulers that have the gates open",
        PodGroupStrategy(),
        load_order=LoadOrder.SERVICES,
    ),
    Declaration(
        Resource("scheduling.k8s.io", "v1alpha2", "workloads", "Workload"),
        "kept, for schedulers that have the gates open",
        WorkloadStrategy(),
        load_order=LoadOrder.SERVICES,
    ),
    Declaration(
        Resource("coordination.k8s.io", "v1", "leases", "Lease"),
        "kept, for leader election; simulated nodes renew theirs in kube-node-lease",
        LeaseStrategy(),
    ),
    Declaration(
        Resource("coordination.k8s.io", "v1beta1", "leasecandidates", "LeaseCandidate"),
        "kept; no controller chooses a leader",
        LeaseCandidateStrategy(),
    ),
)
