"""The contents of a cluster's columns, independent of row numbers and codes, so that two clusters can be compared.

From a table kept up to date change by change, and one rebuilt from the objects, to the differences between them. There
should never be any.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.columns import LabelColumn
from kubesched.core.cluster.table import NATIVE, NodeTable

Content = dict[str, Any]


def content(cluster: ClusterState) -> Content:
    """Return the contents of all columns, by names."""
    table = cluster.table
    rows = sorted(table.row_of.items())
    return {
        "nodes": {name: _row(table, row) for name, row in rows},
        "node count": table.node_count,
        "label groups": _groups(table),
        "carried terms": {repr(term.key): _by_name(table, term.rows) for term in table.counts.terms(range(4))},
        "nominations": {name: sorted(p.uid for p in cluster.nominations.on(name)) for name, _ in rows},
        "pending": sorted(cluster.pending),
        "claims": cluster.claims.content(),
        "volume users": table.volume_users.content(table.names),
        "attached volumes": cluster.attached_volumes.content(),
        "volumes": cluster.volumes.content(),
    }


def differences(left: Content, right: Content, path: str = "") -> Iterator[str]:
    """Yield a line for each place in which two contents differ."""
    for key in sorted({*left, *right}, key=str):
        a, b = left.get(key), right.get(key)
        where = f"{path}{key}"
        if isinstance(a, dict) and isinstance(b, dict):
            yield from differences(a, b, f"{where}: ")
        elif a != b:
            yield f"{where}: {a!r} != {b!r}"


def rebuilt(cluster: ClusterState) -> ClusterState:
    """Return a new cluster made from the objects that this one holds."""
    fresh = ClusterState(cluster.reader.options)
    refill(fresh, cluster)
    return fresh


def refill(empty: ClusterState, cluster: ClusterState) -> None:
    """Add all objects of a cluster to an empty one, with the same assumed volumes and claims."""
    for node in cluster.table.nodes:
        if node is not None:
            empty.add(node)
    for pod in (*cluster.table.pods.values(), *cluster.pending.values()):
        empty.add(pod.pod)
    for kind in cluster.objects.kinds():
        for obj in cluster.objects.named(kind):
            empty.add(obj)
    volumes, claims = cluster.volumes.assumed()
    for volume in volumes:
        empty.assume_storage(volume)
    for claim in claims:
        empty.assume_storage(claim)


def _row(table: NodeTable, row: int) -> Content:
    def amounts(matrix: Any, scalars: list[dict[str, int]]) -> dict[str, int]:
        native = {name: int(matrix[code, row]) for code, name in enumerate(NATIVE) if matrix[code, row]}
        # existing columns must equal the objects they were made from
        columns = {
            f"column of {name}": amount
            for code, name in enumerate(table.resources.values)
            if name not in NATIVE and (amount := int(matrix[code, row])) != scalars[row].get(name, 0)
        }
        return {**native, **scalars[row], **columns}

    return {
        "present": bool(table.present[row]),
        "allocatable": amounts(table.allocatable, table.scalars.offered),
        "requested": amounts(table.requested, table.scalars.asked),
        "non-zero requested": table.non_zero_requested[:, row].tolist(),
        "allowed pods": int(table.allowed_pods[row]),
        "pod count": int(table.pod_count[row]),
        "pods": sorted(table.pods_on[row]),
        "unschedulable": bool(table.unschedulable[row]),
        "taints": table.taints.of(row),
        "images": dict(table.images.on(row)),
        "features": sorted(table.features.of(row)),
        "ports": sorted(map(repr, table.ports.used_on(row))),
        "labels": {column.key: _value(column, row) for column in table.label_columns() if column.codes[row]},
        "slots": sorted(
            (
                pod.uid,
                int(table.slots.priority[pod.slot]),
                float(table.slots.start[pod.slot]),
                _requests(table, pod.slot),
            )
            for pod in table.pods_on[row].values()
        ),
    }


def _value(column: LabelColumn, row: int) -> str:
    return column.values[int(column.codes[row])]


def _requests(table: NodeTable, slot: int) -> tuple[tuple[str, int], ...]:
    requests = table.slots.requests[:, slot]
    pod = table.slots.pods[slot]
    native = ((NATIVE[code], int(requests[code])) for code in np.flatnonzero(requests))
    return tuple(sorted((*native, *(pod.digest.resources.scalar.items() if pod is not None else ()))))


def _groups(table: NodeTable) -> Content:
    return {
        f"{group.namespace} {group.key}": {
            "live": _by_name(table, group.live),
            "terminating": _by_name(table, group.terminating),
            "members": group.members,
        }
        for group in table.counts.groups.values()
    }


def _by_name(table: NodeTable, rows: dict[int, int]) -> dict[str, int]:
    return {table.names[row]: count for row, count in rows.items()}
