"""The kinds of scheduling: policy, scheduling, coordination."""

from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.kinds.leases import LeaseCandidateStrategy, LeaseStrategy
from kubesched_controlplane.kinds.priority_classes import PriorityClassStrategy
from kubesched_controlplane.kinds.workload.disruption_budgets import PodDisruptionBudgetStrategy
from kubesched_controlplane.kinds.workload.pod_groups import PodGroupStrategy, WorkloadStrategy
from kubesched_controlplane.registry.declaration import STATUS, Declaration, LoadOrder
from kubesched_controlplane.representation.tables.cluster import LEASE_CANDIDATE_PRINTER, LEASE_PRINTER
from kubesched_controlplane.representation.tables.controllers import POD_DISRUPTION_BUDGET_PRINTER
from kubesched_controlplane.representation.tables.printing import aged
from kubesched_controlplane.representation.tables.scheduling import POD_GROUP_PRINTER, PRIORITY_CLASS_PRINTER

DECLARATIONS: tuple[Declaration, ...] = (
    Declaration(
        Resource(
            "policy",
            "v1",
            "poddisruptionbudgets",
            "PodDisruptionBudget",
            short_names=("pdb",),
            subresources=STATUS,
            printer=POD_DISRUPTION_BUDGET_PRINTER,
        ),
        "is counted, and limits evictions and preemption",
        PodDisruptionBudgetStrategy(),
        load_order=LoadOrder.SERVICES,
    ),
    Declaration(
        Resource(
            "scheduling.k8s.io",
            "v1",
            "priorityclasses",
            "PriorityClass",
            namespaced=False,
            short_names=("pc",),
            printer=PRIORITY_CLASS_PRINTER,
        ),
        "gives pods their priority",
        PriorityClassStrategy(),
        load_order=LoadOrder.CLASSES,
    ),
    Declaration(
        Resource(
            "scheduling.k8s.io", "v1alpha2", "podgroups", "PodGroup", subresources=STATUS, printer=POD_GROUP_PRINTER
        ),
        "kept, for schedulers with the gates on",
        PodGroupStrategy(),
        load_order=LoadOrder.SERVICES,
    ),
    Declaration(
        Resource("scheduling.k8s.io", "v1alpha2", "workloads", "Workload", printer=aged),
        "kept, for schedulers with the gates on",
        WorkloadStrategy(),
        load_order=LoadOrder.SERVICES,
    ),
    Declaration(
        Resource("coordination.k8s.io", "v1", "leases", "Lease", printer=LEASE_PRINTER),
        "kept, for leader election; simulated nodes renew theirs in kube-node-lease",
        LeaseStrategy(),
    ),
    Declaration(
        Resource(
            "coordination.k8s.io",
            "v1beta1",
            "leasecandidates",
            "LeaseCandidate",
            printer=LEASE_CANDIDATE_PRINTER,
            warnings=("coordination.k8s.io/v1beta1 LeaseCandidate is deprecated in v1.36+, unavailable in v1.39+",),
        ),
        "kept; no controller chooses a leader",
        LeaseCandidateStrategy(),
    ),
)
