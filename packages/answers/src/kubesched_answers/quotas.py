"""The remaining amounts of a cluster's resource quotas.

From quotas, and a pod with the claims that are created with it, to how many more of them the API server accepts,
which quota rejects the next one, and its message. The used amounts come from the status of a quota; for one without a
status the pods and claims of the cluster are counted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NamedTuple

from kubesched.api.codec import to_builtins
from kubesched.api.devices import DeviceClass, ResourceClaim
from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.api.quantity import Quantity, from_value, quantity_of
from kubesched.api.storage import PersistentVolumeClaim
from kubesched.model.cluster_model import ClusterModel
from kubesched.reports.answers import Answer
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import forbidden
from kubesched_controlplane.kinds.quota.charging import Refusal, charged, contribution
from kubesched_controlplane.kinds.quota.claim_usage import CLAIMS, claim_measure
from kubesched_controlplane.kinds.quota.usage import Measure, Usage, measure_of
from kubesched_controlplane.server.catalog import built_in

RESOURCE_QUOTA: Final = "ResourceQuota"
_CATALOG: Final = built_in()
# the objects that are created with a pod, and charged
_RESOURCES: Final = {
    Pod: _CATALOG.by_prefix["pods"],
    PersistentVolumeClaim: _CATALOG.by_prefix["persistentvolumeclaims"],
    ResourceClaim: _CATALOG.by_prefix[CLAIMS],
}


@dataclass(frozen=True, slots=True)
class QuotaLimit(Answer):
    """A quota that refuses a further pod, or a claim of it: how many it allows, and which resources run out.

    `message` is the API server's message about the first rejected object.
    """

    namespace: str
    quota: str
    allows: int
    resources: tuple[str, ...]
    message: str

    def __str__(self) -> str:
        resources = f": {', '.join(self.resources)}" if self.resources else ""
        return f"the quota {self.quota} of namespace {self.namespace} allows {self.allows:,} more{resources}"


class _RefusedError(Exception):
    """A quota rejects an object."""

    def __init__(self, refusal: Refusal, namespace: str, message: str) -> None:
        super().__init__(message)
        self.refusal = refusal
        self.namespace = namespace


class _Measured(NamedTuple):
    """An object that quotas count: its document, its resource, and the measure of its usage."""

    document: Document
    resource: Resource
    measure: Measure

    @property
    def namespace(self) -> str:
        """Return the namespace of the object."""
        return str(self.document["metadata"]["namespace"])

    def refused(self, refusal: Refusal) -> _RefusedError:
        """Return the API server's refusal of the object."""
        message = forbidden(self.resource, self.document["metadata"]["name"], refusal.why).message
        return _RefusedError(refusal, self.namespace, message)


