"""Admission by quotas: objects are charged, or refused if a quota is exceeded.

From a new or changed object to ApiError 403, or to quotas with its usage added.
"""

# upstream: apiserver/pkg/admission/plugin/resourcequota/controller.go (CheckRequest) (v1.36)

from collections.abc import Iterable, Mapping
from datetime import datetime

from kubesched.api.quantity import Quantity, from_value, quantity_of
from kubesched.controlplane.api.documents import Document
from kubesched.controlplane.api.resources import Catalog, Resource
from kubesched.controlplane.api.statuses import forbidden
from kubesched.controlplane.kinds.quota.usage import Measure, Usage, measure_of, scopes_of
from kubesched.controlplane.registry.strategy import StrategyContext
from kubesched.controlplane.storage.store import Store

QUOTAS = "resourcequotas"
# the prefixes of resources that no quota counts
UNCOUNTED = ("events",)


def is_counted(resource: Resource) -> bool:
    """Return whether quotas count the objects of a resource."""
    return resource.namespaced and resource.prefix not in UNCOUNTED and "list" in resource.verbs


def charges(new: Document, old: Document | None, context: StrategyContext) -> list[Document]:
    """Return the quotas of an object with its usage added. Raises ApiError 403 if a quota is exceeded."""
    quotas = context.store.set_of(QUOTAS)
    if not len(quotas) or not is_counted(context.resource):
        return []
    measure = measure_of(context.resource)
    if old is not None and not measure.changes(new, old):
        return []
    concerned = []
    for stored in quotas.in_order(new["metadata"].get("namespace") or ""):
        quota = stored.document()
        begin(quota, context.store, context.catalog, context.now)
        names = [name for name in quota["status"]["hard"] if measure.concerns(name)]
        if not names or not _is_in_scope(measure, new, quota):
            continue
        if missing := measure.missing(new, names):
            raise _refused(new, context, f"failed quota: {stored.name}: {missing}")
        concerned.append(quota)
    if not concerned:
        return []
    used = measure.usage(new, context.now)
    more = used if old is None else _more(used, measure.usage(old, context.now))
    charged = []
    for quota in concerned:
        counts = old is None or not _is_in_scope(measure, old, quota)
        if charge := _charged(quota, used if counts else more, new, context):
            charged.append(charge)
    return charged


def _charged(quota: Document, delta: Usage, new: Document, context: StrategyContext) -> Document | None:
    """Return a quota with a usage added, None if that does not concern it. Raises ApiError 403 if it is exceeded."""
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
        raise _refused(new, context, why)
    quota["status"]["used"] = {**used, **_texts(total)}
    return quota


def begin(quota: Document, store: Store, catalog: Catalog, now: datetime) -> None:
    """Set the status of a quota that is not counted yet: hard limits of the spec, and the counted usage."""
    # differs (a new quota): the reference refuses objects that a quota limits until its controller has counted for the
    # first time
    status = quota.get("status") or {}
    if status.get("hard") is None or any(name not in (status.get("used") or {}) for name in status["hard"]):
        hard = dict((quota.get("spec") or {}).get("hard") or {})
        quota["status"] = {"hard": hard, "used": _texts(count(quota, hard, store, catalog, now))}


def count(quota: Document, names: Iterable[str], store: Store, catalog: Catalog, now: datetime) -> dict[str, Quantity]:
    """Return the usage of a quota, counted over all objects of its namespace."""
    total = dict.fromkeys(names, from_value(0))
    namespace = quota["metadata"].get("namespace") or ""
    for resource in counted_resources(catalog):
        measure = measure_of(resource)
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


def _refused(new: Document, context: StrategyContext, why: str) -> Exception:
    return forbidden(context.resource, new["metadata"].get("name", ""), why)
