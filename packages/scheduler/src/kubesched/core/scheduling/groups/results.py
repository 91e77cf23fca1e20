"""The result of an attempt to place a pod group, pod by pod and as a whole.

From the group's algorithm to the loop. No pod of a result is assumed.
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.preemption import PodGroupPostFilterResult
from kubesched.core.framework.values.status import SUCCESS, Status, unschedulable
from kubesched.core.scheduling.outcomes import Failed, PodAttempt

# upstream: schedule_one_podgroup.go, errPodGroupUnschedulable (v1.36)
UNSCHEDULABLE_GROUP = "pod group is unschedulable"
GROUP_UNSCHEDULABLE = unschedulable(UNSCHEDULABLE_GROUP)
# The plugin that counts as rejecting a group of which too few pods fit.
GANG_SCHEDULING = "GangScheduling"
WAITS_FOR_PREEMPTION = unschedulable(UNSCHEDULABLE_GROUP, "pod group is waiting for preemption to complete")


class PodResult(msgspec.Struct):
    """The result for one pod of a group.

    `node_name` is its node, or (with a `failure`) the node where it fits once victims are evicted. `permission` is the
    status of Permit there, if it is not success.
    """

    attempt: PodAttempt
    failure: Failed | None = None
    node_name: str = ""
    cycle: CycleState | None = None
    permission: Status = SUCCESS
    feasible_nodes: int = 0
    evaluated_nodes: int = 0

    @property
    def needs_preemption(self) -> bool:
        """Return whether victims have to be evicted before the pod fits."""
        return self.failure is not None and bool(self.node_name)


class GroupResult(msgspec.Struct):
    """The result for a group; `pods` has fewer entries than the group has pods if all of them failed at once.

    `blamed` are the plugins that rejected it or any of its pods, on any placement. `preemption` is the result of
    PodGroupPostFilter for the group as a whole, if it ran. `within` are the rows that its pods were tried on, None for
    all.
    """

    status: Status
    pods: list[PodResult] = []
    waits_for_preemption: bool = False
    preemption: PodGroupPostFilterResult | None = None
    blamed: frozenset[str] = frozenset()
    within: NDArray[np.intp] | None = None
