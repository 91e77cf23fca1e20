"""Validation of a defaulted configuration.

In: the configuration and the feature gates. Out: one text per violation, in the reference's words; the reference's
order is partly random, so callers that compare should sort.
"""

# upstream: pkg/scheduler/apis/config/validation/validation.go; component-base/config/validation/validation.go (v1.36)

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubesched.api.field_errors import Shown, as_json, child, duplicate, invalid, required
from kubesched.api.labels import label_key_problems
from kubesched.api.resources import is_extended_resource
from kubesched.config.args_validation import args_violations
from kubesched.config.encoding import to_wire
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.golang import Duration
from kubesched.config.types import (
    API_VERSION,
    PLUGIN_SET_FIELDS,
    ClientConnection,
    Extender,
    KubeSchedulerConfiguration,
    LeaderElection,
    PluginArgs,
    PluginConfig,
    PluginSet,
    Profile,
    RawArgs,
)

# Named by the version of the core API group, which the reference compares by mistake; the texts say "v1".
_REMOVED_IN = "v1"
_REMOVED_PLUGINS = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
_REMOVED_DETAIL = f'was invalid in version "{_REMOVED_IN}" (KubeSchedulerConfiguration is version "{API_VERSION}")'
# The reference does not look for removed plugins at these extension points.
_UNCHECKED_POINTS = frozenset({"multiPoint", "placementGenerate", "placementScore"})
# The reference registered the check of NodeResourcesFit under the name of its arguments: it never sees the plugin, and
# objects to a plugin that really has this name.
_CHECKED_LATE = "NodeResourcesFit"
_MISNAMED_CHECK = "NodeResourcesFitArgs"

Errors = Iterator[str]


def violations(config: KubeSchedulerConfiguration, gates: FeatureGates) -> Errors:
    """Yield every violation in `config`."""
    yield from _client_connection(config.client_connection)
    yield from _leader_election(config.leader_election)
    if config.parallelism <= 0:
        yield invalid("parallelism", config.parallelism, "should be an integer value greater than zero")
    yield from _profiles(config.profiles, gates)
    yield from _percentage("percentageOfNodesToScore", config.percentage_of_nodes_to_score)
    if config.pod_initial_backoff_seconds <= 0:
        yield invalid("podInitialBackoffSeconds", config.pod_initial_backoff_seconds, "must be greater than 0")
    if config.pod_max_backoff_seconds < config.pod_initial_backoff_seconds:
        detail = "must be greater than or equal to PodInitialBackoffSeconds"
        yield invalid("podMaxBackoffSeconds", config.pod_max_backoff_seconds, detail)
    yield from _extenders(config.extenders)


def _client_connection(connection: ClientConnection) -> Errors:
    if connection.burst < 0:
        yield invalid("clientConnection.burst", connection.burst, "must be non-negative")


def _leader_election(election: LeaderElection) -> Errors:
    if not election.leader_elect:
        return
    for name, duration in (
        ("leaseDuration", election.lease_duration),
        ("renewDeadline", election.renew_deadline),
        ("retryPeriod", election.retry_period),
    ):
        if duration <= Duration(0):
            yield invalid(f"leaderElection.{name}", str(duration), "must be greater than zero")
    if election.lease_duration <= election.renew_deadline:
        # The reference prints the deadline under the duration's name.
        yield invalid(
            "leaderElection.leaseDuration", str(election.renew_deadline), "must be greater than `RenewDeadline`"
        )
    for name, text in (
        ("resourceLock", election.resource_lock),
        ("resourceNamespace", election.resource_namespace),
        ("resourceName", election.resource_name),
    ):
        if not text:
            yield required(f"leaderElection.{name}")
    if election.resource_lock != "leases":
        yield invalid("leaderElection.resourceLock", election.resource_lock, 'resourceLock value must be "leases"')


def _percentage(path: str, percentage: int | None) -> Errors:
    if percentage is not None and not 0 <= percentage <= 100:
        yield invalid(path, percentage, "not in valid range [0-100]")


