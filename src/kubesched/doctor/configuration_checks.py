"""The configuration that kubesched is to run with: whether it can be used, and whether the cluster has its kinds.

From a file's text to findings and, if it can be used, to the configuration.
"""

import re
from collections.abc import Iterator

from kubesched.asking.sources.custom_kinds import custom_kinds_of
from kubesched.client.informers.watched_kinds import WatchedKind, watched_kind
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.load import Loaded
from kubesched.core.assembly import load_config
from kubesched.core.framework.registry import Registry
from kubesched.doctor.asked_cluster import NOT_SERVED, Absent, AskedCluster
from kubesched.doctor.findings import Finding, fail, ok, warn

_UNKNOWN_PLUGIN = re.compile(r'Plugin "([^"]*)" does not exist|plugin "([^"]*)" does not exist')
_SAMPLING = "percentageOfNodesToScore"


class CheckedConfiguration:
    """The configuration in a file, or the defaults if there is none or it cannot be used; and what was found."""

    def __init__(self, file: str | None, text: bytes | None, gates: FeatureGates, registry: Registry) -> None:
        self.registry = registry
        self.findings: list[Finding] = []
        try:
            self.loaded = load_config(text, gates, registry)
        except ConfigError as error:
            self.findings += _problems(file or "the defaults", error)
            self.loaded = load_config(None, gates, registry)
        else:
            self.findings += _usable(file, self.loaded)

    async def check_kinds(self, cluster: AskedCluster) -> list[Finding]:
        """Return which custom kinds of enabled plugins the cluster does not have."""
        kinds = map(watched_kind, custom_kinds_of(self.loaded, self.registry))
        return [await _served(cluster, kind) for kind in kinds if kind is not None]


def _problems(file: str, error: ConfigError) -> Iterator[Finding]:
    for problem in error.errors:
        unknown = _UNKNOWN_PLUGIN.search(problem)
        if unknown is not None:
            fix = "port the plugin to Python (docs/plugins.md) and give it as --plugin, or disable it"
        else:
            fix = f"mend it and look at it with: kubesched config show {file}"
        yield fail("configuration", f"{file}: {problem}", fix)


def _usable(file: str | None, loaded: Loaded) -> Iterator[Finding]:
    names = ", ".join(profile.scheduler_name for profile in loaded.profiles)
    if file is None:
        fix = "give the file that the cluster's scheduler has as --config, if it has one"
        yield warn("configuration", f"none is given: the defaults count, with the profile {names}", fix)
    else:
        yield ok("configuration", f"{file} can be used; its profiles are {names}")
    sampling = loaded.config.percentage_of_nodes_to_score
    if not 0 < sampling < 100:
        what = f"{_SAMPLING} is {sampling}: kubesched looks at every node, kube-scheduler at a part of more than 100"
        yield ok("configuration", what)


async def _served(cluster: AskedCluster, kind: WatchedKind) -> Finding:
    found = await cluster.document(kind.path, {"limit": "1"})
    if not isinstance(found, Absent):
        return ok("custom kinds", f"{kind.name} is served")
    if found.code == NOT_SERVED:
        fix = "create its CustomResourceDefinition: nothing is scheduled until it is served"
        return fail("custom kinds", f"{kind.name} is looked up by a plugin, and not served", fix)
    fix = found.fix("grant get, list and watch of it")
    return fail("custom kinds", f"{kind.name} cannot be listed: {found.why}", fix)
