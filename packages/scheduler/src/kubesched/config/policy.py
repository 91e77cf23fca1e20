"""Legacy sources of the v1.21 generation, translated: a policy or an algorithm provider in, a v1 configuration out.

In: the text of a policy, or the name of a provider, and the feature gates. Out: `Migration`, a configuration that can
be loaded and does the same, with warnings about lost settings. An untranslatable policy is a ConfigError.

The profile lists its plugins point by point and disables the defaults. Plugins that a policy of v1.21 could not name
stay enabled, since pods rely on them under any policy: the queue's order, scheduling gates, preemption, binding,
device claims, declared node features, pod groups; but none of them scores, since policies decide about scores.
"""

# upstream: pkg/scheduler/factory.go, algorithmprovider/registry.go (v1.21)

from __future__ import annotations

from typing import Any

import msgspec

from kubesched.api.go_text import quote
from kubesched.config.args import (
    InterPodAffinityArgs,
    NodeAffinity,
    NodeAffinityArgs,
    NodeResourcesFitArgs,
    NodeSelector,
    NodeSelectorTerm,
    PodTopologySpreadArgs,
    ScoringStrategy,
)
from kubesched.config.document import dump
from kubesched.config.encoding import to_wire
from kubesched.config.errors import ConfigError, Stage
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.intree import EXTENSION_POINTS, IN_TREE, WEIGHTED_POINTS, default_plugins
from kubesched.config.load import load
from kubesched.config.policy_choices import Choices, choices
from kubesched.config.policy_document import Policy, read_policy
from kubesched.config.policy_names import (
    EVEN_SPREAD,
    GOVERNED,
    MANDATORY_PREDICATES,
    PREDICATES,
    PRIORITIES,
    PROVIDER_FILTERS,
    PROVIDER_SCORES,
    PROVIDERS,
    RATIO_PRIORITY,
    SELECTOR_SPREAD,
)
from kubesched.config.redacting import without_secrets
from kubesched.config.types import API_VERSION, DEFAULT_SCHEDULER_NAME, KIND, Extender, PluginArgs, PluginConfig

_FILTERING = ("preFilter", "filter", "reserve", "preBind")
_SCORING = ("preScore", "score")
_HIDDEN = "<redacted>"
_AVOID_PODS_GONE = (
    "the annotation scheduler.alpha.kubernetes.io/preferAvoidPods has no effect: NodePreferAvoidPodsPriority, a "
    "default of v1.21, has no equivalent; taint such nodes with the effect PreferNoSchedule"
)


class Migration(msgspec.Struct, frozen=True):
    """A configuration that replaces a legacy source, as plain values, and warnings about settings without an
    equivalent.
    """

    document: dict[str, Any]
    warnings: tuple[str, ...] = ()

    @property
    def config_text(self) -> str:
        """Return the configuration in YAML, ready to be loaded."""
        return dump(self.document)

    def advice(self, source: str) -> str:
        """Return a warning about `source`, such as a flag, with the configuration to use instead and no secrets."""
        shown = dump(without_secrets(self.document, _HIDDEN))
        return f"{source} belongs to v1.21 and is translated; use --config with this file instead:\n{shown}"


def translate(text: str | bytes, gates: FeatureGates | None = None) -> Migration:
    """Return the migration of the policy in `text`, which may also be a ConfigMap with a policy under policy.cfg."""
    policy, passed_over = read_policy(text)
    chosen = choices(policy)
    profile = _Profile()
    for name in PREDICATES:
        if name in chosen.predicates | MANDATORY_PREDICATES:
            for plugin in PREDICATES[name]:
                profile.filter_by(plugin)
    for name in sorted(chosen.priorities):
        profile.score_by("NodeResourcesFit" if name == RATIO_PRIORITY else PRIORITIES[name], chosen.priorities[name])
    _configure(profile, policy, chosen)
    warnings = (*passed_over, *chosen.warnings, *_losses(policy, chosen))
    return _migration(profile, policy.extenders, warnings, gates or FeatureGates())


def translate_provider(name: str, gates: FeatureGates | None = None) -> Migration:
    """Return the migration of the algorithm provider `name`."""
    if name not in PROVIDERS:
        known = " and ".join(PROVIDERS)
        raise ConfigError(Stage.DECODE, [f"there is no algorithm provider {quote(name)}; there are {known}"])
    profile = _Profile()
    for plugin in PROVIDER_FILTERS:
        profile.filter_by(plugin)
    for plugin, weight in PROVIDER_SCORES.items():
        profile.score_by(plugin, weight)
    profile.args["NodeResourcesFit"] = NodeResourcesFitArgs(scoring_strategy=ScoringStrategy(type=PROVIDERS[name]))
    warnings = (_AVOID_PODS_GONE, _other_weights())
    return _migration(profile, (), warnings, gates or FeatureGates())


