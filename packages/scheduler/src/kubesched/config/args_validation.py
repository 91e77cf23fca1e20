"""Validation of plugin arguments.

In: defaulted arguments, their path, the feature gates. Out: one text per violation. Arguments are validated twice, as
in the reference: with the configuration (all but NodeResourcesFit's) and when the plugins are created.
"""

# upstream: pkg/scheduler/apis/config/validation/validation_pluginargs.go (v1.36)

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kubesched.api.field_errors import as_json, child, duplicate, forbidden, invalid, not_supported, required
from kubesched.api.labels import label_key_problems, label_value_problems
from kubesched.config.args import (
    DefaultPreemptionArgs,
    DynamicResourcesArgs,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodTopologySpreadArgs,
    TopologySpreadConstraint,
    UtilizationShapePoint,
    VolumeBindingArgs,
)
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.golang import INT64_MAX, INT64_MIN, Duration, seconds
from kubesched.config.types import MAX_CUSTOM_PRIORITY_SCORE, PluginArgs, PluginConfig

_SCORING_STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
_DEFAULTING_TYPES = ("System", "List")
_WHEN_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")
_NODE_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_NODE_FIELD_OPERATORS = ("In", "NotIn")

Errors = Iterator[str]


def _label_name(path: str, name: str) -> Errors:
    for problem in label_key_problems(name):
        yield invalid(path, name, problem)


def _default_preemption(path: str, args: DefaultPreemptionArgs, _: FeatureGates) -> Errors:
    percentage, absolute = args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute
    percentage_path = child(path, "minCandidateNodesPercentage")
    absolute_path = child(path, "minCandidateNodesAbsolute")
    if not 0 <= percentage <= 100:
        yield invalid(percentage_path, percentage, "not in valid range [0, 100]")
    if absolute < 0:
        yield invalid(absolute_path, absolute, "not in valid range [0, inf)")
    if percentage == 0 and absolute == 0:
        at_once = "cannot be zero at the same time as"
        yield invalid(percentage_path, percentage, f"{at_once} minCandidateNodesAbsolute")
        yield invalid(absolute_path, absolute, f"{at_once} minCandidateNodesPercentage")


def _inter_pod_affinity(path: str, args: InterPodAffinityArgs, _: FeatureGates) -> Errors:
    if not 0 <= args.hard_pod_affinity_weight <= 100:
        yield invalid(
            child(path, "hardPodAffinityWeight"), args.hard_pod_affinity_weight, "not in valid range [0, 100]"
        )


def _pod_topology_spread(path: str, args: PodTopologySpreadArgs, _: FeatureGates) -> Errors:
    type_path = child(path, "defaultingType")
    if args.defaulting_type not in _DEFAULTING_TYPES:
        yield not_supported(type_path, as_json(args.defaulting_type), _DEFAULTING_TYPES)
    elif args.defaulting_type == "System" and args.default_constraints:
        yield invalid(type_path, as_json(args.defaulting_type), "when .defaultConstraints are not empty")
    seen: set[tuple[str, str]] = set()
    for index, constraint in enumerate(args.default_constraints):
        constraint_path = f"{child(path, 'defaultConstraints')}[{index}]"
        yield from _constraint(constraint_path, constraint)
        pair = (constraint.topology_key, constraint.when_unsatisfiable)
        if pair in seen:
            yield duplicate(constraint_path, f"{{{pair[0]}, {pair[1]}}}")
        seen.add(pair)


def _constraint(path: str, constraint: TopologySpreadConstraint) -> Errors:
    if constraint.max_skew <= 0:
        yield invalid(child(path, "maxSkew"), constraint.max_skew, "not in valid range (0, inf)")
    if constraint.topology_key:
        yield from _label_name(child(path, "topologyKey"), constraint.topology_key)
    else:
        yield required(child(path, "topologyKey"), "can not be empty")
    when = constraint.when_unsatisfiable
    if not when:
        yield required(child(path, "whenUnsatisfiable"), "can not be empty")
    elif when not in _WHEN_UNSATISFIABLE:
        yield not_supported(child(path, "whenUnsatisfiable"), as_json(when), _WHEN_UNSATISFIABLE)
    if constraint.label_selector is not None:
        yield forbidden(
            child(path, "labelSelector"), "constraint must not define a selector, as they deduced for each pod"
        )


