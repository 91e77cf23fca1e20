"""NodeDeclaredFeatures: pods that need a feature go to nodes that declare it.

From `status.declaredFeatures` of nodes, and from the features that a pod's spec requires, to a rejection. Each distinct
list of declared features is evaluated once.
"""

# upstream: nodedeclaredfeatures/nodedeclaredfeatures.go, component-helpers/nodedeclaredfeatures/features (v1.36)

from collections.abc import Hashable, Iterable, Sequence
from typing import Final

import numpy as np

from kubesched.api.nodes import Node
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.node_matching import by_distinct
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import FilterPlugin, PreFilterPlugin
from kubesched.core.framework.results.outcomes import PreFilterResult
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource, Subject
from kubesched.core.framework.values.status import SKIP, Status, unresolvable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes, table_rows

RESTART_ALL_CONTAINERS = "RestartAllContainersOnContainerExits"
USER_NAMESPACES_HOST_NETWORK = "UserNamespacesHostNetworkSupport"
_NOT_FOUND = 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found'
_UNSATISFIED = unresolvable("node(s) didn't match Pod's required features")


class NodeDeclaredFeatures(PreFilterPlugin, FilterPlugin):
    """Rejects nodes that lack a feature the pod requires."""

    name = "NodeDeclaredFeatures"
    reads = Reads.FEATURES
    key_of_template = True

    def __init__(self, gates: FeatureGates) -> None:
        self._enabled = gates.enabled("NodeDeclaredFeatures")
        if self._enabled:
            # with its gate, Filter is an error if PreFilter did not run
            self.without_pre_filter = _NOT_FOUND

    def key(self, pod: PodInfo) -> Hashable:
        """Return the features the pod requires."""
        return self._required(pod)

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> PreFilterResult | Status | None:
        """Return Skip if the pod requires no feature."""
        return None if self._required(pod) else SKIP

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        """Return a rejection if the node lacks a required feature."""
        required = self._required(pod)
        return None if not required or required <= understood(node.node.status.declared_features) else _UNSATISFIED

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Reject the nodes that lack a required feature."""
        required = self._required(pod)
        if not required:
            return Verdict.uniform(len(nodes), None)

        def lacks(declared: tuple[str, ...]) -> bool:
            return not required <= understood(declared)

        table, rows = table_rows(nodes)
        lacking = by_distinct(table.features.codes[rows], table.features.sets, lacks, np.bool_)
        return Verdict.rejecting(lacking, _UNSATISFIED)

    def _required(self, pod: PodInfo) -> frozenset[str]:
        return pod.derive(required_features) if self._enabled else frozenset()

    def events_to_register(self) -> Sequence[Registration]:
        """Return new nodes, changed declarations, and updates of the pod."""
        if not self._enabled:
            return ()
        node_event = ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_DECLARED_FEATURE)
        return (
            Registration(node_event, after_node_change),
            Registration(ClusterEvent(Resource.POD, Action.UPDATE), after_pod_update, ITSELF),
        )


def required_features(pod: PodInfo) -> frozenset[str]:
    """Return the features of nodes that a pod's spec requires."""
    required = set()
    spec = pod.spec
    rules = (rule for container in (*spec.containers, *spec.init_containers) for rule in container.restart_policy_rules)
    if any(rule.action == "RestartAllContainers" for rule in rules):
        required.add(RESTART_ALL_CONTAINERS)
    if spec.host_network and spec.host_users is False:
        required.add(USER_NAMESPACES_HOST_NETWORK)
    return frozenset(required)


def understood(declared: Iterable[str]) -> frozenset[str]:
    """Return the declared features that count: the list should be sorted, and features out of order are ignored."""
    seen = set()
    highest = ""
    for feature in declared:
        if feature > highest:
            seen.add(feature)
            highest = feature
    return frozenset(seen)


def after_node_change(pod: PodInfo, old: Node | None, new: Node) -> Hint:
    """Return whether the node is new or declares other features."""
    same = old is not None and old.status.declared_features == new.status.declared_features
    return Hint.when(not same)


def after_pod_update(pod: PodInfo, old: PodInfo, new: PodInfo) -> Hint:
    """Return whether the updated pod is this one, and now requires other features."""
    changed = new.uid == pod.uid and required_features(new) != required_features(old)
    return Hint.when(changed)


# an update of a pod helps no other pod
ITSELF: Final = Subject(lambda old, new: (new.uid,), lambda pod: (pod.uid,))
