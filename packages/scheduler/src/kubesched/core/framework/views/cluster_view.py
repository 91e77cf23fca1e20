"""The cluster as third-party plugins see it: objects, pods, indexes and their custom columns.

From the cluster to constructors with the parameter `cluster`. Values of one node are read from the node that a hook
gets, which is also true in what-if worlds; the table stays with the engine. An answer that is kept (`key`) must not
look at other nodes or at pods elsewhere: that is an error here, since it would be kept although they change.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kubesched.api.labels import NOTHING, InvalidSelectorError, Selector, from_label_selector
from kubesched.api.meta import ApiObject
from kubesched.api.policy import PodDisruptionBudget
from kubesched.core.cluster.changes import OTHER_ROWS, Reads
from kubesched.core.cluster.cluster import ClusterState, RemovedPods
from kubesched.core.cluster.indexes import Index
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.pod_totals import PodTotals
from kubesched.core.cluster.restrictions import may_read
from kubesched.core.framework.values.preemption import Candidate, best_of
from kubesched.core.framework.views.computed_values import ComputedValues
from kubesched.core.framework.views.node_values import (
    AssignedValues,
    NodeValues,
    Number,
    ValuesOfNodes,
    ValuesOfObjects,
)
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.core.framework.views.pod_sums import OF_POD, PodSums
from kubesched.errors import PluginError

Kind = type[ApiObject] | str

# the groups of a node that do not depend on its pods
OF_NODE = Reads.LABELS | Reads.TAINTS | Reads.IMAGES | Reads.FEATURES | Reads.ANNOTATIONS | Reads.NODE_OBJECT


# The most pairs of a namespace and labels for which the selecting PodDisruptionBudgets are cached.
REMEMBERED_LABELS = 10_000


class ClusterView:
    """Nodes, pods and other objects, to be read."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        # the names of the PodDisruptionBudgets that select pods, by namespace and labels; and selectors by name
        self._budgets: dict[tuple[str, frozenset[tuple[str, str]]], list[str]] = {}
        self._budgets_version = -1
        self._selectors: dict[str, tuple[PodDisruptionBudget, Selector]] = {}
        # functions that stop the updates of the plugin's indexes and columns
        self._kept: list[Callable[[], None]] = []

    def release(self) -> None:
        """Keep indexes, totals and columns of objects up to date no longer; the plugin is not used any more."""
        while self._kept:
            self._kept.pop()()

    # -- objects

    def get(self, kind: Kind, name: str) -> Any:
        """Return an object by `name`, or `namespace/name`; None if there is none.

        A kind is a class such as `PersistentVolume`, or a name such as `racks.v1.example.com` from `looks_up`.
        """
        return self._state.objects.find(_name_of(kind), name)

    def all(self, kind: Kind) -> list[Any]:
        """Return all objects of a kind."""
        return list(self._state.objects.named(_name_of(kind)))

    def index(self, kind: Kind, keys_of: Callable[[Any], Iterable[Hashable]]) -> Index[Any]:
        """Return the objects of a kind by keys, kept up to date from now on; call it in the constructor."""
        objects, name = self._state.objects, _name_of(kind)
        index = Index(keys_of, lambda: objects.check(name))
        for obj in objects.named(name):
            index.put(obj.full_name, obj)

        def follow(old: ApiObject | None, new: ApiObject | None) -> None:
            if new is not None:
                index.put(new.full_name, new)
            elif old is not None:
                index.drop(old.full_name)

        self._kept.append(objects.follow(name, follow))
        return index

    # -- pods

    @property
    def pending(self) -> Mapping[str, PodInfo]:
        """Return the pods without a node, by UID."""
        self._look_around()
        return self._state.pending

    @property
    def pods(self) -> Mapping[str, PodInfo]:
        """Return the pods on nodes, by UID: bound, and assumed."""
        self._look_around()
        return self._state.placed

    def as_reported(self, pod: PodInfo) -> PodInfo:
        """Return a pod as the API server last reported it.

        Otherwise a pod that is assumed on a node, such as one waiting in Permit, is seen as of the choice of its node.
        """
        self._look_around()
        return self._state.as_reported(pod)

    def pod_index(self, keys_of: Callable[[PodInfo], Iterable[Hashable]]) -> Index[PodInfo]:
        """Return all pods by keys, with and without a node, kept up to date from now on; call it in the constructor."""
        index = self._state.keep_index(Index(keys_of, self._look_around))
        self._kept.append(lambda: self._state.drop_index(index))
        return index

    def pod_totals(self, key_of: Callable[[PodInfo], Hashable]) -> PodTotals:
        """Return the sums of the requests of pods on nodes, by a key; they are updated from now on.

        Call it in the constructor. A pod whose key is None does not count.
        """
        table = self._state.table
        totals = PodTotals(key_of, table.pods.values(), self._look_around)
        table.totals.append(totals)
        self._kept.append(lambda: table.totals.remove(totals))
        return totals

    def without(self, pods: Iterable[PodInfo]) -> AbstractContextManager[RemovedPods]:
        """Take pods off their nodes for a while, as a trial of preemption does; at the end all of them are back."""
        self._look_around()
        return self._state.without(pods)

    @property
    def in_trial(self) -> bool:
        """Return whether pods are elsewhere than they are, for a trial of placements (`trials`)."""
        return self._state.in_trial

    def budgets_of(self, pod: PodInfo) -> list[PodDisruptionBudget]:
        """Return the PodDisruptionBudgets that select a pod; the plugin names their kind in `looks_up`."""
        if not pod.labels:
            return []
        version = self._state.objects.versions.get(PodDisruptionBudget.__name__, 0)
        if version != self._budgets_version or len(self._budgets) > REMEMBERED_LABELS:
            self._budgets_version = version
            self._budgets = {}
        key = pod.namespace, frozenset(pod.labels.items())
        names = self._budgets.get(key)
        if names is None:
            names = self._budgets[key] = [
                budget.full_name
                for budget in self.all(PodDisruptionBudget)
                if budget.metadata.namespace == pod.namespace and self._selector_of(budget).matches(pod.labels)
            ]
        return [self.get(PodDisruptionBudget, name) for name in names]

    def _selector_of(self, budget: PodDisruptionBudget) -> Selector:
        """Return the selector of a budget, which is read once."""
        known = self._selectors.get(budget.full_name)
        if known is None or known[0] is not budget:
            try:
                selector = from_label_selector(budget.spec.selector)
            except InvalidSelectorError:
                selector = NOTHING
            # an empty selector selects no pods here
            selector = NOTHING if selector.empty else selector
            known = self._selectors[budget.full_name] = budget, selector
        return known[1]

    def best_candidates(self, candidates: Sequence[Candidate]) -> list[str]:
        """Return, sorted, the names of the nodes that tie for best, as DefaultPreemption chooses among candidates."""
        return best_of(self._state.table, candidates)

    # -- nodes

    @property
    def nodes(self) -> Nodes:
        """Return all nodes."""
        self._look_around()
        return Nodes.all_of(self._state.table)

    def node(self, name: str) -> NodeRow | None:
        """Return a node, None if there is none of this name."""
        self._look_around()
        table = self._state.table
        row = table.row_of.get(name)
        return None if row is None or table.nodes[row] is None else NodeRow(table, row)

    # -- columns

    def node_values(
        self,
        value_of: Callable[[NodeRow], Number],
        *,
        reads: int = OF_NODE,
        default: Number = 0,
        dtype: DTypeLike = np.int64,
    ) -> NodeValues:
        """Return a column of a value for each node; it is recomputed where its `reads` changed."""
        return ValuesOfNodes(self._state.table, value_of, reads, dtype, default)

    def object_values(
        self,
        kind: Kind,
        *,
        node_of: Callable[[Any], str],
        value_of: Callable[[Any], Number],
        default: Number = 0,
        dtype: DTypeLike = np.int64,
    ) -> NodeValues:
        """Return a column of a value for each node, from the objects of a kind that belong to it by its name.

        The plugin names the kind in `looks_up`.
        """
        objects, name = self._state.objects, _name_of(kind)
        values = ValuesOfObjects(self._state.table, objects, name, node_of, value_of, dtype, default)
        self._kept.append(values.unfollow)
        return values

    def pod_sums(self, value_of: Callable[[PodInfo], int], *, reads: int = OF_POD) -> PodSums:
        """Return a column of the sums of a number over the pods on each node; it is summed again where pods change.

        The number follows from the pod, and from columns whose `reads` are named beside Reads.PODS; it is a whole one.
        By default the function may read all fields of a pod.
        """
        return PodSums(self._state.table, value_of, reads)

    def computed_values(
        self,
        compute: Callable[[Nodes], NDArray[Any]],
        *,
        reads: int,
        default: Number = 0,
        dtype: DTypeLike = np.int64,
    ) -> ComputedValues:
        """Return a column that a function computes from columns of nodes; computed again where what it `reads` changed.

        The value of a node follows from that node alone. `reads` names all that it reads, such as Reads.RESOURCES and
        the `reads` of other columns.
        """
        return ComputedValues(self._state.table, compute, reads, dtype, default)

    def assigned_values(self, *, default: Number = 0, dtype: DTypeLike = np.int64) -> AssignedValues:
        """Return a column of values from outside the cluster; `assign` them where they are looked up."""
        return AssignedValues(self._state.table, dtype, default)

    def _look_around(self) -> None:
        """Raise PluginError if the answer of the plugin that is asked is kept: it must depend on one node alone."""
        if not may_read(self._state.log) & OTHER_ROWS:
            raise PluginError(
                "pods elsewhere or other nodes are read, on which an answer that is kept must not depend: it would be "
                "kept although they change; leave out `key`, or `score_key`"
            )


def _name_of(kind: Kind) -> str:
    return kind if isinstance(kind, str) else kind.__name__
