"""TopologyPlacementGenerator: placements for a group of pods, one for each value of a node label.

From a group's topology constraint to the sets of nodes that share a value. A group without a constraint may be placed
anywhere; a group with scheduled pods stays in their domain.
"""

# upstream: plugins/topologyaware/topology_placement.go (v1.36)

from collections.abc import Sequence

import numpy as np

from kubesched.api.scheduling import PodGroup
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.plugin import PlacementGeneratePlugin
from kubesched.core.framework.values.events import Action, ClusterEvent, Registration, Resource
from kubesched.core.framework.values.placements import Placement
from kubesched.core.framework.values.status import Status, error


class TopologyPlacementGenerator(PlacementGeneratePlugin):
    """Proposes the domains of a topology key."""

    name = "TopologyPlacementGenerator"

    def __init__(self, cluster: ClusterState) -> None:
        self._table = cluster.table
        self._groups = cluster.pod_groups

    def events_to_register(self) -> Sequence[Registration]:
        """Return the events that can make a domain fit: new nodes, node labels, and deleted pods."""
        # differs (D-057): the reference registers for no event, and retries such groups after their backoff
        return (
            Registration(ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)),
            Registration(ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE)),
        )

    def generate_placements(self, group: PodGroup, everywhere: Placement) -> Sequence[Placement] | Status:
        """Return the domains in which the group may be placed, in the order in which the table has them."""
        constraints = group.spec.scheduling_constraints
        if constraints is None or not constraints.topology:
            return [everywhere]
        # the API allows one constraint so far
        key = constraints.topology[0].key
        required = self._domain_of_scheduled(group, key)
        if isinstance(required, Status):
            return required
        rows_of: dict[str, list[int]] = {}
        for row in everywhere.rows.tolist():
            node = self._table.nodes[row]
            domain = node.metadata.labels.get(key) if node is not None else None
            if domain is not None and required in (None, domain):
                rows_of.setdefault(domain, []).append(row)
        return [Placement(domain, np.array(rows, np.intp)) for domain, rows in rows_of.items()]

    def _domain_of_scheduled(self, group: PodGroup, key: str) -> str | Status | None:
        """Return the domain of the group's scheduled pods, None without any, or an error if they have no common one."""
        found: str | None = None
        for pod in self._groups.state((group.namespace, group.name)).scheduled.values():
            node_name = pod.spec.node_name
            row = self._table.row_of.get(node_name)
            node = self._table.nodes[row] if row is not None else None
            if node is None:
                problem = f'getting node for pod {pod.full_name}: nodeinfo not found for node name "{node_name}"'
                return _undetermined(problem)
            domain = node.metadata.labels.get(key)
            if domain is None:
                return _undetermined(f"no topology domain found for pod {pod.full_name}")
            if found and found != domain:
                return _undetermined(f"more than 1 domain found for pod group: {found}, {domain}")
            found = domain
        return found


def _undetermined(problem: str) -> Status:
    return error(f"cannot determine domain for already scheduled pods: {problem}")
