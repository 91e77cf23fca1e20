"""Proofs of remedies that share nothing with the search: changes applied to documents, judged by a new engine."""

import copy
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kubesched.api.codec import decode
from kubesched.api.quantity import quantity_of
from kubesched.config.load import Loaded
from kubesched.core.framework.values.status import Status
from kubesched.core.scheduling.outcomes import Placed
from kubesched.json_patch import json_patched
from kubesched.model.cluster_model import ClusterModel, gates_of
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.reports.answers import ObjectChange, ObjectName
from kubesched_answers.placing import Placer
from kubesched_answers.remedies.remedy import Remedy

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
    if feasible.failure is not None or not feasible.count:
        return set()
    if feasible.count == 1:
        return {names[int(feasible.mask.argmax())]}
    best = evaluation.best_rows()
    return set() if isinstance(best, Status) else {names[row] for row in best}


def preempting_place(documents: Iterable[Document], loaded: Loaded, pod_name: str) -> tuple[str, tuple[str, ...]]:
    """Return the node that a pod gets of a new scheduler that may preempt, and its victims; empty if it gets none."""
    model = model_of(documents, loaded)
    profile, pod = model.profile_of(model.pods[pod_name]), model.pods[pod_name]
    if profile is None or gates_of(profile, pod):
        return "", ()
    outcomes, victims = Placer(model).place_or_preempt(pod)
    outcome = outcomes[pod.uid]
    node = outcome.node_name if isinstance(outcome, Placed) else ""
    return node, tuple(sorted(victim.full_name for victim in victims))


def _check_preempting(documents: Sequence[Document], loaded: Loaded, pod_name: str, remedy: Remedy) -> None:
    """Assert that a remedy by preemption has the victims and the node that it names, and none without any change."""
    place = preempting_place(applied(documents, remedy.changes), loaded, pod_name)
    assert place == (remedy.node, tuple(sorted(remedy.preempts))), (remedy, place)
    for fewer in _without_one(remedy.changes):
        assert not preempting_place(applied(documents, fewer), loaded, pod_name)[0], (remedy, fewer)


def check(documents: Sequence[Document], loaded: Loaded, pod_name: str, remedy: Remedy) -> None:
    """Assert that a remedy is sound, and minimal in every change and in every operation."""
    changes = remedy.changes
    assert changes, remedy
    if remedy.preempts:
        _check_preempting(documents, loaded, pod_name, remedy)
        return
    reached = best_nodes(applied(documents, changes), loaded, pod_name)
    assert remedy.node in reached, (remedy, reached)
    for fewer in (*_without_one(changes), *_without_one_operation(changes), *_less_changed(changes)):
        assert not best_nodes(applied(documents, fewer), loaded, pod_name), (remedy, fewer)


def _without_one(changes: tuple[ObjectChange, ...]) -> Iterator[list[ObjectChange]]:
    for index in range(len(changes)):
        yield [*changes[:index], *changes[index + 1 :]]


def _without_one_operation(changes: tuple[ObjectChange, ...]) -> Iterator[list[ObjectChange]]:
    for change in changes:
        operations = list(change.patch or ())
        independent = _independent(operations)
        for left_out in independent if len(independent) > 1 else ():
            patch = [operation for operation in operations if operation is not left_out]
            yield [replace(each, patch=patch) if each is change else each for each in changes]


def _independent(operations: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the operations without tests, and without those that others entail.

    A container may not refer to a claim that the pod does not have any more, nor request more than the pod. On the
    host's network the API server fills in host ports that were removed. Only a constraint with DoNotSchedule may have
    minDomains.
    """
    of_pod = any(operation["path"].startswith("/spec/resources/") for operation in operations)
    entailed = re.compile(
        r"/spec/hostNetwork|.*/minDomains|"
        + (r"/spec/containers/\d+/resources/(claims|requests).*" if of_pod else r".*/resources/claims.*")
    )
    changing = [operation for operation in operations if operation["op"] != "test"]
    return [operation for operation in changing if not entailed.fullmatch(operation["path"])]


def _less_changed(changes: tuple[ObjectChange, ...]) -> Iterator[list[ObjectChange]]:
    """Yield the changes with requests and skews that differ a little less from those that the pod had."""
    for change in changes:
        for operation in _independent(change.patch or ()):
            value = _less(operation)
            if value is not None:
                patch = [{**each, "value": value} if each is operation else each for each in change.patch or ()]
                yield [replace(each, patch=patch) if each is change else each for each in changes]


def _less(operation: Mapping[str, Any]) -> Any:
    path, value = str(operation["path"]), operation.get("value", 0)
    if path.endswith("/maxSkew"):
        return value - 1
    if "/resources/requests/" in path:
        quantity = quantity_of(value)
        return f"{quantity.milli_value() + 1}m" if path.endswith("/cpu") else str(quantity.value() + 1)
    return None


def _name(document: Document) -> tuple[str, str, str]:
    meta = document.get("metadata", {})
    return str(document["kind"]), meta.get("namespace", ""), meta.get("name", "")


def object_name(document: Document) -> ObjectName:
    """Return the name of a document."""
    return ObjectName(str(document["apiVersion"]), *_name(document))
