"""Which cluster is asked about: the one place that knows all sources.

From what a person named (files, a kubeconfig, a cluster of `kubesched up`) to the objects of the cluster.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

from kubesched.asking.cluster_objects import ClusterObjects
from kubesched.asking.sources.files import read_files
from kubesched.errors import KubeschedError


@dataclass(frozen=True, slots=True)
class ClusterSource:
    """Where a cluster comes from: `paths` of files.

    `namespace` is that of names without one, instead of the source's own.
    """

    paths: tuple[str, ...] = ()
    namespace: str = ""


def read_cluster(source: ClusterSource, custom_kinds: Collection[str] = ()) -> ClusterObjects:
    """Return the objects of a cluster; raises KubeschedError.

    `custom_kinds` are the kinds that plugins look up, such as `foos.v1.example.com`.
    """
    if not source.paths:
        raise KubeschedError("no cluster is named; give --from with a snapshot or manifests")
    cluster = read_files(source.paths, custom_kinds)
    if not source.namespace:
        return cluster
    return replace(cluster, namespace=source.namespace, only_namespace=source.namespace)
