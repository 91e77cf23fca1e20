"""Calls of extenders as values: arguments that a scheduling cycle yields, and results that it is sent.

From the cycle to the extender client, which speaks HTTP. The arithmetic on the results stays in the core.
"""

from collections.abc import Mapping, Sequence

import msgspec

from kubesched.api.pods import Pod, PodSpec
from kubesched.config.types import Extender


# upstream: extender.go, IsInterested (v1.36)
def is_interested(extender: Extender, spec: PodSpec) -> bool:
    """Return whether an extender is called for a pod: it manages all resources, or a resource that the pod requests."""
    managed = {resource.name for resource in extender.managed_resources}
    if not managed:
        return True
    return any(
        managed & {*container.resources.requests, *container.resources.limits}
        for container in (*spec.containers, *spec.init_containers)
    )


class ExtenderFilterArgs(msgspec.Struct, frozen=True):
    """The arguments of filter: which of these nodes are feasible?"""

    extender: Extender
    pod: Pod
    node_names: Sequence[str]


class ExtenderPrioritizeArgs(msgspec.Struct, frozen=True):
    """The arguments of prioritize: nodes to score."""

    extender: Extender
    pod: Pod
    node_names: Sequence[str]


class ExtenderPreemptionArgs(msgspec.Struct, frozen=True):
    """The arguments of preempt: victims by node name; `violations` are the numbers of violated disruption budgets."""

    extender: Extender
    pod: Pod
    victims: Mapping[str, Sequence[Pod]]
    violations: Mapping[str, int]


ExtenderArgs = ExtenderFilterArgs | ExtenderPrioritizeArgs | ExtenderPreemptionArgs


class ExtenderFilterResult(msgspec.Struct, frozen=True):
    """The nodes that pass, and the reasons of the rejected nodes; `error` if the call failed."""

    node_names: Sequence[str] = ()
    failed: Mapping[str, str] = {}
    failed_and_unresolvable: Mapping[str, str] = {}
    error: str = ""


class ExtenderPrioritizeResult(msgspec.Struct, frozen=True):
    """Scores from 0 to 10 by node name; `error` if the call failed."""

    scores: Mapping[str, int] = {}
    error: str = ""


class ExtenderPreemptionResult(msgspec.Struct, frozen=True):
    """The nodes that remain candidates, with the UIDs of their victims; `error` if the call failed."""

    victims: Mapping[str, Sequence[str]] = {}
    violations: Mapping[str, int] = {}
    error: str = ""


ExtenderResult = ExtenderFilterResult | ExtenderPrioritizeResult | ExtenderPreemptionResult


class ExtenderAnswer(msgspec.Struct, frozen=True, gc=False):
    """An extender's answer about a pod; `call` is filter, prioritize, preempt or bind.

    Of `asked` nodes it left `left`: those that pass, have a score, or stay candidates. `rejected` are messages by node,
    `scores` those from 0 to 10; `error` is why the call failed.
    """

    uid: str
    extender: str
    call: str
    asked: int
    left: int
    seconds: float
    rejected: Mapping[str, str] = {}
    scores: Mapping[str, int] = {}
    error: str = ""
