"""One more node like one that is there.

From the kinds of nodes that the cluster has to steps that create one of each kind, fresh: without taints of its
condition, without a cordon, with the devices that nodes of the kind have.
"""

from collections.abc import Iterator

import numpy as np

from kubesched.api.codec import to_builtins
from kubesched.api.devices import ResourceSlice
from kubesched.api.nodes import Node
from kubesched.asking.remedies.proposers.obstacles import creation
from kubesched.asking.remedies.proposers.taints import OF_CONDITIONS
from kubesched.asking.remedies.steps import Document, Step, Steps
from kubesched.asking.remedies.trials import Trial
from kubesched.core.plugins.node_affinity import required_of

MOST_KINDS = 8
HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
OF_ONE_OBJECT = ("uid", "resourceVersion", "creationTimestamp", "generation", "annotations", "ownerReferences")


def new_nodes(trial: Trial) -> Iterator[Steps]:
    """Yield a new node of each kind, those of most nodes first."""
    table = trial.model.cluster.table
    rows = table.present_rows()
    if not len(rows):
        return
    affinity = required_of(trial.pod).affinity
    keys = sorted((affinity.keys if affinity is not None else frozenset()) | {ZONE})
    columns = [table.allocatable[code, rows] for code in range(len(table.resources))]
    columns += [table.taints.codes[rows], *(table.label(key).codes[rows] for key in keys if key != HOSTNAME)]
    _, first, counts = np.unique(np.stack(columns), axis=1, return_index=True, return_counts=True)
    largest = max(1, int(table.allocatable[0, rows].max()))
    for place in np.argsort(-counts, kind="stable")[:MOST_KINDS].tolist():
        row = int(rows[first[place]])
        node = trial.node(row)
        name = _new_name(trial, node.name)
        size = int(table.allocatable[0, row]) / largest
        step = creation(_fresh(node, name), "new node", f"add a node like {node.name}", size)
        yield (step, *(_slices(trial, node.name, name) if trial.pod.spec.resource_claims else ()))


def _new_name(trial: Trial, name: str) -> str:
    taken = trial.model.cluster.table.row_of
    number = 1
    while f"{name}-new{number}" in taken:
        number += 1
    return f"{name}-new{number}"


def _fresh(node: Node, name: str) -> Document:
    """Return the document of a node like another one."""
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
    return document


def _slices(trial: Trial, old: str, new: str) -> Iterator[Step]:
    """Yield the resource slices of a node, for another one."""
    for each in trial.model.cluster.objects.of(ResourceSlice):
        if each.spec.node_name == old:
            document = to_builtins(each)
            name = f"{each.name}-{new}"
            document["metadata"] = {"name": name}
            document["spec"]["nodeName"] = new
            document["spec"]["pool"] = {**document["spec"].get("pool", {}), "name": new}
            yield creation(document, "new node", f"with the devices of resource slice {each.name}")
