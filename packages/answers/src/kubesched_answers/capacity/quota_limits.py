"""How many replicas of templates the quotas of a cluster allow.

From templates to the quota that limits each of them. Quotas charge all pods of a template alike, except the first
pods, whose volume claims exist already.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kubesched.api.meta import ApiObject
from kubesched.api.storage import PersistentVolumeClaim
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.quotas import QuotaLimit, QuotaRoom, quota_room
from kubesched_answers.templates.workload_template import NewPod, WorkloadTemplate
from kubesched_controlplane.api.documents import Document

Objects = Sequence[ApiObject]


class QuotaLimits:
    """The remaining quota of templates, while their replicas are counted one template after the other."""

    def __init__(self, model: ClusterModel, templates: Iterable[WorkloadTemplate], quotas: Iterable[Document]) -> None:
        self._room = quota_room(model, quotas)
        self._pods = {template: _pods_of(model, template) for template in templates}

    def start(self) -> QuotaRoom:
        """Return the remaining quota before any replica is counted."""
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
        """Charge a number of replicas of a template."""
        *first, last = self._pods[template]
        for objects in first[:replicas]:
            room.charge(objects)
        room.charge(last, max(0, replicas - len(first)))

    def pod(self, template: WorkloadTemplate) -> Objects:
        """Return a pod of a template with all its claims."""
        return self._pods[template][-1]


class QuotaRounds:
    """The remaining quota of rounds, with a number of replicas of each template: whole rounds first, then one by
    one.
    """

    def __init__(self, limits: QuotaLimits, templates: Sequence[WorkloadTemplate], weights: Sequence[int]) -> None:
        self._room = limits.start()
        self._pods = [limits.pod(template) for template in templates]
        self._weights = weights
        together = [obj for pod, weight in zip(self._pods, weights, strict=True) for obj in [*pod] * weight]
        found = self._room.limit(together)
        # the round in which a quota rejects a replica
        self._last = None if found is None else found.allows
        self._is_last = False

    def begin(self, rounds: int) -> None:
        """Begin a round after a number of whole rounds."""
        self._is_last = rounds == self._last
        for pod, weight in zip(self._pods, self._weights, strict=True) if self._is_last else ():
            self._room.charge(pod, weight * rounds)

    def refusal(self, number: int, replicas: int) -> QuotaLimit | None:
        """Charge the next replica of a template after `count` ones; return the quota that rejects it."""
        found = self._room.limit(self._pods[number]) if self._is_last else None
        if found is not None and not found.allows:
            return replace(found, allows=replicas)
        if self._is_last:
            self._room.charge(self._pods[number])
        return None


def _pods_of(model: ClusterModel, template: WorkloadTemplate) -> list[Objects]:
    """Return the pods of a template with the claims created with them, up to the first whose claims are all new."""
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
