"""Answers to corpus questions about the scheduler's arithmetic: backoff, queue order, sampling, resources of pods."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from kubesched.api.pods import Pod
from kubesched.api.resources import pod_resources
from kubesched.core.framework.values.queue_order import active_order
from kubesched.core.framework.values.sampling import feasible_nodes_to_find, preemption_candidates_to_find
from kubesched.core.queue.backoff import (
    NO_BACKOFF,
    BackoffPolicy,
    backoff_expiry,
    backoff_order,
    backoff_seconds,
    error_backoff_order,
)
from kubesched.errors import InvalidObjectError


class BackoffQuestion(msgspec.Struct, rename="camel", kw_only=True):
    """A pod with a number of failures."""

    initial_seconds: float
    max_seconds: float
    unschedulable_count: int
    consecutive_errors: int
    timestamp: datetime


class QueuedPodLine(msgspec.Struct, rename="camel", kw_only=True):
    """A pod in a queue."""

    name: str
    priority: int = 0
    unschedulable_count: int
    consecutive_errors: int
    timestamp: datetime


class OrderQuestion(msgspec.Struct, rename="camel", kw_only=True):
    """Pods to sort."""

    initial_seconds: float
    max_seconds: float
    pods: tuple[QueuedPodLine, ...]


class FeasibleQuestion(msgspec.Struct, rename="camel", kw_only=True):
    """The size of a cluster, and the share of nodes to search."""

    nodes: int
    percentage: int
    profile_percentage: int | None = None


class CandidatesQuestion(msgspec.Struct, rename="camel", kw_only=True):
    """The size of a cluster, and the wanted number of preemption candidates."""

    nodes: int
    min_candidate_nodes_percentage: int
    min_candidate_nodes_absolute: int


def answer(line: Mapping[str, Any]) -> Any:
    """Return the answer to a line of any of the tables."""
    if line["table"] not in _TABLES:
        raise InvalidObjectError(f"table {line['table']!r}: expected one of {', '.join(_TABLES)}")
    shape, answered = _TABLES[line["table"]]
    return answered(msgspec.convert(line["input"], shape))


def _backoff(question: BackoffQuestion) -> dict[str, Any]:
    """Return the backoff of a pod and when it ends."""
    policy = BackoffPolicy(question.initial_seconds, question.max_seconds)
    counts = question.unschedulable_count, question.consecutive_errors
    seconds = backoff_seconds(policy, *counts)
    answered: dict[str, Any] = {"durationSeconds": int(seconds) if seconds.is_integer() else seconds}
    expiry = backoff_expiry(policy, question.timestamp.timestamp(), *counts)
    if expiry != NO_BACKOFF:
        answered["expiry"] = _text(expiry)
    return answered


def _text(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, OSError, ValueError):
        raise InvalidObjectError(f"the backoff ends after the last possible date: {seconds:.0f} seconds") from None


def _queue_order(question: OrderQuestion) -> dict[str, Any]:
    """Return the pods' names in the order of each queue; pods with errors back off in a separate queue."""
    policy = BackoffPolicy(question.initial_seconds, question.max_seconds)
    pods = [
        (
            pod.name,
            pod.consecutive_errors > 0,
            active_order(pod.priority, pod.timestamp.timestamp()),
            backoff_expiry(policy, pod.timestamp.timestamp(), pod.unschedulable_count, pod.consecutive_errors),
        )
        for pod in question.pods
    ]
    failed = sorted((pod for pod in pods if pod[1]), key=lambda pod: error_backoff_order(pod[3]))
    others = sorted((pod for pod in pods if not pod[1]), key=lambda pod: backoff_order(policy, pod[3], pod[2]))
    return {
        "active": [pod[0] for pod in sorted(pods, key=lambda pod: pod[2])],
        # The corpus has null for an empty queue.
        "backoff": [pod[0] for pod in others] or None,
        "errorBackoff": [pod[0] for pod in failed] or None,
    }


def _feasible_nodes(question: FeasibleQuestion) -> int:
    """Return the number of feasible nodes that ends the search."""
    return feasible_nodes_to_find(question.nodes, question.percentage, question.profile_percentage)


def _preemption_candidates(question: CandidatesQuestion) -> int:
    """Return the number of preemption candidates to search for."""
    return preemption_candidates_to_find(
        question.nodes, question.min_candidate_nodes_percentage, question.min_candidate_nodes_absolute
    )


def _pod_resources(pod: Pod) -> dict[str, Any]:
    """Return the resources of a bound pod on its node."""
    counted = pod_resources(pod)
    return {
        "milliCPU": counted.milli_cpu,
        "memory": counted.memory,
        "ephemeralStorage": counted.ephemeral_storage,
        "scalar": dict(counted.scalar),
        "nonZeroMilliCPU": counted.non_zero_milli_cpu,
        "nonZeroMemory": counted.non_zero_memory,
    }


_TABLES: dict[str, tuple[type[msgspec.Struct], Callable[[Any], Any]]] = {
    "backoff": (BackoffQuestion, _backoff),
    "queueOrder": (OrderQuestion, _queue_order),
    "numFeasibleNodesToFind": (FeasibleQuestion, _feasible_nodes),
    "preemptionCandidates": (CandidatesQuestion, _preemption_candidates),
    "podResources": (Pod, _pod_resources),
}
