"""`kubesched config migrate`: from a scheduler policy of v1.21 to the equivalent KubeSchedulerConfiguration.

The configuration goes to standard output or a file, warnings to standard error. If a part of the policy has no
translation, nothing is written.
"""

from pathlib import Path

import click

from kubesched.cli.config import read
from kubesched.cli.gate_options import gate_options
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.policy import Migration, translate, translate_provider
from kubesched.config.policy_names import PROVIDERS
from kubesched.errors import KubeschedError


class UnwritableError(KubeschedError):
    """A file that cannot be written; the message names it."""


@click.command(short_help="Translate a policy of v1.21 or earlier to a configuration.")
@click.argument("policy", required=False)
@click.option("-o", "--output", metavar="FILE", help="File to write instead of standard output.")
@click.option(
    "--algorithm-provider",
    "provider",
    metavar="NAME",
    help=f"Provider to translate instead of POLICY: {' or '.join(PROVIDERS)}.",
)
@gate_options
def migrate(policy: str | None, output: str | None, provider: str | None, gates: FeatureGates) -> None:
    """Translate POLICY, a scheduler policy of v1.21 or earlier, to a configuration for --config.

    POLICY is a file of kind Policy in JSON or YAML, as for --policy-config-file, or a ConfigMap that holds one under
    policy.cfg, as for --policy-configmap; - is standard input. Settings that are lost in the translation are listed
    on standard error.

    \b
    Examples:
      kubesched config migrate policy.json > config.yaml
      kubectl -n kube-system get configmap scheduler-policy -o yaml | kubesched config migrate - -o config.yaml

    Exit code: 0; 1 if the policy cannot be read or translated; 2 for a wrong command line.
    """
    if (policy is None) == (provider is None):
        raise click.UsageError("give either POLICY or --algorithm-provider")
    migration = _migration(policy, gates) if policy is not None else translate_provider(provider or "", gates)
    if output is None or output == "-":
        click.echo(migration.config_text, nl=False)
    else:
        _write(output, migration.config_text)
    for warning in migration.warnings:
        click.echo(f"warning: {warning}", err=True)


def _migration(file: str, gates: FeatureGates) -> Migration:
    """Return the translation of the policy in a file; problems name the file."""
    text = read(file)
    try:
        return translate(text, gates)
    except ConfigError as error:
        source = "standard input" if file == "-" else file
        raise ConfigError(error.stage, [f"{source}: {problem}" for problem in error.errors]) from None


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnwritableError(f"{file}: {reason}; give a writable file") from None
