"""New nodes, as copies of existing ones.

From the kinds of nodes in the cluster to steps that create one of each kind, as a copy of a healthy one. The new node
has no taints of its condition and no cordon, and the devices of its kind. If all kinds are too small for the pod, it
is larger.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kubesched.api.codec import to_builtins
from kubesched.api.devices import ResourceSlice
from kubesched.api.nodes import Node
from kubesched.api.pods import Taint
from kubesched.core.cluster.table import untimed
from kubesched.core.plugins.node_resources.fit import NodeResourcesFit
from kubesched_answers.amounts import quantity, rounded_up
from kubesched_answers.remedies.proposers.node_selection import selected_labels
from kubesched_answers.remedies.proposers.obstacles import creation
from kubesched_answers.remedies.proposers.taints import OF_CONDITIONS, untolerated_of
from kubesched_answers.remedies.steps import Document, Rank, Step, Steps
from kubesched_answers.remedies.trials import Trial

MOST_KINDS = 8
TOPIC = "new node"
HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
OF_ONE_OBJECT = ("uid", "resourceVersion", "creationTimestamp", "generation", "annotations", "ownerReferences")


def new_nodes(trial: Trial, how_many: int = 1) -> Iterator[Steps]:
    """Yield new nodes of each kind: first kinds whose taints the pod tolerates, then kinds with most nodes."""
    table = trial.model.cluster.table
    kinds = _kinds(trial)
    largest = max((int(table.allocatable[0, row]) for row in kinds), default=0) or 1
    request = _request(trial)
    too_small = [_too_small(trial, row, request) for row in kinds]
    for row, missing in zip(kinds, too_small, strict=True):
        if not missing or all(too_small):
            node = trial.node(row)
            size = int(table.allocatable[0, row]) / largest
            if missing:
                size = sum(2 - table.allocatable_of(row, each) / wanted for each, wanted in missing.items())
            if not is_well(node):
                # larger than every healthy one
                size += 2 * (1 + len(missing))
            names = islice(_new_names(trial, node.name), how_many)
            yield tuple(step for name in names for step in _one(trial, node, name, missing, size))


def _one(trial: Trial, node: Node, name: str, missing: dict[str, int], size: float) -> Iterator[Step]:
    """Yield the steps that create one copy of a node."""
    text = f"add a node like {node.name}{_with(missing)}"
    step = creation(_fresh(node, name, missing), TOPIC, text, size, Rank.ADD_NODE)
    # the node registers itself when its machine runs
    yield replace(step, outside=True)
    if trial.pod.spec.resource_claims:
        yield from _slices(trial, node.name, name)


def is_well(node: Node) -> bool:
    """Return whether a node is in the state of a new one: ready, not cordoned, not being removed."""
    ready = all(each.status == "True" for each in node.status.conditions if each.type == "Ready")
    stays = not node.spec.unschedulable and node.metadata.deletion_timestamp is None
    return ready and stays and not any(taint.key.startswith(OF_CONDITIONS) for taint in node.spec.taints)


def _kinds(trial: Trial) -> list[int]:
    """Return a row of each kind of node, preferably a healthy one."""
    table = trial.model.cluster.table
    present = table.present_rows()
    if not len(present):
        return []
    well = [is_well(trial.node(row)) for row in present.tolist()]
    rows = present[np.argsort(np.logical_not(well), kind="stable")]
    keys = sorted(selected_labels(trial) | {ZONE})
    taints, untolerated = _lasting_taints(trial, rows)
    columns = [table.allocatable[code, rows] for code in range(len(table.resources))]
    columns += [taints, *(table.label(key).codes[rows] for key in keys if key != HOSTNAME)]
    _, first, counts = np.unique(_numbered(columns), return_index=True, return_counts=True)
    order = np.lexsort((-counts, untolerated[first]))[:MOST_KINDS]
    return [int(rows[first[place]]) for place in order.tolist()]


def _numbered(columns: Iterable[NDArray[Any]]) -> NDArray[np.int64]:
    """Return a number for each row, equal for rows with equal values in all columns, in the order of the columns."""
    numbers: NDArray[np.int64] | None = None
    for column in columns:
        values, codes = np.unique(column, return_inverse=True)
        combined = codes if numbers is None else numbers * len(values) + codes
        numbers = np.unique(combined, return_inverse=True)[1]
    assert numbers is not None, "there are columns"
    return numbers


def _lasting_taints(trial: Trial, rows: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return a number for the taints that a new node would have, and whether the pod lacks a toleration for one."""
    numbers: dict[tuple[Taint, ...], int] = {}
    codes, which = np.unique(trial.model.cluster.table.taints.codes[rows], return_inverse=True)
    of_code: list[int] = []
    rejected: list[bool] = []
    for code in codes.tolist():
        node = trial.node(int(rows[np.flatnonzero(which == len(of_code))[0]]))
        taints = untimed(tuple(taint for taint in node.spec.taints if not taint.key.startswith(OF_CONDITIONS)))
        of_code.append(numbers.setdefault(taints, code))
        rejected.append(bool(untolerated_of(trial, taints)))
    return np.array(of_code, np.int64)[which], np.array(rejected, np.bool_)[which]


