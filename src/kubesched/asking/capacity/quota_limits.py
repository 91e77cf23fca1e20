"""How many replicas of templates the quotas of a cluster allow.

From templates to the quota that limits each of them. The pods of a template are charged alike, but for the first ones:
those whose volume claims the cluster has already.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kubesched.api.meta import ApiObject
from kubesched.api.storage import PersistentVolumeClaim
from kubesched.asking.quotas import QuotaLimit, QuotaRoom, quota_room
from kubesched.asking.templates.workload_template import NewPod, WorkloadTemplate
from kubesched.controlplane.api.documents import Document
from kubesched.model.cluster_model import ClusterModel

Objects = Sequence[ApiObject]


class QuotaLimits:
    """What quotas leave for templates, while their replicas are counted one template after the other."""

    def __init__(self, model: ClusterModel, templates: Iterable[WorkloadTemplate], quotas: Iterable[Document]) -> None:
        self._room = quota_room(model, quotas)
        self._pods = {template: _pods_of(model, template) for template in templates}

    def start(self) -> QuotaRoom:
        """Return the room before any replica is counted."""
        return self._room.branch()

    def limit(self, room: QuotaRoom, template: WorkloadTemplate) -> QuotaLimit | None:
        """Return the quota that limits the replicas of a template, None if none does."""
        *first, last = self._pods[template]
        room = room.branch()
        for number, objects in enumerate(first):
            found = room.limit(objects)
            if found is not None and not found.allows:
                return replace(found, allows=number)
            room.charge(objects)
        found = room.limit(last)
        return None if found is None else replace(found, allows=found.allows + len(first))

    def charge(self, room: QuotaRoom, template: WorkloadTemplate, replicas: int) -> None:
        """Charge so many replicas of a template."""
        *first, last = self._pods[template]
        for objects in first[:replicas]:
            room.charge(objects)
        room.charge(last, max(0, replicas - len(first)))

    def pod(self, template: WorkloadTemplate) -> Objects:
        """Return a pod of a template with all its claims."""
        return self._pods[template][-1]


class QuotaRounds:
    """What quotas leave for rounds of so many replicas of each template: whole rounds first, then one by one."""

    def __init__(self, limits: QuotaLimits, templates: Sequence[WorkloadTemplate], weights: Sequence[int]) -> None:
        self._room = limits.start()
        self._pods = [limits.pod(template) for template in templates]
        self._weights = weights
        together = [obj for pod, weight in zip(self._pods, weights, strict=True) for obj in [*pod] * weight]
        found = self._room.limit(together)
        # the round in which a quota refuses a replica
        self._last = None if found is None else found.allows
        self._is_last = False

    def begin(self, rounds: int) -> None:
        """Begin a round after so many whole ones."""
        self._is_last = rounds == self._last
        for pod, weight in zip(self._pods, self._weights, strict=True) if self._is_last else ():
            self._room.charge(pod, weight * rounds)

    def refusal(self, number: int, replicas: int) -> QuotaLimit | None:
        """Charge the next replica of a template, which has so many; return the quota that refuses it."""
        found = self._room.limit(self._pods[number]) if self._is_last else None
        if found is not None and not found.allows:
            return replace(found, allows=replicas)
        if self._is_last:
            self._room.charge(self._pods[number])
        return None


def _pods_of(model: ClusterModel, template: WorkloadTemplate) -> list[Objects]:
    """Return the pods of a template with the claims created with them, up to the first that brings all of them."""
    if template.per_node:
        return [(template.pod,)]
    found: list[Objects] = []
    for new in template.new_pods(model):
        found.append((new.pod, *new.objects))
        if _volume_claims(new) == len(template.claims):
            break
    return found


def _volume_claims(new: NewPod) -> int:
    return sum(isinstance(obj, PersistentVolumeClaim) for obj in new.objects)
