"""Trials: the pod, evaluated in a fork with some steps applied.

From steps to the node that the scheduler then chooses, or to the remaining obstacles. The number of trials is
limited.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.core.cluster.affinity_terms import AffinityTerm
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.pod_slots import NOWHERE
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.values.status import Status
from kubesched.core.plugins.node_ports import in_the_way
from kubesched.core.scheduling.decision import Decision, choose
from kubesched.core.scheduling.outcomes import Placed
from kubesched.errors import KubeschedError
from kubesched.model.cluster_model import ClusterModel, changed, gates_of, name_of_object
from kubesched.model.rejections import Rejections
from kubesched.reports.answers import ObjectChange, ObjectName
from kubesched_answers.placing import Placer
from kubesched_answers.remedies.carrying_out import Plan, Planner
from kubesched_answers.remedies.steps import Step, changes_of


class PreemptedPlace(NamedTuple):
    """The node that a pod gets by preemption, empty if there is none, and the evicted pods."""

    node_name: str = ""
    victims: tuple[str, ...] = ()


class Trial:
    """The pod in a fork, valid as long as the fork; `preempts` if it may get its node by preemption."""

    def __init__(self, model: ClusterModel, pod: PodInfo, *, preempts: bool = False) -> None:
        self.model = model
        self.pod = pod
        self._preempts = preempts
        self.profile: Profile | None = model.profile_of(pod)
        self._selected: dict[AffinityTerm, list[PodInfo]] = {}
        self.gates: list[Status] = gates_of(self.profile, pod) if self.profile is not None else []

    @cached_property
    def evaluation(self) -> Evaluation:
        """Return the evaluation of the pod."""
        return self.model.engine.evaluation_of(self.pod)

    @cached_property
    def decision(self) -> Decision:
        """Return the scheduler's decision; among several best nodes, the first."""
        if self.profile is None or self.gates:
            return Decision()
        return choose(self.evaluation, pick=lambda count: 0)

    @property
    def node_name(self) -> str:
        """Return the node that the pod goes to, empty if there is none or if its kubelet would refuse the pod."""
        if self._preempts and not self.decision.node_name:
            return self.preemption.node_name
        found = self.decision.node_name
        return "" if found and self.port_holders(self.model.cluster.table.row_of[found]) else found

    def port_holders(self, row: int) -> list[PodInfo]:
        """Return the pods on a row that hold a host port of the pod.

        The scheduler considers a port free as soon as one of its holders is evicted, but a kubelet then refuses the
        pod.
        """
        wanted = self.pod.digest.host_ports
        if not wanted:
            return []
        others = [pod for pod in self.model.cluster.table.pods_on[row].values() if pod.uid != self.pod.uid]
        return [pod for pod in others if any(in_the_way(port, wanted) for port in pod.digest.host_ports)]

    @cached_property
    def preemption(self) -> PreemptedPlace:
        """Return the node that the pod gets after the scheduler's preemption for it."""
        if self.profile is None or self.gates or not self.profile.post_filter:
            return PreemptedPlace()
        placer, known = Placer(self.model), self.model.pods.get(self.pod.full_name)
        try:
            outcomes, victims = placer.place_or_preempt(self.pod)
        finally:
            placer.undo()
            if known is not None:
                # with its nomination, which placing it ends
                self.model.cluster.put_pod(known)
        outcome = outcomes.get(self.pod.uid)
        if not isinstance(outcome, Placed) or not victims:
            return PreemptedPlace()
        return PreemptedPlace(outcome.node_name, tuple(victim.full_name for victim in victims))

    @cached_property
    def rejections(self) -> Rejections:
        """Return the rejections of every filter on every node."""
        return Rejections(self.evaluation)

    @cached_property
    def opponents(self) -> list[tuple[PodInfo, AffinityTerm]]:
        """Return the placed pods with a required anti-affinity term that selects the pod."""
        pod = self.pod
        labels = self.model.cluster.namespace_labels(pod.namespace)
        return [
            (other, term)
            for other in self.model.cluster.table.pods.values()
            for term in other.affinity.required_anti_affinity
            if term.matches(pod.namespace, pod.labels, labels)
        ]

    def pods_selected_by(self, term: AffinityTerm) -> list[PodInfo]:
        """Return the placed pods that a term selects."""
        if term not in self._selected:
            self._selected[term] = self._matching(term)
        return self._selected[term]

    def _matching(self, term: AffinityTerm) -> list[PodInfo]:
        """Return the placed pods that a term selects, with a cache for pods with the same labels."""
        cluster, slots = self.model.cluster, self.model.cluster.table.slots
        placed = np.flatnonzero(slots.row[: slots.size] != NOWHERE)
        codes, which = np.unique(slots.group[placed], return_inverse=True)
        groups = [cluster.table.counts.groups[code] for code in codes.tolist()]
        matches = [term.matches(g.namespace, g.labels, cluster.namespace_labels(g.namespace)) for g in groups]
        chosen = placed[np.array(matches, np.bool_)[which]] if groups else placed
        return [pod for slot in chosen.tolist() if (pod := slots.pods[slot]) is not None]

    def node(self, row: int) -> Node:
        """Return the node of a row."""
        found = self.model.cluster.table.nodes[row]
        assert found is not None, "a row of a rejection has a node"
        return found


