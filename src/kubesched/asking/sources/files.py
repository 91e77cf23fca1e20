"""Clusters from files: snapshots, and manifests as `kubectl get -o yaml` writes them.

From paths (files, folders, `-`) to the objects of a cluster; one that cannot be read is an error that names its place.
"""

from collections.abc import Sequence

from kubesched.api.codec import decode
from kubesched.api.kinds import is_foreign
from kubesched.api.meta import ApiObject
from kubesched.asking.cluster_objects import ClusterObjects
from kubesched.controlplane.loading.manifests import read
from kubesched.errors import KubeschedError


def read_files(paths: Sequence[str]) -> ClusterObjects:
    """Return the objects in files, folders and standard input; raises KubeschedError."""
    manifests, problems = read(paths)
    if problems:
        raise KubeschedError("; ".join(problems))
    objects: list[ApiObject] = []
    workloads = []
    for manifest in manifests:
        if is_foreign(manifest.document):
            workloads.append(manifest.document)
        else:
            objects.append(decode(manifest.document, f"{manifest.place}: "))
    return ClusterObjects(tuple(objects), tuple(workloads), ", ".join(paths))
