"""Which pods a plugin counts: by namespace and labels.

From a plugin's constructor to `node.count_pods` and `nodes.count_pods`. Counts of many nodes are kept up to date with
every pod that comes or goes, as long as the matcher exists.
"""

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from kubesched.api.labels import Selector, selector_from_set
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.pod_matches import PodMatch
from kubesched.core.cluster.table import NodeTable


class PodMatcher:
    """Pods in some namespaces (without any: in all) that have these labels, or that a selector matches."""

    __slots__ = ("_counts", "_namespaces", "_selectors", "_table", "_terminating")

    def __init__(
        self,
        labels: Mapping[str, str] | None = None,
        *,
        namespaces: Collection[str] | None = None,
        selector: Selector | None = None,
        terminating: bool = True,
    ) -> None:
        equal = selector_from_set(labels or {})
        self._selectors = (equal,) if selector is None else (equal, selector)
        self._namespaces = None if namespaces is None else frozenset(namespaces)
        self._terminating = terminating
        self._table: NodeTable | None = None
        self._counts: PodMatch | None = None

    def matches(self, pod: PodInfo) -> bool:
        """Return whether a pod matches."""
        if self._namespaces is not None and pod.namespace not in self._namespaces:
            return False
        if pod.terminating and not self._terminating:
            return False
        return all(selector.matches(pod.labels) for selector in self._selectors)

    def column(self, table: NodeTable) -> NDArray[np.int64]:
        """Return the number of matching pods on each row of a table."""
        if self._counts is None or self._table is not table:
            self._table = table
            self._counts = table.counts.match(self._namespaces, self._selectors, live_only=not self._terminating)
        return self._counts.column(table.size)
