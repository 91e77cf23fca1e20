"""The scheduler's cluster; the one module that changes it.

From objects (of a scenario or a watch) to the table, the nominations and the objects by kind. Between two calls
everything is consistent; readers never copy.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

import msgspec

from kubesched.api.devices import ResourceClaim
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Namespace, Node
from kubesched.api.pods import Pod, PodStatus
from kubesched.api.resources import RequestOptions
from kubesched.core.cluster.changes import ChangeLog
from kubesched.core.cluster.devices.device_tracker import DeviceTracker
from kubesched.core.cluster.devices.resource_claims import ResourceClaims
from kubesched.core.cluster.indexes import Index
from kubesched.core.cluster.nominations import Nominations
from kubesched.core.cluster.objects import Objects
from kubesched.core.cluster.pod_groups import PodGroups
from kubesched.core.cluster.pod_info import PodInfo, PodReader, same_account, without_node
from kubesched.core.cluster.storage.attached_volumes import AttachedVolumes
from kubesched.core.cluster.storage.volumes import StorageObject, VolumeOrClaim, Volumes
from kubesched.core.cluster.table import NodeTable
from kubesched.core.devices import DeviceFeatures


class ClusterState:
    """Nodes, pods, nominations and all other objects that plugins read."""

    def __init__(self, options: RequestOptions | None = None) -> None:
        self.log = ChangeLog()
        self.table = NodeTable(self.log)
        self.nominations = Nominations(self.table)
        self.objects = Objects(self.log)
        self.claims = ResourceClaims(self.objects)
        self.attached_volumes = AttachedVolumes(self.table, self.objects)
        self.volumes = Volumes(self.objects, self.table)
        self._devices: dict[DeviceFeatures, DeviceTracker] = {}
        self.reader = PodReader(options or RequestOptions())
        self._pending: dict[str, PodInfo] = {}
        # pods without a node, by UID: read-only
        self.pending: Mapping[str, PodInfo] = MappingProxyType(self._pending)
        # the last reported version of each pod that is assumed and not confirmed yet
        self._assumed: dict[str, PodInfo] = {}
        # None until it is needed
        self._pod_groups: PodGroups | None = None
        # the pod indexes of plugins; they index a placed pod as in the table, and a waiting pod as reported
        self._indexes: list[Index[PodInfo]] = []
        # whether a trial has moved pods to other nodes, or removed them
        self.in_trial = False
        # pods on a node, by UID: read-only
        self.placed: Mapping[str, PodInfo] = MappingProxyType(self.table.pods)

    @property
    def pod_groups(self) -> PodGroups:
        """Return the pods of each group, kept up to date from now on."""
        return self.keep_pod_groups()

    def keep_pod_groups(self) -> PodGroups:
        """Keep the pods of each group from now on; before, pod groups cost nothing."""
        if self._pod_groups is None:
            self._pod_groups = PodGroups((*self.table.pods.values(), *self.pending.values()))
        return self._pod_groups

    def keep_index(self, index: Index[PodInfo]) -> Index[PodInfo]:
        """Keep an index of all pods up to date from now on."""
        for pod in (*self.table.pods.values(), *self._pending.values()):
            index.put(pod.uid, pod)
        self._indexes.append(index)
        return index

    def drop_index(self, index: Index[PodInfo]) -> None:
        """Keep an index no longer."""
        self._indexes = [kept for kept in self._indexes if kept is not index]

    def _index(self, pod: PodInfo) -> None:
        for index in self._indexes:
            index.put(pod.uid, pod)

    def _drop_from_indexes(self, uid: str) -> None:
        for index in self._indexes:
            index.drop(uid)

    # -- objects as they are reported

    def add(self, obj: ApiObject) -> None:
        """Add an object, or replace the one under its name (pods: under its UID).

        Raises TypeError for anything else, such as a document: `kubesched.api.codec.decode` makes objects of documents.
        """
        if not isinstance(obj, ApiObject):
            hint = "; kubesched.api.codec.decode(document) makes one" if isinstance(obj, Mapping) else ""
            raise TypeError(f"a cluster takes objects such as Pod or Node, not {type(obj).__name__}{hint}")
        if isinstance(obj, Node):
            self.table.set_node(obj)
        elif isinstance(obj, Pod):
            self._add_pod(obj)
        elif isinstance(obj, ResourceClaim):
            self.claims.report(obj)
        elif isinstance(obj, StorageObject):
            self.volumes.report(obj)
        else:
            self.objects.put(type(obj).__name__, obj)

    def remove(self, obj: ApiObject) -> None:
        """Remove an object."""
        if isinstance(obj, Node):
            self.table.remove_node(obj.metadata.name)
        elif isinstance(obj, Pod):
            self.remove_pod(obj.uid)
        elif isinstance(obj, ResourceClaim):
            self.claims.forget(obj.full_name)
        elif isinstance(obj, StorageObject):
            self.volumes.forget(obj)
        else:
            self.objects.remove(type(obj).__name__, obj.full_name)

    def _add_pod(self, pod: Pod) -> None:
        if pod.terminal:
            self.remove_pod(pod.uid)
        else:
            self.put_pod(self.reader.read(pod))

    def put_pod(self, info: PodInfo) -> None:
        """Add a pod that is not finished, or replace the one under its UID."""
        pod = info.pod
        if self._pod_groups is not None and (pod.spec.node_name or info.uid not in self._assumed):
            self._pod_groups.put(info)
        if not pod.spec.node_name:
            if info.uid in self._assumed:
                # the report has no node yet: the pod stays assumed until its binding is confirmed or forgotten
                self._assumed[info.uid] = info
                return
            self.table.remove_pod(info.uid)
            self._pending[info.uid] = info
            self._index(info)
            # a gated pod reserves no resources
            self.nominations.add(info, "" if pod.spec.scheduling_gates else pod.status.nominated_node_name)
            return
        old = self.table.pods.get(info.uid)
        if old is not None and same_account(old, info):
            if old.labels == info.labels:
                self.table.refresh_pod(info)
            else:
                self.table.relabel_pod(info)
        else:
            self.table.remove_pod(info.uid)
            self.table.add_pod(info, pod.spec.node_name)
        self._assumed.pop(info.uid, None)
        self._pending.pop(info.uid, None)
        self._index(info)
        self.nominations.remove(info.uid)

    def put_waiting(self, info: PodInfo) -> None:
        """Add a pod without a node, or replace it; the scheduling queue updates its nomination and its group."""
        if info.uid in self._assumed:
            self._assumed[info.uid] = info
        else:
            self._pending[info.uid] = info
            self._index(info)

    def remove_waiting(self, uid: str) -> None:
        """Remove a pod without a node; an assumed pod stays on its node."""
        if self._pending.pop(uid, None) is not None:
            self._drop_from_indexes(uid)
        if self._pod_groups is not None:
            self._pod_groups.remove(uid)

    def remove_pod(self, uid: str) -> None:
        """Remove a pod, wherever it is."""
        if self._pod_groups is not None:
            self._pod_groups.remove(uid)
        self.table.remove_pod(uid)
        self._assumed.pop(uid, None)
        self._pending.pop(uid, None)
        self._drop_from_indexes(uid)
        self.nominations.remove(uid)

    # upstream: backend/cache/interface.go, AddPodGroupMember (v1.36)
    def add_group_member(self, info: PodInfo) -> None:
        """Add a waiting pod to its group, if it has one."""
        if self._pod_groups is not None:
            self._pod_groups.put(info)

    # -- decisions of the scheduler

    def nominate(self, pod: PodInfo, node_name: str) -> None:
        """Nominate a pod to a node; an earlier nomination is replaced, an empty name clears it."""
        self.nominations.add(pod, node_name)

    def clear_nomination(self, uid: str) -> None:
        """Drop a pod's nomination, if it has one."""
        self.nominations.remove(uid)

    @contextmanager
    def without(self, pods: Iterable[PodInfo]) -> "Iterator[RemovedPods]":
        """Take pods off their nodes for a while; at the end all of them are back."""
        removed = RemovedPods(self.table)
        try:
            removed.take_off(pods)
            yield removed
        finally:
            removed.put_back(list(removed))

    @contextmanager
    def moving(self) -> "Iterator[MovedPods]":
        """Move pods for a while, in a trial; at the end all of them are where they were."""
        moved, before = MovedPods(self.table, self.reader), self.in_trial
        self.in_trial = True
        try:
            yield moved
        finally:
            moved.undo()
            self.in_trial = before

    @contextmanager
    def holding(self, pods: Iterable[PodInfo]) -> Iterator[None]:
        """Give pods slots for a while without counting them on a node, so that worlds can be changed by them."""
        held: list[PodInfo] = []
        try:
            for pod in pods:
                self.table.hold(pod)
                held.append(pod)
            yield
        finally:
            for pod in reversed(held):
                self.table.release(pod)

    def assume(self, pod: PodInfo, node_name: str) -> PodInfo:
        """Account a pending pod on a node before the API server confirms it; return the pod as placed."""
        spec = msgspec.structs.replace(pod.spec, node_name=node_name)
        placed = pod.replaced(msgspec.structs.replace(pod.pod, spec=spec))
        # a pod that is on a node already is counted once
        self.table.remove_pod(pod.uid)
        self.table.add_pod(placed, node_name)
        self._assumed[pod.uid] = pod
        self._pending.pop(pod.uid, None)
        self._index(placed)
        self.nominations.remove(pod.uid)
        if self._pod_groups is not None:
            self._pod_groups.put(placed)
        return placed

    def forget(self, pod: PodInfo) -> None:
        """Undo `assume`: the pod is pending again, without a nomination.

        A pod that was confirmed or deleted in the meantime stays as it was reported.
        """
        reported = self._assumed.pop(pod.uid, None)
        if reported is None:
            return
        self.table.remove_pod(pod.uid)
        spec = msgspec.structs.replace(reported.spec, node_name="")
        pending = self._pending[pod.uid] = reported.replaced(msgspec.structs.replace(reported.pod, spec=spec))
        self._index(pending)
        if self._pod_groups is not None:
            self._pod_groups.put(pending)

    def restate(self, pod: PodInfo, status: PodStatus) -> None:
        """Account an assumed pod with another status, which its resources may depend on."""
        if pod.uid in self._assumed:
            self.table.remove_pod(pod.uid)
            self.table.add_pod(self.reader.read(msgspec.structs.replace(pod.pod, status=status)), pod.spec.node_name)

    # -- decisions of Reserve and PreBind about volumes and devices

    def assume_storage(self, obj: VolumeOrClaim) -> None:
        """Assume a volume or claim until another version is reported; raises OutOfSyncError if one was."""
        self.volumes.assume(obj)

    def restore_storage(self, obj: VolumeOrClaim) -> None:
        """Undo `assume_storage`, if this version is assumed."""
        self.volumes.restore(obj)

    def assume_claim(self, claim: ResourceClaim) -> bool:
        """Assume a resource claim as it was written, until it is reported; return False if a newer one is known."""
        return self.claims.assume(claim)

    def begin_allocation(self, claim: ResourceClaim) -> None:
        """Hold the devices of a resource claim for one more pod, before anything is written."""
        self.claims.begin_allocation(claim)

    def end_allocation(self, claim_uid: str, *, for_all: bool = False) -> bool:
        """Release the devices that are held for one pod (or for all); return whether no pod holds them any more."""
        return self.claims.end_allocation(claim_uid, for_all=for_all)

    # -- look-ups

    @property
    def assumed_count(self) -> int:
        """Return how many pods are assumed on a node and not confirmed yet."""
        return len(self._assumed)

    def as_reported(self, pod: PodInfo) -> PodInfo:
        """Return a pod as it was last reported; an assumed pod differs from that."""
        return self._assumed.get(pod.uid, pod)

    def devices(self, features: DeviceFeatures) -> DeviceTracker:
        """Return the tracker of devices; there is one for each set of features."""
        tracker = self._devices.get(features)
        if tracker is None:
            tracker = self._devices[features] = DeviceTracker(self.table, self.objects, self.claims, features)
        return tracker

    def namespace_labels(self, namespace: str) -> dict[str, str]:
        """Return a namespace's labels, none for an unknown namespace."""
        found = self.objects.get(Namespace, namespace)
        return found.metadata.labels if found is not None else {}


