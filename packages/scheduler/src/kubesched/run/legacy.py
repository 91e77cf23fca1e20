"""The configuration flags of kube-scheduler up to v1.21.

From --algorithm-provider, --policy-config-file and --policy-configmap to the text of a v1 configuration, with a warning
that prints the configuration to use instead. A ConfigMap wins over a file, and a file over a provider.
"""

# upstream: cmd/kube-scheduler/app/options/options.go, pkg/scheduler/scheduler.go (v1.21)

import asyncio

from kubesched.client.credentials.rest_config import load_rest_config
from kubesched.client.rest import Refused, RestClient, Unreachable
from kubesched.common.notes import Note
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.policy import Migration, translate, translate_provider
from kubesched.run.clients import AGENT
from kubesched.run.go_flags import ParsedFlags
from kubesched.run.option_files import OptionError, read_file

_SOURCES = ("policy-configmap", "policy-config-file", "algorithm-provider")
_READ_SECONDS = 30.0


def legacy_config(flags: ParsedFlags, gates: FeatureGates, note: Note) -> str | None:
    """Return the configuration that a legacy flag selects, with a warning; None without such a flag."""
    source = next((name for name in _SOURCES if flags[name]), None)
    if source is None:
        return None
    if flags["config"]:
        raise OptionError(f"--{source} cannot be combined with --config; keep one of them")
    migration = _migration(source, flags, gates, note)
    for warning in migration.warnings:
        note(warning)
    note(migration.advice(f"--{source}"))
    return migration.config_text


def _migration(source: str, flags: ParsedFlags, gates: FeatureGates, note: Note) -> Migration:
    if source == "algorithm-provider":
        return translate_provider(flags[source], gates)
    if source == "policy-config-file":
        return translate(read_file(flags[source], f"--{source}"), gates)
    return translate(asyncio.run(_read_config_map(flags, note)), gates)


async def _read_config_map(flags: ParsedFlags, note: Note) -> bytes:
    """Return the ConfigMap's contents; OptionError if it cannot be read, since there is no other policy."""
    namespace, name = flags["policy-configmap-namespace"], flags["policy-configmap"]
    rest = RestClient(
        load_rest_config(flags["kubeconfig"], flags["master"], note=note), AGENT, timeout_seconds=_READ_SECONDS
    )
    try:
        return await rest.get(f"/api/v1/namespaces/{namespace}/configmaps/{name}")
    except (Refused, Unreachable) as error:
        raise OptionError(f"--policy-configmap {namespace}/{name} cannot be read: {error}") from None
    finally:
        await rest.close()
