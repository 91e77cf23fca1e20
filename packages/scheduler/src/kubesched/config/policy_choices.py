"""The choices of a policy: its names checked against the names of v1.21, without any that v1.36 cannot do.

In: a `Policy`. Out: `Choices`, or a ConfigError with every problem: names that are unknown, given twice or without an
equivalent, weights and arguments that are out of place. Each problem names the entry and what to do.
"""

# upstream: pkg/scheduler/factory.go createFromConfig, framework/plugins/legacy_registry.go,
# apis/config/validation/validation.go (v1.21)

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import msgspec

from kubesched.api.field_errors import invalid, required
from kubesched.api.go_text import quote
from kubesched.api.labels import label_key_problems
from kubesched.config.args import (
    NodeResourcesFitArgs,
    NodeSelectorRequirement,
    RequestedToCapacityRatioParam,
    ResourceSpec,
    ScoringStrategy,
)
from kubesched.config.args_validation import args_violations
from kubesched.config.errors import ConfigError, Stage
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.policy_document import (
    LabelsPresence,
    Policy,
    PredicateArgument,
    PredicatePolicy,
    PriorityArgument,
    PriorityPolicy,
    RequestedToCapacityRatioArguments,
)
from kubesched.config.policy_names import (
    CLOUD_VOLUME_PREDICATES,
    DEFAULT_PREDICATES,
    DEFAULT_PRIORITIES,
    EQUAL_PRIORITY,
    LOST_ARGUMENTS,
    LOST_PREDICATES,
    LOST_PRIORITIES,
    OLDER_NAMES,
    PREDICATES,
    PRIORITIES,
    RATIO_PRIORITY,
    SCORING_STRATEGIES,
)
from kubesched.config.types import PluginConfig

_Entry = TypeVar("_Entry", PredicatePolicy, PriorityPolicy)

_LARGEST_WEIGHT = 2**31 - 1
_NODE_SELECTING = ("MatchNodeSelector", "GeneralPredicates")


class Choices(msgspec.Struct, frozen=True):
    """The predicates and priorities of a policy, under their names in v1.21."""

    predicates: frozenset[str]
    priorities: dict[str, int]
    node_labels: tuple[NodeSelectorRequirement, ...] = ()
    scoring: ScoringStrategy | None = None
    warnings: tuple[str, ...] = ()


def choices(policy: Policy) -> Choices:
    """Return the choices of `policy`: absent lists stand for the defaults of v1.21, empty ones for nothing."""
    reading = _Reading()
    predicates, priorities = DEFAULT_PREDICATES, DEFAULT_PRIORITIES
    if policy.predicates is not None:
        predicates = reading.predicates(policy.predicates)
    if policy.priorities is not None:
        priorities = reading.priorities(policy.priorities)
    scoring = reading.scoring(priorities)
    hard_weight = policy.hard_pod_affinity_symmetric_weight
    if not 0 <= hard_weight <= 100:
        reading.problems.append(
            invalid("hardPodAffinitySymmetricWeight", hard_weight, "must be from 1 to 100, or 0 for the default")
        )
    if reading.problems:
        raise ConfigError(Stage.VALIDATE, reading.problems)
    return Choices(predicates, priorities, tuple(reading.node_labels.values()), scoring, tuple(reading.warnings))