class RemovedPods:
    """Pods that are off their nodes for a trial, and can be put back one by one."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._pods: dict[str, PodInfo] = {}

    def __iter__(self) -> Iterator[PodInfo]:
        return iter(self._pods.values())

    def take_off(self, pods: Iterable[PodInfo]) -> None:
        """Take pods off their nodes."""
        for pod in pods:
            self._table.remove_pod(pod.uid)
            self._pods[pod.uid] = pod

    def put_back(self, pods: Iterable[PodInfo]) -> None:
        """Put pods back on their nodes."""
        for pod in pods:
            self._table.add_pod(self._pods.pop(pod.uid), pod.spec.node_name)


class MovedPods(RemovedPods):
    """Pods moved to other nodes for a what-if; `undo` moves them back."""

    def __init__(self, table: NodeTable, reader: PodReader) -> None:
        super().__init__(table)
        self._reader = reader
        self._put_on: list[str] = []

    def as_waiting(self, pod: PodInfo) -> PodInfo:
        """Return the pending form of a pod: a placed pod as its controller would create it again."""
        return self._reader.read(without_node(pod.pod)) if pod.spec.node_name else pod

    def put_on(self, pod: PodInfo, node_name: str) -> None:
        """Put a pod that waits, or was taken off, on a node."""
        waiting = self.as_waiting(pod)
        spec = msgspec.structs.replace(waiting.spec, node_name=node_name)
        self._table.add_pod(waiting.replaced(msgspec.structs.replace(waiting.pod, spec=spec)), node_name)
        self._put_on.append(pod.uid)

    def undo(self) -> None:
        """Have all pods where they were."""
        for uid in reversed(self._put_on):
            self._table.remove_pod(uid)
        self._put_on.clear()
        self.put_back(list(self))
