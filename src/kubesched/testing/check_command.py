"""`kubesched plugins check`: hold plugins to the contract.

In: what `--plugin` would load. Out: a line a check, what was found below it; exit code 3 if something is wrong.
"""

import click

from kubesched.cli.plugin_options import load_plugins
from kubesched.core.framework.registry import Registry
from kubesched.testing.plugin_checks.checking import EXAMPLES, check_plugin
from kubesched.testing.plugin_checks.plugin_report import PluginReport

WRONG = 3


@click.command("check", short_help="Hold plugins to the contract: each finding with a minimal example.")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--examples", type=click.IntRange(1), default=EXAMPLES, show_default=True, help="How many random clusters to try."
)
@click.pass_context
def check(ctx: click.Context, sources: tuple[str, ...], examples: int) -> None:
    """Check the plugins of SOURCE: a Python file, a module, or module:Class, as for --plugin.

    Random clusters, pods and changes are made of the words in the plugin's code. Exit code 3 means that something is
    wrong.
    """
    registry = load_plugins(sources)
    reports = [check_plugin(registry.factory(name), examples=examples) for name in _named(registry)]
    for report in reports:
        _print(report)
    if not all(reports):
        ctx.exit(WRONG)


def _named(registry: Registry) -> list[str]:
    """Return the plugins that were asked for, not those of installed packages."""
    return [name for name in registry if registry.source(name).startswith("--plugin")]


def _print(report: PluginReport) -> None:
    click.echo(report.text)
