"""The status of ResourceQuotas: their usage, recounted as objects change.

From events of objects to the status of the quotas in their namespace. The usage of each object is remembered, so that
the cost of an event does not grow with the number of objects; nothing is remembered in namespaces without quotas.
"""

# upstream: pkg/controller/resourcequota/{resource_quota_controller,resource_quota_monitor}.go (v1.36)

from collections.abc import Callable

import msgspec

from kubesched.api.quantity import Quantity, from_value, quantity_of
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.prefixes import PODS
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.kinds.pod.phases import TERMINAL
from kubesched_controlplane.kinds.quota.charging import QUOTAS, contribution, counted_resources, measure_in
from kubesched_controlplane.kinds.quota.usage import Measure, Usage
from kubesched_controlplane.storage.store import DELETED, MODIFIED, Change, Changed, Stored

_DELETION_TIMESTAMP = b'"deletionTimestamp"'
# prefix and name
_Place = tuple[str, str]


class _Counted(msgspec.Struct):
    """A quota with its total usage, and the usage of each object."""

    quota: Document
    totals: dict[str, Quantity]
    used: dict[_Place, Usage] = msgspec.field(default_factory=dict)


class ResourceQuotaController(Controller):
    """Keeps the status of ResourceQuotas."""

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._counted: dict[str, dict[str, _Counted]] = {}

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        catalog = self.context.client.server.registry.catalog
        watchers = {each.prefix: self._watcher(each) for each in counted_resources(catalog)}
        counts_itself = watchers[QUOTAS]

        def quota_changed(change: Change) -> None:
            self._quota_changed(change)
            counts_itself(change)

        return {**watchers, QUOTAS: quota_changed}

    def _quota_changed(self, change: Change) -> None:
        namespace, name = change.new.namespace, change.new.name
        quotas = self._counted.setdefault(namespace, {})
        if change.type == DELETED:
            quotas.pop(name, None)
            if not quotas:
                del self._counted[namespace]
            self.workqueue.forget((namespace, name))
            return
        quota = change.new.document()
        known = quotas.get(name)
        if known is None or known.quota["spec"] != quota["spec"]:
            quotas[name] = self._count(quota)
        self.workqueue.add((namespace, name))

    def _count(self, quota: Document) -> _Counted:
        """Count the usage of all objects that a quota limits."""
        counted = _Counted(quota, dict.fromkeys((quota["spec"].get("hard") or {}), from_value(0)))
        store, namespace = self.context.store, quota["metadata"]["namespace"]
        for resource in counted_resources(self.context.client.server.registry.catalog):
            measure = self._measure(resource)
            if any(measure.concerns(name) for name in counted.totals):
                for stored in store.set_of(resource.prefix).in_order(namespace):
                    self._add_usage(counted, resource, stored)
        return counted

    def _watcher(self, resource: Resource) -> Callable[[Change], None]:
        def changed(change: Change) -> None:
            stored = change.new
            quotas = self._counted.get(stored.namespace)
            if not quotas or not _may_matter(resource, change):
                return
            measure = self._measure(resource)
            for name, counted in quotas.items():
                if any(measure.concerns(each) for each in counted.totals):
                    self._drop_usage(counted, (resource.prefix, stored.name))
                    if change.type != DELETED:
                        self._add_usage(counted, resource, stored)
                    self.workqueue.add((stored.namespace, name))

        return changed

    def _add_usage(self, counted: _Counted, resource: Resource, stored: Stored) -> None:
        used = contribution(self._measure(resource), stored.document(), counted.quota, self.context.now())
        used = {name: amount for name, amount in used.items() if name in counted.totals}
        self._drop_usage(counted, (resource.prefix, stored.name))
        if used:
            counted.used[resource.prefix, stored.name] = used
            for name, amount in used.items():
                counted.totals[name] += amount

    def _measure(self, resource: Resource) -> Measure:
        return measure_in(self.context.store, resource, self.context.now())

    def _drop_usage(self, counted: _Counted, place: _Place) -> None:
        for name, amount in counted.used.pop(place, {}).items():
            counted.totals[name] -= amount

    def reconcile(self, key: Key) -> None:
        """Bring the status of a quota up to date."""
        quota = self.context.find(QUOTAS, *key)
        counted = self._counted.get(key[0], {}).get(key[1])
        if quota is None or counted is None:
            return
        status = quota.get("status") or {}
        hard, before = dict(quota["spec"].get("hard") or {}), status.get("used") or {}
        used = {
            name: before[name] if name in before and quantity_of(before[name]) == amount else str(amount)
            for name, amount in counted.totals.items()
        }
        if status != {"hard": hard, "used": used} and (hard or status):
            quota["status"] = {"hard": hard, "used": used} if hard else {}
            self.context.update(QUOTAS, quota, "status")


def _may_matter(resource: Resource, change: Change) -> bool:
    """Return whether an event may change an object's usage; most events of pods do not."""
    if resource.prefix != PODS or change.type != MODIFIED or change.old is None:
        return True
    terminal = [stored.fields.get("status.phase") in TERMINAL for stored in (change.old, change.new)]
    deleting = [_DELETION_TIMESTAMP in stored.body for stored in (change.old, change.new)]
    return terminal[0] != terminal[1] or deleting[0] != deleting[1] or b'"activeDeadlineSeconds"' in change.new.body