class QuotaRoom:
    """The remaining quotas while pods and claims are charged and released; the cluster does not change.

    `objects` returns the objects of the cluster, which are counted for quotas without a status.
    """

    def __init__(
        self,
        quotas: Iterable[Document],
        device_classes: Iterable[DeviceClass] = (),
        objects: Callable[[], Iterable[ApiObject]] = tuple,
    ) -> None:
        named = {each.name: each.spec.extended_resource_name for each in device_classes}
        self._claims = claim_measure({name: resource for name, resource in named.items() if resource})
        self._now = datetime.now(UTC)
        self._quotas: dict[str, list[Document]] = {}
        for quota in sorted(quotas, key=lambda each: str(each["metadata"]["name"])):
            namespace = quota["metadata"].get("namespace") or ""
            self._quotas.setdefault(namespace, []).append(self._counted(quota, namespace, objects))

    def branch(self) -> "QuotaRoom":
        """Return an independent copy."""
        other = copy(self)
        other._quotas = deepcopy(self._quotas)
        return other

    def limit(self, objects: Sequence[ApiObject]) -> QuotaLimit | None:
        """Return the quota that limits how often some objects can be created: a pod with its claims, or several pods.

        None if no quota does.
        """
        measured = list(self._measured(objects))
        times = self._times(measured)
        if times is None:
            return None
        self._add(measured, times)
        try:
            self._check(measured)
        except _RefusedError as refused:
            refusal = refused.refusal
            return QuotaLimit(refused.namespace, refusal.quota, times, refusal.resources, str(refused))
        finally:
            self._add(measured, -times)
        return None

    def charge(self, objects: Sequence[ApiObject], times: int = 1) -> None:
        """Charge a pod and its claims a number of times, even beyond the quota."""
        self._add(list(self._measured(objects)), times)

    def release(self, objects: Sequence[ApiObject], times: int = 1) -> None:
        """Undo the charge of a pod and its claims."""
        self._add(list(self._measured(objects)), -times)

    # -- parts

    def _measured(self, objects: Iterable[ApiObject]) -> Iterator[_Measured]:
        for obj in objects if self._quotas else ():
            resource = _RESOURCES.get(type(obj))
            if resource is not None and obj.namespace in self._quotas:
                yield self._measure(obj, resource)

    def _measure(self, obj: ApiObject, resource: Resource) -> _Measured:
        return _Measured(
            to_builtins(obj), resource, self._claims if resource.prefix == CLAIMS else measure_of(resource)
        )

    def _of(self, measured: Sequence[_Measured]) -> list[Document]:
        """Return the quotas of the namespaces of some objects."""
        return [
            quota
            for namespace in dict.fromkeys(each.namespace for each in measured)
            for quota in self._quotas[namespace]
        ]

    def _times(self, measured: Sequence[_Measured]) -> int | None:
        """Return how many times the quotas allow some objects, None if they do not limit them."""
        try:
            self._check(measured)
        except _RefusedError:
            return 0
        return min(
            (
                (quantity_of(quota["status"]["hard"][name]) - _used(quota, name)).how_often(amount)
                for quota in self._of(measured)
                for name, amount in self._usage(measured, quota).items()
                if amount.sign() > 0
            ),
            default=None,
        )

    def _usage(self, measured: Sequence[_Measured], quota: Document) -> Usage:
        """Return what some objects use of a quota, together."""
        hard = quota["status"]["hard"]
        total: dict[str, Quantity] = {}
        for each in measured:
            if each.namespace != quota["metadata"].get("namespace"):
                continue
            for name, amount in contribution(each.measure, each.document, quota, self._now).items():
                if name in hard and each.measure.concerns(name):
                    total[name] = total.get(name, from_value(0)) + amount
        return total

    def _add(self, measured: Sequence[_Measured], times: int) -> None:
        for quota in self._of(measured):
            usage = self._usage(measured, quota).items()
            quota["status"]["used"] |= {name: str(_used(quota, name) + amount.times(times)) for name, amount in usage}

    def _check(self, measured: Sequence[_Measured]) -> None:
        """Raise _RefusedError for the first of some objects that a quota refuses."""
        quotas = {namespace: {_name(quota): quota for quota in self._quotas[namespace]} for namespace in self._quotas}
        for each in measured:
            there = quotas[each.namespace]
            found = charged(list(there.values()), each.measure, (each.document, None), self._now, each.refused)
            there |= {_name(quota): quota for quota in found}

    def _counted(self, quota: Document, namespace: str, objects: Callable[[], Iterable[ApiObject]]) -> Document:
        """Return a copy of a quota with its usage, from its status or else counted."""
        status = quota.get("status") or {}
        used, hard = status.get("used") or {}, status.get("hard")
        if hard is not None and all(name in used for name in hard):
            return {**quota, "status": {"hard": hard, "used": dict(used)}}
        status = {"hard": dict((quota.get("spec") or {}).get("hard") or {}), "used": {}}
        found = {**quota, "status": status}
        there = [
            self._measure(obj, _RESOURCES[type(obj)])
            for obj in objects()
            if type(obj) in _RESOURCES and obj.namespace == namespace
        ]
        status["used"] = {name: str(amount) for name, amount in self._usage(there, found).items()}
        return found


def quota_room(model: ClusterModel, more: Iterable[Document] = ()) -> QuotaRoom:
    """Return the remaining quotas of a model's cluster, and of `further` quotas, which replace quotas of the same
    name.
    """
    documents = (*model.source.admission, *more)
    quotas = {
        (each["metadata"].get("namespace"), each["metadata"]["name"]): each
        for each in documents
        if each["kind"] == RESOURCE_QUOTA
    }
    return QuotaRoom(
        quotas.values(), model.cluster.objects.of(DeviceClass), lambda: model.objects_now().objects if quotas else ()
    )


def _name(quota: Document) -> str:
    return str(quota["metadata"]["name"])


def _used(quota: Document, name: str) -> Quantity:
    return quantity_of(quota["status"]["used"].get(name, "0"))
