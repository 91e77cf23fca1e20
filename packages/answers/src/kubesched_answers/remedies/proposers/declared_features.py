"""NodeDeclaredFeatures: features of a kubelet that the pod needs, or the fields of the pod that need them.

From the features that a node does not declare to steps on the pod and on the node.
"""

from collections.abc import Iterator
from dataclasses import replace

from kubesched.api.nodes import Node
from kubesched.core.plugins.node_declared_features import (
    RESTART_ALL_CONTAINERS,
    USER_NAMESPACES_HOST_NETWORK,
    required_features,
    understood,
)
from kubesched_answers.remedies.proposers.obstacles import Obstacle, field, object_step, pod_step
from kubesched_answers.remedies.steps import Document, Edit, Step, Steps
from kubesched_answers.remedies.trials import Trial

RESTART_ALL = "RestartAllContainers"


def declared_features(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield a pod without the fields that need the features, then a node that has the features."""
    if obstacle.row is None:
        return
    node = trial.node(obstacle.row)
    missing = sorted(required_features(trial.pod) - understood(node.status.declared_features))
    yield tuple(step for feature in missing for step in _doing_without(trial, feature))
    yield tuple(_enabled(node, feature) for feature in missing)


def _doing_without(trial: Trial, feature: str) -> Iterator[Step]:
    """Yield the removal of the field that needs a feature."""
    if feature == RESTART_ALL_CONTAINERS:
        for container in (*trial.pod.spec.init_containers, *trial.pod.spec.containers):
            if any(rule.action == RESTART_ALL for rule in container.restart_policy_rules):
                text = f"remove the restart rules {RESTART_ALL} of container {container.name}"
                yield pod_step(trial, "restart-rules", text, _without_rules(container.name))
    elif feature == USER_NAMESPACES_HOST_NETWORK:
        yield pod_step(trial, "host-users", "let the pod have the users of its host (hostUsers)", _with_host_users)


def _without_rules(container_name: str) -> Edit:
    def edit(document: Document) -> None:
        spec = document.get("spec", {})
        for container in (*spec.get("initContainers", ()), *spec.get("containers", ())):
            if container.get("name", "") == container_name:
                rules = container.get("restartPolicyRules", ())
                left = [rule for rule in rules if rule.get("action") != RESTART_ALL]
                container["restartPolicyRules"] = left
                if not left:
                    del container["restartPolicyRules"]

    return edit


def _with_host_users(document: Document) -> None:
    field(document, "spec")["hostUsers"] = True


def _enabled(node: Node, feature: str) -> Step:
    def edit(document: Document) -> None:
        status = field(document, "status")
        status["declaredFeatures"] = sorted({*status.get("declaredFeatures", ()), feature})

    text = f"enable feature {feature} on node {node.name}, so that its kubelet declares it"
    return replace(object_step(node, "feature", text, edit), outside=True)