class Trials:
    """Tries steps for one pod; counts the trials."""

    def __init__(self, model: ClusterModel, pod: PodInfo, most: int) -> None:
        self.model = model
        self.pod = pod
        self.left = most
        self.own: ObjectName = name_of_object(pod.pod)
        known = model.pods.get(pod.full_name)
        # a pod outside the cluster is in no fork
        self.in_cluster = known is not None and known.uid == pod.uid
        self._nodes: dict[frozenset[tuple[ObjectName, str]], str] = {}
        self._plans: dict[frozenset[tuple[ObjectName, str]], Plan | None] = {}

    @cached_property
    def _planner(self) -> Planner:
        return Planner(self.model, self.pod, self.own, in_cluster=self.in_cluster)

    def plan(self, steps: tuple[Step, ...]) -> Plan | None:
        """Return how steps are carried out; None if the API server refuses one, or a controller reverts it."""
        key = frozenset(step.key for step in steps)
        if key not in self._plans:
            self._plans[key] = self._planner.plan(steps, self.changes(steps))
        return self._plans[key]

    def changes(self, steps: Iterable[Step]) -> tuple[ObjectChange, ...]:
        """Return the changes that steps make."""
        return changes_of(steps, self._find)

    @contextmanager
    def fork(self, steps: tuple[Step, ...]) -> Iterator[Trial]:
        """Apply steps until the block ends; raises KubeschedError if they cannot be applied together."""
        self.left -= 1
        changes = self.changes(steps)
        own = [change for change in changes if change.object == self.own]
        others = changes if self.in_cluster else tuple(change for change in changes if change.object != self.own)
        with self.model.fork(others):
            pod = self._changed(own[0]) if own else self.pod
            yield Trial(self.model, pod, preempts=any(step.preempts for step in steps))

    def _changed(self, own: ObjectChange) -> PodInfo:
        if self.in_cluster:
            return self.model.pods[self.pod.full_name]
        patched = changed(own, self.pod.pod)
        assert isinstance(patched, Pod), "a patch leaves the kind"
        return self.model.read(patched)

    def node_after(self, steps: tuple[Step, ...]) -> str:
        """Return the node that the pod goes to after some steps, empty if it has none or the steps are impossible."""
        key = frozenset(step.key for step in steps)
        if key not in self._nodes:
            try:
                with self.fork(steps) as trial:
                    node = trial.node_name
                self._nodes[key] = node if node and self.plan(steps) is not None else ""
            except KubeschedError:
                self._nodes[key] = ""
        return self._nodes[key]

    def preempted_after(self, steps: tuple[Step, ...]) -> tuple[str, ...]:
        """Return the pods that the pod preempts after some steps; none if it has a node without preemption."""
        if not any(step.preempts for step in steps):
            return ()
        with self.fork(steps) as trial:
            return trial.preemption.victims

    def _find(self, name: ObjectName) -> ApiObject | None:
        return self.pod.pod if name == self.own else self.model.find(name)