def _request(trial: Trial) -> dict[str, int]:
    """Return the pod's requests in NodeResourcesFit's form."""
    plugin = trial.profile.plugins.get(NodeResourcesFit.name) if trial.profile is not None else None
    request = plugin.request_of(trial.pod) if isinstance(plugin, NodeResourcesFit) else None
    return dict(zip(request.names, request.wanted, strict=True)) if request is not None else {}


def _too_small(trial: Trial, row: int, request: dict[str, int]) -> dict[str, int]:
    """Return the requests that exceed the capacity of an empty node."""
    table = trial.model.cluster.table
    return {name: wanted for name, wanted in request.items() if wanted > table.allocatable_of(row, name)}


def _with(missing: dict[str, int]) -> str:
    amounts = [f"{rounded_up(name, amount)} {name}" for name, amount in missing.items()]
    return f" with {' and '.join(amounts)}" if amounts else ""


def _new_names(trial: Trial, name: str) -> Iterator[str]:
    taken = trial.model.cluster.table.row_of
    return (new for number in count(1) if (new := f"{name}-new-{number}") not in taken)


def _fresh(node: Node, name: str, more: dict[str, int]) -> Document:
    """Return the document of a fresh copy of a node, with more of some resources."""
    document = to_builtins(node)
    meta = document["metadata"]
    for key in OF_ONE_OBJECT:
        meta.pop(key, None)
    meta["name"] = name
    if HOSTNAME in meta.get("labels", {}):
        meta["labels"][HOSTNAME] = name
    taints = [
        taint for taint in document.get("spec", {}).get("taints", ()) if not taint["key"].startswith(OF_CONDITIONS)
    ]
    document["spec"] = {"taints": taints} if taints else {}
    status = document.get("status", {})
    document["status"] = {key: status[key] for key in ("capacity", "allocatable", "declaredFeatures") if key in status}
    for key in ("capacity", "allocatable") if more else ():
        amounts = document["status"].setdefault(key, {})
        amounts.update({resource: quantity(resource, amount) for resource, amount in more.items()})
    return document


def _slices(trial: Trial, old: str, new: str) -> Iterator[Step]:
    """Yield the resource slices of a node for its copy."""
    for each in trial.model.cluster.objects.of(ResourceSlice):
        if each.spec.node_name == old:
            document = to_builtins(each)
            name = f"{each.name}-{new}"
            document["metadata"] = {"name": name}
            document["spec"]["nodeName"] = new
            document["spec"]["pool"] = {**document["spec"].get("pool", {}), "name": new}
            step = creation(document, TOPIC, f"with the devices of resource slice {each.name}", rank=Rank.ADD_NODE)
            # its driver publishes it
            yield replace(step, outside=True)
