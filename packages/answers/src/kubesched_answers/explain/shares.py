"""The share of the cluster that some pods take.

From amounts to the largest share of the capacity of all nodes, and its resource.
"""

from collections.abc import Mapping

from kubesched.core.cluster.table import NATIVE, NodeTable

PODS = "pods"


class ClusterTotals:
    """The capacity of all nodes together."""

    def __init__(self, table: NodeTable) -> None:
        rows = table.present_rows()
        self._table = table
        self._pods = int(table.allowed_pods[rows].sum())
        self._native = {name: int(table.allocatable[code, rows].sum()) for code, name in enumerate(NATIVE)}

    def share(self, requests: Mapping[str, int], pods: int) -> tuple[float, str]:
        """Return the largest share that requests take of a resource, and that resource; the share is 1 if no node
        has it.
        """
        shares = {PODS: _part(pods, self._pods)}
        for name, amount in requests.items():
            shares[name] = _part(amount, self._total(name))
        return max((share, name) for name, share in shares.items())

    def _total(self, resource: str) -> int:
        if resource in self._native:
            return self._native[resource]
        scalars = self._table.scalars
        return sum(scalars.offered[row][resource] for row in scalars.rows_offering(resource))


def _part(amount: int, total: int) -> float:
    return amount / total if total > 0 else float(amount > 0)
