"""Clusters of `kubesched up` on this machine, by name.

From a name to the kubeconfig of the cluster.
"""

from kubesched.errors import KubeschedError
from kubesched_controlplane.named_clusters import DEFAULT, find, find_all


def kubeconfig_of(name: str) -> str:
    """Return the kubeconfig of a running cluster; raises KubeschedError, which lists the running clusters."""
    cluster = find(name)
    if cluster is not None and cluster.kubeconfig:
        return cluster.kubeconfig
    if cluster is not None:
        raise KubeschedError(f"cluster {name!r} is starting; try again in a moment")
    names = [each.name for each in find_all()]
    if names:
        raise KubeschedError(f"no cluster {name!r} is up; running clusters: {', '.join(names)}")
    started = f" --name {name}" if name != DEFAULT else ""
    raise KubeschedError(
        f"no cluster {name!r} is up, nor is any other; start one with: kubesched up{started} --detach FILES"
    )
