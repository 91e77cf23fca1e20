"""TaintToleration and NodeUnschedulable: tolerations added, taints removed, nodes uncordoned.

From the taints of a node that the pod does not tolerate to steps on the pod and on the node.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kubesched.api.nodes import Node
from kubesched.api.pods import Taint
from kubesched.api.tolerations import forbids_scheduling, tolerated_by_any
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.remedies.proposers.obstacles import Obstacle, drop, entries, object_step, pod_step
from kubesched_answers.remedies.steps import Document, Edit, Rank, Step, Steps
from kubesched_answers.remedies.trials import Trial

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
# taints of unhealthy nodes or nodes under removal: a pod should not tolerate them, and a controller restores
# a removed one
OF_CONDITIONS = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "karpenter.sh/disrupted",
)


def taints(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield tolerations for the taints, and their removal; nothing for a node that must recover first."""
    if obstacle.row is None:
        return
    node = trial.node(obstacle.row)
    found = untolerated_of(trial, dict.fromkeys(node.spec.taints))
    of_cordon = [taint for taint in found if _is_of_cordon(node, taint)]
    others = [taint for taint in found if taint not in of_cordon]
    if any(taint.key.startswith(OF_CONDITIONS) for taint in others):
        return
    uncordon = (uncordoned(node),) if of_cordon else ()
    if not of_cordon:
        yield tuple(_tolerating(trial, taint) for taint in others)
    yield (*uncordon, *(_removing(node, taint) for taint in others))


def _is_of_cordon(node: Node, taint: Taint) -> bool:
    return taint.key == UNSCHEDULABLE and node.spec.unschedulable


def untolerated_of(trial: Trial, taints: Iterable[Taint]) -> list[Taint]:
    """Return the taints that keep the pod off a node."""
    return keeping_off(trial.model, trial.pod, taints)


def keeping_off(model: ClusterModel, pod: PodInfo, taints: Iterable[Taint]) -> list[Taint]:
    """Return the taints that keep a pod off a node."""
    comparison = model.loaded.gates.enabled("TaintTolerationComparisonOperators")
    tolerations = pod.spec.tolerations
    return [
        taint for taint in taints if forbids_scheduling(taint) and not tolerated_by_any(taint, tolerations, comparison)
    ]


def cordon(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield the removal of a cordon."""
    if obstacle.row is not None:
        yield (uncordoned(trial.node(obstacle.row)),)


def uncordoned(node: Node) -> Step:
    """Return the step of `kubectl uncordon`."""
    step = object_step(node, "uncordon", f"uncordon node {node.name}", _uncordon, rank=Rank.UNCORDON)
    return replace(step, command=("kubectl", "uncordon", node.name))


def text_of(taint: Taint) -> str:
    """Return a taint as kubectl writes it."""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


def _tolerating(trial: Trial, taint: Taint) -> Step:
    toleration = {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
    if not taint.value:
        toleration = {"key": taint.key, "operator": "Exists", "effect": taint.effect}

    def edit(document: Document) -> None:
        entries(document, "spec", "tolerations").append(toleration)

    return pod_step(trial, "toleration", f"add a toleration for taint {text_of(taint)}", edit)


def _removing(node: Node, taint: Taint) -> Step:
    text = f"remove taint {text_of(taint)} from node {node.name}"
    command = ("kubectl", "taint", "nodes", node.name, f"{taint.key}:{taint.effect}-")
    return replace(object_step(node, "taint", text, _untainted(taint)), command=command)


def _untainted(taint: Taint) -> Edit:
    def edit(document: Document) -> None:
        for each in list(document.get("spec", {}).get("taints", ())):
            if (each.get("key", ""), each.get("value", ""), each.get("effect", "")) == (
                taint.key,
                taint.value,
                taint.effect,
            ):
                drop(document, each, "spec", "taints")

    return edit


def _uncordon(document: Document) -> None:
    document.get("spec", {}).pop("unschedulable", None)
    _untainted(Taint(key=UNSCHEDULABLE, effect="NoSchedule"))(document)
