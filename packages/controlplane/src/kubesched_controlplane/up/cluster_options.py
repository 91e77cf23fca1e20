"""The options that `kubesched up`, `try` and `with-cluster` share: the cluster, and the endpoint that serves its API.

In: texts of options. Out: `ClusterOptions` and `EndpointOptions`; or exit code 2, with a line that names the option.
"""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from kubesched.cli.folder_path import FolderPath
from kubesched.cli.plugin_options import plugin_option
from kubesched.core.framework.building.registry import Registry
from kubesched.manifests import STANDARD_INPUT
from kubesched.serving.decisions.memory import DEFAULT_TEXT, FLAG
from kubesched_controlplane.cli.manifests import validate_option
from kubesched_controlplane.controllers.framework.options import Options
from kubesched_controlplane.named_clusters import DEFAULT
from kubesched_controlplane.up.node_pools import NodePool
from kubesched_controlplane.up.options import pool_options, record_memory, speed_options
from kubesched_controlplane.up.subcommands import name_option

F = TypeVar("F", bound=Callable[..., Any])

# options that only --help-all shows, by parameter name
RARE_CLUSTER = (
    "like",
    "texts",
    "delays",
    "controllers",
    "validation",
    "reload",
    "feature_gates",
    "seed",
    "record_bytes",
)
RARE_ENDPOINT = ("serve", "port", "kubeconfig", "page", "chosen_name")


class ClusterOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a cluster: its objects, nodes and scheduler."""

    files: tuple[str, ...]
    pools: list[NodePool]
    simulation: Options
    validation: str
    config: str | None
    reload: bool
    registry: Registry
    feature_gates: tuple[str, ...]
    seed: int
    record_bytes: int
    replay: tuple[str, ...]
    data: Path | None


class EndpointOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the endpoint: the cluster's name, the port, the file for the kubeconfig, and the page."""

    chosen_name: str | None
    port: int
    kubeconfig: Path | None
    page: bool

    @property
    def name(self) -> str:
        """Return the cluster's name."""
        return self.chosen_name or DEFAULT


def cluster_options(command: F) -> F:
    """Give a command the options of a cluster, as its parameter `cluster`."""

    @click.argument("files", nargs=-1, type=click.Path(allow_dash=True, readable=False))
    @pool_options
    @click.option(
        "--config", metavar="FILE", help="A KubeSchedulerConfiguration file; without it, the built-in defaults apply."
    )
    @click.option(
        "--reload",
        is_flag=True,
        help="Apply changes of the --config file while the cluster runs; invalid ones are rejected.",
    )
    @plugin_option
    @click.option(
        "--feature-gates", multiple=True, metavar="A=true,B=false", help="Feature gates, such as A=true,B=false."
    )
    @click.option(
        "--replay",
        multiple=True,
        type=click.Path(exists=True),
        metavar="TRACE",
        help="Replay a trace: a recording, or any file that simulate reads. Its nodes and pods come and go at their "
        "times.",
    )
    @speed_options
    @validate_option
    @click.option("--seed", type=int, default=0, show_default=True, help="Seed for every random choice.")
    @click.option(
        f"--{FLAG}",
        "record_bytes",
        default=DEFAULT_TEXT,
        show_default=True,
        callback=record_memory,
        metavar="QUANTITY",
        help="Memory for the scheduler's last decisions, which `explain` and /debug/decisions show; 0 for none.",
    )
    @click.option("--data", type=FolderPath(), metavar="DIR", help="Folder that keeps all objects.")
    @functools.wraps(command)
    def with_cluster_options(*args: Any, **kwargs: Any) -> Any:
        fields = {name: kwargs.pop(name) for name in ClusterOptions.__struct_fields__}
        return command(*args, cluster=_checked(ClusterOptions(**fields)), **kwargs)

    return with_cluster_options  # type: ignore[return-value]


def endpoint_options(command: F) -> F:
    """Give a command the options of the endpoint, as its parameter `endpoint`."""

    @name_option("--name", "chosen_name", help="Name of the cluster while it serves.")
    @click.option("--page", is_flag=True, help="Serve a page with the cluster for a browser on this machine.")
    @click.option(
        "--port", type=click.IntRange(0, 65535), default=0, help="Port to serve on; 0, the default: a free one."
    )
    @click.option(
        "--kubeconfig",
        type=click.Path(dir_okay=False, path_type=Path),
        help="File for the kubeconfig; by default in DIR, or in the user's state directory until the cluster ends.",
    )
    @functools.wraps(command)
    def with_endpoint_options(*args: Any, **kwargs: Any) -> Any:
        fields = {name: kwargs.pop(name) for name in EndpointOptions.__struct_fields__}
        return command(*args, endpoint=EndpointOptions(**fields), **kwargs)

    return with_endpoint_options  # type: ignore[return-value]


def check_serves(endpoint: EndpointOptions, remedy: str) -> None:
    """Check that a command which does not serve has no options of the endpoint."""
    for option, value in (("--port", endpoint.port), ("--kubeconfig", endpoint.kubeconfig), ("--page", endpoint.page)):
        if value:
            raise click.UsageError(f"{option} needs a cluster that serves: {remedy}")


def _checked(options: ClusterOptions) -> ClusterOptions:
    if STANDARD_INPUT in options.files and options.config == STANDARD_INPUT:
        raise click.UsageError("- can be FILES or --config, not both")
    if options.reload and options.config in (None, STANDARD_INPUT):
        raise click.UsageError("--reload needs a file to watch: add --config FILE")
    return options
