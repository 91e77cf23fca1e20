"""Drains of a running cluster, with the behaviour of `kubectl drain --ignore-daemonsets`.

All nodes are cordoned, then drained one after the other: the pods of a node are evicted at once, refused evictions
are retried after five seconds, and the next node follows when all of them have left. A node with pods that kubectl
would only delete with a further option is not drained.
"""

# upstream: kubectl/pkg/drain/{drain,filters,default}.go, kubectl/pkg/cmd/drain/drain.go (v1.36)

import asyncio
from collections.abc import Callable
from typing import Final

from kubesched.core.cluster.pod_info import PodInfo
from kubesched_answers.pod_owners import bound_to_node
from kubesched_answers.whatif.draining import Drain
from kubesched_answers.whatif.operations import named
from kubesched_answers.whatif.running.cluster import RunningCluster
from kubesched_answers.whatif.running.node_requests import cordon
from kubesched_answers.whatif.whatif_answer import DrainRound, HeldUpPod, LeftPod, WhatIfStep
from kubesched_controlplane.api.statuses import ApiError

# returns the result of an operation at the end
Ended = Callable[[], WhatIfStep]
# as kubectl does
RETRY_SECONDS: Final = 5.0
LOOK_SECONDS: Final = 1.0
BARE: Final = "it has no controller and would be lost; kubectl drain demands --force"
EMPTY_DIR: Final = "it would lose the data of its emptyDir volumes; kubectl drain demands --delete-emptydir-data"


def begin(cluster: RunningCluster, operation: Drain) -> Ended:
    """Cordon nodes and start to drain them; the drain continues while time passes."""
    for name in operation.nodes:
        cordon(cluster, name)
    drain = _Drain(cluster, operation)
    cluster.keep(drain.run(), RETRY_SECONDS)
    return drain.step


class _Drain:
    def __init__(self, cluster: RunningCluster, operation: Drain) -> None:
        self._cluster = cluster
        self._operation = operation
        self._pods = cluster.client.resource("v1", "Pod")
        self._rounds: list[DrainRound] = []
        self._left: list[LeftPod] = []
        self._refused: list[LeftPod] = []
        # the pods whose last eviction was refused, by UID
        self._held_up: dict[str, HeldUpPod] = {}
        # nodes that wait for the previous one
        self._waiting = list(operation.nodes)

    async def run(self) -> None:
        """Drain one node after the other."""
        while self._waiting:
            name = self._waiting[0]
            await self._drain(name)
            self._waiting.pop(0)

    async def _drain(self, node: str) -> None:
        pods = [pod for pod in self._cluster.pods.values() if pod.spec.node_name == node]
        pods.sort(key=lambda pod: pod.full_name)
        self._left += [LeftPod(pod.full_name, node, why) for pod in pods if (why := bound_to_node(pod))]
        waiting = [pod for pod in pods if not bound_to_node(pod)]
        refused = [LeftPod(pod.full_name, node, why) for pod in waiting if (why := self._objection(pod))]
        self._refused += refused
        if refused:
            return
        gone: list[PodInfo] = []
        while waiting:
            evicted = [pod for pod in waiting if self._evict(pod, node)]
            if evicted:
                number = sum(1 for each in self._rounds if each.node == node) + 1
                self._rounds.append(DrainRound(node, number, tuple(pod.full_name for pod in evicted)))
            gone += evicted
            waiting = [pod for pod in waiting if pod.uid in self._held_up]
            await asyncio.sleep(RETRY_SECONDS if waiting else LOOK_SECONDS)
        while any(self._is_there(pod) for pod in gone):
            await asyncio.sleep(LOOK_SECONDS)

    def _objection(self, pod: PodInfo) -> str:
        """Return why kubectl refuses to delete a pod, an empty text if it does not."""
        if pod.pod.terminal or pod.terminating:
            return ""
        if pod.metadata.controller is None and not self._operation.force:
            return BARE
        volumes = pod.pod.spec.volumes
        if any(volume.empty_dir is not None for volume in volumes) and not self._operation.delete_emptydir_data:
            return EMPTY_DIR
        return ""

    def _is_there(self, pod: PodInfo) -> bool:
        known = self._cluster.pods.get(pod.full_name)
        return known is not None and known.uid == pod.uid

    def _evict(self, pod: PodInfo, node: str) -> bool:
        """Evict a pod; return whether that was allowed."""
        self._held_up.pop(pod.uid, None)
        if not self._is_there(pod) or pod.terminating:
            return False
        meta = {"name": pod.name, "namespace": pod.namespace}
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta}
        try:
            self._cluster.client.create_at(self._pods, (pod.namespace, pod.name), "eviction", eviction)
        except ApiError as error:
            if error.code == 404:
                return False
            causes = (error.details or {}).get("causes") or ()
            message = next((each["message"] for each in causes if each.get("message")), error.message)
            self._held_up[pod.uid] = HeldUpPod(pod.full_name, node, self._cluster.budgets_of(pod), message)
            return False
        return True

    def step(self) -> WhatIfStep:
        """Return the progress of the drain."""
        rounds, held_up = tuple(self._rounds), tuple(self._held_up.values())
        evicted = sum(len(each.pods) for each in rounds)
        message = f"{evicted} {'pod is' if evicted == 1 else 'pods are'} evicted"
        message += f" in {len(rounds)} {'round' if len(rounds) == 1 else 'rounds'}"
        if held_up:
            message += f"; budgets hold up {len(held_up)}"
        later = tuple(self._waiting[1:])
        if later:
            message += f"; {named(later)} {'waits' if len(later) == 1 else 'wait'} for that"
        for node in dict.fromkeys(each.node for each in self._refused):
            number = sum(1 for each in self._refused if each.node == node)
            message += f"; kubectl drain does not drain {node} because of {number} {'pod' if number == 1 else 'pods'}"
        nodes = self._operation.nodes
        return WhatIfStep(
            f"drain {named(nodes)}", message, nodes, rounds, held_up, tuple(self._left), tuple(self._refused)
        )
