"""Draining: pods are evicted as their budgets allow, in rounds; each round waits for the places of the one before.

From nodes to rounds, pods that a budget holds up, and pods that a drain leaves, as `kubectl drain` does it: all nodes
are cordoned first, then they are drained one after the other.
"""

from dataclasses import dataclass

from kubesched.core.cluster.pod_info import PodInfo
from kubesched_answers.pod_owners import bound_to_node
from kubesched_answers.whatif.operations import Operation
from kubesched_answers.whatif.trial import WhatIfTrial
from kubesched_answers.whatif.whatif_answer import DrainRound, HeldUpPod, LeftPod


@dataclass(frozen=True, slots=True)
class Drain(Operation):
    """Nodes to cordon and drain, like `kubectl drain --ignore-daemonsets` with these options."""

    nodes: tuple[str, ...]
    force: bool = False
    delete_emptydir_data: bool = False


@dataclass(frozen=True, slots=True)
class DrainedNode:
    """The progress of the drain of one node."""

    rounds: tuple[DrainRound, ...]
    held_up: tuple[HeldUpPod, ...]
    left: tuple[LeftPod, ...]


def drain_node(trial: WhatIfTrial, node: str) -> DrainedNode:
    """Evict the pods of a cordoned node in rounds, and schedule them again after each."""
    pods = trial.pods_on(node)
    left = [LeftPod(pod.full_name, node, reason) for pod in pods if (reason := bound_to_node(pod))]
    waiting = [pod for pod in pods if not bound_to_node(pod)]
    rounds: list[DrainRound] = []
    held_up: list[HeldUpPod] = []
    while waiting:
        evicted, held_up = _round(trial, node, waiting)
        if not evicted:
            break
        rounds.append(DrainRound(node, len(rounds) + 1, tuple(pod.full_name for pod in evicted)))
        trial.settle({pod.uid for pod in evicted})
        gone = {pod.uid for pod in evicted}
        waiting = [pod for pod in waiting if pod.uid not in gone and trial.node_of(pod) == node]
        held_up = [each for each in held_up if any(pod.full_name == each.pod for pod in waiting)]
    return DrainedNode(tuple(rounds), tuple(held_up), tuple(left))


def _round(trial: WhatIfTrial, node: str, waiting: list[PodInfo]) -> tuple[list[PodInfo], list[HeldUpPod]]:
    """Evict the pods whose budgets allow it; return the evicted and the remaining pods."""
    evicted: list[PodInfo] = []
    held_up: list[HeldUpPod] = []
    for pod in waiting:
        refusal = trial.budgets.refuse(pod)
        if refusal is None:
            trial.displace(pod)
            evicted.append(pod)
        else:
            held_up.append(HeldUpPod(pod.full_name, node, *refusal))
    return evicted, held_up
