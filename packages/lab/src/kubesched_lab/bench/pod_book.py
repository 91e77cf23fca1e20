"""The known pods of a benchmark: created, tried, bound, deleted.

From reports of a target to counts that operations wait for, and to the times of one measurement.
"""

from collections.abc import Mapping, Sequence

import msgspec

Labels = Mapping[str, str]


class _KnownPod(msgspec.Struct):
    """A pod: its labels, its creation time, and its state."""

    labels: Labels
    created: float
    attempted: bool = False
    bound: bool = False


class Watched(msgspec.Struct):
    """One measurement: its pods, when each was bound, and how long after its creation, in milliseconds."""

    namespaces: frozenset[str]
    selector: Labels
    bound: list[float] = []
    durations: list[float] = []


class PodBook:
    """The pods of a cluster by namespace and name."""

    def __init__(self) -> None:
        self._pods: dict[str, dict[str, _KnownPod]] = {}
        self._bound: dict[str, int] = {}
        self.watched: Watched | None = None

    # -- reports of a target

    def created(self, namespace: str, name: str, labels: Labels, at: float, *, attempted: bool = False) -> None:
        """Record a created pod; a gated pod counts as tried."""
        self._pods.setdefault(namespace, {}).setdefault(name, _KnownPod(labels, at, attempted))

    def attempted(self, namespace: str, name: str) -> None:
        """Record a pod that was tried, and found no node."""
        pod = self._pods.get(namespace, {}).get(name)
        if pod is not None:
            pod.attempted = True

    def bound(self, namespace: str, name: str, at: float) -> None:
        """Record a bound pod."""
        pod = self._pods.get(namespace, {}).get(name)
        if pod is None or pod.bound:
            return
        pod.bound = True
        self._bound[namespace] = self._bound.get(namespace, 0) + 1
        watched = self.watched
        if watched is not None and namespace in watched.namespaces and matches(pod.labels, watched.selector):
            watched.bound.append(at)
            watched.durations.append(1000 * (at - pod.created))

    def gone(self, namespace: str, name: str) -> None:
        """Record a deleted pod."""
        pod = self._pods.get(namespace, {}).pop(name, None)
        if pod is not None and pod.bound:
            self._bound[namespace] -= 1

    # -- questions of operations

    def scheduled(self, namespace: str, selector: Labels) -> int:
        """Return the number of bound pods of a namespace."""
        if not selector:
            return self._bound.get(namespace, 0)
        return sum(pod.bound for pod in self._of(namespace, selector))

    def tried(self, namespace: str, selector: Labels) -> int:
        """Return the number of pods of a namespace that are bound, or were tried."""
        return sum(pod.bound or pod.attempted for pod in self._of(namespace, selector))

    def names(self, namespace: str, selector: Labels) -> list[str]:
        """Return the pods of a namespace."""
        found = self._pods.get(namespace, {})
        return [name for name, pod in found.items() if matches(pod.labels, selector)]

    def _of(self, namespace: str, selector: Labels) -> Sequence[_KnownPod]:
        return [pod for pod in self._pods.get(namespace, {}).values() if matches(pod.labels, selector)]


def matches(labels: Labels, selector: Labels) -> bool:
    """Return whether labels match all entries of a selector."""
    return all(labels.get(key) == value for key, value in selector.items())
