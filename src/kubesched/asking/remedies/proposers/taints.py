"""TaintToleration and NodeUnschedulable: tolerations added, taints removed, nodes uncordoned.

From the taints of a node that the pod does not tolerate to steps on the pod and on the node.
"""

from collections.abc import Iterable, Iterator

from kubesched.api.nodes import Node
from kubesched.api.pods import Taint
from kubesched.api.tolerations import forbids_scheduling, tolerated_by_any
from kubesched.asking.remedies.proposers.obstacles import Obstacle, drop, entries, object_step, pod_step
from kubesched.asking.remedies.steps import Document, Edit, Step, Steps
from kubesched.asking.remedies.trials import Trial

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
# keys of taints of nodes that are not well or about to go, which a pod should not tolerate
OF_CONDITIONS = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "karpenter.sh/disrupted",
)


def taints(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield tolerations for the taints, and their removal."""
    if obstacle.row is None:
        return
    node = trial.node(obstacle.row)
    found = untolerated_of(trial, dict.fromkeys(node.spec.taints))
    if not any(taint.key.startswith(OF_CONDITIONS) for taint in found):
        yield tuple(_tolerating(trial, taint) for taint in found)
    yield tuple(dict.fromkeys(_removing(node, taint) for taint in found))


def untolerated_of(trial: Trial, taints: Iterable[Taint]) -> list[Taint]:
    """Return the taints that keep the pod off a node."""
    comparison = trial.model.loaded.gates.enabled("TaintTolerationComparisonOperators")
    tolerations = trial.pod.spec.tolerations
    return [
        taint for taint in taints if forbids_scheduling(taint) and not tolerated_by_any(taint, tolerations, comparison)
    ]


def cordon(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield the end of a cordon."""
    if obstacle.row is not None:
        yield (uncordoned(trial.node(obstacle.row)),)


def uncordoned(node: Node) -> Step:
    """Return the step of `kubectl uncordon`."""
    return object_step(node, "uncordon", f"uncordon node {node.name}", _uncordon)


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
    if taint.key == UNSCHEDULABLE and node.spec.unschedulable:
        return uncordoned(node)
    return object_step(node, "taint", f"remove taint {text_of(taint)} from node {node.name}", _untainted(taint))


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
