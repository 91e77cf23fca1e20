"""Calls of extenders as values: arguments that a scheduling cycle yields, and results that it is sent.

From the cycle to the extender client, which speaks HTTP. The arithmetic on the results stays in the core.
"""

from collections.abc import Mapping, Sequence

import msgspec

from kubesched.api.pods import Pod, PodSpec
from kubesched.config.types import Extender


# upstream: extender.go, IsInterested (v1.36)
def is_interested(extender: Extender, spec: PodSpec) -> bool:
    """Return whether an extender has a say about a pod: it manages nothing in particular, or what the pod names."""
    managed = {resource.name for resource in extender.managed_resources}
    if not managed:
        return True
    return any(
        managed & {*container.resources.requests, *container.resources.limits}
        for container in (*spec.containers, *spec.init_containers)
    )


class ExtenderFilterArgs(msgspec.Struct, frozen=True):
    """Which of these nodes can take the pod?"""

    extender: Extender
    pod: Pod
    node_names: Sequence[str]


class ExtenderPrioritizeArgs(msgspec.Struct, frozen=True):
    """How good are these nodes for the pod?"""

    extender: Extender
    pod: Pod
    node_names: Sequence[str]


class ExtenderPreemptionArgs(msgspec.Struct, frozen=True):
    """Would these victims do? By node name; `violations` are the disruption budgets that would be violated."""

    extender: Extender
    pod: Pod
    victims: Mapping[str, Sequence[Pod]]
    violations: Mapping[str, int]


ExtenderArgs = ExtenderFilterArgs | ExtenderPrioritizeArgs | ExtenderPreemptionArgs


class ExtenderFilterResult(msgspec.Struct, frozen=True):
    """The nodes that pass, and why the others do not; `error` if there was no answer."""

    node_names: Sequence[str] = ()
    failed: Mapping[str, str] = {}
    failed_and_unresolvable: Mapping[str, str] = {}
    error: str = ""


class ExtenderPrioritizeResult(msgspec.Struct, frozen=True):
    """Scores from 0 to 10 by node name; `error` if there was no answer."""

    scores: Mapping[str, int] = {}
    error: str = ""


class ExtenderPreemptionResult(msgspec.Struct, frozen=True):
    """The nodes that remain candidates, with the UIDs of their victims; `error` if there was no answer."""

    victims: Mapping[str, Sequence[str]] = {}
    violations: Mapping[str, int] = {}
    error: str = ""


ExtenderResult = ExtenderFilterResult | ExtenderPrioritizeResult | ExtenderPreemptionResult
