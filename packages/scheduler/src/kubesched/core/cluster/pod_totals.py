"""Totals: requests of the pods on nodes, summed by a key that a plugin chooses, updated with each change.

From a plugin's constructor (`ClusterView.pod_totals`) to look-ups in its hooks. A pod that is taken off its node for a
trial does not count meanwhile.
"""

import logging
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

from kubesched.core.cluster.pod_info import PodInfo

_log = logging.getLogger("kubesched.plugins")
_NOTHING: Mapping[str, int] = {}


class PodTotals:
    """What pods on nodes request, and how many they are, by key; a pod whose key is None does not count."""

    def __init__(
        self, key_of: Callable[[PodInfo], Hashable], pods: Iterable[PodInfo], check: Callable[[], None]
    ) -> None:
        self._key_of = key_of
        # raises PluginError if the running plugin may not read pods on other nodes
        self._check = check
        self._amounts: dict[Hashable, dict[str, int]] = {}
        # the key under which a pod was counted; a later version of the pod may have another key
        self._keys: dict[str, Hashable] = {}
        for pod in pods:
            self.count(pod, 1)

    def __getitem__(self, key: Hashable) -> Mapping[str, int]:
        """Return the requests of the pods under a key, by resource (CPU in thousandths); "pods" is their number."""
        self._check()
        return self._amounts.get(key, _NOTHING)

    def __iter__(self) -> Iterator[Hashable]:
        """Yield the keys that have pods."""
        self._check()
        return iter(list(self._amounts))

    def count(self, pod: PodInfo, sign: int) -> None:
        """Count a pod that comes to a node (1), or leaves it (-1)."""
        key = self._key(pod) if sign > 0 else self._keys.pop(pod.uid, None)
        if key is None:
            return
        if sign > 0:
            self._keys[pod.uid] = key
        amounts = self._amounts.setdefault(key, {})
        for name, amount in (*pod.requests.items(), ("pods", 1)):
            total = amounts.get(name, 0) + sign * amount
            if total:
                amounts[name] = total
            else:
                del amounts[name]
        if not amounts:
            del self._amounts[key]

    def _key(self, pod: PodInfo) -> Hashable:
        try:
            key = self._key_of(pod)
            hash(key)
        except Exception as error:
            # no attempt is under way that could fail
            _log.warning("Pod not counted", extra={"pod": pod, "err": f"{type(error).__name__}: {error}"})
            return None
        return key
