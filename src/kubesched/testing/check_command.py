"""`kubesched plugins check`: hold plugins to the contract.

In: what `--plugin` would load. Out: a line a check, what was found below it; exit code 3 if something is wrong.
"""

from typing import Any

import click

from kubesched.cli.config import read
from kubesched.cli.plugin_options import load_plugins, with_plugin_hint
from kubesched.config.errors import ConfigError
from kubesched.config.types import RawArgs
from kubesched.core.assembly import load_config
from kubesched.core.framework.registry import Registry
from kubesched.testing.plugin_checks.checking import EXAMPLES, check_plugin
from kubesched.testing.plugin_checks.plugin_report import PluginReport

WRONG = 3


@click.command("check", short_help="Hold plugins to the contract: each finding with a minimal example.")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--examples", type=click.IntRange(1), default=EXAMPLES, show_default=True, help="How many random clusters to try."
)
@click.option(
    "--config", metavar="FILE", help="A KubeSchedulerConfiguration that enables the plugins, with their arguments."
)
@click.pass_context
def check(ctx: click.Context, sources: tuple[str, ...], examples: int, config: str | None) -> None:
    """Check the plugins of SOURCE: a Python file, a module, or module:Class, as for --plugin.

    Random clusters, pods and changes are made of the words in the plugin's code. Exit code 3 means that something is
    wrong.
    """
    registry = load_plugins(sources)
    args = {} if config is None else _args(config, registry)
    reports = []
    for name in _named(registry):
        reports.append(check_plugin(registry.factory(name), args=args.get(name), examples=examples))
        _print(reports[-1])
    if not all(reports):
        ctx.exit(WRONG)


def _named(registry: Registry) -> list[str]:
    """Return the plugins that were asked for, not those of installed packages."""
    return [name for name in registry if registry.source(name).startswith("--plugin")]


def _args(config: str, registry: Registry) -> dict[str, Any]:
    """Return the arguments of plugins in a configuration, those of its first profile that has any."""
    try:
        loaded = load_config(read(config), registry=registry)
    except ConfigError as error:
        raise with_plugin_hint(error).about(config) from None
    found: dict[str, Any] = {}
    for profile in loaded.profiles:
        for entry in profile.config.plugin_config:
            value = profile.args(entry.name)
            if isinstance(value, RawArgs):
                found.setdefault(entry.name, value.value)
    return found


def _print(report: PluginReport) -> None:
    click.echo(report.text)
