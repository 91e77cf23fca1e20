"""Clusters of `kubesched up` on this machine, by name.

From a name to the kubeconfig that leads to the cluster.
"""

from kubesched.controlplane.named_clusters import DEFAULT, find, find_all
from kubesched.errors import KubeschedError


def kubeconfig_of(name: str) -> str:
    """Return the kubeconfig of a cluster that is up; raises KubeschedError, which tells the ones that are."""
    cluster = find(name)
    if cluster is not None and cluster.kubeconfig:
        return cluster.kubeconfig
    if cluster is not None:
        raise KubeschedError(f"cluster {name!r} is starting; ask again in a moment")
    names = [each.name for each in find_all()]
    if names:
        raise KubeschedError(f"no cluster {name!r} is up; up are: {', '.join(names)}")
    started = f" --name {name}" if name != DEFAULT else ""
    raise KubeschedError(f"no cluster {name!r} is up, nor any other; start one: kubesched up{started} --detach FILES")
