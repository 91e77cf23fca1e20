"""The cluster of a question: the one place that knows all sources.

From the user's choice (files, a kubeconfig and a context, a cluster of `kubesched up`) to the objects of the cluster.
By default it is kubectl's current cluster.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from kubesched.errors import KubeschedError
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.sources.cluster_source import ClusterSource, live_target
from kubesched_answers.sources.files import DEFAULT_NAMESPACE, read_files

if TYPE_CHECKING:
    from kubesched.sources.live import Progress


def read_cluster(
    source: ClusterSource,
    custom_kinds: Collection[str] = (),
    progress: "Progress" = lambda kind, count: None,
) -> ClusterObjects:
    """Return the objects of a cluster; raises KubeschedError.

    `custom_kinds` are the kinds that plugins look up, such as `foos.v1.example.com`.
    """
    _check(source)
    if source.paths:
        cluster = read_files(source.paths, custom_kinds, source.namespace or DEFAULT_NAMESPACE)
    else:
        cluster = _live(source, custom_kinds, progress)
    if not source.namespace:
        return cluster
    return replace(cluster, namespace=source.namespace, only_namespace=source.namespace)


# the options that choose a cluster of a kubeconfig; all other options concern requests to it
_CHOOSING = {"context": "--context", "cluster": "--cluster", "user": "--user", "server": "--server"}
_REQUESTING = {
    "certificate_authority": "--certificate-authority",
    "insecure_skip_tls_verify": "--insecure-skip-tls-verify",
    "tls_server_name": "--tls-server-name",
    "token": "--token",
    "client_certificate": "--client-certificate",
    "client_key": "--client-key",
    "impersonate": "--as",
    "impersonate_uid": "--as-uid",
    "impersonate_groups": "--as-group",
    "request_timeout_seconds": "--request-timeout",
}


def _check(source: ClusterSource) -> None:
    """Check that the options name one source only."""
    chosen = [option for field, option in _CHOOSING.items() if getattr(source.choice, field)]
    live = "--kubeconfig" if source.kubeconfig else chosen[0] if chosen else ""
    named = [
        option for option in ("--from" if source.paths else "", "--cluster" if source.cluster else "", live) if option
    ]
    if len(named) > 1:
        raise KubeschedError(f"{' and '.join(named)} name different clusters: give only one of them")
    needless = [option for field, option in _REQUESTING.items() if getattr(source.choice, field)]
    if source.paths and needless:
        raise KubeschedError(f"{needless[0]} is for requests to a live cluster: leave out this option or --from")


def _live(source: ClusterSource, custom_kinds: Collection[str], progress: "Progress") -> ClusterObjects:
    # imported here: a client of API servers, which files do not need
    from kubesched.sources.live import read_live

    target = live_target(source)
    if source.namespace:
        # for users who may list a kind only there
        target = msgspec.structs.replace(target, namespace=source.namespace)
    cluster = read_live(target, custom_kinds, progress)
    return replace(cluster, origin=f"cluster {source.cluster}") if source.cluster else cluster