def _balanced_allocation(path: str, args: NodeResourcesBalancedAllocationArgs, _: FeatureGates) -> Errors:
    seen: set[str] = set()
    for index, resource in enumerate(args.resources):
        resource_path = f"{child(path, 'resources')}[{index}]"
        if resource.name in seen:
            yield duplicate(child(resource_path, "name"), resource.name)
        seen.add(resource.name)
        if resource.weight != 1:
            yield invalid(child(resource_path, "weight"), resource.weight, "must be 1")


def _volume_binding(path: str, args: VolumeBindingArgs, gates: FeatureGates) -> Errors:
    if args.bind_timeout_seconds < 0:
        yield invalid(
            child(path, "bindTimeoutSeconds"),
            args.bind_timeout_seconds,
            "invalid BindTimeoutSeconds, should not be a negative value",
        )
    if gates.enabled("StorageCapacityScoring"):
        yield from _shape(child(path, "shape"), args.shape or ())
    elif args.shape is not None:
        # Printed in the key order and with the names of the reference's internal type.
        points = ",".join(f'{{"Utilization":{point.utilization},"Score":{point.score}}}' for point in args.shape)
        detail = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
        yield f"{child(path, 'shape')}: Invalid value: [{points}]: {detail}"


def _shape(path: str, shape: tuple[UtilizationShapePoint, ...]) -> Errors:
    if not shape:
        yield required(path, "at least one point must be specified")
        return
    for index in range(1, len(shape)):
        if shape[index - 1].utilization >= shape[index].utilization:
            yield invalid(
                f"{path}[{index}].utilization", shape[index].utilization, "values must be sorted in increasing order"
            )
            break
    for index, point in enumerate(shape):
        if not 0 <= point.utilization <= 100:
            yield invalid(f"{path}[{index}].utilization", point.utilization, "not in valid range [0, 100]")
        if not 0 <= point.score <= MAX_CUSTOM_PRIORITY_SCORE:
            yield invalid(f"{path}[{index}].score", point.score, f"not in valid range [0, {MAX_CUSTOM_PRIORITY_SCORE}]")


def _dynamic_resources(path: str, args: DynamicResourcesArgs, gates: FeatureGates) -> Errors:
    filter_path, binding_path = child(path, "filterTimeout"), child(path, "bindingTimeout")
    if args.filter_timeout is not None:
        if not gates.enabled("DRASchedulerFilterTimeout"):
            yield forbidden(filter_path, "DRASchedulingFilterTimeout feature gate is disabled")
        elif args.filter_timeout < Duration(0):
            yield invalid(filter_path, str(args.filter_timeout), "must be zero or positive")
    if args.binding_timeout is not None:
        if not (gates.enabled("DRADeviceBindingConditions") and gates.enabled("DRAResourceClaimDeviceStatus")):
            yield forbidden(
                binding_path, "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
            )
        elif args.binding_timeout < seconds(1):
            yield invalid(binding_path, str(args.binding_timeout), "must be at least 1 second")


def _node_affinity(path: str, args: NodeAffinityArgs, _: FeatureGates) -> Errors:
    affinity = args.added_affinity
    if affinity is None:
        return
    when = "DuringSchedulingIgnoredDuringExecution"
    required_terms = affinity.required_during_scheduling_ignored_during_execution
    if required_terms is not None:
        terms_path = child(path, "addedAffinity", f"required{when}", "nodeSelectorTerms")
        for index, term in enumerate(required_terms.node_selector_terms or ()):
            yield from _node_term(f"{terms_path}[{index}]", term)
    preferred_path = child(path, "addedAffinity", f"preferred{when}")
    for index, preferred in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        if preferred.weight != 0:
            yield from _node_term(f"{preferred_path}[{index}]", preferred.preference)


def _node_term(path: str, term: NodeSelectorTerm) -> Errors:
    """Yield the problems of a node selector term."""
    # upstream: component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go (v1.36)
    for index, expression in enumerate(term.match_expressions):
        yield from _node_expression(f"{path}.matchExpressions[{index}]", expression)
    for index, field in enumerate(term.match_fields):
        field_path = f"{path}.matchFields[{index}]"
        if field.operator not in _NODE_FIELD_OPERATORS:
            yield not_supported(child(field_path, "operator"), as_json(field.operator), _NODE_FIELD_OPERATORS)
        elif len(field.values or ()) != 1:
            yield invalid(child(field_path, "values"), as_json(field.values), "must have one element")


