"""`kubesched plugins`: for authors of plugins.

In: plugins, by name or source. Out: a list of plugins, a description of one, a check of its contract, or a new
package.
"""

import json
from pathlib import Path
from typing import Any

import click

from kubesched.cli.command_group import CommandGroup, LazyCommand
from kubesched.cli.plugin_options import plugin_option
from kubesched.cli.plugin_package import KINDS, write_package
from kubesched.core.framework.building.registry import Registry


@click.group(
    "plugins",
    cls=CommandGroup,
    lazy={
        "check": LazyCommand(
            "kubesched.testing.check_command:check",
            "Check plugins against the contract; each finding has a minimal example.",
        ),
        "rights": LazyCommand(
            "kubesched.cli.plugin_rights:rights_command",
            "Print the rights that enabled plugins need beyond those of every scheduler.",
        ),
    },
    short_help="List, describe, check and create plugins.",
)
def plugins_group() -> None:
    """List, describe, check and create plugins."""


@plugins_group.command("list", short_help="List in-tree and installed plugins, and where they are enabled.")
@click.option(
    "--config", metavar="FILE", help="A KubeSchedulerConfiguration file; without it, the built-in defaults apply."
)
@click.option(
    "-o", "--output", type=click.Choice(("table", "json")), default="table", show_default=True, help="Output format."
)
@plugin_option
def list_command(config: str | None, output: str, registry: Registry) -> None:
    """List plugins: name, origin, extension points, and the profiles that enable them.

    \b
    Examples:
      kubesched plugins list
      kubesched plugins list --plugin cheapest.py --config cheapest.yaml
    """
    # plugins import numpy
    from kubesched.cli.plugin_descriptions import listed_plugins

    rows = listed_plugins(registry, config)
    if output == "json":
        click.echo(json.dumps([row._asdict() for row in rows], indent=2, ensure_ascii=False))
        return
    _print_table(
        ("name", "from", "extension points", "enabled in"),
        [(row.name, row.source, ", ".join(row.extension_points), ", ".join(row.enabled_in)) for row in rows],
    )


@plugins_group.command("show", short_help="Describe a plugin: extension points, arguments, what it reads, events.")
@click.argument("name")
@click.option(
    "-o", "--output", type=click.Choice(("table", "json")), default="table", show_default=True, help="Output format."
)
@plugin_option
def show_command(name: str, output: str, registry: Registry) -> None:
    """Describe the plugin NAME: an in-tree one, an installed one, or one of --plugin.

    \b
    Example:
      kubesched plugins show NodeResourcesFit
    """
    from kubesched.cli.plugin_descriptions import described_plugin

    found = described_plugin(registry, name)
    if output == "json":
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    for title, value in found.items():
        if isinstance(value, list):
            click.echo(f"{title}:")
            for each in value:
                click.echo(f"  {_line(each)}")
        else:
            click.echo(f"{title}: {value}")


@plugins_group.command("new", short_help="Create a package with a plugin that passes its own test.")
@click.argument("name")
@click.option(
    "--kind", type=click.Choice(KINDS), default="filter", show_default=True, help="Extension point of the plugin."
)
@click.option(
    "--directory", type=click.Path(path_type=Path), help="Folder to write to; by default a new folder of its name."
)
def new_command(name: str, kind: str, directory: Path | None) -> None:
    """Create the plugin NAME, such as QuietNodes: a package with an entry point, typed arguments, and a test.

    \b
    Example:
      kubesched plugins new QuietNodes --kind filter
    """
    for path in write_package(name, kind, directory):
        click.echo(path)


def _line(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    default = "required" if value["required"] else f"default {json.dumps(value['default'])}"
    return f"{value['name']}: {value['type']}, {default}"


def _print_table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)
