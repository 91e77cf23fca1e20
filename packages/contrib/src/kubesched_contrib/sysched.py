"""SySched: place a pod where it is exposed to few additional system calls, and exposes other pods to few.

From the seccomp profiles of pods (SeccompProfile objects of the Security Profiles Operator) to scores. A pod is
exposed to the system calls that other pods of its node may make and it may not; a node's raw score is the sum over
its pods and the new one. If U is the set of calls of all these pods, that is |U| less a pod's own calls, summed over
pods. Sets of calls are bits of an integer.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from logging import Logger
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kubesched import (
    ClusterView,
    CycleState,
    InvalidObjectError,
    Nodes,
    PodInfo,
    Reads,
    Registration,
    ScorePlugin,
    kind_reads,
)
from kubesched_contrib.object_fields import list_in, object_in, objects_in
from kubesched_contrib.read_objects import ReadObjects

KIND = "seccompprofiles.v1beta1.security-profiles-operator.x-k8s.io"
ANNOTATION = "seccomp.security.alpha.kubernetes.io"
ALLOWING = ("SCMP_ACT_ALLOW", "SCMP_ACT_LOG")
MAX_SCORE = 100
# Linux has fewer than 500
MOST_CALLS = 4096
_bit_counts = np.frompyfunc(int.bit_count, 1, 1)


@dataclass(frozen=True)
class SySchedArgs:
    """The default profile for pods without one: usually all system calls."""

    default_profile_namespace: str = "default"
    default_profile_name: str = "all-syscalls"


class SystemCalls:
    """A number for each system call, assigned at its first use."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def bits(self, names: Iterable[str]) -> int:
        """Return a set of calls as bits; raises InvalidObjectError if there are more than any system has."""
        found = 0
        for name in names:
            number = self._numbers.get(name)
            if number is None:
                if len(self._numbers) >= MOST_CALLS:
                    raise InvalidObjectError(f"spec.syscalls: {name!r} is one of more than {MOST_CALLS} system calls")
                number = self._numbers[name] = len(self._numbers)
            found |= 1 << number
        return found


class SySched(ScorePlugin):
    """Scores nodes by the system calls that pods would be exposed to."""

    name = "SySched"
    looks_up = (KIND,)
    in_range = True

    def __init__(self, cluster: ClusterView, log: Logger, args: SySchedArgs | None = None) -> None:
        args = args or SySchedArgs()
        self._default = f"{args.default_profile_namespace}/{args.default_profile_name}"
        calls = SystemCalls()
        self._profiles = ReadObjects(cluster, KIND, lambda profile: calls.bits(allowed_calls(profile)), log)
        reads = Reads.PODS | Reads.POD_OBJECTS | kind_reads(KIND)
        self._on_node = cluster.computed_values(self._calls_of_nodes, reads=reads, dtype=np.object_)
        self._counts = cluster.computed_values(self._call_counts, reads=reads)
        self.score_reads = self._on_node.reads | self._counts.reads

    def events_to_register(self) -> tuple[Registration, ...]:
        """Return no events: a score rejects no pod."""
        return ()

    def _calls_of(self, pod: PodInfo) -> int:
        """Return the allowed system calls of a pod."""
        found = 0
        for name in profiles_of(pod):
            found |= self._profiles.get(name) or 0
        return found or self._profiles.get(self._default) or 0

    def _calls_of_nodes(self, nodes: Nodes) -> NDArray[Any]:
        """Return the allowed system calls of the pods of each node."""
        found = np.zeros(len(nodes), np.object_)
        for place, node in nodes.numbered():
            for pod in node.pods:
                found[place] |= self._calls_of(pod)
        return found

    def _call_counts(self, nodes: Nodes) -> NDArray[np.int64]:
        """Return the number of allowed system calls of each node's pods, summed over pods."""
        counts = np.zeros(len(nodes), np.int64)
        for place, node in nodes.numbered():
            counts[place] = sum(self._calls_of(pod).bit_count() for pod in node.pods)
        return counts

    def score_key(self, pod: PodInfo) -> int:
        """Return the allowed system calls of the pod."""
        return self._calls_of(pod)

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64]:
        """Return the number of exposed system calls on each node, summed over pods."""
        own = self._calls_of(pod)
        if not own:
            return np.zeros(len(nodes), np.int64)
        together = _bit_counts(nodes.values_of(self._on_node) | own).astype(np.int64)
        exposed: NDArray[np.int64] = (nodes.pod_count + 1) * together - own.bit_count() - nodes.values_of(self._counts)
        return exposed

    def normalize_scores(self, cycle: CycleState, pod: PodInfo, scores: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return 100 for no exposure, 0 for the highest."""
        return MAX_SCORE - scores * MAX_SCORE // max(int(scores.max(initial=0)), 1)


def profiles_of(pod: PodInfo) -> Iterator[str]:
    """Yield `namespace/name` of the profiles of a pod, of its containers, and in its annotations."""
    yield from pod.derive(_profiles_in_spec)
    for key, value in pod.metadata.annotations.items():
        if ANNOTATION in key:
            yield from _profile_at(value)


def _profiles_in_spec(pod: PodInfo) -> tuple[str, ...]:
    spec = pod.spec
    found: list[str] = []
    for context in (spec.security_context, *(container.security_context for container in spec.containers)):
        profile = context.seccomp_profile if context is not None else None
        if profile is not None and profile.type == "Localhost":
            found += _profile_at(profile.localhost_profile or "")
    return tuple(found)


def _profile_at(path: str) -> Iterator[str]:
    """Yield `namespace/name` for a path such as `operator/namespace/name.json`."""
    *_, namespace, file = ["", *path.split("/")]
    name = file.rpartition(".")[0] or file
    if namespace and name:
        yield f"{namespace}/{name}"


def allowed_calls(profile: Any) -> Iterator[str]:
    """Yield the system calls that a SeccompProfile allows or logs; raises InvalidObjectError if it is invalid."""
    spec: Mapping[str, Any] = object_in(profile.fields, "spec")
    for index, rule in enumerate(objects_in(spec, "syscalls", "spec")):
        if rule.get("action") in ALLOWING:
            for number, name in enumerate(list_in(rule, "names", f"spec.syscalls[{index}]")):
                if not isinstance(name, str):
                    raise InvalidObjectError(f"spec.syscalls[{index}].names[{number}]: expected a text, got {name!r}")
                yield name
