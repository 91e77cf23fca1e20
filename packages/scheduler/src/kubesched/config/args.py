"""The arguments of the in-tree plugins, as `pluginConfig` carries them.

`ARGS_TYPES` maps a plugin's name to its struct; a plugin that is not in it has no typed arguments. Node affinity and
spread constraints keep the shape they have in Kubernetes objects.
"""

# upstream: staging/src/k8s.io/kube-scheduler/config/v1/types_pluginargs.go (v1.36)

from __future__ import annotations

import msgspec

from kubesched.config.golang import Duration
from kubesched.config.types import ConfigStruct, Int32, Int64, PluginArgs


class NodeSelectorRequirement(ConfigStruct, frozen=True, kw_only=True):
    """One expression over node labels or fields; no values and an empty list read differently in messages."""

    omit_empty = frozenset({"values"})

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class NodeSelectorTerm(ConfigStruct, frozen=True, kw_only=True):
    """A conjunction of expressions."""

    omit_empty = frozenset({"match_expressions", "match_fields"})

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(ConfigStruct, frozen=True, kw_only=True):
    """A disjunction of terms; written as null where it was absent."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] | None = None


class PreferredSchedulingTerm(ConfigStruct, frozen=True, kw_only=True):
    """A term with a weight."""

    weight: Int32 = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(ConfigStruct, frozen=True, kw_only=True):
    """Node affinity that is added to every pod."""

    omit_empty = frozenset(
        {
            "required_during_scheduling_ignored_during_execution",
            "preferred_during_scheduling_ignored_during_execution",
        }
    )

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredSchedulingTerm, ...] = ()


class LabelSelectorRequirement(ConfigStruct, frozen=True, kw_only=True):
    """One expression of a label selector."""

    omit_empty = frozenset({"values"})

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(ConfigStruct, frozen=True, kw_only=True):
    """A label selector; default constraints may not have one, but it is decoded so that validation can refuse it."""

    omit_empty = frozenset({"match_labels", "match_expressions"})

    match_labels: dict[str, str] = msgspec.field(default_factory=dict)
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class TopologySpreadConstraint(ConfigStruct, frozen=True, kw_only=True):
    """A default spread constraint."""

    omit_empty = frozenset(
        {"label_selector", "min_domains", "node_affinity_policy", "node_taints_policy", "match_label_keys"}
    )

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


class ResourceSpec(ConfigStruct, frozen=True, kw_only=True):
    """A resource and its weight in a score; 0 becomes 1 in `defaults`."""

    omit_empty = frozenset({"weight"})

    name: str = ""
    weight: Int64 = 0


class UtilizationShapePoint(ConfigStruct, frozen=True, kw_only=True):
    """One point of a piecewise linear score function."""

    utilization: Int32 = 0
    score: Int32 = 0


class RequestedToCapacityRatioParam(ConfigStruct, frozen=True, kw_only=True):
    """The score function of the RequestedToCapacityRatio strategy."""

    omit_empty = frozenset({"shape"})

    shape: tuple[UtilizationShapePoint, ...] = ()


class ScoringStrategy(ConfigStruct, frozen=True, kw_only=True):
    """How NodeResourcesFit scores."""

    omit_empty = frozenset({"type", "resources", "requested_to_capacity_ratio"})

    type: str = ""
    resources: tuple[ResourceSpec, ...] = ()
    requested_to_capacity_ratio: RequestedToCapacityRatioParam | None = None


class DefaultPreemptionArgs(PluginArgs, frozen=True, kw_only=True):
    """How many candidate nodes preemption looks for."""

    min_candidate_nodes_percentage: Int32 = 10
    min_candidate_nodes_absolute: Int32 = 100


class InterPodAffinityArgs(PluginArgs, frozen=True, kw_only=True):
    """The weight of existing pods' required affinity, and whether their preferences count."""

    hard_pod_affinity_weight: Int32 = 1
    ignore_preferred_terms_of_existing_pods: bool = False


class NodeResourcesFitArgs(PluginArgs, frozen=True, kw_only=True):
    """The resources that the Fit filter ignores, and the scoring strategy."""

    omit_empty = frozenset({"ignored_resources", "ignored_resource_groups"})

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy(type="LeastAllocated")


class PodTopologySpreadArgs(PluginArgs, frozen=True, kw_only=True):
    """Constraints for pods that have none."""

    omit_empty = frozenset({"default_constraints", "defaulting_type"})

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = ""


class NodeResourcesBalancedAllocationArgs(PluginArgs, frozen=True, kw_only=True):
    """The resources whose use should be even."""

    omit_empty = frozenset({"resources"})

    resources: tuple[ResourceSpec, ...] = ()


class VolumeBindingArgs(PluginArgs, frozen=True, kw_only=True):
    """How long binding may take; the shape needs the StorageCapacityScoring gate."""

    omit_empty = frozenset({"shape"})

    bind_timeout_seconds: Int64 = 600
    shape: tuple[UtilizationShapePoint, ...] | None = None


class NodeAffinityArgs(PluginArgs, frozen=True, kw_only=True):
    """Affinity added to every pod of the profile."""

    omit_empty = frozenset({"added_affinity"})

    added_affinity: NodeAffinity | None = None


class DynamicResourcesArgs(PluginArgs, frozen=True, kw_only=True):
    """Time limits of device allocation; their defaults depend on gates."""

    omit_empty = frozenset({"binding_timeout"})

    filter_timeout: Duration | None = None
    binding_timeout: Duration | None = None


_SUFFIX = "Args"
ARGS_TYPES: dict[str, type[PluginArgs]] = {
    cls.__name__.removesuffix(_SUFFIX): cls
    for cls in (
        DefaultPreemptionArgs,
        DynamicResourcesArgs,
        InterPodAffinityArgs,
        NodeAffinityArgs,
        NodeResourcesBalancedAllocationArgs,
        NodeResourcesFitArgs,
        PodTopologySpreadArgs,
        VolumeBindingArgs,
    )
}


def args_kind(plugin: str) -> str:
    """Return the kind that the typed arguments of `plugin` have on the wire."""
    return plugin + _SUFFIX
