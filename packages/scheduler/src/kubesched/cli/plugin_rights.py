"""`kubesched plugins rights`: the RBAC rights to grant before plugins run on a cluster.

In: a configuration and plugins. Out: rules for the Helm chart, or a ClusterRole with its binding.
"""

from typing import Any

import click
import yaml

from kubesched.cli.config import read
from kubesched.cli.plugin_options import plugin_option, with_plugin_hint
from kubesched.client.informers.watched_kinds import kinds_of
from kubesched.config.errors import ConfigError
from kubesched.core.assembly import build_engine
from kubesched.core.framework.building.plugin_rights import Rules, rules_of
from kubesched.core.framework.building.registry import Registry

_GROUP = "rbac.authorization.k8s.io"
_NAME = "kubesched:plugins"


@click.command("rights", short_help="Print the rights that enabled plugins need beyond those of every scheduler.")
@click.option(
    "--config", metavar="FILE", help="A KubeSchedulerConfiguration file; without it, the built-in defaults apply."
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(("values", "manifest")),
    default="values",
    show_default=True,
    help="values for the Helm chart, or a ClusterRole with its binding.",
)
@click.option(
    "--service-account",
    metavar="NAMESPACE/NAME",
    default="kube-system/kubesched",
    show_default=True,
    help="Service account that gets the rights, for -o manifest.",
)
@plugin_option
def rights_command(config: str | None, output: str, service_account: str, registry: Registry) -> None:
    """Print the rights that enabled plugins need beyond those of every scheduler.

    They allow plugins to read the custom resources that they look up, and to write the kinds that they declare.

    \b
    Examples:
      kubesched plugins rights --config config.yaml > rights.yaml
      helm upgrade --install kubesched deploy/charts/kubesched -f rights.yaml ...
      kubesched plugins rights --config config.yaml -o manifest | kubectl apply -f -
    """
    namespace, slash, name = service_account.partition("/")
    if not (namespace and slash and name):
        raise click.BadParameter(
            "expected NAMESPACE/NAME, such as kube-system/kubesched", param_hint="--service-account"
        )
    rules = enabled_rules(config, registry)
    if output == "values":
        click.echo(_text({"rbac": {"pluginRules": rules}}))
    elif rules:
        click.echo("---\n".join(map(_text, _manifests(rules, namespace, name))))
    else:
        click.echo("enabled plugins need no rights beyond those of every scheduler", err=True)


def enabled_rules(config: str | None, registry: Registry) -> Rules:
    """Return the rules for the plugins that a configuration enables."""
    try:
        engine = build_engine(None if config is None else read(config), registry=registry)
    except ConfigError as error:
        raise with_plugin_hint(error).about(config or "the defaults") from None
    plugins = [plugin for profile in engine.profiles.values() for plugin in profile.plugins.values()]
    kinds = dict.fromkeys(kind for plugin in plugins for kind in kinds_of(plugin))
    return rules_of(kinds, [written for plugin in plugins for written in plugin.writes])


def _manifests(rules: Rules, namespace: str, name: str) -> list[dict[str, Any]]:
    shared = {"apiVersion": f"{_GROUP}/v1", "metadata": {"name": _NAME}}
    binding = {
        "roleRef": {"apiGroup": _GROUP, "kind": "ClusterRole", "name": _NAME},
        "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": name}],
    }
    return [{"kind": "ClusterRole", **shared, "rules": rules}, {"kind": "ClusterRoleBinding", **shared, **binding}]


def _text(document: dict[str, Any]) -> str:
    return str(yaml.safe_dump(document, sort_keys=False))
