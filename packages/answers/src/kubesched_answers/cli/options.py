"""The options of every question: the source of the cluster, the configuration, the form of the output.

In: texts of options. Out: a model of the cluster as the command's parameter `model`.
"""

import functools
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, TypeVar

import click
from rich.console import Console

from kubesched.api.paths import plural_of
from kubesched.cli.configurations import ConfigurationChoice
from kubesched.cli.gate_options import gate_options
from kubesched.cli.plugin_options import plugin_option
from kubesched.cli.source_options import live_source_option
from kubesched.common.garbage_collection import collect_seldom
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.framework.building.registry import Registry
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.sources.cluster_source import ClusterSource
from kubesched.sources.custom_kinds import custom_kinds_of
from kubesched_answers.sources.reading import read_cluster

F = TypeVar("F", bound=Callable[..., Any])

CONFIG_HELP = "A KubeSchedulerConfiguration file; by default the one of kubesched up or --scheduler, else the defaults."


def source_options(command: F) -> F:
    """Give a command the options of sources and of the scheduler, and the objects read as its parameter `objects`."""

    @question_options
    @functools.wraps(command)
    def with_objects(*args: Any, source: ClusterSource, choice: ConfigurationChoice, **kwargs: Any) -> Any:
        kinds = custom_kinds_of(choice.of(source).loaded, choice.registry)
        return command(*args, objects=read_source(source, kinds), **kwargs)

    return with_objects  # type: ignore[return-value]


def model_options(command: F) -> F:
    """Give a command the options of sources and of the scheduler, and a model as its parameter `model`."""

    @question_options
    @functools.wraps(command)
    def with_model(*args: Any, source: ClusterSource, choice: ConfigurationChoice, **kwargs: Any) -> Any:
        loaded = choice.of(source, kwargs.get("scheduler")).loaded
        objects = read_source(source, custom_kinds_of(loaded, choice.registry))
        return command(*args, model=ClusterModel(objects, loaded, choice.registry), **kwargs)

    return with_model  # type: ignore[return-value]


def question_options(command: F) -> F:
    """Give a command the options of sources and of the scheduler, as `source` and `choice` of the configuration."""

    @source_option
    @click.option("--config", metavar="FILE", help=CONFIG_HELP)
    @gate_options
    @plugin_option
    @functools.wraps(command)
    def with_scheduler(*args: Any, config: str | None, gates: FeatureGates, registry: Registry, **kwargs: Any) -> Any:
        return command(*args, choice=ConfigurationChoice(config, gates, registry), **kwargs)

    return with_scheduler  # type: ignore[return-value]


def source_option(command: F) -> F:
    """Give a command the options of sources, as its parameter `source`."""

    @click.option(
        "--from",
        "paths",
        multiple=True,
        metavar="PATH",
        help="A snapshot or manifests instead of a cluster: files, folders, -.",
    )
    @click.option("-n", "--namespace", default="", metavar="NAME", help="Namespace for names without a namespace.")
    @live_source_option
    @functools.wraps(command)
    def with_source(*args: Any, source: ClusterSource, paths: tuple[str, ...], namespace: str, **kwargs: Any) -> Any:
        return command(*args, source=replace(source, paths=paths, namespace=namespace), **kwargs)

    return with_source  # type: ignore[return-value]


def read_source(source: ClusterSource, custom_kinds: Collection[str] = ()) -> ClusterObjects:
    """Read a cluster, with a progress line on standard error if that is a terminal."""
    # nearly all objects live until the end: garbage collection would take an eighth of the time
    collect_seldom()
    console = Console(stderr=True)
    if not console.is_terminal:
        return read_cluster(source, custom_kinds)
    with console.status("Reading the cluster") as status:
        return read_cluster(
            source, custom_kinds, lambda kind, count: status.update(f"Reading {plural_of(kind)}: {count}")
        )
