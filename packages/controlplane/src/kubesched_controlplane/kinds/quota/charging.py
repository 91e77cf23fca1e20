"""Admission by quotas: objects are charged, or refused if a quota is exceeded.

From a new or changed object to ApiError 403, or to quotas with its usage added.
"""

# upstream: apiserver/pkg/admission/plugin/resourcequota/controller.go (CheckRequest) (v1.36)

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime

import msgspec

from kubesched.api.quantity import Quantity, from_value, quantity_of
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.prefixes import PODS
from kubesched_controlplane.api.resources import Catalog, Resource
from kubesched_controlplane.api.statuses import forbidden
from kubesched_controlplane.kinds.quota.claim_usage import CLAIMS, claim_measure
from kubesched_controlplane.kinds.quota.usage import Measure, Usage, measure_of, pod_usage, scopes_of
from kubesched_controlplane.registry.strategy import StrategyContext
from kubesched_controlplane.storage.store import Store

QUOTAS = "resourcequotas"
_DEVICE_CLASSES = "deviceclasses.resource.k8s.io"
# the prefixes of resources that no quota counts
UNCOUNTED = ("events",)


class Refusal(msgspec.Struct, frozen=True):
    """Why a quota refuses an object, and the resources that would be exceeded; none if the object must say more."""

    quota: str
    why: str
    resources: tuple[str, ...] = ()


# makes an error of a refusal
Refuse = Callable[[Refusal], Exception]


def is_counted(resource: Resource) -> bool:
    """Return whether quotas count the objects of a resource."""
    return resource.namespaced and resource.prefix not in UNCOUNTED and "list" in resource.verbs


def charges(new: Document, old: Document | None, context: StrategyContext) -> list[Document]:
    """Return the quotas of an object with its usage added. Raises ApiError 403 if a quota is exceeded."""
    quotas = context.store.set_of(QUOTAS)
    if not len(quotas) or not is_counted(context.resource):
        return []
    measure = measure_in(context.store, context.resource, context.now)
    if old is not None and not measure.changes(new, old):
        return []

    def counted() -> Iterator[Document]:
        for stored in quotas.in_order(new["metadata"].get("namespace") or ""):
            quota = stored.document()
            begin(quota, context.store, context.catalog, context.now)
            yield quota

    def refused(refusal: Refusal) -> Exception:
        return forbidden(context.resource, new["metadata"].get("name", ""), refusal.why)

    return charged(counted(), measure, (new, old), context.now, refused)


def charged(
    quotas: Iterable[Document],
    measure: Measure,
    objects: tuple[Document, Document | None],
    now: datetime,
    refused: Refuse,
) -> list[Document]:
    """Return the quotas that an object is charged to, with its usage added.

    `objects` are the object and its former version. If a quota is exceeded, this raises what `refused` returns.
    """
    new, old = objects
    concerned = []
    for quota in quotas:
        names = [name for name in quota["status"]["hard"] if measure.concerns(name)]
        if not names or not _is_in_scope(measure, new, quota):
            continue
        if missing := measure.missing(new, names):
            name = quota["metadata"]["name"]
            raise refused(Refusal(name, f"failed quota: {name}: {missing}"))
        concerned.append(quota)
    if not concerned:
        return []
    used = measure.usage(new, now)
    more = used if old is None else _more(used, measure.usage(old, now))
    found = []
    for quota in concerned:
        counts = old is None or not _is_in_scope(measure, old, quota)
        if charge := _charged(quota, used if counts else more, refused):
            found.append(charge)
    return found


