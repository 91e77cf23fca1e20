"""The pods of a benchmark as they become known: created, tried, bound, gone.

From what a target reports to counts that operations wait for, and to the times of one measurement.
"""

from collections.abc import Mapping, Sequence

import msgspec

Labels = Mapping[str, str]


class _KnownPod(msgspec.Struct):
    """A pod: its labels, when it was created, and how far it is."""

    labels: Labels
    created: float
    attempted: bool = False
    bound: bool = False


class Watched(msgspec.Struct):
    """One measurement: whose pods, when each was bound, and how long after its creation, in milliseconds."""

    namespaces: frozenset[str]
    selector: Labels
    bound: list[float] = []
    durations: list[float] = []


class PodBook:
    """Knows the pods of a cluster by namespace and name."""

    def __init__(self) -> None:
        self._pods: dict[str, dict[str, _KnownPod]] = {}
        self._bound: dict[str, int] = {}
        self.watched: Watched | None = None

    # -- what a target reports

    def created(self, namespace: str, name: str, labels: Labels, at: float, *, attempted: bool = False) -> None:
        """A pod was created; a gated pod counts as tried."""
        self._pods.setdefault(namespace, {}).setdefault(name, _KnownPod(labels, at, attempted))

    def attempted(self, namespace: str, name: str) -> None:
        """A pod was tried, and found no node."""
        pod = self._pods.get(namespace, {}).get(name)
        if pod is not None:
            pod.attempted = True

    def bound(self, namespace: str, name: str, at: float) -> None:
        """A pod was bound."""
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
        """A pod was deleted."""
        pod = self._pods.get(namespace, {}).pop(name, None)
        if pod is not None and pod.bound:
            self._bound[namespace] -= 1

    # -- what operations ask

    def scheduled(self, namespace: str, selector: Labels) -> int:
        """Return how many pods of a namespace are bound."""
        if not selector:
            return self._bound.get(namespace, 0)
        return sum(pod.bound for pod in self._of(namespace, selector))

    def tried(self, namespace: str, selector: Labels) -> int:
        """Return how many pods of a namespace are bound, or were tried."""
        return sum(pod.bound or pod.attempted for pod in self._of(namespace, selector))

    def names(self, namespace: str, selector: Labels) -> list[str]:
        """Return the pods of a namespace."""
        found = self._pods.get(namespace, {})
        return [name for name, pod in found.items() if matches(pod.labels, selector)]

    def _of(self, namespace: str, selector: Labels) -> Sequence[_KnownPod]:
        return [pod for pod in self._pods.get(namespace, {}).values() if matches(pod.labels, selector)]


def matches(labels: Labels, selector: Labels) -> bool:
    """Return whether labels have all that a selector names."""
    return all(labels.get(key) == value for key, value in selector.items())
