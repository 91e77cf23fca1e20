"""Proofs of remedies that share nothing with the search: changes applied to documents, judged by a new engine."""

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kubesched.api.codec import decode
from kubesched.asking.answers import ObjectChange, ObjectName
from kubesched.asking.cluster_objects import ClusterObjects
from kubesched.asking.model import ClusterModel, gates_of
from kubesched.asking.remedies.remedy import Remedy
from kubesched.config.load import Loaded
from kubesched.controlplane.schema.json_patching import json_patched

Document = Mapping[str, Any]


def model_of(documents: Iterable[Document], loaded: Loaded) -> ClusterModel:
    """Return a new model of documents."""
    return ClusterModel(ClusterObjects(tuple(decode(document) for document in documents)), loaded)


def applied(documents: Sequence[Document], changes: Iterable[ObjectChange]) -> list[Document]:
    """Return the documents after changes, as whoever applies them has it."""
    left = {_name(document): document for document in copy.deepcopy(list(documents))}
    for change in changes:
        key = (change.object.kind, change.object.namespace, change.object.name)
        if change.create is not None:
            assert key not in left, f"{change.object} exists"
            left[key] = change.create
        elif change.delete:
            del left[key]
        else:
            assert change.patch, f"{change.object}: nothing is patched"
            left[key] = json_patched(dict(left[key]), list(change.patch))
    return list(left.values())


def best_nodes(documents: Iterable[Document], loaded: Loaded, pod_name: str) -> set[str]:
    """Return the nodes that a new scheduler may choose for a pod; none if it is held back or fits nowhere."""
    model = model_of(documents, loaded)
    pod = model.pods[pod_name]
    profile = model.profile_of(pod)
    if profile is None or gates_of(profile, pod):
        return set()
    evaluation = model.engine.evaluation_of(pod)
    names = model.cluster.table.names
    if evaluation.pre_filtered.rejection is not None:
        return set()
    nominated = evaluation.nominated_row()
    if nominated is not None:
        return {names[nominated]}
    feasible = evaluation.feasible()
    if evaluation.filter_failure() is not None or not feasible.count:
        return set()
    if feasible.count == 1:
        return {names[int(feasible.mask.argmax())]}
    best = evaluation.best_rows()
    return {names[row] for row in best.tolist()} if not hasattr(best, "code") else set()


def check(documents: Sequence[Document], loaded: Loaded, pod_name: str, remedy: Remedy) -> None:
    """Assert that a remedy is sound, and minimal in every change and in every operation."""
    changes = remedy.changes
    assert changes, remedy
    reached = best_nodes(applied(documents, changes), loaded, pod_name)
    assert remedy.node in reached, (remedy, reached)
    for fewer in _without_one(changes):
        assert not best_nodes(applied(documents, fewer), loaded, pod_name), (remedy, fewer)


def _without_one(changes: tuple[ObjectChange, ...]) -> Iterator[list[ObjectChange]]:
    for index in range(len(changes)):
        yield [*changes[:index], *changes[index + 1 :]]


def _name(document: Document) -> tuple[str, str, str]:
    meta = document.get("metadata", {})
    return str(document["kind"]), meta.get("namespace", ""), meta.get("name", "")


def object_name(document: Document) -> ObjectName:
    """Return the name of a document."""
    return ObjectName(str(document["apiVersion"]), *_name(document))
