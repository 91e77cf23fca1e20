"""The options of commands about live clusters: kubeconfig, context, cluster, user, and kubectl's flags for requests.

In: texts of options. Out: a `ClusterSource` as the command's parameter `source`.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from kubesched.cli.kubectl_flags import REQUEST_PARAMETERS, is_kubectl_plugin, request_options
from kubesched.client.credentials.context_choice import ContextChoice
from kubesched.sources.cluster_source import ClusterSource

F = TypeVar("F", bound=Callable[..., Any])

LIVE_PARAMETERS = ("kubeconfig", "context", "cluster", "user", *REQUEST_PARAMETERS)


def live_source_option(command: F) -> F:
    """Give a command the options of live clusters, as its parameter `source`."""

    @click.option("--kubeconfig", default="", metavar="FILE", help="Kubeconfig of the cluster; by default as kubectl.")
    @click.option("--context", default="", metavar="NAME", help="Context of the kubeconfig.")
    @click.option(
        "--cluster", default="", metavar="NAME", help="A cluster of kubesched up; with kubectl, of the kubeconfig."
    )
    @click.option("--user", default="", metavar="NAME", help="User of the kubeconfig.")
    @request_options
    @functools.wraps(command)
    def with_live_source(*args: Any, **kwargs: Any) -> Any:
        given = {name: kwargs.pop(name) for name in LIVE_PARAMETERS}
        source = source_of(given, of_kubectl=is_kubectl_plugin(click.get_current_context()))
        return command(*args, source=source, **kwargs)

    return with_live_source  # type: ignore[return-value]


def source_of(given: Mapping[str, Any], *, of_kubectl: bool) -> ClusterSource:
    """Return the source that options name; `--cluster` is one of the kubeconfig for a plugin of kubectl."""
    cluster = given.get("cluster", "")
    choice = ContextChoice(
        context=given.get("context", ""),
        cluster=cluster if of_kubectl else "",
        user=given.get("user", ""),
        **{name: given[name] for name in REQUEST_PARAMETERS if given.get(name)},
    )
    return ClusterSource(
        tuple(given.get("paths", ())),
        "" if of_kubectl else cluster,
        given.get("kubeconfig", ""),
        choice,
        given.get("namespace", ""),
    )
