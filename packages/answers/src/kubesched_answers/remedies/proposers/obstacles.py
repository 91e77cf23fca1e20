"""Shared parts of proposers: the obstacle, and short ways to make steps.

From a status of a plugin to steps on the pod, on a node or on another object.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from kubesched.api.codec import decode
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.core.framework.values.status import Status
from kubesched.model.cluster_model import name_of_object
from kubesched_answers.remedies.steps import Document, Edit, Rank, Scope, Step, Steps
from kubesched_answers.remedies.trials import Trial

# labels that describe a node: an existing value is right
WELL_KNOWN = ("kubernetes.io/", "node.kubernetes.io/", "topology.kubernetes.io/", "beta.kubernetes.io/")


class Obstacle(NamedTuple):
    """The status of a plugin that rejects the pod; `row` is None if it rejects the pod as a whole."""

    status: Status
    row: int | None


Proposer = Callable[[Trial, Obstacle], Iterator[Steps]]


def pod_step(trial: Trial, topic: str, summary: str, edit: Edit, size: float = 0.0) -> Step:
    """Return a change of the pod."""
    return Step(name_of_object(trial.pod.pod), summary, Scope.POD, topic, size, edit)


def object_step(
    obj: ApiObject, topic: str, summary: str, edit: Edit, size: float = 0.0, rank: Rank = Rank.CHANGE_NODE
) -> Step:
    """Return a change of an object of the cluster."""
    return Step(name_of_object(obj), summary, Scope.CLUSTER, topic, size, edit, rank=rank)


def creation(document: Document, topic: str, summary: str, size: float = 0.0, rank: Rank = Rank.FIX_CLAIM) -> Step:
    """Return the creation of an object."""
    return Step(name_of_object(decode(document)), summary, Scope.CLUSTER, topic, size, create=document, rank=rank)


def labelled(node: Node, labels: dict[str, str | None]) -> Iterator[Step]:
    """Yield steps that set labels of a node, or remove those without a value."""
    for key, value in labels.items():
        if value is None:
            step = object_step(node, "label", f"remove label {key} from node {node.name}", _unset(key))
            words: tuple[str, ...] = (f"{key}-",)
        elif key in node.metadata.labels:
            text = f"change label {key} of node {node.name} from {node.metadata.labels[key]} to {value}"
            step = object_step(node, "label", text, _set(key, value), 1.0)
            words = (f"{key}={value}", "--overwrite")
        else:
            step = object_step(node, "label", f"add label {key}={value} to node {node.name}", _set(key, value))
            words = (f"{key}={value}",)
        yield replace(step, command=("kubectl", "label", "nodes", node.name, *words))


def may_label(node: Node, key: str) -> bool:
    """Return whether a label may be changed: an existing label that describes the node must not be."""
    return key not in node.metadata.labels or not key.startswith(WELL_KNOWN)


def field(document: Document, *keys: str) -> Document:
    """Return a map inside of a document, created if missing."""
    for key in keys:
        document = document.setdefault(key, {})
    return document


def entries(document: Document, *keys: str) -> list[Any]:
    """Return a list inside of a document, created if missing."""
    *parents, last = keys
    found: list[Any] = field(document, *parents).setdefault(last, [])
    return found


def drop(document: Document, value: Any, *keys: str) -> None:
    """Remove all occurrences of a value from a list inside of a document, and the list if it is then empty."""
    *parents, last = keys
    for key in parents:
        document = document.get(key) or {}
    found = document.get(last)
    if found and value in found:
        found[:] = [each for each in found if each != value]
        if not found:
            del document[last]


def _set(key: str, value: str) -> Edit:
    def edit(document: Document) -> None:
        field(document, "metadata", "labels")[key] = value

    return edit


def _unset(key: str) -> Edit:
    def edit(document: Document) -> None:
        labels = field(document, "metadata", "labels")
        labels.pop(key, None)

    return edit
