"""The options that all questions share: where the cluster comes from, which configuration, how to print.

In: texts of options. Out: a model of the cluster as the command's parameter `model`, and `printer`.
"""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from kubesched.asking.cluster_objects import ClusterObjects
from kubesched.asking.model import ClusterModel
from kubesched.asking.sources.files import read_files
from kubesched.cli.gate_options import gate_options
from kubesched.cli.plugin_options import plugin_option
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import load_config
from kubesched.core.framework.registry import Registry
from kubesched.errors import KubeschedError

F = TypeVar("F", bound=Callable[..., Any])


def source_options(command: F) -> F:
    """Give a command the options of sources, and what was read as its parameter `objects`."""

    @click.option("--from", "paths", multiple=True, metavar="PATH", help="A snapshot, or manifests: files, folders, -.")
    @functools.wraps(command)
    def with_objects(*args: Any, paths: tuple[str, ...], **kwargs: Any) -> Any:
        return command(*args, objects=_read(paths), **kwargs)

    return with_objects  # type: ignore[return-value]


def model_options(command: F) -> F:
    """Give a command the options of sources and of the scheduler, and a model as its parameter `model`."""

    @source_options
    @click.option("--config", type=click.Path(path_type=Path), help="A KubeSchedulerConfiguration file.")
    @gate_options
    @plugin_option
    @functools.wraps(command)
    def with_model(
        *args: Any,
        objects: ClusterObjects,
        config: Path | None,
        gates: FeatureGates,
        registry: Registry,
        **kwargs: Any,
    ) -> Any:
        text = config.read_bytes() if config is not None else None
        loaded = load_config(text, gates, registry)
        return command(*args, model=ClusterModel(objects, loaded, registry), **kwargs)

    return with_model  # type: ignore[return-value]


def _read(paths: tuple[str, ...]) -> ClusterObjects:
    if not paths:
        raise KubeschedError("no cluster is named; give --from with a snapshot or manifests")
    return read_files(paths)