def _node_expression(path: str, expression: NodeSelectorRequirement) -> Errors:
    """Yield the problems of an expression over labels."""
    # upstream: apimachinery/pkg/labels/selector.go NewRequirement (v1.36)
    operator, values = expression.operator, expression.values or ()
    if operator not in _NODE_OPERATORS:
        yield not_supported(child(path, "operator"), as_json(operator), _NODE_OPERATORS)
        return
    problems = label_key_problems(expression.key)
    if problems:
        yield invalid(child(path, "key"), expression.key, "; ".join(problems))
    values_path = child(path, "values")
    shown = as_json(expression.values)
    if operator in ("In", "NotIn"):
        if not values:
            yield invalid(values_path, shown, "for 'in', 'notin' operators, values set can't be empty")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield invalid(values_path, shown, "values set must be empty for exists and does not exist")
    else:
        if len(values) != 1:
            yield invalid(values_path, shown, "for 'Gt', 'Lt' operators, exactly one value is required")
        for index, value in enumerate(values):
            if not _is_int64(value):
                yield invalid(
                    f"{values_path}[{index}]", value, "for 'Gt', 'Lt' operators, the value must be an integer"
                )
    for index, value in enumerate(values):
        problems = label_value_problems(value)
        if problems:
            yield invalid(f"{values_path}[{index}][{expression.key}]", value, "; ".join(problems))


def _is_int64(text: str) -> bool:
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()) or len(digits.lstrip("0")) > 19:
        return False
    return INT64_MIN <= int(text) <= INT64_MAX


def _node_resources_fit(path: str, args: NodeResourcesFitArgs, _: FeatureGates) -> Errors:
    for index, resource in enumerate(args.ignored_resources):
        yield from _label_name(f"{child(path, 'ignoredResources')}[{index}]", resource)
    for index, group in enumerate(args.ignored_resource_groups):
        group_path = f"{child(path, 'ignoredResourceGroups')}[{index}]"
        if "/" in group:
            yield invalid(group_path, group, "resource group name can't contain '/'")
        yield from _label_name(group_path, group)
    strategy = args.scoring_strategy
    strategy_path = child(path, "scoringStrategy")
    if strategy.type not in _SCORING_STRATEGIES:
        yield not_supported(child(strategy_path, "type"), as_json(strategy.type), _SCORING_STRATEGIES)
    for index, spec in enumerate(strategy.resources):
        if not 0 < spec.weight <= 100:
            detail = f"resource weight of {spec.name} not in valid range (0, 100]"
            yield invalid(f"{strategy_path}.resources[{index}].weight", spec.weight, detail)
    ratio, ratio_path = strategy.requested_to_capacity_ratio, child(strategy_path, "requestedToCapacityRatio")
    if strategy.type != "RequestedToCapacityRatio":
        if ratio is not None:
            yield forbidden(ratio_path, "must be nil when type is not RequestedToCapacityRatio")
    elif ratio is None:
        yield required(ratio_path, "must be specified when type is RequestedToCapacityRatio")
    else:
        yield from _shape(child(ratio_path, "shape"), ratio.shape)


_CHECKS: dict[str, Callable[[str, Any, FeatureGates], Errors]] = {
    "DefaultPreemption": _default_preemption,
    "DynamicResources": _dynamic_resources,
    "InterPodAffinity": _inter_pod_affinity,
    "NodeAffinity": _node_affinity,
    "NodeResourcesBalancedAllocation": _balanced_allocation,
    "NodeResourcesFit": _node_resources_fit,
    "PodTopologySpread": _pod_topology_spread,
    "VolumeBinding": _volume_binding,
}


def args_violations(path: str, config: PluginConfig, gates: FeatureGates) -> Errors:
    """Yield every violation in the arguments of a plugin, each under `path`; arguments without a type have none."""
    if isinstance(config.args, PluginArgs):
        yield from _CHECKS[config.name](path, config.args, gates)
