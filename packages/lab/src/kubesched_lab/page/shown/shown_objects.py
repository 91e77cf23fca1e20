"""Nodes and pods as the page shows them: one by one, and all of them as columns.

From objects of a model to plain JSON. CPU is in thousandths, all other amounts in units. Repeated texts are numbered.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kubesched.api.meta import RawQuantity
from kubesched.api.nodes import Node
from kubesched.api.quantity import milli_value_of, value_of
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.errors import InvalidObjectError
from kubesched.model.cluster_model import ClusterModel, gates_of
from kubesched.model.owners import Owners
from kubesched_lab.page.shown.reasons_in_words import in_plain_words
from kubesched_lab.page.shown.shown_devices import devices_held_by, devices_on

HOSTNAME = "kubernetes.io/hostname"
COMMON = ("cpu", "memory", "ephemeral-storage", "pods")
BOUND, PENDING, TERMINATING, GATED = "bound", "pending", "terminating", "gated"
# state of a pod that the page itself has placed, as the scheduler would
PLACED = "placed"
# limits: tenants name resources, kubelets name labels, and each is a column of all pods or nodes
MOST_RESOURCES = 100
MOST_LABELS = 300
Json = dict[str, Any]


def shown_node(model: ClusterModel, node: Node) -> Json:
    """Return a node as the page shows it."""
    ready = next((each.status == "True" for each in node.status.conditions if each.type == "Ready"), True)
    offered = node.status.allocatable or node.status.capacity
    return {
        "name": node.name,
        "ready": ready,
        "unschedulable": node.spec.unschedulable,
        "taints": [_taint(each.key, each.value, each.effect) for each in node.spec.taints],
        "labels": {key: value for key, value in node.metadata.labels.items() if key != HOSTNAME},
        "allocatable": {**{name: _amount(name, raw) for name, raw in offered.items()}, **devices_on(model, node)},
    }


def _amount(resource: str, raw: RawQuantity) -> int:
    try:
        return milli_value_of(raw) if resource == "cpu" else value_of(raw)
    except InvalidObjectError:
        # the scheduler does not read capacity
        return 0


def _taint(key: str, value: str, effect: str) -> str:
    return f"{key}={value}:{effect}" if value else f"{key}:{effect}"


def shown_pod(model: ClusterModel, owners: Owners, pod: PodInfo) -> Json:
    """Return a pod as the page shows it."""
    owner = owners.of(pod)
    created = pod.metadata.creation_timestamp
    condition = next((each for each in pod.status.conditions if each.type == "PodScheduled"), None)
    return {
        "uid": pod.uid,
        "namespace": pod.namespace,
        "name": pod.name,
        "node": pod.spec.node_name,
        "state": _state(model, pod),
        "priority": pod.priority,
        "owner": f"{owner.kind}/{owner.name}" if owner is not None else "",
        "nominated": pod.status.nominated_node_name,
        "created": None if created is None else created.timestamp(),
        "why": in_plain_words(condition.message) if condition is not None and condition.status == "False" else "",
        "requests": {**pod.requests, **devices_held_by(model, pod)},
    }


def _state(model: ClusterModel, pod: PodInfo) -> str:
    if pod.terminating:
        return TERMINATING
    if pod.spec.node_name:
        return BOUND
    profile = model.profile_of(pod)
    return GATED if profile is not None and gates_of(profile, pod) else PENDING


def columns_of(nodes: Sequence[Json], pods: Sequence[Json]) -> Json:
    """Return nodes and pods as columns; pods refer to their nodes by row."""
    row_of = {node["name"]: row for row, node in enumerate(nodes)}
    offered = Counter(name for node in nodes for name in node["allocatable"])
    asked = Counter(name for pod in pods for name in pod["requests"])
    # what most nodes offer, then what most pods request
    ranked = [name for name in dict.fromkeys((*_ranked(offered), *_ranked(asked))) if name not in COMMON]
    resources = [*COMMON, *sorted(ranked[: MOST_RESOURCES - len(COMMON)])]
    keys = Counter(key for node in nodes for key in node["labels"])
    labels = sorted(_ranked(keys)[:MOST_LABELS])
    return {
        "gaps": [
            *_left_out("resource", len(ranked) + len(COMMON), len(resources)),
            *_left_out("label", len(keys), len(labels)),
        ],
        "resources": resources,
        "nodes": {
            **_plain(nodes, ("name", "ready", "unschedulable", "taints")),
            "labels": {key: _numbered([node["labels"].get(key, "") for node in nodes], ("",)) for key in labels},
            "allocatable": _amounts(nodes, "allocatable", resources),
        },
        "pods": {
            **_plain(pods, ("uid", "name", "priority", "created")),
            **{name: _numbered([pod[name] for pod in pods]) for name in ("namespace", "owner", "state", "why")},
            "node": [row_of.get(pod["node"], -1) for pod in pods],
            "nominated": [row_of.get(pod["nominated"], -1) for pod in pods],
            "requests": _amounts(pods, "requests", resources),
        },
    }


def _left_out(what: str, there: int, shown: int) -> Iterator[Json]:
    if there > shown:
        why = f"the page distinguishes {shown}, those that most nodes have"
        uncertain = f"Panels of pods and nodes name every {what}"
        yield {"what": f"{there - shown} {what}s", "why": why, "uncertain": uncertain}


def _ranked(counts: Counter[str]) -> list[str]:
    """Return names, the most frequent first."""
    return sorted(counts, key=lambda name: (-counts[name], name))


def _plain(rows: Sequence[Json], names: Iterable[str]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in names}


def _amounts(rows: Sequence[Json], field: str, resources: Iterable[str]) -> dict[str, list[int]]:
    found = {name: [row[field].get(name, 0) for row in rows] for name in resources}
    return {name: column for name, column in found.items() if any(column)}


def _numbered(texts: Collection[str], first: Iterable[str] = ()) -> Mapping[str, Any]:
    """Return a column of texts as the distinct texts, and a number for each row."""
    codes: dict[str, int] = {text: code for code, text in enumerate(first)}
    numbers = [codes.setdefault(text, len(codes)) for text in texts]
    return {"values": list(codes), "codes": numbers}