class _Reading:
    """One pass over a policy, gathering problems and warnings."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.warnings: list[str] = []
        self.node_labels: dict[str, NodeSelectorRequirement] = {}
        self._ratio: RequestedToCapacityRatioArguments | None = None
        # The policy's own name of each chosen priority.
        self._names: dict[str, str] = {}

    # --- predicates ---------------------------------------------------------------------------------------------------

    def predicates(self, policies: tuple[PredicatePolicy, ...]) -> frozenset[str]:
        """Return the built-in predicates that are listed; labels to be checked go to `node_labels`."""
        chosen: set[str] = set()
        for path, policy, name in self._distinct("predicates", policies):
            argument, content = self._only_field(path, policy.argument)
            if name in PREDICATES:
                self._expect_no_argument(path, policy)
                chosen.add(name)
            elif name in LOST_PREDICATES:
                self._lost(path, quote(name), LOST_PREDICATES[name])
            elif argument in LOST_ARGUMENTS:
                self._lost(path, f"{argument} of {quote(name)}", LOST_ARGUMENTS[argument])
            elif isinstance(content, LabelsPresence):
                self._check_labels(f"{path}.argument.labelsPresence.labels", content)
            elif policy.argument is None:
                self.problems.append(f"{path}: there is no predicate {quote(policy.name)}; {_known(PREDICATES)}")
        if self.node_labels and not chosen.intersection(_NODE_SELECTING):
            self.problems.append(
                "predicates: labelsPresence becomes NodeAffinity's addedAffinity, which goes with checking the node "
                f"selectors of pods; add {_NODE_SELECTING[0]}"
            )
        clouds = sorted(chosen & CLOUD_VOLUME_PREDICATES)
        if clouds:
            self.warnings.append(
                f"predicates: {', '.join(clouds)} became NodeVolumeLimits: limits are those of the CSI drivers, and "
                "KUBE_MAX_PD_VOLS has no effect"
            )
        return frozenset(chosen)

    def _check_labels(self, path: str, presence: LabelsPresence) -> None:
        if not presence.labels:
            self.problems.append(required(path, "name the labels, or remove the predicate"))
        for index, label in enumerate(presence.labels):
            self.problems += (invalid(f"{path}[{index}]", label, problem) for problem in label_key_problems(label))
            operator = "Exists" if presence.presence else "DoesNotExist"
            wanted = NodeSelectorRequirement(key=label, operator=operator)
            if self.node_labels.setdefault(label, wanted) != wanted:
                self.problems.append(invalid(f"{path}[{index}]", label, "cannot be both present and absent"))

    # --- priorities ---------------------------------------------------------------------------------------------------

    def priorities(self, policies: tuple[PriorityPolicy, ...]) -> dict[str, int]:
        """Return the priorities that are listed, with their weights."""
        weights: dict[str, int] = {}
        for path, policy, name in self._distinct("priorities", policies):
            if not 0 < policy.weight <= _LARGEST_WEIGHT:
                detail = f"the weight of {quote(policy.name)} must be from 1 to {_LARGEST_WEIGHT}"
                self.problems.append(invalid(f"{path}.weight", policy.weight, detail))
            argument, content = self._only_field(path, policy.argument)
            if name == EQUAL_PRIORITY:
                # It gave every node the same score.
                self._expect_no_argument(path, policy)
            elif name in PRIORITIES:
                self._expect_no_argument(path, policy)
                weights[name] = policy.weight
                self._names[name] = policy.name
            elif name in LOST_PRIORITIES:
                self._lost(path, quote(name), LOST_PRIORITIES[name])
            elif argument in LOST_ARGUMENTS:
                self._lost(path, f"{argument} of {quote(name)}", LOST_ARGUMENTS[argument])
            elif isinstance(content, RequestedToCapacityRatioArguments):
                self._take_ratio(path, policy.name, content)
                weights[RATIO_PRIORITY] = policy.weight
            elif name.removesuffix("Priority") == RATIO_PRIORITY and policy.argument is None:
                detail = f"{quote(policy.name)} needs requestedToCapacityRatioArguments"
                self.problems.append(required(f"{path}.argument", detail))
            elif policy.argument is None:
                known = _known((*PRIORITIES, EQUAL_PRIORITY, f"{RATIO_PRIORITY}Priority"))
                self.problems.append(f"{path}: there is no priority {quote(policy.name)}; {known}")
        return weights

    def _take_ratio(self, path: str, name: str, ratio: RequestedToCapacityRatioArguments) -> None:
        if self._ratio is not None:
            both = f"{quote(name)} and {quote(self._names[RATIO_PRIORITY])}"
            self.problems.append(f"{path}: {both} have requestedToCapacityRatioArguments; keep one")
        self._ratio = ratio
        self._names[RATIO_PRIORITY] = name
        args = NodeResourcesFitArgs(scoring_strategy=_strategy_by(ratio))
        for problem in args_violations("", PluginConfig(name="NodeResourcesFit", args=args), FeatureGates()):
            field = problem.removeprefix("scoringStrategy.").removeprefix("requestedToCapacityRatio.")
            self.problems.append(f"{path}.argument.requestedToCapacityRatioArguments.{field}")

    def scoring(self, priorities: dict[str, int]) -> ScoringStrategy | None:
        """Return the scoring strategy for resources, or None; several strategies at once are a problem."""
        chosen = [name for name in SCORING_STRATEGIES if name in priorities]
        if len(chosen) > 1:
            names = ", ".join(quote(self._names[name]) for name in chosen)
            self.problems.append(f"priorities: {names} have no equivalent together; keep one of them")
        if self._ratio is not None:
            return _strategy_by(self._ratio)
        return ScoringStrategy(type=SCORING_STRATEGIES[chosen[0]]) if chosen else None

    # --- both ---------------------------------------------------------------------------------------------------------

    def _distinct(self, field: str, entries: tuple[_Entry, ...]) -> Iterator[tuple[str, _Entry, str]]:
        """Yield path, entry and current name of each entry; a missing or repeated name is a problem."""
        # differs (D-006): v1.21 uses the last of two entries with one name
        first: dict[str, str] = {}
        for index, policy in enumerate(entries):
            path, name = f"{field}[{index}]", OLDER_NAMES.get(policy.name, policy.name)
            if not name:
                self.problems.append(required(f"{path}.name"))
            elif name in first:
                self.problems.append(f"{path}: {quote(policy.name)} is the same as {first[name]}; keep one")
            else:
                first[name] = path
                yield path, policy, name

    def _only_field(self, path: str, argument: PredicateArgument | PriorityArgument | None) -> tuple[str, Any]:
        """Return the only field of an argument, with its content; an empty text if there are none or several."""
        if argument is None:
            return "", None
        contents = {field.encode_name: getattr(argument, field.name) for field in msgspec.structs.fields(argument)}
        given = [(name, content) for name, content in contents.items() if content is not None]
        if len(given) == 1:
            return given[0]
        names = ", ".join(contents)
        self.problems.append(f"{path}.argument: must have exactly one of {names}, and has {len(given)}")
        return "", None

    def _expect_no_argument(self, path: str, policy: PredicatePolicy | PriorityPolicy) -> None:
        if policy.argument is not None:
            # differs (D-006): v1.21 ignores the argument
            self.problems.append(f"{path}.argument: {quote(policy.name)} takes none; remove it")

    def _lost(self, path: str, what: str, instead: str) -> None:
        self.problems.append(f"{path}: {what} has no equivalent; {instead}")


def _strategy_by(ratio: RequestedToCapacityRatioArguments) -> ScoringStrategy:
    return ScoringStrategy(
        type=SCORING_STRATEGIES[RATIO_PRIORITY],
        resources=tuple(ResourceSpec(name=resource.name, weight=resource.weight or 1) for resource in ratio.resources),
        requested_to_capacity_ratio=RequestedToCapacityRatioParam(shape=ratio.shape),
    )


def _known(names: Iterable[str]) -> str:
    return f"there are {', '.join(sorted(names))}"