def _charged(quota: Document, delta: Usage, refused: Refuse) -> Document | None:
    """Return a quota with a usage added, None if that does not concern it. Raises if the quota is exceeded."""
    hard, used = quota["status"]["hard"], quota["status"]["used"]
    asked = {name: amount for name, amount in delta.items() if name in hard and not amount.is_zero()}
    if not asked:
        return None
    total = {name: quantity_of(used.get(name, "0")) + amount for name, amount in asked.items()}
    exceeded = sorted(name for name, amount in total.items() if amount > quantity_of(hard[name]))
    if exceeded:
        shown = (
            ",".join(f"{name}={quantity_of(amounts.get(name, '0'))}" for name in exceeded)
            for amounts in (_texts(asked), used, hard)
        )
        requested, before, limited = shown
        name = quota["metadata"]["name"]
        why = f"exceeded quota: {name}, requested: {requested}, used: {before}, limited: {limited}"
        raise refused(Refusal(name, why, tuple(exceeded)))
    return {**quota, "status": {**quota["status"], "used": {**used, **_texts(total)}}}


def measure_in(store: Store, resource: Resource, now: datetime) -> Measure:
    """Return the measure of a resource's objects beside the objects of a store."""
    if resource.prefix != CLAIMS:
        return measure_of(resource)
    classes = (stored.document() for stored in store.set_of(_DEVICE_CLASSES))
    extended = {each["metadata"]["name"]: (each.get("spec") or {}).get("extendedResourceName") for each in classes}

    def of_pod(claim: Document) -> Usage:
        meta = claim["metadata"]
        for owner in meta.get("ownerReferences") or ():
            if owner.get("controller") and owner.get("kind") == "Pod":
                pod = store.get(PODS, meta.get("namespace") or "", owner.get("name") or "")
                if pod is not None and pod.uid == owner.get("uid"):
                    return pod_usage(pod.document(), now)
        return {}

    return claim_measure({name: resource for name, resource in extended.items() if resource}, of_pod)


def begin(quota: Document, store: Store, catalog: Catalog, now: datetime) -> None:
    """Set the status of a quota that is not counted yet: hard limits of the spec, and the counted usage."""
    # differs (D-204): the reference refuses objects that a quota limits until its controller has counted for the first
    # time
    status = quota.get("status") or {}
    if status.get("hard") is None or any(name not in (status.get("used") or {}) for name in status["hard"]):
        hard = dict((quota.get("spec") or {}).get("hard") or {})
        quota["status"] = {"hard": hard, "used": _texts(count(quota, hard, store, catalog, now))}


def count(quota: Document, names: Iterable[str], store: Store, catalog: Catalog, now: datetime) -> dict[str, Quantity]:
    """Return the usage of a quota, counted over all objects of its namespace."""
    total = dict.fromkeys(names, from_value(0))
    namespace = quota["metadata"].get("namespace") or ""
    for resource in counted_resources(catalog):
        measure = measure_in(store, resource, now)
        concerned = [name for name in total if measure.concerns(name)]
        if not concerned:
            continue
        for stored in store.set_of(resource.prefix).in_order(namespace):
            used = contribution(measure, stored.document(), quota, now)
            for name in concerned:
                if name in used:
                    total[name] += used[name]
    return total


def counted_resources(catalog: Catalog) -> list[Resource]:
    """Return the resources that quotas count, one for each prefix."""
    return list({each.prefix: each for each in catalog.resources if is_counted(each)}.values())


def contribution(measure: Measure, document: Document, quota: Document, now: datetime) -> Usage:
    """Return the usage of an object that a quota counts, empty if the object is not in its scopes."""
    return measure.usage(document, now) if _is_in_scope(measure, document, quota) else {}


def _is_in_scope(measure: Measure, document: Document, quota: Document) -> bool:
    return all(measure.fits(document, scope) for scope in scopes_of(quota))


def _more(now: Usage, before: Usage) -> dict[str, Quantity]:
    """Return the amounts by which a usage has grown."""
    grown = {}
    for name, amount in now.items():
        if name not in before:
            grown[name] = amount
        elif amount > before[name]:
            grown[name] = amount - before[name]
    return grown


def _texts(amounts: Mapping[str, Quantity]) -> dict[str, str]:
    return {name: str(amount) for name, amount in amounts.items()}