class _Profile:
    """A profile under construction: the plugins of each point with their weights, in order, and their arguments."""

    def __init__(self) -> None:
        self.points: dict[str, dict[str, int]] = {point: {} for point in EXTENSION_POINTS}
        self.args: dict[str, PluginArgs] = {}

    def filter_by(self, plugin: str) -> None:
        """Enable the plugin at the extension points of filtering."""
        self._enable(plugin, _FILTERING, 0)

    def score_by(self, plugin: str, weight: int) -> None:
        """Enable the plugin at the extension points of scoring; the first of two weights counts, as in v1.21."""
        self._enable(plugin, _SCORING, weight)

    def keep_others(self, gates: FeatureGates) -> None:
        """Keep the default plugins that no policy decides about, at every point but the scoring ones."""
        for plugin in default_plugins(gates):
            if plugin.name not in GOVERNED:
                self._enable(
                    plugin.name, tuple(point for point in EXTENSION_POINTS if point not in _SCORING), plugin.weight
                )

    def _enable(self, plugin: str, points: tuple[str, ...], weight: int) -> None:
        for point in points:
            if point in IN_TREE[plugin]:
                self.points[point].setdefault(plugin, weight if point in WEIGHTED_POINTS else 0)

    def to_wire(self) -> dict[str, Any]:
        """Return the profile as plain values."""
        plugins: dict[str, Any] = {"multiPoint": {"disabled": [{"name": "*"}]}}
        for point, enabled in self.points.items():
            if enabled:
                plugins[point] = {
                    "enabled": [
                        {"name": name, "weight": weight} if weight else {"name": name}
                        for name, weight in enabled.items()
                    ]
                }
        wire: dict[str, Any] = {"schedulerName": DEFAULT_SCHEDULER_NAME, "plugins": plugins}
        if self.args:
            wire["pluginConfig"] = [
                to_wire(PluginConfig(name=name, args=self.args[name])) for name in sorted(self.args)
            ]
        return wire


def _configure(profile: _Profile, policy: Policy, chosen: Choices) -> None:
    """Give the plugins the arguments that v1.21 gave them."""
    ignored = tuple(
        resource.name
        for extender in policy.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    )
    if chosen.scoring is not None:
        profile.args["NodeResourcesFit"] = NodeResourcesFitArgs(
            ignored_resources=ignored, scoring_strategy=chosen.scoring
        )
    elif ignored:
        profile.args["NodeResourcesFit"] = NodeResourcesFitArgs(ignored_resources=ignored)
    if chosen.node_labels:
        term = NodeSelectorTerm(match_expressions=chosen.node_labels)
        added = NodeAffinity(
            required_during_scheduling_ignored_during_execution=NodeSelector(node_selector_terms=(term,))
        )
        profile.args["NodeAffinity"] = NodeAffinityArgs(added_affinity=added)
    if SELECTOR_SPREAD in chosen.priorities:
        profile.args["PodTopologySpread"] = PodTopologySpreadArgs(defaulting_type="System")
    elif EVEN_SPREAD in chosen.priorities:
        profile.args["PodTopologySpread"] = PodTopologySpreadArgs(defaulting_type="List")
    hard_weight = policy.hard_pod_affinity_symmetric_weight
    if hard_weight and "InterPodAffinityPriority" in chosen.priorities:
        profile.args["InterPodAffinity"] = InterPodAffinityArgs(hard_pod_affinity_weight=hard_weight)


def _losses(policy: Policy, chosen: Choices) -> list[str]:
    """Return the settings of a policy that are lost, and why that does no harm."""
    losses = []
    if policy.priorities is None:
        losses += [_AVOID_PODS_GONE, _other_weights()]
    spread = [chosen.priorities[name] for name in (EVEN_SPREAD, SELECTOR_SPREAD) if name in chosen.priorities]
    if policy.priorities is not None and len(set(spread)) > 1:
        losses.append(
            f"priorities: {EVEN_SPREAD} and {SELECTOR_SPREAD} are both PodTopologySpread, whose weight is that of the "
            f"former, {spread[0]}, as it was in v1.21"
        )
    if policy.hard_pod_affinity_symmetric_weight and "InterPodAffinityPriority" not in chosen.priorities:
        losses.append("hardPodAffinitySymmetricWeight: has no effect without InterPodAffinityPriority, and is left out")
    if policy.always_check_all_predicates:
        losses.append(
            "alwaysCheckAllPredicates: is left out; pods go to the same nodes, messages give the first reason of each"
        )
    return losses


def _other_weights() -> str:
    """Return that the default weights have changed since."""
    changed = (
        f"{plugin.name} {plugin.weight} instead of {PROVIDER_SCORES[plugin.name]}"
        for plugin in default_plugins(FeatureGates())
        if plugin.weight != PROVIDER_SCORES.get(plugin.name, plugin.weight)
    )
    return f"the default weights of v1.21 are kept; those of v1.36, with no configuration, are {', '.join(changed)}"


def _migration(
    profile: _Profile, extenders: tuple[Extender, ...], warnings: tuple[str, ...], gates: FeatureGates
) -> Migration:
    """Return the finished translation, which is known to load."""
    profile.keep_others(gates)
    document: dict[str, Any] = {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile.to_wire()]}
    if extenders:
        document["extenders"] = [_extender_to_wire(extender) for extender in extenders]
    migration = Migration(document, warnings)
    # Extenders have the same fields in both formats, so that what is wrong with them is said under the right path.
    load(migration.config_text, gates)
    return migration


def _extender_to_wire(extender: Extender) -> dict[str, Any]:
    wire: dict[str, Any] = to_wire(extender)
    if not extender.http_timeout:
        del wire["httpTimeout"]
    return wire
