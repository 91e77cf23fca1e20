"""Pods as workload controllers read them, indexed by owner.

From events of pods to the index and its listeners. Each event is decoded once for all controllers; most events change
none of the fields that they read, and then no listener is called.
"""

# upstream: pkg/controller/controller_utils.go (IsPodActive), pkg/api/v1/pod/util.go (IsPodAvailable) (v1.36)

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, Protocol

import msgspec

from kubesched.api.labels import parse_int64
from kubesched_controlplane.api.prefixes import PODS
from kubesched_controlplane.api.times import moment
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.controllers.framework.views import OwnerReference, controller_of
from kubesched_controlplane.kinds.pod.phases import TERMINAL
from kubesched_controlplane.kinds.pod.validation import DELETION_COST
from kubesched_controlplane.storage.store import DELETED, Change, Changed, Stored

JOB_TRACKING: Final = "batch.kubernetes.io/job-tracking"


class _Annotations(msgspec.Struct, rename={"deletion_cost": DELETION_COST}, frozen=True, gc=False):
    deletion_cost: str = ""


class _Meta(msgspec.Struct, rename="camel"):
    annotations: _Annotations = _Annotations()
    owner_references: tuple[OwnerReference, ...] = ()
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None
    finalizers: tuple[str, ...] = ()


class _Container(msgspec.Struct, rename="camel"):
    name: str = ""
    restart_policy: str | None = None


class _Spec(msgspec.Struct, rename="camel"):
    init_containers: tuple[_Container, ...] = ()


class _Condition(msgspec.Struct, rename="camel"):
    type: str = ""
    status: str = ""
    last_transition_time: str | None = None


class _ContainerStatus(msgspec.Struct, rename="camel"):
    name: str = ""
    restart_count: int = 0


class _Status(msgspec.Struct, rename="camel"):
    conditions: tuple[_Condition, ...] = ()
    container_statuses: tuple[_ContainerStatus, ...] = ()
    init_container_statuses: tuple[_ContainerStatus, ...] = ()


class _Object(msgspec.Struct):
    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


_decode = msgspec.json.Decoder(_Object).decode


class PodView(msgspec.Struct, frozen=True, gc=False):
    """The fields of a pod that workload controllers read."""

    namespace: str
    name: str
    uid: str
    labels: dict[str, str]
    phase: str
    node: str
    created: str
    # since when the pod is ready, None if it is not ready; an empty text if the condition has no time
    ready_since: str | None
    deleting: bool
    restarts: int
    # the most restarts of a container, and of a sidecar
    most_restarts: tuple[int, int]
    # pods with a lower cost are deleted first
    deletion_cost: int
    # the pod has the tracking finalizer of jobs
    tracked: bool
    owner: OwnerReference | None

    @property
    def ready(self) -> bool:
        """Return whether the pod is ready."""
        return self.ready_since is not None

    @property
    def terminal(self) -> bool:
        """Return whether the pod's phase is terminal."""
        return self.phase in TERMINAL

    @property
    def active(self) -> bool:
        """Return whether the pod is neither terminal nor terminating."""
        return not self.deleting and self.phase not in TERMINAL

    @property
    def terminating(self) -> bool:
        """Return whether the pod is being deleted and its phase is not terminal."""
        return self.deleting and self.phase not in TERMINAL

    def seconds_to_available(self, least_seconds: int, now: datetime) -> float | None:
        """Return the seconds until the pod is available, 0 if it is; None if it is not ready."""
        return None if self.ready_since is None else seconds_left(self.ready_since, least_seconds, now)

    def available(self, least_seconds: int, now: datetime) -> bool:
        """Return whether the pod has been ready for at least these seconds."""
        return self.seconds_to_available(least_seconds, now) == 0.0


def seconds_left(ready_since: str, least_seconds: int, now: datetime) -> float | None:
    """Return the seconds until a ready pod is available, 0 if it is; None without the time of its readiness."""
    if not least_seconds:
        return 0.0
    if not ready_since:
        return None
    return max(0.0, (moment(ready_since) + timedelta(seconds=least_seconds) - now).total_seconds())


