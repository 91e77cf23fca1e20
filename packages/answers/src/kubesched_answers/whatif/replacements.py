"""Whether the API server accepts the pods that controllers create in place of evicted ones.

From a running pod to the refusal of a copy: LimitRanges and quotas may be stricter by now than they were when the pod
was created.
"""

from typing import Final

import msgspec

from kubesched.api.codec import to_builtins
from kubesched.core.cluster.pod_info import PodInfo, without_node
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.api_rules import ApiRules
from kubesched_answers.quotas import quota_room

_STRICT: Final = ("LimitRange", "ResourceQuota")
# fields that admission fills in from classes, which the source may lack
_BY_CLASS: Final = ("priority", "priorityClassName", "preemptionPolicy", "overhead", "runtimeClassName")


class Replacements:
    """Asks the rules of the API server, once for equal pods."""

    def __init__(self, model: ClusterModel) -> None:
        self._rules, self._room = ApiRules(model), quota_room(model)
        self._namespaces = {
            each["metadata"].get("namespace") for each in model.source.admission if each["kind"] in _STRICT
        }
        self._known: dict[object, str] = {}

    def refusal(self, pod: PodInfo) -> str:
        """Return why no copy of this pod can be created in its place, an empty text if one can."""
        if pod.namespace not in self._namespaces:
            return ""
        key = pod.namespace, msgspec.json.encode(without_node(pod.pod).spec)
        if key not in self._known:
            self._known[key] = self._by_rules(pod) or self._by_quotas(pod)
        return self._known[key]

    def _by_rules(self, pod: PodInfo) -> str:
        document = to_builtins(without_node(pod.pod))
        spec = {field: value for field, value in document["spec"].items() if field not in _BY_CLASS}
        return self._rules.refusal_of_copy({**document, "spec": spec})

    def _by_quotas(self, pod: PodInfo) -> str:
        self._room.release([pod.pod])
        limit = self._room.limit([without_node(pod.pod)])
        self._room.charge([pod.pod])
        return limit.message if limit is not None and not limit.allows else ""
