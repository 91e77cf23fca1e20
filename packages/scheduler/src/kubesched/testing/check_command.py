"""`kubesched plugins check`: check plugins against the contract.

In: plugins, in the notation of `--plugin`. Out: a line a check with its findings below it; exit code 3 if a check
fails.
"""

from collections.abc import Sequence
from typing import Any

import click

from kubesched.cli.config import read
from kubesched.cli.plugin_options import load_plugins, with_plugin_hint
from kubesched.client.informers.watched_kinds import kinds_of
from kubesched.config.errors import ConfigError
from kubesched.config.types import RawArgs
from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.errors import PluginError
from kubesched.testing.example_files import ExampleObjects, read_examples
from kubesched.testing.plugin_checks.checked_plugin import CheckedPlugin
from kubesched.testing.plugin_checks.checking import EXAMPLES, check_plugin

WRONG = 3


@click.command("check", short_help="Check plugins against the contract; each finding has a minimal example.")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--examples", type=click.IntRange(1), default=EXAMPLES, show_default=True, help="Number of random clusters to try."
)
@click.option(
    "--config", metavar="FILE", help="A KubeSchedulerConfiguration file that enables the plugins, with their arguments."
)
@click.option(
    "--objects",
    "files",
    multiple=True,
    metavar="FILE",
    help="Manifests of objects that the plugins look up; nodes and pods in them replace random ones.",
)
@click.option(
    "--mutate",
    is_flag=True,
    help="Also break each plugin in typical ways, and report the mutants that no check notices.",
)
@click.pass_context
def check(
    ctx: click.Context,
    sources: tuple[str, ...],
    examples: int,
    config: str | None,
    files: tuple[str, ...],
    mutate: bool,
) -> None:
    """Check the plugins of SOURCE: a Python file, a module, module:Class, or the name of an installed plugin.

    Random clusters, pods and changes contain the words in the plugin's code and in the objects of --objects. Exit
    code 3 means that a check failed. A warning means that the examples did not test a part of the plugin: its text
    says which objects to give.

    \b
    Examples:
      kubesched plugins check cheapest.py
      kubesched plugins check QuietNodes --config quiet-nodes.yaml
      kubesched plugins check seats.py --objects licences.yaml --mutate
    """
    registry = load_plugins(sources)
    args = {} if config is None else _args(config, registry)
    reports = []
    for name in _named(registry):
        factory = registry.factory(name)
        given = _examples(files, name, factory, args.get(name)).options() if files else {}
        reports.append(check_plugin(factory, args=args.get(name), examples=examples, mutate=mutate, **given))
        click.echo(reports[-1].text)
    if not reports or not all(reports):
        ctx.exit(WRONG)


def _named(registry: Registry) -> list[str]:
    """Return the plugins of SOURCE, without other installed plugins."""
    return [name for name in registry if registry.source(name).startswith("--plugin")]


def _args(config: str, registry: Registry) -> dict[str, Any]:
    """Return the arguments of plugins in a configuration, from its first profile that has any."""
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


def _examples(files: Sequence[str], name: str, factory: Any, args: Any) -> ExampleObjects:
    """Return the objects in files, with a line about kinds that the plugin does not look up."""
    try:
        kinds = kinds_of(CheckedPlugin(factory, args).start())
    except PluginError:
        # problems of the plugin are in its report
        kinds = []
    found = read_examples(files, kinds)
    for kind, place in found.unknown.items():
        click.echo(f"{place}: {name} does not look up {kind}: name it in looks_up", err=True)
    return found
