"""The configuration that kubesched will run with: whether it is valid, and whether the cluster serves its custom kinds.

From a file's text to findings and, if it is valid, to the configuration.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kubesched.client.informers.watched_kinds import WatchedKind, watched_kind
from kubesched.config.document import parse
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.intree import IN_TREE, merge_catalogs
from kubesched.config.load import Loaded
from kubesched.core.assembly import engine_of, load_config
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.building.registry import Registry
from kubesched.doctor.examined_cluster import NOT_SERVED, Absent, ExaminedCluster
from kubesched.doctor.findings import Finding, fail, ok, warn
from kubesched.errors import PluginError
from kubesched.sources.custom_kinds import custom_kinds_of

_UNKNOWN_PLUGIN = re.compile(r'Plugin "([^"]*)" does not exist|plugin "([^"]*)" does not exist')
# plugins of the package kubesched-contrib
IN_CONTRIB = frozenset(
    {
        "CapacityScheduling",
        "Coscheduling",
        "GangDefragmentation",
        "LoadVariationRiskBalancing",
        "LowRiskOverCommitment",
        "NetworkOverhead",
        "NodeCost",
        "NodeMetadata",
        "NodeResourceTopologyMatch",
        "NodeResourcesAllocatable",
        "Peaks",
        "PreemptionToleration",
        "SySched",
        "TargetLoadPacking",
        "TopologicalSort",
        "ZoneSignal",
    }
)
_SAMPLING = "percentageOfNodesToScore"


class CheckedConfiguration:
    """The configuration in a file, or the defaults if the file is missing or invalid; with findings."""

    def __init__(self, file: str | None, text: bytes | None, gates: FeatureGates, registry: Registry) -> None:
        self.registry = registry
        self.findings: list[Finding] = []
        name = file or "the defaults"
        try:
            self.loaded = load_config(text, gates, registry)
            self.profiles: Mapping[str, Profile] = engine_of(self.loaded, registry).profiles
        except ConfigError as error:
            self.findings += _problems(name, text or b"", error, registry)
        except PluginError as error:
            fix = "fix its pluginConfig, or its other requirements; or disable it"
            self.findings.append(fail("configuration", f"{name}: {error}", fix))
        else:
            self.findings += _usable(file, self.loaded)
            return
        self.loaded = load_config(None, gates, registry)
        self.profiles = engine_of(self.loaded, registry).profiles

    async def check_kinds(self, cluster: ExaminedCluster) -> list[Finding]:
        """Return findings about custom kinds that enabled plugins need."""
        kinds = map(watched_kind, custom_kinds_of(self.loaded, self.registry))
        return [await _served(cluster, kind) for kind in kinds if kind is not None]


def _problems(file: str, text: bytes, error: ConfigError, registry: Registry) -> Iterator[Finding]:
    if any(problem.startswith('kind: "Policy"') for problem in error.errors):
        fix = f"convert it to a configuration: kubesched config migrate {file}"
        yield fail(
            "configuration",
            f"{file}: this is a scheduling policy, which schedulers have not supported since v1.23",
            fix,
        )
        return
    for problem in error.errors:
        if _UNKNOWN_PLUGIN.search(problem) is None:
            yield fail("configuration", f"{file}: {problem}", _fix(file, problem))
            continue
        # the error names only one of them
        for name in _unknown_plugins(text, registry):
            if name in IN_CONTRIB:
                fix = "pip install kubesched-contrib, or disable it"
            else:
                fix = "port it to Python (docs/guides/plugins/plugins.md) and give it as --plugin, or disable it"
            yield fail("configuration", f"{file}: the plugin {name} is not installed", fix)


def _fix(file: str, problem: str) -> str:
    if problem.startswith('kind: "ConfigMap"'):
        return (
            "give the file in it: kubectl -n kube-system get configmap NAME -o jsonpath='{.data.config\\.yaml}' > FILE"
        )
    if problem.startswith("apiVersion:"):
        return "write v1: kube-scheduler has supported no other version since v1.29"
    return f"fix it and check it with: kubesched config show {file}"


def _unknown_plugins(text: bytes, registry: Registry) -> list[str]:
    """Return the plugins that profiles of a configuration enable and that are not installed."""
    known = merge_catalogs(IN_TREE, registry.catalog())
    return sorted({name for name in _enabled(parse(text)) if name not in known})


def _enabled(config: Any) -> Iterator[str]:
    """Yield the names of the plugins that a configuration enables at any extension point."""
    if isinstance(config, dict):
        for key, value in config.items():
            if key == "enabled" and isinstance(value, list):
                yield from (str(each["name"]) for each in value if isinstance(each, dict) and "name" in each)
            else:
                yield from _enabled(value)
    elif isinstance(config, list):
        for each in config:
            yield from _enabled(each)


def _usable(file: str | None, loaded: Loaded) -> Iterator[Finding]:
    names = ", ".join(profile.scheduler_name for profile in loaded.profiles)
    if file is None:
        fix = "if the cluster's scheduler has a configuration file, give it with --config"
        yield warn("configuration", f"no --config: the default configuration applies, with the profile {names}", fix)
    else:
        yield ok("configuration", f"{file} is valid; its profiles are {names}")
    if not loaded.config.percentage_of_nodes_to_score:
        what = f"{_SAMPLING} is 0: kubesched evaluates all nodes, kube-scheduler a sample if there are 100 or more"
        yield ok("configuration", what)


async def _served(cluster: ExaminedCluster, kind: WatchedKind) -> Finding:
    found = await cluster.document(kind.path, {"limit": "1"})
    if not isinstance(found, Absent):
        return ok("custom kinds", f"{kind.name} is served")
    if found.code == NOT_SERVED:
        fix = "create its CustomResourceDefinition: nothing is scheduled until it is served"
        return fail("custom kinds", f"a plugin needs {kind.name}, which is not served", fix)
    fix = found.fix("grant get, list and watch of it")
    return fail("custom kinds", f"{kind.name} cannot be listed: {found.why}", fix)
