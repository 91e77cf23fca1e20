"""Answers to corpus questions about the scheduler's arithmetic: waiting, ordering, sampling, what a pod counts for."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from kubesched.api.pods import Pod
from kubesched.api.resources import pod_resources
from kubesched.framework.sampling import feasible_nodes_to_find, preemption_candidates_to_find
from kubesched.queue.arithmetic import (
    NO_BACKOFF,
    BackoffPolicy,
    active_order,
    backoff_expiry,
    backoff_order,
    backoff_seconds,
    error_backoff_order,
)

Question = Mapping[str, Any]


def answer(line: Question) -> Any:
    """Return the answer to a line of any of the tables."""
    return _TABLES[line["table"]](line["input"])


def _backoff(question: Question) -> dict[str, Any]:
    """Return how long a pod backs off and when that ends."""
    policy = _policy(question)
    counts = question["unschedulableCount"], question["consecutiveErrors"]
    seconds = backoff_seconds(policy, *counts)
    answered: dict[str, Any] = {"durationSeconds": int(seconds) if seconds.is_integer() else seconds}
    expiry = backoff_expiry(policy, _seconds(question["timestamp"]), *counts)
    if expiry != NO_BACKOFF:
        answered["expiry"] = datetime.fromtimestamp(expiry, UTC).isoformat().replace("+00:00", "Z")
    return answered


def _queue_order(question: Question) -> dict[str, Any]:
    """Return the pods' names in the order of each queue; pods with errors back off apart from the others."""
    policy = _policy(question)
    pods = [
        (
            pod["name"],
            pod["consecutiveErrors"] > 0,
            active_order(pod.get("priority", 0), _seconds(pod["timestamp"])),
            backoff_expiry(policy, _seconds(pod["timestamp"]), pod["unschedulableCount"], pod["consecutiveErrors"]),
        )
        for pod in question["pods"]
    ]
    failed = sorted((pod for pod in pods if pod[1]), key=lambda pod: error_backoff_order(pod[3]))
    others = sorted((pod for pod in pods if not pod[1]), key=lambda pod: backoff_order(policy, pod[3], pod[2]))
    return {
        "active": [pod[0] for pod in sorted(pods, key=lambda pod: pod[2])],
        # The corpus writes an empty queue as null.
        "backoff": [pod[0] for pod in others] or None,
        "errorBackoff": [pod[0] for pod in failed] or None,
    }


def _feasible_nodes(question: Question) -> int:
    """Return how many feasible nodes end the search."""
    return feasible_nodes_to_find(question["nodes"], question["percentage"], question.get("profilePercentage"))


def _preemption_candidates(question: Question) -> int:
    """Return how many preemption candidates are looked for."""
    return preemption_candidates_to_find(
        question["nodes"], question["minCandidateNodesPercentage"], question["minCandidateNodesAbsolute"]
    )


def _pod_resources(question: Question) -> dict[str, Any]:
    """Return what a bound pod counts for on its node."""
    counted = pod_resources(msgspec.convert(question, Pod))
    return {
        "milliCPU": counted.milli_cpu,
        "memory": counted.memory,
        "ephemeralStorage": counted.ephemeral_storage,
        "scalar": dict(counted.scalar),
        "nonZeroMilliCPU": counted.non_zero_milli_cpu,
        "nonZeroMemory": counted.non_zero_memory,
    }


def _policy(question: Question) -> BackoffPolicy:
    """Return the backoff policy that the question names."""
    return BackoffPolicy(float(question["initialSeconds"]), float(question["maxSeconds"]))


def _seconds(text: str) -> float:
    """Return a time as seconds since the epoch."""
    return datetime.fromisoformat(text).timestamp()


_TABLES: dict[str, Callable[[Question], Any]] = {
    "backoff": _backoff,
    "queueOrder": _queue_order,
    "numFeasibleNodesToFind": _feasible_nodes,
    "preemptionCandidates": _preemption_candidates,
    "podResources": _pod_resources,
}
