"""Filters: which nodes cannot take the pod? Both are written for one node."""

from collections.abc import Hashable
from dataclasses import dataclass

from kubesched import (
    CycleState,
    FilterPlugin,
    NodeRow,
    PodInfo,
    Reads,
    Status,
    filter_plugin,
    unresolvable,
    unschedulable,
)


@filter_plugin("QuietNodes")
def quiet_nodes(pod: PodInfo, node: NodeRow) -> Status | None:
    """Keep off nodes that are nearly full: the shortest way to a plugin."""
    return unschedulable("node(s) nearly full") if node.free.milli_cpu < 100 else None


@dataclass(frozen=True)
class TenantArgs:
    """The arguments of TenantNodes: decoded strictly, and checked when the scheduler starts."""

    label: str = "example.com/tenant"

    def __post_init__(self) -> None:
        if not self.label:
            raise ValueError("label: name a label, such as example.com/tenant")


class TenantNodes(FilterPlugin):
    """Lets a pod run only on nodes of its own tenant: pod and node must agree in a label.

    The label is an argument in the configuration's pluginConfig:

        pluginConfig:
        - name: TenantNodes
          args: {label: example.com/tenant}
    """

    name = "TenantNodes"
    # Consent to caching: the answer for a node depends only on `key(pod)` and on the node's labels, so it is worked
    # out once for all pods of a tenant, and again only where labels changed.
    reads = Reads.LABELS

    def __init__(self, args: TenantArgs) -> None:
        self.label = args.label

    def key(self, pod: PodInfo) -> Hashable:
        """Return the part of the pod that matters."""
        return pod.labels.get(self.label)

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        """Return why the node is not the tenant's, or None."""
        if node.labels.get(self.label) == pod.labels.get(self.label):
            return None
        # Unresolvable: evicting other pods cannot help, so preemption need not look at the node.
        return unresolvable("node(s) of another tenant")
