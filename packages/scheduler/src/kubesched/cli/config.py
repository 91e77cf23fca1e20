"""`kubesched config`: show a configuration as the scheduler understands it.

In: a KubeSchedulerConfiguration file, `-` for standard input, or nothing for the defaults. Out: the completed
configuration and the plugins of every extension point. Problems with the input are KubeschedErrors, which the command
group reports.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kubesched.cli.command_group import CommandGroup, LazyCommand
from kubesched.cli.gate_options import gate_options
from kubesched.cli.plugin_options import plugin_option, with_plugin_hint
from kubesched.common.files import UnusableFileError, read_at_most, read_stream_at_most
from kubesched.config.build import ResolvedProfile
from kubesched.config.document import dump
from kubesched.config.encoding import to_wire
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.intree import IN_TREE, merge_catalogs
from kubesched.config.load import Loaded, load
from kubesched.config.redacting import args_without_secrets, without_secrets
from kubesched.config.report import plugins_by_point
from kubesched.core.framework.building.registry import Registry
from kubesched.errors import KubeschedError, PluginError

MAX_BYTES = 10 * 1024 * 1024
OUTPUTS = ("table", "yaml", "json")


class UnreadableError(KubeschedError):
    """An input file that cannot be read; the message names it."""


@click.group(
    "config",
    cls=CommandGroup,
    lazy={
        "migrate": LazyCommand(
            "kubesched.cli.migrate:migrate", "Translate a policy of v1.21 or earlier to a configuration."
        )
    },
    short_help="Show configurations, or migrate an old scheduler policy.",
)
def config_group() -> None:
    """Show scheduler configurations, and translate old policies to them."""


@config_group.command("show", short_help="Print a configuration with all defaults, and its plugins.")
@click.argument("file", required=False)
@click.option("-o", "--output", type=click.Choice(OUTPUTS), default="table", show_default=True, help="Output format.")
@gate_options
@plugin_option
def show_command(file: str | None, output: str, gates: FeatureGates, registry: Registry) -> None:
    """Print FILE completed with all defaults, and which plugins run where.

    FILE is a KubeSchedulerConfiguration in YAML or JSON, or - for standard input. Without FILE the command prints the
    defaults. If FILE is invalid, it prints one error for each wrong field and exits with code 1.

    \b
    Examples:
      kubesched config show
      kubesched config show scheduler.yaml -o yaml
      kubesched config show cheapest.yaml --plugin cheapest.py
    """
    source = "<stdin>" if file == "-" else file or "the defaults"
    try:
        loaded = load(None if file is None else read(file), gates, merge_catalogs(IN_TREE, registry.catalog()))
    except ConfigError as error:
        raise with_plugin_hint(error).about(source) from None
    _PRINTERS[output](_with_args_of_plugins(loaded, registry, source))


def _with_args_of_plugins(loaded: Loaded, registry: Registry, source: str) -> Loaded:
    """Return the configuration with the arguments of out-of-tree plugins completed.

    It constructs these plugins, so that they check their arguments. The arguments of in-tree plugins are already
    checked.
    """
    enabled = {plugin.name for profile in loaded.profiles for point in profile.points.values() for plugin in point}
    if enabled.isdisjoint(registry):
        return loaded
    # plugins import numpy
    from kubesched.core.assembly import engine_of
    from kubesched.core.framework.building.typed_configuration import with_typed_args

    try:
        engine_of(loaded, registry)
        return with_typed_args(loaded, registry)
    except PluginError as error:
        raise PluginError(f"{source}: {error}") from None


def read(file: str) -> bytes:
    """Return the content of a file or of standard input; raise UnreadableError with the reason otherwise."""
    try:
        if file == "-":
            return read_stream_at_most(sys.stdin.buffer, MAX_BYTES)
        return read_at_most(file, MAX_BYTES)
    except UnusableFileError as error:
        raise UnreadableError(f"{file}: {error.reason}") from None


def _plugins(loaded: Loaded) -> dict[str, Any]:
    return {profile.scheduler_name: plugins_by_point(profile) for profile in loaded.profiles}


def _shown(loaded: Loaded) -> Mapping[str, Any]:
    """Return the configuration as plain values, without secrets."""
    return without_secrets(to_wire(loaded.config))


def _print_json(loaded: Loaded) -> None:
    report = {"config": _shown(loaded), "plugins": _plugins(loaded)}
    click.echo(json.dumps(report, indent=2, sort_keys=True, ensure_ascii=False))


def _print_yaml(loaded: Loaded) -> None:
    # Two documents: a scheduler reads the first one only, so the output is itself a configuration file.
    click.echo(dump(_shown(loaded)) + "---\n" + dump({"plugins": _plugins(loaded)}), nl=False)


def _print_table(loaded: Loaded) -> None:
    console = Console()
    console.print(_settings_table(loaded))
    for profile in loaded.profiles:
        console.print(_points_table(profile))
        console.print(_args_table(profile))


def _titled(title: str, *columns: str) -> Table:
    table = Table(title=Text(title), title_justify="left", title_style="bold", expand=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _settings_table(loaded: Loaded) -> Table:
    table = _titled("Settings", "field", "value")
    for path, value in _leaves("", {k: v for k, v in _shown(loaded).items() if k != "profiles"}):
        table.add_row(Text(path), Text(value))
    return table


def _leaves(path: str, value: Any) -> list[tuple[str, str]]:
    """Return the path and the text of every scalar in a plain value."""
    if isinstance(value, dict) and value:
        return [leaf for key in sorted(value) for leaf in _leaves(f"{path}.{key}" if path else key, value[key])]
    if isinstance(value, list) and value:
        return [leaf for index, item in enumerate(value) for leaf in _leaves(f"{path}[{index}]", item)]
    return [(path, value if isinstance(value, str) else json.dumps(value))]


def _points_table(profile: ResolvedProfile) -> Table:
    percentage = profile.config.percentage_of_nodes_to_score
    scope = "" if percentage is None else f" (percentageOfNodesToScore {percentage})"
    table = _titled(f"Profile {profile.scheduler_name}{scope}", "extension point", "plugins in order (weight)")
    for point, plugins in plugins_by_point(profile).items():
        names = (
            f"{plugin['name']} ({plugin['weight']})" if "weight" in plugin else plugin["name"] for plugin in plugins
        )
        table.add_row(Text(point), Text(", ".join(names)))
    return table


def _args_table(profile: ResolvedProfile) -> Table:
    table = _titled(f"Plugin arguments of {profile.scheduler_name}", "plugin", "arguments")
    for config in profile.config.plugin_config:
        args = args_without_secrets(to_wire(config)["args"])
        if isinstance(args, dict):
            args = {key: value for key, value in args.items() if key not in ("apiVersion", "kind")}
        lines = (f"{path}: {value}" if path else value for path, value in _leaves("", args))
        table.add_row(Text(config.name), Text("\n".join(lines)))
    return table


_PRINTERS = {"table": _print_table, "yaml": _print_yaml, "json": _print_json}
