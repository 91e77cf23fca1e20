"""Filters: which nodes cannot take the pod? Both are written for one node."""

from collections.abc import Hashable
from typing import Any

from kubesched import (
    CycleState,
    FilterPlugin,
    NodeRow,
    PluginError,
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

    def __init__(self, args: Any = None) -> None:
        match args:
            case None:
                self.label = "example.com/tenant"
            case {"label": str(label)}:
                self.label = label
            case _:
                raise PluginError("args: write them as {label: example.com/tenant}")

    def key(self, pod: PodInfo) -> Hashable:
        """Return the part of the pod that matters."""
        return pod.labels.get(self.label)

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        """Return why the node is not the tenant's, or None."""
        if node.labels.get(self.label) == pod.labels.get(self.label):
            return None
        # Unresolvable: evicting other pods cannot help, so preemption need not look at the node.
        return unresolvable("node(s) of another tenant")
