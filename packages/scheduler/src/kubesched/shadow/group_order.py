"""The nodes of a pod group's pods, judged together: a search for an order of the pods in which each node is among the
best.

From pods of one group with their nodes to whether such an order exists. Each pod is judged after those before it are
placed.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kubesched.api.pods import Pod
from kubesched.model.cluster_model import name_of_object
from kubesched.shadow.history import ClusterHistory
from kubesched.shadow.judging import judge_binding
from kubesched.shadow.pod_changes import placed

# limit of judgements to find an order
MOST_TRIED = 500


class BoundMember(NamedTuple):
    """A waiting pod of a group, and the node that it was bound to."""

    pod: Pod
    node: str


class GroupOrderSearch:
    """A search for an order; `exhausted` is set if it ended before all orders were tried."""

    def __init__(self, history: ClusterHistory, members: Sequence[BoundMember]) -> None:
        self._history = history
        self._members = members
        self._tried = 0
        self.exhausted = False

    def finds_order(self) -> bool:
        """Return whether the members can have been decided one after the other, in some order."""
        # sets of placed members after which no order of the remaining ones exists
        return self._finds(frozenset(), set())

    def _finds(self, before: frozenset[str], in_vain: set[frozenset[str]]) -> bool:
        left = [each for each in self._members if each.pod.uid not in before]
        if not left:
            return True
        for member in left:
            after = before | {member.pod.uid}
            if after in in_vain or not self._is_best(member):
                continue
            name = name_of_object(member.pod)
            with self._history.as_of({name: placed(member.pod, member.node)}):
                if self._finds(after, in_vain):
                    return True
            in_vain.add(after)
        return False

    def _is_best(self, member: BoundMember) -> bool:
        if self._tried >= MOST_TRIED:
            self.exhausted = True
            return False
        self._tried += 1
        model = self._history.model
        waiting = model.pods.get(member.pod.full_name)
        return waiting is not None and judge_binding(model, waiting, member.node).agrees
