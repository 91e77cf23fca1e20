"""The selector of default constraints: the selectors of a pod's services and its controller.

From services, replication controllers, replica sets and stateful sets to a selector per pod. Answers are kept until
the selectors they were derived from change; a changed number of replicas does not matter.
"""

# upstream: plugins/helper/spread.go (v1.36)

from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from kubesched.api.labels import EVERYTHING, InvalidSelectorError, Selector, from_label_selector, selector_from_set
from kubesched.api.meta import LabelSelector, OwnerReference
from kubesched.api.owners import ReplicaSet, ReplicationController, Service, StatefulSet
from kubesched.core.cluster.objects import Objects
from kubesched.core.cluster.pod_info import PodInfo

_KINDS: Mapping[tuple[str, str], type[ReplicationController | ReplicaSet | StatefulSet]] = {
    ("v1", "ReplicationController"): ReplicationController,
    ("apps/v1", "ReplicaSet"): ReplicaSet,
    ("apps/v1", "StatefulSet"): StatefulSet,
}
_REMEMBERED = 8192

ControllerSelector = LabelSelector | dict[str, str] | None


class _Services(NamedTuple):
    """The services of a namespace: their selectors, and the label keys in these."""

    selectors: list[dict[str, str]]
    keys: tuple[str, ...]


_NO_SERVICES = _Services([], ())


class _Answer(NamedTuple):
    """A pod's selector, the controller's part of it, and the version of the controller's kind."""

    selector: Selector
    controller_selector: ControllerSelector
    version: int


class DefaultSelectors:
    """Default selectors, by the parts of a pod that they depend on."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._services: dict[str, _Services] = {}
        self._services_version = 0
        self._answers: dict[tuple[object, ...], _Answer] = {}

    def of(self, pod: PodInfo) -> Selector:
        """Return the selector of a pod; the empty one if no service or controller selects it."""
        versions = self._objects.versions
        if versions.get("Service", 0) != self._services_version:
            self._index_services()
        services = self._services.get(pod.namespace, _NO_SERVICES)
        controller = _controller_of(pod)
        labels = pod.labels
        what = (pod.namespace, controller, *[labels.get(key) for key in services.keys])
        version = versions.get(controller.kind, 0) if controller is not None else 0
        known = self._answers.get(what)
        if known is not None and known.version == version:
            return known.selector
        found = self._controller_selector(pod.namespace, controller)
        if known is not None and known.controller_selector == found:
            answer = known._replace(version=version)
        else:
            answer = _Answer(_default_selector(services, labels, found), found, version)
        if len(self._answers) >= _REMEMBERED:
            self._answers.clear()
        self._answers[what] = answer
        return answer.selector

    def _index_services(self) -> None:
        self._answers.clear()
        self._services_version = self._objects.versions["Service"]
        by_namespace: dict[str, list[dict[str, str]]] = {}
        for service in self._objects.of(Service):
            if service.spec.selector:
                by_namespace.setdefault(service.namespace, []).append(service.spec.selector)
        self._services = {
            namespace: _Services(selectors, tuple(sorted({key for selector in selectors for key in selector})))
            for namespace, selectors in by_namespace.items()
        }

    def _controller_selector(self, namespace: str, controller: OwnerReference | None) -> ControllerSelector:
        if controller is None:
            return None
        kind = _KINDS[controller.api_version, controller.kind]
        found = self._objects.get(kind, f"{namespace}/{controller.name}" if namespace else controller.name)
        return found.spec.selector if found is not None else None


def _controller_of(pod: PodInfo) -> OwnerReference | None:
    """Return the owner reference of a pod's controller, if it is of one of the four kinds."""
    controller = pod.metadata.controller
    return controller if controller is not None and (controller.api_version, controller.kind) in _KINDS else None


def _default_selector(services: _Services, labels: Mapping[str, str], controller: ControllerSelector) -> Selector:
    """Return the conjunction of the selectors of a pod's services and its controller."""
    merged: dict[str, str] = {}
    for selected in services.selectors:
        if all(labels.get(key) == value for key, value in selected.items()):
            merged.update(selected)
    if isinstance(controller, dict):
        return selector_from_set({**merged, **controller})
    selector = selector_from_set(merged) if merged else EVERYTHING
    if controller is not None:
        # a controller whose selector does not parse adds nothing
        with suppress(InvalidSelectorError):
            selector = selector.adding(*from_label_selector(controller).requirements)
    return selector
