"""An index of the pods that each service selects.

From events of services and pods to the pods of each service, and to the controllers of endpoints. Services are indexed
by one label of their selector, so that the cost of a pod's event does not grow with the number of services; pods that
no service selects are not decoded.
"""

from collections.abc import Callable, Mapping

import msgspec

from kubesched_controlplane.api.prefixes import PODS
from kubesched_controlplane.controllers.endpoints.backends import Backend, backend_of
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.kinds.network.service_addresses import SERVICES
from kubesched_controlplane.storage.store import DELETED, Change, Changed, Stored

Pair = tuple[str, str]
Told = Callable[[Key], None]


class _Spec(msgspec.Struct):
    selector: dict[str, str] = {}
    type: str = ""


class _Service(msgspec.Struct):
    spec: _Spec


_decode = msgspec.json.Decoder(_Service).decode


class ServicePods(Controller):
    """The pods of each service; listeners get the key of each service that changed or whose pods changed."""

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._listeners: list[Told] = []
        self._selectors: dict[Key, dict[str, str]] = {}
        # services by namespace and one label of their selector
        self._by_label: dict[tuple[str, str, str], dict[str, None]] = {}
        self._pods: dict[Key, dict[str, Backend]] = {}

    def listen(self, told: Told) -> None:
        """Add a listener."""
        self._listeners.append(told)

    def of(self, key: Key) -> Mapping[str, Backend]:
        """Return the pods of a service, by name."""
        return self._pods.get(key, {})

    def selects(self, key: Key) -> bool:
        """Return whether a service exists and selects pods."""
        return key in self._selectors

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix; services are listed before pods."""
        return {SERVICES: self._service_changed, PODS: self._pod_changed}

    def _tell(self, key: Key) -> None:
        for told in self._listeners:
            told(key)

    # -- services

    def _service_changed(self, change: Change) -> None:
        stored = change.new
        key = (stored.namespace, stored.name)
        selector: dict[str, str] = {}
        if change.type != DELETED:
            spec = _decode(stored.body).spec
            selector = spec.selector if spec.type != "ExternalName" else {}
        if selector != self._selectors.get(key, {}):
            self._forget(key)
            if selector:
                self._select(key, selector)
        self._tell(key)

    def _select(self, key: Key, selector: dict[str, str]) -> None:
        namespace, name = key
        self._selectors[key] = selector
        pair = min(selector.items(), key=lambda each: len(self._by_label.get((namespace, *each), ())))
        self._by_label.setdefault((namespace, *pair), {})[name] = None
        pods = self._pods[key] = {}
        if PODS not in self._stops:
            # pods are not watched yet; each will come as an ADDED event
            return
        for stored in self.context.store.set_of(PODS).in_order(namespace):
            if selector.items() <= stored.labels.items():
                backend = backend_of(stored)
                if backend is not None:
                    pods[stored.name] = backend

    def _forget(self, key: Key) -> None:
        selector = self._selectors.pop(key, {})
        self._pods.pop(key, None)
        for pair in selector.items():
            place = (key[0], *pair)
            names = self._by_label.get(place, {})
            names.pop(key[1], None)
            if not names:
                self._by_label.pop(place, None)

    # -- pods

    def _pod_changed(self, change: Change) -> None:
        if not self._selectors:
            return
        stored = change.new
        now = set() if change.type == DELETED else self._services_of(stored)
        before = now if change.old is None or change.old.labels == stored.labels else self._services_of(change.old)
        if change.type == DELETED:
            before = self._services_of(stored if change.old is None else change.old)
        if not now and not before:
            return
        backend = None if change.type == DELETED else backend_of(stored)
        for key in now | before:
            self._put(key, stored.name, backend if key in now else None)

    def _put(self, key: Key, name: str, backend: Backend | None) -> None:
        pods = self._pods[key]
        if pods.get(name) == backend:
            return
        if backend is None:
            del pods[name]
        else:
            pods[name] = backend
        self._tell(key)

    def _services_of(self, stored: Stored) -> set[Key]:
        """Return the services that select a pod."""
        found = set()
        for pair in stored.labels.items():
            for name in self._by_label.get((stored.namespace, *pair), ()):
                key = (stored.namespace, name)
                if self._selectors[key].items() <= stored.labels.items():
                    found.add(key)
        return found