class Listener(Protocol):
    """Receives changes of pods."""

    def pod_changed(self, before: PodView | None, after: PodView | None) -> None:
        """Handle a change of a pod that an object of the listener's kind owns or owned."""

    def orphan_changed(self, pod: PodView) -> None:
        """Handle an orphan pod that is new, has new labels, or has lost its owner."""


class PodsByOwner(Controller):
    """The pods by their controller, and the orphan pods."""

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._pods: dict[Key, PodView] = {}
        self._owned: dict[str, dict[str, PodView]] = {}
        self._orphans: dict[str, dict[str, PodView]] = {}
        self._listeners: dict[str, list[Listener]] = {}

    def listen(self, kind: str, listener: Listener) -> None:
        """Call a listener with changes of pods that objects of a kind own, and of orphans."""
        self._listeners.setdefault(kind, []).append(listener)

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {PODS: self._changed}

    def get(self, namespace: str, name: str) -> PodView | None:
        """Return a pod, None if it does not exist."""
        return self._pods.get((namespace, name))

    def of(self, uid: str) -> list[PodView]:
        """Return the pods of an owner, in the order in which they were created or adopted."""
        return list(self._owned.get(uid, {}).values())

    def orphans(self, namespace: str) -> Iterable[PodView]:
        """Return the orphan pods of a namespace."""
        return self._orphans.get(namespace, {}).values()

    def _changed(self, change: Change) -> None:
        stored = change.new
        key = (stored.namespace, stored.name)
        before = self._pods.pop(key, None)
        if change.type == DELETED:
            after = None
        else:
            after = self._pods[key] = _seen(stored)
            if after == before:
                return
        if before is not None and (after is None or _place(before) != _place(after)):
            self._take_out(before)
        if after is not None:
            self._put_in(after)
        self._tell(before, after)

    def _take_out(self, pod: PodView) -> None:
        holder, place = (self._orphans, pod.namespace) if pod.owner is None else (self._owned, pod.owner.uid)
        pods = holder[place]
        del pods[pod.name]
        if not pods:
            del holder[place]

    def _put_in(self, pod: PodView) -> None:
        holder, place = (self._orphans, pod.namespace) if pod.owner is None else (self._owned, pod.owner.uid)
        holder.setdefault(place, {})[pod.name] = pod

    def _tell(self, before: PodView | None, after: PodView | None) -> None:
        kinds = dict.fromkeys(pod.owner.kind for pod in (before, after) if pod is not None and pod.owner is not None)
        for kind in kinds:
            for listener in self._listeners.get(kind, ()):
                listener.pod_changed(before, after)
        if after is None or after.owner is not None or after.deleting:
            return
        if before is None or before.owner is not None or before.labels != after.labels:
            for listeners in self._listeners.values():
                for listener in listeners:
                    listener.orphan_changed(after)


def _place(pod: PodView) -> str:
    return "" if pod.owner is None else pod.owner.uid


def _seen(stored: Stored) -> PodView:
    found = _decode(stored.body)
    meta, status = found.metadata, found.status
    ready_since: str | None = None
    for condition in status.conditions:
        if condition.type == "Ready" and condition.status == "True":
            ready_since = condition.last_transition_time or ""
    return PodView(
        stored.namespace,
        stored.name,
        stored.uid,
        stored.labels,
        stored.fields.get("status.phase", ""),
        stored.fields.get("spec.nodeName", ""),
        meta.creation_timestamp,
        ready_since,
        meta.deletion_timestamp is not None,
        sum(each.restart_count for each in (*status.container_statuses, *status.init_container_statuses)),
        _most_restarts(found),
        parse_int64(meta.annotations.deletion_cost) or 0 if meta.annotations.deletion_cost else 0,
        JOB_TRACKING in meta.finalizers,
        controller_of(meta.owner_references),
    )


def _most_restarts(pod: _Object) -> tuple[int, int]:
    status = pod.status
    most = max((each.restart_count for each in status.container_statuses), default=0)
    if not pod.spec.init_containers:
        return most, 0
    sidecars = {each.name for each in pod.spec.init_containers if each.restart_policy == "Always"}
    return most, max(
        (each.restart_count for each in status.init_container_statuses if each.name in sidecars), default=0
    )