def _profiles(profiles: tuple[Profile, ...], gates: FeatureGates) -> Errors:
    if not profiles:
        yield required("profiles")
        return
    seen: set[str] = set()
    for index, profile in enumerate(profiles):
        path = f"profiles[{index}]"
        if not profile.scheduler_name:
            yield required(f"{path}.schedulerName")
        yield from _percentage(f"{path}.percentageOfNodesToScore", profile.percentage_of_nodes_to_score)
        yield from _removed_plugins(path, profile)
        yield from _plugin_configs(path, profile.plugin_config, gates)
        if profile.scheduler_name in seen:
            # The reference prints the path of the first use, a struct without visible fields.
            yield duplicate(f"{path}.schedulerName", Shown("{}"))
        seen.add(profile.scheduler_name)
    yield from _common_queue_sort(profiles)


def _removed_plugins(path: str, profile: Profile) -> Errors:
    for point in PLUGIN_SET_FIELDS:
        if point in _UNCHECKED_POINTS:
            continue
        for index, plugin in enumerate(profile.plugins.at(point).enabled):
            if plugin.name in _REMOVED_PLUGINS:
                yield invalid(f"{path}.plugins.{point}.enabled[{index}]", plugin.name, _REMOVED_DETAIL)


def _plugin_configs(profile_path: str, configs: tuple[PluginConfig, ...], gates: FeatureGates) -> Errors:
    seen: set[str] = set()
    for index, config in enumerate(configs):
        path = f"{profile_path}.pluginConfig[{index}]"
        if config.name in seen:
            yield duplicate(path, config.name)
        seen.add(config.name)
        if config.name in _REMOVED_PLUGINS:
            yield invalid(path, config.name, _REMOVED_DETAIL)
        elif config.name == _MISNAMED_CHECK:
            yield invalid(f"{path}.args", _shown_args(config), "has to match plugin args")
        elif config.name != _CHECKED_LATE:
            yield from args_violations(f"{path}.args", config, gates)


def _shown_args(config: PluginConfig) -> Shown:
    return as_json(to_wire(config)["args"])


def _args_of(profile: Profile, plugin: str) -> list[PluginArgs | RawArgs | None]:
    return [config.args for config in profile.plugin_config if config.name == plugin]


def _shown_set(plugins: PluginSet) -> Shown:
    def shown(side: tuple[Any, ...]) -> str:
        entries = (f'{{"Name":{as_json(plugin.name)},"Weight":{plugin.weight}}}' for plugin in side)
        return f"[{','.join(entries)}]" if side else "null"

    return Shown(f'{{"Enabled":{shown(plugins.enabled)},"Disabled":{shown(plugins.disabled)}}}')


def _common_queue_sort(profiles: tuple[Profile, ...]) -> Errors:
    canon = profiles[0].plugins.queue_sort
    name = canon.enabled[0].name if canon.enabled else ""
    if len(canon.enabled) > 1:
        detail = "only one queue sort plugin can be enabled"
        yield invalid("profiles[0].plugins.queueSort.Enabled", len(canon.enabled), detail)
    first_args = (_args_of(profiles[0], name) or [None])[-1] if name else None
    for index, profile in enumerate(profiles[1:], start=1):
        if profile.plugins.queue_sort != canon:
            shown = _shown_set(profile.plugins.queue_sort)
            yield invalid(
                child(f"profiles[{index}]", "plugins", "queueSort"), shown, "must be the same for all profiles"
            )
        for config in profile.plugin_config:
            if config.name == name and config.args != first_args:
                detail = "queueSort must be the same for all profiles"
                yield invalid(f"profiles[{index}].pluginConfig.args", _shown_args(config), detail)


def _extenders(extenders: tuple[Extender, ...]) -> Errors:
    seen: set[str] = set()
    for index, extender in enumerate(extenders):
        path = f"extenders[{index}]"
        if extender.prioritize_verb and extender.weight <= 0:
            yield invalid(f"{path}.weight", extender.weight, "must have a positive weight applied to it")
        for number, resource in enumerate(extender.managed_resources):
            name_path = f"{path}.managedResources[{number}].name"
            yield from _extended_resource_name(name_path, resource.name)
            if resource.name in seen:
                yield invalid(name_path, resource.name, "duplicate extender managed resource name")
            seen.add(resource.name)
    binders = sum(bool(extender.bind_verb) for extender in extenders)
    if binders > 1:
        yield invalid(
            "extenders", f"found {binders} extenders implementing bind", "only one extender can implement bind"
        )


def _extended_resource_name(path: str, name: str) -> Errors:
    problems = label_key_problems(name)
    for problem in problems:
        yield invalid(path, as_json(name), problem)
    if not problems and not is_extended_resource(name):
        yield invalid(path, name, "is an invalid extended resource name")
